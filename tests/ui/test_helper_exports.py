"""The helper process exports clips, tells how far it is, and leaves nothing of an export that is ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from podium.geometry import ClipFormat
from podium.helper.requests import Answer, CancelExport, ExportClip, GetExportShare, Request, SaveFrame
from podium.media.clip_reader import read_clip_info
from podium.media.export_kinds import ExportCancelledError, ExportKind
from podium.media.mp4_muxer import VideoEncoding
from podium.media.video_writer import ClipWriter
from podium.ui.helper_client import HelperClient

PATIENCE_MS = 30_000
# Long enough to be met at work.
LONG = ClipFormat(512, 768, 241, Fraction(24))


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clips") / "clip.mp4"
    noise = np.random.default_rng(3).integers(0, 255, (9, LONG.height, LONG.width, 3)).astype(np.uint8)
    fast = VideoEncoding(crf=40, preset="ultrafast", num_threads=1)
    with ClipWriter(path, LONG, sample_rate_hz=None, parameters=None, encoding=fast) as writer:
        for number in range(LONG.num_frames):
            writer.add_frames(noise[number % 9])
    return path


@pytest.fixture
def helper(qapp: object) -> Iterator[HelperClient]:
    client = HelperClient()
    yield client
    client.close()


@pytest.fixture
def ask(helper: HelperClient, qtbot: QtBot) -> Callable[[Request[Any]], Answer[Any]]:
    """Return a function that asks the helper and returns its answer."""

    def whole(request: Request[Any]) -> Answer[Any]:
        answers: list[Answer[Any]] = []
        helper.ask(request, answers.append)
        qtbot.waitUntil(lambda: bool(answers), timeout=PATIENCE_MS)
        return answers[0]

    return whole


def begun(helper: HelperClient, request: ExportClip, ask: Callable[[Request[Any]], Answer[Any]]) -> list[Answer[Any]]:
    """Begin an export, wait until some of it is done, and return the list that its answer goes to."""
    answers: list[Answer[Any]] = []
    helper.ask(request, answers.append)
    while not answers and not (ask(GetExportShare(request.number)).value or 0) > 0.01:
        pass
    assert not answers, "it was over too soon to be met at work"
    return answers


def test_an_export_is_watched_and_ended_while_it_is_at_work(
    helper: HelperClient, ask: Callable[[Request[Any]], Answer[Any]], clip: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    answers = begun(helper, ExportClip(1, clip, tmp_path / "a.mov", ExportKind.PRORES_422_HQ), ask)
    assert any(tmp_path.iterdir())
    assert ask(CancelExport(1)).value is True
    qtbot.waitUntil(lambda: bool(answers), timeout=PATIENCE_MS)
    assert isinstance(answers[0].error, ExportCancelledError)
    assert list(tmp_path.iterdir()) == []
    assert ask(GetExportShare(1)).value == 0


def test_an_export_that_waits_is_cancelled_before_it_begins(
    helper: HelperClient, ask: Callable[[Request[Any]], Answer[Any]], clip: Path, tmp_path: Path
) -> None:
    assert ask(CancelExport(5)).value is True
    answer = ask(ExportClip(5, clip, tmp_path / "a.mov", ExportKind.PRORES_422_HQ))
    assert isinstance(answer.error, ExportCancelledError)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", [ExportKind.PRORES_422_HQ, ExportKind.PICTURES])
def test_a_window_that_goes_leaves_no_half_of_an_export(
    helper: HelperClient, ask: Callable[[Request[Any]], Answer[Any]], clip: Path, tmp_path: Path, kind: ExportKind
) -> None:
    begun(helper, ExportClip(1, clip, tmp_path / f"a{kind.suffix}", kind), ask)
    helper.close()
    assert list(tmp_path.iterdir()) == []


def test_a_short_clip_is_exported_whole(ask: Callable[[Request[Any]], Answer[Any]], clip: Path, tmp_path: Path) -> None:
    target = tmp_path / "a.webp"
    assert ask(ExportClip(1, clip, target, ExportKind.WEBP, 64)).value == target
    assert target.stat().st_size > 0
    assert read_clip_info(clip).num_frames == LONG.num_frames


def test_a_frame_is_saved_and_its_folder_made(
    ask: Callable[[Request[Any]], Answer[Any]], clip: Path, tmp_path: Path
) -> None:
    target = tmp_path / "cache" / "frames" / "a.png"
    assert ask(SaveFrame(clip, 100, target)).value == target
    assert target.read_bytes().startswith(b"\x89PNG")
    answer = ask(SaveFrame(clip, 400, target))
    assert "no picture number 401" in str(answer.error)
