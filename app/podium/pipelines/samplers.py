"""Steps from noise to a clip. Samplers are generators: between two steps the caller may stop.

Every tensor here is float32 in token layout [B, T, C].
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from torch import Tensor

from podium.pipelines.latents import LatentState


@dataclass(frozen=True, slots=True)
class AVState:
    """The states of both streams."""

    video: LatentState
    audio: LatentState


@dataclass(frozen=True, slots=True)
class Denoised:
    """Estimates of the clean tokens of both streams."""

    video: Tensor
    audio: Tensor


Denoiser = Callable[[AVState, float], Denoised]


@dataclass(frozen=True, slots=True)
class SamplerStep:
    """One step that was made.

    Args:
        index: From 0.
        sigma: Level it started from.
        denoised: Its estimate, held to the conditioning.
        state: The state it led to.
    """

    index: int
    sigma: float
    denoised: Denoised
    state: AVState


def euler_step(latent: Tensor, denoised: Tensor, sigma: float, next_sigma: float) -> Tensor:
    """Return the latent at `next_sigma` along the straight line from `latent` at `sigma` through its estimate."""
    return latent + (latent - denoised) / sigma * (next_sigma - sigma)


def sample_euler(denoise: Denoiser, state: AVState, sigmas: Sequence[float]) -> Iterator[SamplerStep]:
    """Denoise along `sigmas` (falling, ending in 0) by Euler's method.

    Args:
        denoise: Gives the estimate at a state and level.
        state: At level `sigmas[0]`.
        sigmas: Levels, one more than steps.

    Yields:
        Each step after it was made.
    """
    for index, (sigma, next_sigma) in enumerate(pairwise(sigmas)):
        raw = denoise(state, sigma)
        denoised = Denoised(state.video.blend(raw.video), state.audio.blend(raw.audio))
        state = AVState(
            _advance(state.video, denoised.video, sigma, next_sigma),
            _advance(state.audio, denoised.audio, sigma, next_sigma),
        )
        yield SamplerStep(index, sigma, denoised, state)


def _advance(state: LatentState, denoised: Tensor, sigma: float, next_sigma: float) -> LatentState:
    return replace(state, latent=euler_step(state.latent, denoised, sigma, next_sigma))
