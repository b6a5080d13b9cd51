"""Pictures are at hand around the one that is wanted, and no more of them than there is room for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from podium.geometry import ClipFormat
from podium.media.frame_cache import FrameCache

from tests.unit.media.clips import grey_frames, write_clip

CLIP = ClipFormat(64, 64, 57, Fraction(24))
PICTURE_BYTES = 64 * 64 * 3
PATIENCE_S = 10.0


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clips") / "clip.mp4"
    write_clip(path, CLIP)
    return path


@pytest.fixture
def open_cache(clip: Path) -> Iterator[Callable[..., FrameCache]]:
    caches: list[FrameCache] = []

    def make(path: Path = clip, num_frames: int = CLIP.num_frames, **values: int) -> FrameCache:
        cache = FrameCache(path, num_frames, (CLIP.width, CLIP.height), **values)
        caches.append(cache)
        cache.start()
        return cache

    yield make
    for cache in caches:
        cache.close()
    assert until(lambda: not [t for t in threading.enumerate() if t.name.startswith("frames of")])


def until(is_so: Callable[[], object]) -> bool:
    deadline_s = time.monotonic() + PATIENCE_S
    while not is_so():
        if time.monotonic() > deadline_s:
            return False
        time.sleep(0.001)
    return True


def grey_of(cache: FrameCache, number: int) -> float:
    assert until(lambda: cache.get(number) is not None)
    picture = cache.get(number)
    assert picture is not None
    return float(picture.mean())


def wanted_grey(number: int) -> float:
    return float(grey_frames(CLIP)[number].mean())


def test_the_picture_that_is_wanted_comes(open_cache: Callable[..., FrameCache]) -> None:
    cache = open_cache()
    for number in (0, 30, 3, 56, 25, 24):
        assert grey_of(cache, number) == pytest.approx(wanted_grey(number), abs=3)


def test_a_small_cache_follows_wherever_it_is_asked_for(open_cache: Callable[..., FrameCache]) -> None:
    cache = open_cache(limit_bytes=10 * PICTURE_BYTES)
    assert cache.capacity == 10
    for number in (50, 2, 55, 0):
        assert grey_of(cache, number) == pytest.approx(wanted_grey(number), abs=3)
    # On from the picture, and a little behind it, over the clip's end.
    assert until(lambda: set(cache._pictures) == {56, *range(9)})


def test_what_is_kept_never_exceeds_the_limit(open_cache: Callable[..., FrameCache]) -> None:
    cache = open_cache(limit_bytes=9 * PICTURE_BYTES)
    sizes = []
    for number in range(0, CLIP.num_frames, 5):
        assert until(lambda wanted=number: cache.get(wanted) is not None)
        sizes.append(len(cache._pictures))
    assert max(sizes) <= 9


def test_a_clip_that_fits_is_read_once_and_stays(open_cache: Callable[..., FrameCache]) -> None:
    cache = open_cache()
    assert until(lambda: len(cache._pictures) == CLIP.num_frames)
    assert all(cache.get(number) is not None for number in range(CLIP.num_frames))


def test_pictures_are_as_small_as_asked_for(open_cache: Callable[..., FrameCache]) -> None:
    cache = open_cache(max_side_px=32)
    assert until(lambda: cache.get(0) is not None)
    picture = cache.get(0)
    assert picture is not None
    assert picture.shape == (32, 32, 3)
    assert picture.dtype == np.uint8


def test_a_clip_that_ends_too_early_says_so(open_cache: Callable[..., FrameCache]) -> None:
    cache = open_cache(num_frames=70)
    assert until(lambda: cache.error is not None)
    assert "picture 58" in str(cache.error)


def test_a_clip_that_is_not_there_says_so(open_cache: Callable[..., FrameCache], tmp_path: Path) -> None:
    cache = open_cache(path=tmp_path / "gone.mp4")
    assert until(lambda: cache.error is not None)
    assert cache.get(0) is None
