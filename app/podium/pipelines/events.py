"""What a pipeline's `stream` yields: events with tensors, for the process that runs it.

What crosses to other processes is made of them by `podium.pipelines.report`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from podium.jobs import Phase

Trace = Callable[[str, Tensor], None]


@dataclass(frozen=True, slots=True)
class PhaseBegan:
    """A phase began; `num_steps` is None where it has none."""

    phase: Phase
    num_steps: int | None = None


@dataclass(frozen=True, slots=True)
class PhaseOver:
    """The phase ended."""

    phase: Phase


@dataclass(frozen=True, slots=True)
class PromptEncoded:
    """Prompt `step` of `num_steps` (from 1) was encoded."""

    step: int
    num_steps: int


@dataclass(frozen=True, slots=True)
class LorasFused:
    """The job's LoRA set is in the transformer; one sentence a LoRA."""

    summaries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StepDenoised:
    """A denoising step ended.

    Args:
        phase: Stage 1 or stage 2.
        step: From 1.
        num_steps: Of the stage.
        sigma: Level it started from, 0 to 1.
        video_BCFHW: [1, 128, F, H, W] float32, normalised estimate of the clean clip.
        audio_BCTM: [1, 8, T, 16] float32, the same of the sound.
    """

    phase: Phase
    step: int
    num_steps: int
    sigma: float
    video_BCFHW: Tensor
    audio_BCTM: Tensor


@dataclass(frozen=True, slots=True)
class SubstepDenoised:
    """Part of step `step` of `num_steps` (from 1) ended: a place to stop at, where a step has several model calls."""

    phase: Phase
    step: int
    num_steps: int


@dataclass(frozen=True, slots=True)
class TileDecoded:
    """Tiles of the picture were decoded, `done` of `total` turns, and more are to come."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class FramesDecoded:
    """The next frames of the clip, in order.

    Args:
        frames_FHWC: [n, H, W, 3] float32, 0 to 1; black on ranks that do not blend.
        first_frame: Index of the first of them.
    """

    frames_FHWC: Tensor
    first_frame: int


@dataclass(frozen=True, slots=True)
class SoundDecoded:
    """The clip's sound.

    Args:
        waveform: [2, samples] float32, -1 to 1.
        sample_rate_hz: Its rate.
    """

    waveform: Tensor
    sample_rate_hz: int


PipelineEvent = (
    PhaseBegan
    | PhaseOver
    | PromptEncoded
    | LorasFused
    | StepDenoised
    | SubstepDenoised
    | TileDecoded
    | FramesDecoded
    | SoundDecoded
)
