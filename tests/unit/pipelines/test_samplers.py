"""The steps of the samplers against the original's numbers, and what a sampler promises."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from podium.geometry import ClipFormat
from podium.pipelines.latents import audio_state, keep_first_frame, video_state
from podium.pipelines.noise import SeededNoise
from podium.pipelines.samplers import (
    AVState,
    Denoised,
    SamplerStep,
    SamplerSubstep,
    ancestral_step,
    normalised_noise,
    res_2s_coefficients,
    sample_euler,
    sample_euler_ancestral,
    sample_res_2s,
    variance_preserving_step,
)

CPU = torch.device("cpu")
CLIP = ClipFormat(32, 64, 9, Fraction(24))
SIGMAS = (1.0, 0.8, 0.3, 0.0)
FIRST = 2
"""Tokens of the first latent frame."""


@pytest.fixture
def data(golden: Callable[[str], dict[str, Tensor]]) -> dict[str, Tensor]:
    return golden("schedules_and_geometry")


def test_an_ancestral_step_is_the_originals(
    data: dict[str, Tensor], assert_close_to_golden: Callable[..., None]
) -> None:
    sigma, next_sigma, _ = data["steps.sigmas"].tolist()
    ours = ancestral_step(data["steps.x"], data["steps.x0"], data["steps.noise"], sigma=sigma, next_sigma=next_sigma)
    assert_close_to_golden(ours, data["steps.ancestral_eta1"], 1e-6)


def test_a_step_that_keeps_half_of_its_noise_is_the_originals(
    data: dict[str, Tensor], assert_close_to_golden: Callable[..., None]
) -> None:
    sigma, next_sigma, _ = data["steps.sigmas"].tolist()
    x, target, noise = (data[f"steps.{name}"].double() for name in ("x", "x0", "noise"))
    ours = variance_preserving_step(x, target, noise, sigma=sigma, next_sigma=next_sigma)
    assert_close_to_golden(ours, data["steps.res2s_eta0.5"], 1e-6)


def test_the_second_order_coefficients_are_the_originals(data: dict[str, Tensor]) -> None:
    for h, *expected in data["res2s.h_a21_b1_b2"].tolist():
        assert res_2s_coefficients(h) == pytest.approx(expected, rel=1e-5)


@given(st.floats(1e-4, 8))
def test_the_coefficients_carry_a_constant_estimate_exactly(h: float) -> None:
    a21, b1, b2 = res_2s_coefficients(h)
    assert math.isclose(h * a21, 1 - math.exp(-h / 2), rel_tol=1e-9)
    assert math.isclose(h * (b1 + b2), 1 - math.exp(-h), rel_tol=1e-9)


@given(st.floats(0.05, 0.95), st.floats(0.1, 0.9), st.floats(0, 1))
def test_a_step_with_new_noise_keeps_the_spread_of_its_level(sigma: float, ratio: float, eta: float) -> None:
    """On the line of a clean 0 and a noise of 1, old and new noise add up to the next level in quadrature."""
    next_sigma, noise = sigma * ratio, torch.tensor([1.0], dtype=torch.float64)
    x, target, nothing = sigma * noise, next_sigma * noise, 0 * noise
    old = variance_preserving_step(x, target, nothing, sigma=sigma, next_sigma=next_sigma, eta=eta)
    new = variance_preserving_step(nothing, nothing, noise, sigma=sigma, next_sigma=next_sigma, eta=eta)
    assert math.isclose(math.hypot(float(old), float(new)), next_sigma, rel_tol=1e-6)
    old = ancestral_step(x, nothing, nothing, sigma=sigma, next_sigma=next_sigma)
    new = ancestral_step(nothing, nothing, noise, sigma=sigma, next_sigma=next_sigma)
    assert math.isclose(math.hypot(float(old), float(new)), next_sigma, rel_tol=1e-6)


def test_noise_is_normalised_over_all_in_double_precision() -> None:
    noise = normalised_noise(3 + 2 * torch.randn(1, 50, 8))
    assert noise.dtype is torch.float64
    assert float(noise.mean()) == pytest.approx(0, abs=1e-12)
    assert float(noise.std()) == pytest.approx(1, abs=1e-12)


class Rig:
    """A denoiser whose estimate is fixed, and noise; both write down what they were asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[float, int]] = []
        self.drawn: list[str] = []
        self.video, self.audio = torch.randn(1, 4, 128), torch.randn(1, 9, 128)

    def denoise(self, state: AVState, sigma: float, step: int) -> Denoised:
        del state
        self.asked.append((sigma, step))
        return Denoised(self.video, self.audio)

    def noise(self, stream: str, kind: str, step: int, like: Tensor) -> Tensor:
        name = f"{stream}.{kind}.{step}"
        self.drawn.append(name)
        return SeededNoise(1).draw(name, tuple(like.shape))


@pytest.fixture
def rig() -> Rig:
    return Rig()


@pytest.fixture
def state() -> AVState:
    """Return noise whose first frame is held to 2 for good."""
    video = keep_first_frame(video_state(CLIP, CPU), torch.full((1, 128, 1, 1, 2), 2.0), 1.0)
    streams = (video, audio_state(CLIP, CPU))
    return AVState(*(stream.with_noise(torch.randn_like(stream.latent), 1.0) for stream in streams))


def finished(steps: list[SamplerStep | SamplerSubstep]) -> SamplerStep:
    last = steps[-1]
    assert isinstance(last, SamplerStep)
    return last


def test_every_sampler_ends_at_the_estimate_and_holds_what_is_kept(rig: Rig, state: AVState) -> None:
    runs = (
        sample_euler(rig.denoise, state, SIGMAS),
        sample_euler_ancestral(rig.denoise, state, SIGMAS, rig.noise),
        sample_res_2s(rig.denoise, state, SIGMAS, rig.noise),
    )
    for run in runs:
        end = finished(list(run)).state
        assert torch.allclose(end.video.latent[:, :FIRST], torch.tensor(2.0), atol=1e-5)
        assert torch.allclose(end.video.latent[:, FIRST:], rig.video[:, FIRST:], atol=1e-5)
        assert torch.allclose(end.audio.latent, rig.audio, atol=1e-5)


def test_fresh_noise_never_touches_what_is_kept(rig: Rig, state: AVState) -> None:
    for run in (sample_euler_ancestral, sample_res_2s):
        for step in run(rig.denoise, state, SIGMAS, rig.noise):
            if isinstance(step, SamplerStep):
                assert bool((step.state.video.latent[:, :FIRST] == 2.0).all())


def test_the_ancestral_sampler_draws_for_every_step_but_the_last(rig: Rig, state: AVState) -> None:
    list(sample_euler_ancestral(rig.denoise, state, SIGMAS, rig.noise))
    assert rig.drawn == ["video.step.0", "audio.step.0", "video.step.1", "audio.step.1"]
    assert rig.asked == [(1.0, 0), (0.8, 1), (0.3, 2)]


def test_res_2s_asks_twice_a_step_and_once_more_at_the_end(rig: Rig, state: AVState) -> None:
    steps = list(sample_res_2s(rig.denoise, state, SIGMAS, rig.noise))
    levels, indices = zip(*rig.asked, strict=True)
    middles = [math.sqrt(a * b) for a, b in ((1.0, 0.8), (0.8, 0.3), (0.3, 0.0011))]
    assert levels == pytest.approx([1.0, middles[0], 0.8, middles[1], 0.3, middles[2], 0.0011])
    assert indices == (0, 0, 1, 1, 2, 2, 2)
    assert [step.index for step in steps if isinstance(step, SamplerStep)] == [0, 1, 2]
    assert [step.index for step in steps if isinstance(step, SamplerSubstep)] == [0, 1, 2, 2]


def test_res_2s_draws_substep_before_step_and_video_before_audio(rig: Rig, state: AVState) -> None:
    list(sample_res_2s(rig.denoise, state, SIGMAS, rig.noise))
    expected = [
        f"{stream}.{kind}.{k}" for k in range(3) for kind in ("substep", "step") for stream in ("video", "audio")
    ]
    assert rig.drawn == expected


def test_a_sampler_asks_for_nothing_more_once_it_is_stopped(rig: Rig, state: AVState) -> None:
    run = sample_res_2s(rig.denoise, state, SIGMAS, rig.noise)
    assert isinstance(next(run), SamplerSubstep)
    assert len(rig.asked) == 1
