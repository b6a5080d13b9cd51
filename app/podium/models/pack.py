"""Check that the files an artist chose make one model that this version can run. No torch; no weight is read.

A pack is a monolith with a Gemma 3 folder (2.0, 2.3), or a file for each part (2.5). A file is judged by what it holds,
so that any part may also come out of a file that holds more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from podium.models.file_kinds import is_file
from podium.models.header import read_header
from podium.models.key_maps import TRANSFORMER
from podium.models.lora_keys import LoraReport
from podium.models.pack_checks import (
    check_checkpoint,
    check_part,
    check_upsampler,
    probe_file,
    probe_text_encoder,
    refuse_untold_heads,
)
from podium.models.pack_pairs import check_distilled_lora, check_generations, check_text_encoder
from podium.models.paths import ModelPaths
from podium.models.probe import FileReport, Generation, Quantisation, Slot, parse_model_version

SUPPORTED_GENERATIONS = frozenset(Generation)

_TRANSFORMER_SLOTS = (Slot.TRANSFORMER, Slot.CONNECTORS)
_VIDEO_SLOTS = (Slot.VIDEO_ENCODER, Slot.VIDEO_DECODER)
_AUDIO_SLOTS = (Slot.AUDIO_DECODER, Slot.VOCODER)


class DecoderKind(StrEnum):
    """What turns video latents into pixels: a closed set."""

    CONVOLUTIONAL = "convolutional"
    DIFFUSION = "diffusion"


@dataclass(frozen=True, slots=True)
class Pack:
    """Files that belong together and fill every slot of a pipeline.

    Args:
        paths: The files.
        generation: Of the checkpoint.
        model_version: Its metadata's version as numbers, such as (2, 3); empty without one.
        checkpoint: What the monolith or the transformer's file is.
        text_encoder: What the Gemma folder or the text encoder's file is.
        spatial_upsampler: What the upscaler is.
        num_heads: Heads of the transformer's video stream, the most ranks that can share it.
        spatial_scale: Factor of the upscaler, 1.5 or 2.
        video_vae, audio_vae, duration_head: What these files of a split pack are; None for what is in the checkpoint.
        distilled_lora: What the distilled LoRA does to the transformer; None without one.
    """

    paths: ModelPaths
    generation: Generation
    model_version: tuple[int, ...]
    checkpoint: FileReport
    text_encoder: FileReport
    spatial_upsampler: FileReport
    num_heads: int
    spatial_scale: float
    video_vae: FileReport | None = None
    audio_vae: FileReport | None = None
    duration_head: FileReport | None = None
    distilled_lora: LoraReport | None = None

    @property
    def files(self) -> tuple[FileReport, ...]:
        """Return what each file of the model is, LoRAs and upscaler apart, each once."""
        files = (self.checkpoint, self.text_encoder, self.video_vae, self.audio_vae, self.duration_head)
        return tuple(report for report in files if report is not None)

    @property
    def quantisation(self) -> Quantisation:
        """Return how the transformer's weights are stored."""
        return self.checkpoint.quantisation

    @property
    def num_layers(self) -> int:
        """Return the blocks of the transformer; 0 where nothing tells."""
        shape = self.checkpoint.transformer
        return (shape.num_layers or 0) if shape else 0

    @property
    def decoder_kind(self) -> DecoderKind:
        """Return what turns its video latents into pixels."""
        video = self.video_vae or self.checkpoint
        return DecoderKind.DIFFUSION if video.has_diffusion_decoder else DecoderKind.CONVOLUTIONAL

    @property
    def has_duration_head(self) -> bool:
        """Return whether it can tell a clip's length from the prompt."""
        return Slot.DURATION_HEAD in (self.duration_head or self.checkpoint).slots

    @property
    def has_keyframe_embedding(self) -> bool:
        """Return whether it can make key frames of its own."""
        return self.checkpoint.has_keyframe_embedding


def resolve_pack(models: ModelPaths) -> Pack:
    """Return the pack that model files make, checked by their headers alone.

    Raises:
        CheckpointError: A file is missing, damaged, of another kind or generation, or quantised in a way that cannot be
            read; or they do not belong together. The first fault is raised, of the checkpoint before the text encoder,
            the VAEs, the upscaler, the duration head and the distilled LoRA.
    """
    checkpoint = probe_file(models.checkpoint_path)
    generation = check_checkpoint(checkpoint, _checkpoint_slots(models))
    text_encoder = probe_text_encoder(models.gemma_root, generation)
    check_text_encoder(text_encoder, checkpoint, generation)
    video_vae = _part(models.video_vae_path, _VIDEO_SLOTS, "video VAE")
    audio_vae = _part(models.audio_vae_path, _AUDIO_SLOTS, "audio VAE")
    upsampler = probe_file(models.spatial_upsampler_path)
    scale = check_upsampler(upsampler)
    duration_head = _part(models.duration_head_path, (Slot.DURATION_HEAD,), "duration head")
    check_generations(checkpoint, generation, (video_vae, audio_vae, duration_head))
    if checkpoint.num_heads is None:
        refuse_untold_heads(checkpoint)
    return Pack(
        models,
        generation,
        parse_model_version(checkpoint.model_version or ""),
        checkpoint,
        text_encoder,
        upsampler,
        num_heads=checkpoint.num_heads,
        spatial_scale=scale,
        video_vae=video_vae,
        audio_vae=audio_vae,
        duration_head=duration_head,
        distilled_lora=_distilled_lora(models),
    )


def transformer_shapes(checkpoint_path: Path) -> Mapping[str, tuple[int, ...]]:
    """Return the shape of each of the transformer's parameters by official name, from the checkpoint's header.

    Raises:
        CheckpointError: The header cannot be read.
    """
    header = read_header(checkpoint_path)
    return {name: header.tensors[key].shape for key, name in TRANSFORMER(header.tensors.keys()).items()}


def _checkpoint_slots(models: ModelPaths) -> tuple[Slot, ...]:
    """Return what the checkpoint itself has to fill, in the order a clip needs it."""
    # A text encoder in one file brings its projection along.
    has_encoder_file = models.is_split or is_file(models.gemma_root)
    projection = () if has_encoder_file else (Slot.TEXT_PROJECTION,)
    video = _VIDEO_SLOTS if models.video_vae_path is None else ()
    audio = _AUDIO_SLOTS if models.audio_vae_path is None else ()
    return (*_TRANSFORMER_SLOTS, *projection, *video, *audio)


def _part(path: Path | None, slots: tuple[Slot, ...], place: str) -> FileReport | None:
    if path is None:
        return None
    report = probe_file(path)
    check_part(report, slots, place)
    return report


def _distilled_lora(models: ModelPaths) -> LoraReport | None:
    path = models.distilled_lora_path
    if path is None:
        return None
    return check_distilled_lora(probe_file(path), models.checkpoint_path, transformer_shapes(models.checkpoint_path))
