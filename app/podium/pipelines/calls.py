"""What calls of the pipelines take, by keyword."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Required, TypedDict

from podium.jobs import GuidanceSpec, ImageSpec, LoraSpec
from podium.pipelines.events import Trace
from podium.pipelines.noise import NoiseSource

LoraLike = LoraSpec | tuple[str | Path, float]
ImageLike = ImageSpec | tuple[str | Path, int, float]
PathLike = str | Path


class ClipCall(TypedDict, total=False):
    """What a call of every pipeline takes, by keyword.

    Keys:
        prompt: At most 1024 tokens.
        seed: 0 to 2**64 - 1; the same seed gives the same clip on any device and number of ranks.
        height, width: Of the finished clip: multiples of 64 pixels, or of 96 with the x1.5 upscaler.
        num_frames: 8k + 1.
        frame_rate: Frames per second.
        images: Pictures; one at frame 0 is the first frame, others pull at theirs.
        loras: The LoRA set; the pipeline's own by default.
        generated_keyframes: How many key frames the model makes itself, or their frames (2.5).
        noise_source: Where noise comes from; `SeededNoise(seed)` by default.
        trace: Called with (name, tensor) for contexts, stages, the upsampled latent and what is decoded.
    """

    prompt: Required[str]
    seed: Required[int]
    height: Required[int]
    width: Required[int]
    num_frames: Required[int]
    frame_rate: Required[Fraction | float | str]
    images: Iterable[ImageLike]
    loras: Iterable[LoraLike] | None
    generated_keyframes: int | Sequence[int]
    noise_source: NoiseSource | None
    trace: Trace | None


class GuidedCall(ClipCall, total=False):
    """What a call of the guided pipelines takes beside.

    Keys:
        negative_prompt: What to stay away from; empty by default.
        num_inference_steps: Of the first stage; None takes the model generation's own.
        video_guidance, audio_guidance: None takes the pipeline's and generation's own.
        distilled_lora_strengths: In the first and the second stage; None takes the pipeline's own.
    """

    negative_prompt: str
    num_inference_steps: int | None
    video_guidance: GuidanceSpec | None
    audio_guidance: GuidanceSpec | None
    distilled_lora_strengths: tuple[float, float] | None
