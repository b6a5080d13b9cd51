"""Which files a pipeline loads its networks from. No torch; nothing is opened."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Self


@dataclass(frozen=True, slots=True)
class ModelPaths:
    """The files of one model, as the artist chose them: a monolith and a Gemma folder, or a split pack.

    Args:
        checkpoint_path: The monolith (transformer, connectors, text projection, VAEs and vocoder), or the transformer
            file of a split pack.
        gemma_root: The folder of the text encoder and its tokenizer, or the text-encoder file of a split pack.
        spatial_upsampler_path: The latent upscaler of the second stage.
        distilled_lora_path: The LoRA that guided pipelines refine with; None for the distilled pipeline.
        video_vae_path, audio_vae_path: Of a split pack; None for a monolith.
        duration_head_path: Of a split pack that has one, or None.
    """

    checkpoint_path: Path
    gemma_root: Path
    spatial_upsampler_path: Path
    distilled_lora_path: Path | None = None
    video_vae_path: Path | None = None
    audio_vae_path: Path | None = None
    duration_head_path: Path | None = None

    @classmethod
    def from_split(
        cls,
        *,
        transformer_path: str | Path,
        text_encoder_path: str | Path,
        video_vae_path: str | Path,
        audio_vae_path: str | Path,
        spatial_upsampler_path: str | Path,
        duration_head_path: str | Path | None = None,
        distilled_lora_path: str | Path | None = None,
    ) -> Self:
        """Return the paths of a split pack."""
        return cls(
            Path(transformer_path),
            Path(text_encoder_path),
            Path(spatial_upsampler_path),
            _path(distilled_lora_path),
            Path(video_vae_path),
            Path(audio_vae_path),
            _path(duration_head_path),
        )

    @property
    def is_split(self) -> bool:
        """Return whether the networks lie in files of their own."""
        return self.video_vae_path is not None or self.audio_vae_path is not None

    @property
    def video_path(self) -> Path:
        """Return the file of the video VAE."""
        return self.video_vae_path or self.checkpoint_path

    @property
    def audio_path(self) -> Path:
        """Return the file of the audio VAE and the vocoder."""
        return self.audio_vae_path or self.checkpoint_path

    @property
    def duration_path(self) -> Path:
        """Return the file that may hold the duration head."""
        return self.duration_head_path or self.checkpoint_path

    def all(self) -> tuple[Path, ...]:
        """Return every path there is, in the order of the fields."""
        paths = (getattr(self, field.name) for field in fields(self))
        return tuple(path for path in paths if path is not None)


def _path(path: str | Path | None) -> Path | None:
    return None if path is None else Path(path)
