"""Sizes, schedules, positions and steps against the original's numbers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from podium.errors import JobRefusedError
from podium.geometry import ClipFormat, check_clip_format, parse_fps, snap_num_frames
from podium.pipelines.latents import (
    audio_positions,
    audio_to_tokens,
    tokens_to_audio,
    tokens_to_video,
    video_positions,
    video_to_tokens,
)
from podium.pipelines.samplers import euler_step
from podium.pipelines.schedules import DISTILLED_STAGE_1_SIGMAS, DISTILLED_STAGE_2_SIGMAS

Load = Callable[[str], dict[str, Tensor]]


@pytest.fixture
def data(golden: Load) -> dict[str, Tensor]:
    return golden("schedules_and_geometry")


def test_the_distilled_sigmas_are_the_originals(data: dict[str, Tensor]) -> None:
    assert torch.equal(torch.tensor(DISTILLED_STAGE_1_SIGMAS), data["distilled"])
    assert torch.equal(torch.tensor(DISTILLED_STAGE_2_SIGMAS), data["stage2"])


def test_lengths_in_latents_are_the_originals(data: dict[str, Tensor]) -> None:
    for frames, fps, latent_frames, audio_latents in data["frames_fps_latentframes_audiolatents"].tolist():
        clip = ClipFormat(64, 64, int(frames), parse_fps(round(fps, 3)))
        assert (clip.latent_grid.frames, clip.num_audio_latents) == (latent_frames, audio_latents)


def test_positions_are_the_originals(data: dict[str, Tensor], assert_close_to_golden: Callable[..., None]) -> None:
    clip = ClipFormat(64, 96, 25, Fraction(24))
    assert_close_to_golden(video_positions(clip), data["positions.video.25f_64x96_24fps"], 1e-6)
    assert_close_to_golden(audio_positions(clip.num_audio_latents), data["positions.audio.25f_24fps"], 1e-6)


def test_an_euler_step_is_the_originals(data: dict[str, Tensor], assert_close_to_golden: Callable[..., None]) -> None:
    sigma, next_sigma, _ = data["steps.sigmas"].tolist()
    assert_close_to_golden(euler_step(data["steps.x"], data["steps.x0"], sigma, next_sigma), data["steps.euler"], 1e-6)


@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 4))
def test_tokens_turn_back_into_the_latent(frames: int, height: int, width: int) -> None:
    grid = ClipFormat(height * 32, width * 32, frames * 8 - 7, Fraction(24)).latent_grid
    video = torch.randn(1, 5, frames, height, width)
    assert torch.equal(tokens_to_video(video_to_tokens(video), grid), video)
    audio = torch.randn(1, 8, frames * height, 16)
    assert torch.equal(tokens_to_audio(audio_to_tokens(audio)), audio)


@given(st.floats(0, 60), st.sampled_from(["24", "25", "23.976", "30000/1001", "60"]))
def test_snapped_lengths_can_be_made_and_are_nearest(duration_s: float, fps_text: str) -> None:
    fps = parse_fps(fps_text)
    num_frames = snap_num_frames(duration_s, fps)
    check_clip_format(ClipFormat(64, 64, num_frames, fps))
    wanted = duration_s * float(fps)
    assert abs(num_frames - wanted) <= 4 + 1e-6 or num_frames == 9


@pytest.mark.parametrize(
    ("text", "fps"),
    [
        ("24", Fraction(24)),
        ("23.976", Fraction(24000, 1001)),
        ("23.98", Fraction(24000, 1001)),
        ("29.97", Fraction(30000, 1001)),
        ("24000/1001", Fraction(24000, 1001)),
        ("12.5", Fraction(25, 2)),
    ],
)
def test_frame_rates_are_exact(text: str, fps: Fraction) -> None:
    assert parse_fps(text) == fps


@pytest.mark.parametrize("text", ["", "fast", "0", "-24", "1/0", "1000", "nan", "inf"])
def test_what_is_no_frame_rate_is_refused(text: str) -> None:
    with pytest.raises(JobRefusedError):
        parse_fps(text)


@pytest.mark.parametrize(
    ("clip", "words"),
    [
        (
            ClipFormat(100, 64, 9, Fraction(24)),
            "height of 100 pixels cannot be made. It must be a multiple of 64: 64 or 128",
        ),
        (ClipFormat(64, 0, 9, Fraction(24)), "width of 0 pixels"),
        (
            ClipFormat(64, 64, 24, Fraction(24)),
            "24 frames cannot be made. The count must be 8 times a whole number, plus 1: 17 or 25",
        ),
        (ClipFormat(64, 64, 1, Fraction(24)), "9 would do"),
    ],
)
def test_formats_that_cannot_be_are_refused_with_what_would_do(clip: ClipFormat, words: str) -> None:
    with pytest.raises(JobRefusedError, match=words.replace(".", r"\.")):
        check_clip_format(clip)
