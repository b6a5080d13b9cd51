"""Exports in the helper: what is left of one that its process does not wait for."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from podium.geometry import ClipFormat
from podium.helper.exports import ExportDesk
from podium.helper.requests import ExportClip
from podium.media.errors import MediaError
from podium.media.export_kinds import ExportKind
from podium.media.part_files import PartFile
from podium.media.picture_sequence import PartFolder
from podium.media.video_writer import ClipWriter

CLIP = ClipFormat(64, 64, 9, Fraction(24))


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clips") / "clip.mp4"
    with ClipWriter(path, CLIP, sample_rate_hz=None, parameters=None) as writer:
        writer.add_frames(np.zeros((CLIP.num_frames, CLIP.height, CLIP.width, 3), np.uint8))
    return path


class Drive:
    """A drive that takes its time over what is written."""

    def __init__(self) -> None:
        self.is_reached = threading.Event()
        self.answers = threading.Event()

    def wait(self) -> None:
        self.is_reached.set()
        assert self.answers.wait(10)


@pytest.fixture
def drive(monkeypatch: pytest.MonkeyPatch) -> Iterator[Drive]:
    drive = Drive()
    monkeypatch.setattr(PartFile, "sync", lambda _: drive.wait())
    monkeypatch.setattr(PartFolder, "publish", lambda _: drive.wait())
    yield drive
    drive.answers.set()


@pytest.mark.parametrize("kind", [ExportKind.GIF, ExportKind.PICTURES])
def test_of_an_export_that_waits_for_the_drive_nothing_is_left(
    clip: Path, tmp_path: Path, drive: Drive, kind: ExportKind
) -> None:
    desk = ExportDesk()
    ends: list[object] = []

    def export() -> None:
        try:
            ends.append(desk.export(ExportClip(1, clip, tmp_path / f"a{kind.suffix}", kind)))
        except MediaError as error:
            ends.append(error)

    thread = threading.Thread(target=export)
    thread.start()
    assert drive.is_reached.wait(10)
    assert len(list(tmp_path.iterdir())) == 1
    desk.close(0.01)
    assert list(tmp_path.iterdir()) == []
    drive.answers.set()
    thread.join()
    assert len(ends) == 1
