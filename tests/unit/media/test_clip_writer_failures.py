"""What a writer refuses, and that nothing is left when it fails."""

from __future__ import annotations

import errno
import json
import os
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from podium.geometry import ClipFormat
from podium.media.clip_reader import read_clip_info
from podium.media.errors import MediaError
from podium.media.part_files import PartFile, remove_abandoned_parts
from podium.media.video_writer import ClipWriter, check_output, remove_unfinished

from tests.unit.media.clips import FAST, clip_format, grey_frames, model_sound, write_clip


class Stopped(Exception):
    """What stops a job in these tests."""


@pytest.mark.parametrize("num_frames", [0, 4, 9])
def test_an_exception_in_the_middle_leaves_nothing(tmp_path: Path, num_frames: int) -> None:
    clip = clip_format()

    def write_and_stop() -> None:
        with ClipWriter(tmp_path / "clip.mp4", clip, sample_rate_hz=48_000, parameters={}, encoding=FAST) as writer:
            writer.add_sound(model_sound(clip, 48_000))
            writer.add_frames(grey_frames(clip)[:num_frames])
            assert any(tmp_path.iterdir())
            raise Stopped

    with pytest.raises(Stopped):
        write_and_stop()
    assert list(tmp_path.iterdir()) == []


def test_missing_pictures_leave_nothing(tmp_path: Path) -> None:
    with (
        pytest.raises(ValueError, match="4 pictures came of 9"),
        ClipWriter(tmp_path / "clip.mp4", clip_format(), sample_rate_hz=None, parameters={}, encoding=FAST) as writer,
    ):
        writer.add_frames(grey_frames(clip_format())[:4])
    assert list(tmp_path.iterdir()) == []


def test_announced_sound_that_never_comes_leaves_nothing(tmp_path: Path) -> None:
    with (
        pytest.raises(ValueError, match="announced with sound"),
        ClipWriter(tmp_path / "clip.mp4", clip_format(), sample_rate_hz=48_000, parameters={}, encoding=FAST) as writer,
    ):
        writer.add_frames(grey_frames(clip_format()))
    assert list(tmp_path.iterdir()) == []


def test_sound_that_is_no_number_is_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(MediaError, match="no numbers"),
        ClipWriter(tmp_path / "clip.mp4", clip_format(), sample_rate_hz=48_000, parameters={}, encoding=FAST) as writer,
    ):
        writer.add_sound(np.array([[0, np.nan], [0, 0]], np.float32))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("failing_suffix", [".mp4", ".json"])
@pytest.mark.parametrize("before", [None, "old"])
def test_a_failed_rename_leaves_everything_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing_suffix: str, before: str | None
) -> None:
    if before:
        write_clip(tmp_path / "clip.mp4", clip_format(1))
    contents = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    real_replace = Path.replace

    def refuse(self: Path, target: Path) -> Path:
        # Refused once: what undoes the first rename must work.
        if target.suffix == failing_suffix:
            monkeypatch.setattr(Path, "replace", real_replace)
            raise OSError(errno.EIO, "the drive is gone")
        return real_replace(self, target)

    monkeypatch.setattr(Path, "replace", refuse)
    with (
        pytest.raises(MediaError, match=r"“clip\.mp4” could not be written"),
        ClipWriter(
            tmp_path / "clip.mp4", clip_format(), sample_rate_hz=None, parameters={"new": 1}, overwrite=True
        ) as writer,
    ):
        writer.add_frames(grey_frames(clip_format()))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == contents


@pytest.mark.parametrize("taken", ["clip.mp4", "clip.json"])
def test_a_name_that_is_taken_is_kept(tmp_path: Path, taken: str) -> None:
    (tmp_path / taken).write_text("mine")
    with (
        pytest.raises(MediaError, match=f"“{taken}” is in .* already and is kept"),
        ClipWriter(tmp_path / "clip.mp4", clip_format(), sample_rate_hz=None, parameters={}),
    ):
        pytest.fail("the writer opened")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(taken, "mine")]


def test_a_name_taken_meanwhile_is_kept(tmp_path: Path) -> None:
    writer = ClipWriter(tmp_path / "clip.mp4", clip_format(), sample_rate_hz=None, parameters={}, encoding=FAST)
    writer.__enter__()
    writer.add_frames(grey_frames(clip_format()))
    (tmp_path / "clip.mp4").write_text("mine")
    with pytest.raises(MediaError, match="already and is kept"):
        writer.__exit__(None, None, None)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("clip.mp4", "mine")]


def test_overwriting_replaces_clip_and_sidecar(tmp_path: Path) -> None:
    write_clip(tmp_path / "clip.mp4", clip_format(1))
    with ClipWriter(
        tmp_path / "clip.mp4", clip_format(9), sample_rate_hz=None, parameters={"take": 2}, overwrite=True
    ) as writer:
        writer.add_frames(grey_frames(clip_format()))
    assert read_clip_info(tmp_path / "clip.mp4").num_frames == 9
    assert json.loads((tmp_path / "clip.json").read_text()) == {"podium": 1, "take": 2}


def test_overwriting_keeps_a_json_that_is_not_podiums(tmp_path: Path) -> None:
    (tmp_path / "clip.json").write_text('{"shopping": ["milk"]}')
    with pytest.raises(MediaError, match=r"“clip\.json” .* no file of Podium's"):
        check_output(tmp_path / "clip.mp4", overwrite=True)


@pytest.mark.parametrize("room_bytes", [0, 1_000, 5_000, 20_000])
def test_a_disk_that_fills_up_is_said_and_leaves_nothing(tmp_path: Path, room_bytes: int) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (9, 64, 64, 3)).astype(np.uint8)

    def write() -> None:
        with ClipWriter(tmp_path / "a.mp4", clip_format(), sample_rate_hz=48_000, parameters={}) as writer:
            writer.add_sound(model_sound(clip_format(), 48_000))
            writer.add_frames(noise)

    with pytest.raises(MediaError, match="there is no room left") as caught, _room_for_files_of(room_bytes):
        write()
    assert "File too large" in caught.value.details
    assert list(tmp_path.iterdir()) == []


@contextmanager
def _room_for_files_of(num_bytes: int) -> Iterator[None]:
    """Let no file of this process grow further: the system refuses in the middle of writing, as a full disk does."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (num_bytes, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_disk_without_room_for_the_sidecar_leaves_no_clip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def refuse(self: object, data: bytes) -> None:
        raise OSError(code, "no room")

    writer = ClipWriter(tmp_path / "clip.mp4", clip_format(), sample_rate_hz=None, parameters={}, encoding=FAST)
    writer.__enter__()
    writer.add_frames(grey_frames(clip_format()))
    monkeypatch.setattr("podium.media.part_files.PartFile.write_bytes", refuse)
    with pytest.raises(MediaError, match="there is no room left"):
        writer.__exit__(None, None, None)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("lost", ["the end", "everything", "a picture"])
def test_a_clip_that_does_not_read_back_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: str) -> None:
    writer = ClipWriter(tmp_path / "clip.mp4", clip_format(), sample_rate_hz=None, parameters={}, encoding=FAST)
    real_finish, real_add = writer._muxer.finish, writer._muxer.add_picture
    added: list[int] = []

    def finish_and_lose() -> None:
        real_finish()
        data = writer._part.path.read_bytes()
        writer._part.path.write_bytes(data[: data.index(b"moov")] if lost == "the end" else b"")

    def add_all_but_one(rgb: NDArray[np.uint8]) -> None:
        added.append(1)
        if len(added) != 5:
            real_add(rgb)

    if lost == "a picture":
        monkeypatch.setattr(writer._muxer, "add_picture", add_all_but_one)
    else:
        monkeypatch.setattr(writer._muxer, "finish", finish_and_lose)
    writer.__enter__()
    writer.add_frames(grey_frames(clip_format()))
    with pytest.raises(MediaError, match="did not read back"):
        writer.__exit__(None, None, None)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_may_not_be_written_is_refused() -> None:
    # The one folder that refuses root as well, on any Linux.
    with pytest.raises(MediaError, match="could not be written to “/proc”"):
        check_output(Path("/proc/clip.mp4"))


def test_a_read_only_folder_is_refused_with_what_would_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr("podium.media.part_files.os.open", refuse)
    with pytest.raises(MediaError, match=r"may not be written to\. Choose another folder"):
        check_output(tmp_path / "clip.mp4")


@pytest.mark.parametrize("parent", ["missing", "a file"])
def test_a_folder_that_is_none_is_refused(tmp_path: Path, parent: str) -> None:
    (tmp_path / "a file").touch()
    with pytest.raises(MediaError, match="no folder that can be reached"):
        check_output(tmp_path / parent / "clip.mp4")
    assert [path.name for path in tmp_path.iterdir()] == ["a file"]


def test_a_name_without_mp4_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MediaError, match=r"does not end in \.mp4"):
        check_output(tmp_path / "clip.mov")


def test_a_name_of_a_folder_is_refused_even_when_overwriting(tmp_path: Path) -> None:
    (tmp_path / "clip.mp4").mkdir()
    with pytest.raises(MediaError, match="is a folder"):
        check_output(tmp_path / "clip.mp4", overwrite=True)


def test_checking_a_place_leaves_nothing_there(tmp_path: Path) -> None:
    check_output(tmp_path / "clip.mp4")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("clip", "sample_rate_hz", "reason"),
    [
        (ClipFormat(63, 64, 9, Fraction(24)), None, "sides must be even"),
        (ClipFormat(64, 0, 9, Fraction(24)), None, "sides must be even"),
        (ClipFormat(64, 64, 0, Fraction(24)), None, "at least one picture"),
        (ClipFormat(64, 64, 9, Fraction(24)), 44_000, "AAC carries no sound of 44000 Hz"),
    ],
)
def test_a_format_that_cannot_be_stored_is_refused(
    tmp_path: Path, clip: ClipFormat, sample_rate_hz: int | None, reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        ClipWriter(tmp_path / "clip.mp4", clip, sample_rate_hz=sample_rate_hz, parameters={})


def test_a_rate_that_an_mp4_cannot_hold_exactly_is_refused_with_the_nearest(tmp_path: Path) -> None:
    clip = ClipFormat(64, 64, 9, Fraction(23.976))
    with pytest.raises(MediaError, match="2997/125 would do"):
        ClipWriter(tmp_path / "clip.mp4", clip, sample_rate_hz=None, parameters={})


@pytest.mark.parametrize(
    "rgb",
    [
        np.zeros((64, 64, 4), np.uint8),
        np.zeros((64, 64), np.uint8),
        np.zeros((64, 64, 3), np.float32),
        np.zeros((32, 64, 3), np.uint8),
        np.zeros((10, 64, 64, 3), np.uint8),
    ],
)
def test_pictures_of_another_shape_type_or_number_are_refused(tmp_path: Path, rgb: NDArray[np.uint8]) -> None:
    with (
        pytest.raises(ValueError, match="pictures"),
        ClipWriter(tmp_path / "clip.mp4", clip_format(), sample_rate_hz=None, parameters={}, encoding=FAST) as writer,
    ):
        writer.add_frames(rgb)


def test_what_a_killed_writer_left_is_removed_and_what_is_being_written_stays(tmp_path: Path) -> None:
    left = PartFile(tmp_path / "lost.mp4")
    left.open()
    assert left._fd is not None
    # What the system does for a killed process: the file is closed, its lock dropped, and it stays.
    os.close(left._fd)
    assert remove_abandoned_parts(tmp_path) == 0, "it is too young to tell"
    with ClipWriter(tmp_path / "new.mp4", clip_format(), sample_rate_hz=None, parameters={}, encoding=FAST) as writer:
        hour_ago = time.time() - 3600
        for path in tmp_path.iterdir():
            os.utime(path, (hour_ago, hour_ago))
        assert remove_abandoned_parts(tmp_path) == 1
        assert not left.path.exists()
        writer.add_frames(grey_frames(clip_format()))
    assert read_clip_info(tmp_path / "new.mp4").num_frames == 9


def test_opening_a_writer_clears_what_a_killed_one_left(tmp_path: Path) -> None:
    left = tmp_path / ".podium-0123456789abcdef.part"
    left.write_bytes(b"half a clip")
    os.utime(left, (time.time() - 3600,) * 2)
    write_clip(tmp_path / "clip.mp4", clip_format(1))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["clip.json", "clip.mp4"]


def test_what_a_killed_writer_left_is_removed_and_what_others_write_is_kept(tmp_path: Path) -> None:
    target = tmp_path / "clip.mp4"
    killed = [PartFile(target), PartFile(target.with_suffix(".json"))]
    for part in killed:
        # As the system leaves it: the content there, the lock gone.
        part.path.write_bytes(b"half a clip")
    other = PartFile(tmp_path / "other.mp4")
    other.path.write_bytes(b"of another job, killed as well")
    with PartFile(target) as alive:
        remove_unfinished(target)
        assert {path.name for path in tmp_path.iterdir()} == {alive.path.name, other.path.name}
    remove_unfinished(tmp_path / "no such folder" / "clip.mp4")
