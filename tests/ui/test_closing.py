"""The window closes with a clip or an export at work: what happens until the artist has said what becomes of it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from podium.geometry import ClipFormat
from podium.helper.requests import CancelExport, ExportClip
from podium.media.errors import MediaError
from podium.media.export_kinds import ExportCancelledError, ExportKind
from podium.media.mp4_muxer import VideoEncoding
from podium.media.video_writer import ClipWriter
from podium.ui.app import PodiumWindow, WindowPlaces
from podium.ui.desktop_bus import BusAddresses
from podium.ui.state.session import SessionState
from podium.ui.state.values import EntryStatus
from podium.ui.theme import apply_theme
from podium.ui.views.dialogs import CloseDialog
from podium.ui.views.main_window import MainWindow
from podium.ui.views.widgets.elided_label import ElidedLabel

from tests.fakes.owner import WatchedMaker
from tests.fakes.ui import FakeControls, FakeHelper, finish, make_ready, run_next

World = tuple[SessionState, FakeHelper, FakeControls]
LONG_MS = 30_000
NO_BUS = BusAddresses("unix:path=/nowhere/session", "unix:path=/nowhere/system")
SOURCE, TARGET = Path("/clips/evening.mp4"), Path("/masters/evening.mov")


@pytest.fixture
def window(world: World, qapp: QApplication) -> Iterator[MainWindow]:
    """Return a window with one clip at work and one that waits."""
    session, helper, _ = world
    apply_theme(qapp, "dark")
    make_ready(session, helper, prompt="one")
    widget = MainWindow(session)
    widget.show()
    session.generate(num_seeds=2)
    yield widget
    widget.allow_closing()
    widget.close()
    widget.deleteLater()


@pytest.fixture
def idle_window(world: World, qapp: QApplication) -> Iterator[MainWindow]:
    """Return a window in which nothing is at work."""
    apply_theme(qapp, "dark")
    widget = MainWindow(world[0])
    widget.show_workspace()
    widget.show()
    yield widget
    widget.allow_closing()
    widget.close()
    widget.deleteLater()


def ask(window: MainWindow) -> CloseDialog:
    """Close the window and return what it asks."""
    assert not window.close()
    return next(dialog for dialog in window.findChildren(CloseDialog) if dialog.isVisible())


def export(session: SessionState) -> None:
    session.exports.export(SOURCE, TARGET, ExportKind.PRORES_422_HQ)


def status_line(window: MainWindow) -> str:
    return window.statusBar().findChild(ElidedLabel).text()


def statuses(session: SessionState) -> list[EntryStatus]:
    return [entry.status for entry in session.queue.entries]


@pytest.mark.parametrize("answer", ["stay", "escape"])
def test_no_clip_is_begun_until_the_artist_stays(window: MainWindow, world: World, answer: str) -> None:
    session, helper, _ = world
    key = run_next(session, helper)
    dialog = ask(window)
    finish(session, key)
    assert statuses(session) == [EntryStatus.PENDING]
    if answer == "stay":
        dialog.stay.click()
    else:
        dialog.reject()
    assert statuses(session) == [EntryStatus.RUNNING]
    assert window.isVisible()


def test_a_clip_that_ended_meanwhile_is_the_one_that_was_to_be_finished(window: MainWindow, world: World) -> None:
    session, helper, _ = world
    key = run_next(session, helper)
    dialog = ask(window)
    finish(session, key)
    dialog.finish.click()
    assert not window.isVisible()
    assert statuses(session) == [EntryStatus.PENDING]


def test_who_wanted_to_finish_can_stay_after_all(window: MainWindow, world: World, qtbot: QtBot) -> None:
    session, helper, _ = world
    key = run_next(session, helper)
    ask(window).finish.click()
    assert "Podium closes once this clip is finished." in status_line(window)
    ask(window).stay.click()
    assert "closes" not in status_line(window)
    with qtbot.assertNotEmitted(session.close_wanted):
        finish(session, key)
    assert window.isVisible()
    assert statuses(session) == [EntryStatus.RUNNING]


def shown_words(dialog: CloseDialog) -> str:
    return " ".join(label.text() for label in dialog.findChildren(QLabel))


def test_an_export_at_work_is_asked_about_in_words_of_its_own(idle_window: MainWindow, world: World) -> None:
    export(world[0])
    dialog = ask(idle_window)
    assert "A clip is being exported" in shown_words(dialog)
    assert dialog.finish.text() == "Finish the export"


def test_a_clip_and_an_export_are_asked_about_together(window: MainWindow, world: World) -> None:
    session, helper, _ = world
    run_next(session, helper)
    session.exports.export(SOURCE, TARGET, ExportKind.PRORES_422_HQ)
    dialog = ask(window)
    assert "A clip is being made, and one is being exported" in shown_words(dialog)
    assert dialog.finish.text() == "Finish both"


def test_an_export_that_is_finished_first_closes_the_window(idle_window: MainWindow, world: World) -> None:
    session, helper, _ = world
    export(session)
    ask(idle_window).finish.click()
    assert idle_window.isVisible()
    assert "Exporting “evening.mov”, 0%. Podium closes once this is done." in status_line(idle_window)
    assert helper.requests(CancelExport) == []
    helper.answer(ExportClip, TARGET)
    assert not idle_window.isVisible()


@pytest.mark.parametrize("first", ["clip", "export"])
def test_of_a_clip_and_an_export_the_window_waits_for_both(window: MainWindow, world: World, first: str) -> None:
    session, helper, _ = world
    key = run_next(session, helper)
    session.exports.export(SOURCE, TARGET, ExportKind.PRORES_422_HQ)
    ask(window).finish.click()
    if first == "clip":
        finish(session, key)
        assert window.isVisible()
        helper.answer(ExportClip, TARGET)
    else:
        helper.answer(ExportClip, TARGET)
        assert window.isVisible()
        finish(session, key)
    assert not window.isVisible()


def test_an_export_that_ended_before_the_answer_is_the_one_that_was_to_be_finished(
    idle_window: MainWindow, world: World
) -> None:
    session, helper, _ = world
    export(session)
    dialog = ask(idle_window)
    helper.answer(ExportClip, TARGET)
    assert idle_window.isVisible()
    dialog.finish.click()
    assert not idle_window.isVisible()


def test_an_export_that_is_stopped_closes_the_window_at_once(idle_window: MainWindow, world: World) -> None:
    export(world[0])
    ask(idle_window).stop.click()
    assert not idle_window.isVisible()


@pytest.mark.parametrize("answer", ["stay", "escape"])
def test_who_stays_keeps_the_export(idle_window: MainWindow, world: World, answer: str) -> None:
    session, helper, _ = world
    export(session)
    dialog = ask(idle_window)
    if answer == "stay":
        dialog.stay.click()
    else:
        dialog.reject()
    helper.answer(ExportClip, TARGET)
    assert idle_window.isVisible()
    assert session.exports.written == TARGET


def test_one_that_is_cancelled_after_all_closes_the_window_too(idle_window: MainWindow, world: World) -> None:
    session, helper, _ = world
    export(session)
    ask(idle_window).finish.click()
    session.exports.cancel()
    helper.answer(ExportClip, error=ExportCancelledError("It was cancelled."))
    assert not idle_window.isVisible()


@pytest.mark.parametrize("is_answered", [True, False], ids=["after the answer", "before the answer"])
def test_an_export_that_fails_keeps_the_window_and_says_why(
    idle_window: MainWindow, world: World, qtbot: QtBot, is_answered: bool
) -> None:
    session, helper, _ = world
    export(session)
    dialog = ask(idle_window)
    if is_answered:
        dialog.finish.click()
    with qtbot.assertNotEmitted(session.close_wanted):
        helper.answer(ExportClip, error=MediaError("There is no room left."))
    assert idle_window.isVisible()
    assert not any(asked.isVisible() for asked in idle_window.findChildren(CloseDialog))
    assert idle_window.notice.isVisible()
    assert session.closes_when_done is False
    assert idle_window.close()


@pytest.fixture
def long_clip(tmp_path: Path) -> Path:
    """Return a clip whose export can be met at work."""
    path = tmp_path / "clip.mp4"
    clip = ClipFormat(512, 768, 241, Fraction(24))
    noise = np.random.default_rng(3).integers(0, 255, (9, clip.height, clip.width, 3)).astype(np.uint8)
    fast = VideoEncoding(crf=40, preset="ultrafast", num_threads=1)
    with ClipWriter(path, clip, sample_rate_hz=None, parameters=None, encoding=fast) as writer:
        for number in range(clip.num_frames):
            writer.add_frames(noise[number % 9])
    return path


@pytest.mark.parametrize("end", ["the artist stops it", "a signal ends it"])
def test_of_an_export_that_closing_stopped_nothing_is_left(
    end: str, long_clip: Path, tmp_path: Path, qapp: QApplication, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes: list[int] = []
    # The tests share an application, of which no loop would turn any more.
    monkeypatch.setattr(qapp, "exit", codes.append)
    masters = tmp_path / "masters"
    masters.mkdir()
    places = WindowPlaces(tmp_path / "settings.toml", tmp_path / "cache", tmp_path / "clips", tmp_path / "logs")
    window = PodiumWindow(qapp, places, maker=WatchedMaker(tmp_path), buses=NO_BUS)
    window.open()
    assert window.widget is not None
    exports = window.session.exports
    exports.export(long_clip, masters / "clip.mov", ExportKind.PRORES_422_HQ)
    qtbot.waitUntil(lambda: exports.job is not None and exports.job.share > 0, timeout=LONG_MS)
    assert any(masters.iterdir())
    if end == "a signal ends it":
        os.kill(os.getpid(), signal.SIGTERM)
        qtbot.waitUntil(lambda: codes == [0], timeout=LONG_MS)
        assert not window.widget.findChildren(CloseDialog)
    else:
        ask(window.widget).stop.click()
        assert not window.widget.isVisible()
    assert exports.job is not None
    window.close()
    assert list(masters.iterdir()) == []
