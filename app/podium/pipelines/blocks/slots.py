"""What blocks ask of their builder slots, and of what the builders make; multi-GPU builders satisfy the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar, runtime_checkable

import torch
from torch import Tensor

from podium.jobs import LoraSpec
from podium.models.builder import BuiltModel
from podium.models.transformer.inputs import Perturbations, StreamInput
from podium.models.transformer.model import Ropes
from podium.models.weight_reader import OnProgress
from podium.pipelines.guidance import PassForward, PassRunner

Built_co = TypeVar("Built_co", covariant=True)


class BuilderSlot(Protocol[Built_co]):
    """Makes one network, ready to run."""

    def build(self, device: torch.device, dtype: torch.dtype, *, on_progress: OnProgress | None = None) -> Built_co:
        """Return the network on `device`; reads weights at the first call only."""
        ...


@runtime_checkable
class Preloads(Protocol):
    """What a slot has beside, where its network need not be made for its weights to be read."""

    def preload(self, device: torch.device, dtype: torch.dtype, *, on_progress: OnProgress | None = None) -> None:
        """Read the weights to where they live."""
        ...


class TextEncoder(Protocol):
    """Encodes prompts to hidden states."""

    def encode(self, prompts: Sequence[str]) -> list[Tensor]:
        """Return the hidden states [N, D, L] of each prompt."""
        ...


class FrameDecoder(Protocol):
    """Decodes latents to pixels."""

    def decode(self, latent_BCFHW: Tensor) -> Tensor:
        """Return pixels [B, 3, 8(F-1)+1, 32H, 32W] in about [-1, 1] of a normalised latent [B, 128, F, H, W]."""
        ...


class PictureEncoder(Protocol):
    """Encodes pixels to latents."""

    def encode(self, pixels_BCFHW: Tensor) -> Tensor:
        """Return the normalised latent [B, 128, F', H/32, W/32] of pixels [B, 3, 8(F'-1)+1, H, W] in [-1, 1]."""
        ...


class Transformer(Protocol):
    """What a stage asks of the transformer; on several ranks a wrapper that splits the tokens stands in."""

    def video_ropes(self, positions: Tensor) -> Ropes:
        """Return the tables of video positions [1, 3, T, 2]."""
        ...

    def audio_ropes(self, positions: Tensor) -> Ropes:
        """Return the tables of audio positions [1, 1, T, 2]."""
        ...

    def is_cold(self, video: StreamInput, audio: StreamInput, perturbations: Perturbations | None = None) -> bool:
        """Say whether a forward of these inputs would compile first; alike on all ranks."""
        ...

    def __call__(
        self, video: StreamInput | None, audio: StreamInput | None, perturbations: Perturbations | None = None
    ) -> tuple[Tensor | None, Tensor | None]:
        """Return the velocities of both streams."""
        ...


class TransformerSlot(BuilderSlot[Transformer], Protocol):
    """Makes the transformer with a LoRA set fused."""

    def with_loras(self, loras: tuple[LoraSpec, ...]) -> TransformerSlot:
        """Return a builder that fuses another LoRA set."""
        ...

    def build_with_report(
        self, device: torch.device, dtype: torch.dtype, *, on_progress: OnProgress | None = None
    ) -> BuiltModel[Transformer]:
        """Return the transformer, and what each LoRA did to it."""
        ...


@runtime_checkable
class OwnSchedule(Protocol):
    """What a transformer's slot has beside, where the way it runs needs a schedule of its own."""

    @property
    def sigmas(self) -> Sequence[float]:
        """Return the noise levels, falling, ending in 0."""
        ...


__all__ = [
    "BuilderSlot",
    "FrameDecoder",
    "OwnSchedule",
    "PassForward",
    "PassRunner",
    "Preloads",
    "TextEncoder",
    "Transformer",
    "TransformerSlot",
]
