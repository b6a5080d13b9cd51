"""What the views' tests share: a dressed application, a world of fakes, and windows that are put away after."""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

# Before QtMultimedia loads: it would look for GPUs, and say at length what it did not find.
os.environ["QT_FFMPEG_DECODING_HW_DEVICE_TYPES"] = ","
os.environ["QT_FFMPEG_ENCODING_HW_DEVICE_TYPES"] = ","
os.environ["QT_LOGGING_RULES"] = "*.debug=false;qt.multimedia*=false"

import numpy as np
import pytest

from podium.geometry import ClipFormat
from podium.jobs import ClipFinished
from podium.ui.views.main_window import MainWindow

from tests.ui.views.scenery import evening
from tests.ui.views.scenes import Scene, World

SMALL_CLIP = ClipFormat(96, 160, 25, Fraction(24))


@pytest.fixture(autouse=True)
def _always_dressed(dressed: None) -> None:
    """Dress the application for every view."""


@pytest.fixture
def world(staged: World) -> World:
    """Return the window's states in a world of fakes."""
    return staged


@pytest.fixture
def open_window(show_scene: Callable[[Scene], MainWindow]) -> Callable[[Scene], MainWindow]:
    """Return a function that shows the window in a scene; it is closed after the test, whatever runs in it."""
    return show_scene


@pytest.fixture(scope="session")
def small_clip(tmp_path_factory: pytest.TempPathFactory) -> ClipFinished:
    """Return a clip of 25 frames with sound; frame k is grey at 16 + 9 k."""
    frames = [np.full((SMALL_CLIP.height, SMALL_CLIP.width, 3), 16 + 9 * k, np.uint8) for k in range(25)]
    return write_clip(tmp_path_factory.mktemp("clips") / "small.mp4", SMALL_CLIP, frames)


@pytest.fixture(scope="session")
def evening_clip(tmp_path_factory: pytest.TempPathFactory) -> ClipFinished:
    """Return a clip that is good to look at."""
    clip = ClipFormat(352, 608, 9, Fraction(24))
    frames = [evening(clip.width, clip.height, time=0.25 + k / 100) for k in range(clip.num_frames)]
    return write_clip(tmp_path_factory.mktemp("clips") / "evening.mp4", clip, frames)


def write_clip(path: Path, clip: ClipFormat, frames: list[np.ndarray]) -> ClipFinished:
    """Write a clip with a soft tone and return it as finished."""
    from podium.media.video_writer import ClipWriter

    times_s = np.arange(round(clip.duration_s * 48_000)) / 48_000
    tone = (0.1 * np.sin(2 * np.pi * 440 * times_s)).astype(np.float32)
    with ClipWriter(path, clip, sample_rate_hz=48_000, parameters=None) as writer:
        writer.add_frames(np.stack(frames))
        writer.add_sound(np.stack([tone, tone]))
    return ClipFinished(path, path.with_suffix(".json"), clip, 48_000, path.stat().st_size)
