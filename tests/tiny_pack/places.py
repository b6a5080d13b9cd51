"""Where the files of a tiny pack's models lie."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from podium.models.paths import ModelPaths


@dataclass(frozen=True, slots=True)
class TinyPack:
    """One model of a tiny pack and what goes with it; a part that was not asked for may be missing.

    Args:
        folder: The pack's folder.
        version: "2.0", "2.3" or "2.5".
        is_fp8: The checkpoint is the one in fp8; 2.3 alone has it.
        has_diffusion_decoder: The video VAE is the one with the diffusion decoder; 2.5 alone has it.
    """

    folder: Path
    version: str = "2.3"
    is_fp8: bool = False
    has_diffusion_decoder: bool = False

    @property
    def checkpoint_path(self) -> Path:
        """Return the monolith, or the transformer's file of 2.5."""
        if self._is_split:
            return self._split_folder / "transformer.safetensors"
        precision = "-fp8" if self.is_fp8 else ""
        return self.folder / f"ltx-{self.version}-tiny{precision}.safetensors"

    @property
    def gemma_root(self) -> Path:
        """Return the Gemma 3 folder, or the text encoder's file of 2.5."""
        return self._split_folder / "text_encoder.safetensors" if self._is_split else self.folder / "gemma3"

    @property
    def spatial_upsampler_path(self) -> Path:
        """Return the x2 upscaler."""
        return self.folder / "spatial-upscaler-x2.safetensors"

    @property
    def style_lora_path(self) -> Path:
        """Return the LoRA over the video attention."""
        return self._lora_path("style")

    @property
    def distilled_lora_path(self) -> Path:
        """Return the LoRA over every linear layer of the blocks."""
        return self._lora_path("distilled")

    @property
    def model_paths(self) -> ModelPaths:
        """Return all of the model's files, the distilled LoRA included."""
        if not self._is_split:
            paths = (self.checkpoint_path, self.gemma_root, self.spatial_upsampler_path)
            return ModelPaths(*paths, distilled_lora_path=self.distilled_lora_path)
        video_vae = "video_vae_diffusion" if self.has_diffusion_decoder else "video_vae"
        return ModelPaths.from_split(
            transformer_path=self.checkpoint_path,
            text_encoder_path=self.gemma_root,
            video_vae_path=self._split_folder / f"{video_vae}.safetensors",
            audio_vae_path=self._split_folder / "audio_vae.safetensors",
            spatial_upsampler_path=self.spatial_upsampler_path,
            duration_head_path=self._split_folder / "duration_head.safetensors",
            distilled_lora_path=self.distilled_lora_path,
        )

    @property
    def _is_split(self) -> bool:
        return self.version == "2.5"

    @property
    def _split_folder(self) -> Path:
        return self.folder / f"ltx-{self.version}"

    def _lora_path(self, kind: str) -> Path:
        suffix = "" if self.version == "2.3" else f"-{self.version}"
        return self.folder / f"{kind}-lora{suffix}.safetensors"
