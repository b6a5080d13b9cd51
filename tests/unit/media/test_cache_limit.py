"""The limit on what may be made again."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from podium.media.cache_limit import CacheLimit, note_use


def write(path: Path, num_bytes: int, used_ns: int) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(num_bytes))
    os.utime(path, ns=(used_ns, used_ns))
    return path


def test_below_the_limit_nothing_goes(tmp_path: Path) -> None:
    kept = write(tmp_path / "a", 100, 1)
    assert CacheLimit((tmp_path, tmp_path / "not there"), 100).keep() == 0
    assert kept.exists()


def test_the_longest_unused_go_first_in_whichever_folder_they_lie(tmp_path: Path) -> None:
    first = write(tmp_path / "thumbnails" / "x" / "a", 50, 1)
    second = write(tmp_path / "drafts" / "b", 50, 2)
    third = write(tmp_path / "thumbnails" / "c", 50, 3)
    note_use(first)
    assert CacheLimit((tmp_path / "thumbnails", tmp_path / "drafts"), 120).keep() == 50
    assert (first.exists(), second.exists(), third.exists()) == (True, False, True)


def test_what_is_kept_stays_and_does_not_count(tmp_path: Path) -> None:
    kept = write(tmp_path / "kept", 500, 1)
    first, second = write(tmp_path / "a", 60, 2), write(tmp_path / "b", 60, 3)
    assert CacheLimit((tmp_path,), 100, {kept}).keep() == 60
    assert (kept.exists(), first.exists(), second.exists()) == (True, False, True)


def test_what_is_young_stays_even_where_there_is_too_much(tmp_path: Path) -> None:
    old, young = write(tmp_path / "old", 60, 1), write(tmp_path / "young", 600, 2)
    note_use(young)
    CacheLimit((tmp_path,), 100, min_age_s=3600).keep()
    assert (old.exists(), young.exists()) == (False, True)


def test_what_is_being_written_stays(tmp_path: Path) -> None:
    part = write(tmp_path / ".part", 500, 1)
    CacheLimit((tmp_path,), 10).keep()
    assert part.exists()


@settings(max_examples=15)
@given(sizes=st.lists(st.integers(0, 100), max_size=8), max_bytes=st.integers(0, 300))
def test_afterwards_all_fit(tmp_path: Path, sizes: list[int], max_bytes: int) -> None:
    for old in tmp_path.iterdir():
        old.unlink()
    for number, num_bytes in enumerate(sizes):
        write(tmp_path / str(number), num_bytes, number)
    freed_bytes = CacheLimit((tmp_path,), max_bytes).keep()
    left_bytes = sum(path.stat().st_size for path in tmp_path.iterdir())
    assert left_bytes <= max_bytes
    assert left_bytes + freed_bytes == sum(sizes)
