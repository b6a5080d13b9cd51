"""Steps from noise to a clip. Samplers are generators: between two steps the caller may stop.

The rule a caller must know: states and estimates are float32 in token layout [B, T, C], and an estimate is held to the
conditioning before a step uses it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol

from torch import Tensor

from podium.pipelines.latents import LatentState

# Source: the original's second-order sampler; what stands for a terminal 0, at which its step is not defined.
RES_2S_LAST_SIGMA = 0.0011
RES_2S_ETA = 0.5


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


class Denoiser(Protocol):
    """Gives the estimate at a state."""

    def __call__(self, state: AVState, sigma: float, step: int) -> Denoised:
        """Return the estimate at noise level `sigma`, in step `step` (from 0) of the schedule."""
        ...


class StepNoise(Protocol):
    """Draws the noise of stochastic samplers."""

    def __call__(self, stream: str, kind: str, step: int, like: Tensor) -> Tensor:
        """Return raw normals shaped as `like`, on its device, float32.

        Args:
            stream: "video" or "audio".
            kind: "step" or "substep".
            step: From 0.
            like: [1, T, C].
        """
        ...


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


@dataclass(frozen=True, slots=True)
class SamplerSubstep:
    """Part of step `index` was made: a place to stop at."""

    index: int


def euler_step(latent: Tensor, denoised: Tensor, sigma: float, next_sigma: float) -> Tensor:
    """Return the latent at `next_sigma` along the straight line from `latent` at `sigma` through its estimate."""
    return latent + (latent - denoised) / sigma * (next_sigma - sigma)


def ancestral_step(latent: Tensor, denoised: Tensor, noise: Tensor, *, sigma: float, next_sigma: float) -> Tensor:
    """Return the latent at `next_sigma` with all noise that can be renewed (eta 1) renewed.

    The straight line is followed below `next_sigma`, and fresh noise brings the spread back up.

    Source: the ancestral Euler method for rectified flow.
    """
    below = next_sigma * next_sigma / sigma
    line = denoised + (latent - denoised) * (below / sigma)
    share = (1 - next_sigma) / (1 - below)
    return share * line + math.sqrt(max(0.0, next_sigma**2 - (below * share) ** 2)) * noise


def variance_preserving_step(
    latent: Tensor, target: Tensor, noise: Tensor, *, sigma: float, next_sigma: float, eta: float = RES_2S_ETA
) -> Tensor:
    """Return the latent at `next_sigma` where a share `eta` of its noise is new.

    Args:
        latent: At `sigma`.
        target: Where a step without noise would lead, at `next_sigma`.
        noise: Normals.
        sigma, next_sigma: Levels, falling.
        eta: 0 (none) to 1 (all).
    """
    velocity = (latent - target) / (sigma - next_sigma)
    clean = latent - sigma * velocity
    new = next_sigma * eta
    kept = math.sqrt(next_sigma**2 - new**2)
    return (1 - next_sigma) * clean + kept * (clean + velocity) + new * noise


def res_2s_coefficients(h: float) -> tuple[float, float, float]:
    """Return a21, b1 and b2 of the two-stage exponential Runge-Kutta method with its node in the middle.

    Args:
        h: Step in the logarithm of the noise level, more than 0.

    Source: Hochbruck and Ostermann, Exponential integrators, Acta Numerica 2010, section 2.3 (c2 = 1/2).
    """
    half = 0.5 * h
    phi_1 = -math.expm1(-h) / h
    phi_2 = (1 - phi_1) / h
    return 0.5 * (-math.expm1(-half) / half), phi_1 - 2 * phi_2, 2 * phi_2


def normalised_noise(noise: Tensor) -> Tensor:
    """Return float64 noise of mean 0 and spread 1 over all, then over the last two axes, as HQ takes it."""
    whole = noise.double()
    whole = (whole - whole.mean()) / whole.std()
    axes = (-2, -1)
    return (whole - whole.mean(axes, keepdim=True)) / whole.std(axes, keepdim=True)


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
        denoised = _estimate(denoise, state, sigma, index)
        state = AVState(
            _advance(state.video, denoised.video, sigma, next_sigma),
            _advance(state.audio, denoised.audio, sigma, next_sigma),
        )
        yield SamplerStep(index, sigma, denoised, state)


def sample_euler_ancestral(
    denoise: Denoiser, state: AVState, sigmas: Sequence[float], noise: StepNoise
) -> Iterator[SamplerStep]:
    """Denoise along `sigmas` (falling, ending in 0) by the ancestral Euler method; arguments as in `sample_euler`.

    Args:
        noise: Draws "step" noise for every step but the last.
    """
    for index, (sigma, next_sigma) in enumerate(pairwise(sigmas)):
        denoised = _estimate(denoise, state, sigma, index)
        streams = []
        for name, stream, estimate in _streams(state, denoised):
            if next_sigma == 0:
                streams.append(replace(stream, latent=estimate))
                continue
            fresh = noise(name, "step", index, stream.latent)
            latent = ancestral_step(stream.latent, estimate, fresh, sigma=sigma, next_sigma=next_sigma)
            streams.append(stream.hold(latent))
        state = AVState(*streams)
        yield SamplerStep(index, sigma, denoised, state)


def sample_res_2s(
    denoise: Denoiser, state: AVState, sigmas: Sequence[float], noise: StepNoise
) -> Iterator[SamplerStep | SamplerSubstep]:
    """Denoise along `sigmas` (strictly falling, ending in 0) by res_2s: second order, two estimates a step, eta 0.5.

    A terminal 0 becomes 0.0011 and one more estimate there, which is the result; it belongs to the last step.

    Args:
        denoise, state, sigmas: As in `sample_euler`.
        noise: Draws "substep" and "step" noise for every step.

    Yields:
        Each step after it was made, and within it a substep after every estimate but its last.
    """
    ends_clean = sigmas[-1] == 0
    levels = [*sigmas[:-1], RES_2S_LAST_SIGMA] if ends_clean else list(sigmas)
    for index, (sigma, next_sigma) in enumerate(pairwise(levels)):
        first = _estimate(denoise, state, sigma, index)
        middle = _to_middle(state, first, _Transition(sigma, next_sigma, index, noise))
        yield SamplerSubstep(index)
        second = _estimate(denoise, middle, math.sqrt(sigma * next_sigma), index)
        state = _to_end(state, first, second, _Transition(sigma, next_sigma, index, noise))
        denoised = second
        if ends_clean and index == len(levels) - 2:
            yield SamplerSubstep(index)
            denoised = _estimate(denoise, state, next_sigma, index)
            state = AVState(replace(state.video, latent=denoised.video), replace(state.audio, latent=denoised.audio))
        yield SamplerStep(index, sigma, denoised, state)


@dataclass(frozen=True, slots=True)
class _Transition:
    # One step of res_2s, from level to level.
    sigma: float
    next_sigma: float
    index: int
    noise: StepNoise

    @property
    def h(self) -> float:
        return math.log(self.sigma / self.next_sigma)

    def land(self, stream: LatentState, name: str, kind: str, target: Tensor, level: float) -> LatentState:
        # Arrive at `target` with fresh noise, in float64, and hold what the noise must not touch.
        fresh = normalised_noise(self.noise(name, kind, self.index, stream.latent))
        latent = variance_preserving_step(stream.latent.double(), target, fresh, sigma=self.sigma, next_sigma=level)
        return stream.hold(latent.float())


def _to_middle(state: AVState, first: Denoised, transition: _Transition) -> AVState:
    a21, _, _ = res_2s_coefficients(transition.h)
    middle = math.sqrt(transition.sigma * transition.next_sigma)
    streams = []
    for name, stream, estimate in _streams(state, first):
        latent = stream.latent.double()
        target = latent + transition.h * a21 * (estimate.double() - latent)
        streams.append(transition.land(stream, name, "substep", target, middle))
    return AVState(*streams)


def _to_end(state: AVState, first: Denoised, second: Denoised, transition: _Transition) -> AVState:
    _, b1, b2 = res_2s_coefficients(transition.h)
    streams = []
    for (name, stream, estimate), better in zip(_streams(state, first), (second.video, second.audio), strict=True):
        latent = stream.latent.double()
        slope = b1 * (estimate.double() - latent) + b2 * (better.double() - latent)
        streams.append(transition.land(stream, name, "step", latent + transition.h * slope, transition.next_sigma))
    return AVState(*streams)


def _streams(state: AVState, denoised: Denoised) -> tuple[tuple[str, LatentState, Tensor], ...]:
    return ("video", state.video, denoised.video), ("audio", state.audio, denoised.audio)


def _estimate(denoise: Denoiser, state: AVState, sigma: float, step: int) -> Denoised:
    raw = denoise(state, sigma, step)
    return Denoised(state.video.blend(raw.video), state.audio.blend(raw.audio))


def _advance(state: LatentState, denoised: Tensor, sigma: float, next_sigma: float) -> LatentState:
    return replace(state, latent=euler_step(state.latent, denoised, sigma, next_sigma))
