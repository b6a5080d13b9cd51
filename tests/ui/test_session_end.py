"""A desktop of GNOME's kind ends its session: it is told of the clip at work, and waits until the window is closed."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from podium.helper.requests import ExportClip
from podium.media.export_kinds import ExportKind
from podium.ui.desktop_bus import BusAddresses, DesktopBus
from podium.ui.session_end import SessionEnd
from podium.ui.sleep_inhibitor import SleepInhibitor
from podium.ui.state.session import SessionState
from podium.ui.views.main_window import MainWindow

from tests.fakes.desktop import SESSIONS, FakeDesktop, open_desktop
from tests.fakes.processes import wait_until
from tests.fakes.ui import FakeControls, FakeHelper, finish, make_ready, run_next

LONG_MS = 20_000
ANSWER = "ClientPrivate.EndSessionResponse"

World = tuple[SessionState, FakeHelper, FakeControls]


@pytest.fixture
def desktop(tmp_path: Path) -> Iterator[FakeDesktop]:
    with open_desktop(tmp_path, SESSIONS) as services:
        services.play_sessions()
        yield services


def test_the_desktop_knows_of_the_window_before_anything_else_is_said(bus: DesktopBus, desktop: FakeDesktop) -> None:
    assert desktop.named("SessionManager.RegisterClient") == [("podium", "")]


def test_a_clip_at_work_speaks_against_the_end_until_it_is_done(
    world: World, bus: DesktopBus, desktop: FakeDesktop, qtbot: QtBot
) -> None:
    session, helper, _ = world
    inhibitor = SleepInhibitor(session.job, session.exports, bus)
    make_ready(session, helper, prompt="a lighthouse")
    session.generate()
    desktop.tell_client("QueryEndSession", 0)
    qtbot.waitUntil(lambda: len(desktop.named(ANSWER)) == 1, timeout=LONG_MS)
    finish(session, run_next(session, helper))
    desktop.tell_client("CancelEndSession")
    desktop.tell_client("QueryEndSession", 0)
    qtbot.waitUntil(lambda: len(desktop.named(ANSWER)) == 2, timeout=LONG_MS)
    assert desktop.named(ANSWER) == [(False, "A clip is being made"), (True, "")]
    inhibitor.deleteLater()


def test_an_export_at_work_speaks_against_the_end_in_words_of_its_own(
    world: World, bus: DesktopBus, desktop: FakeDesktop, qtbot: QtBot
) -> None:
    session, helper, _ = world
    inhibitor = SleepInhibitor(session.job, session.exports, bus)
    session.exports.export(Path("/clips/a.mp4"), Path("/masters/a.mov"), ExportKind.PRORES_422_HQ)
    desktop.tell_client("QueryEndSession", 0)
    qtbot.waitUntil(lambda: len(desktop.named(ANSWER)) == 1, timeout=LONG_MS)
    helper.answer(ExportClip, Path("/masters/a.mov"))
    desktop.tell_client("QueryEndSession", 0)
    qtbot.waitUntil(lambda: len(desktop.named(ANSWER)) == 2, timeout=LONG_MS)
    assert desktop.named(ANSWER) == [(False, "A clip is being exported"), (True, "")]
    inhibitor.deleteLater()


@pytest.mark.parametrize("word", ["EndSession", "Stop"])
def test_the_desktop_waits_for_the_window_and_is_told_when_it_is_gone(
    bus: DesktopBus, desktop: FakeDesktop, qtbot: QtBot, word: str
) -> None:
    with qtbot.waitSignal(bus.session_ending, timeout=LONG_MS):
        desktop.tell_client(word, *([0] if word == "EndSession" else []))
    assert desktop.named(ANSWER) == []
    bus.close()
    # A desktop waits for longer than closing may take.
    assert wait_until(lambda: desktop.named(ANSWER) == [(True, "")], LONG_MS / 1000)


def test_an_end_that_comes_with_the_answer_to_our_answer_is_heard(
    bus: DesktopBus, desktop: FakeDesktop, qtbot: QtBot
) -> None:
    def answer_late(_arguments: object) -> tuple[str, tuple[object, ...]]:
        desktop.tell_client("EndSession", 0)
        return "", ()

    desktop.answers[ANSWER] = answer_late
    with qtbot.waitSignal(bus.session_ending, timeout=LONG_MS):
        desktop.tell_client("QueryEndSession", 0)


def test_the_window_ends_with_the_session_whatever_is_at_work(
    world: World,
    bus: DesktopBus,
    desktop: FakeDesktop,
    qapp: QApplication,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    codes: list[int] = []
    # The tests share an application, of which no loop would turn any more.
    monkeypatch.setattr(qapp, "exit", codes.append)
    session, helper, _ = world
    make_ready(session, helper, prompt="a lighthouse")
    widget = MainWindow(session)
    end = SessionEnd(qapp, session, widget, bus)
    session.generate()
    assert not widget.may_close
    desktop.tell_client("EndSession", 0)
    qtbot.waitUntil(lambda: codes == [0], timeout=LONG_MS)
    assert widget.may_close
    end.deleteLater()
    widget.close()
    widget.deleteLater()


def test_where_nobody_asks_the_log_says_so(
    tmp_path: Path, qapp: QApplication, qtbot: QtBot, caplog: pytest.LogCaptureFixture
) -> None:
    with open_desktop(tmp_path) as desktop, caplog.at_level(logging.DEBUG):
        talk = DesktopBus(BusAddresses(desktop.address, "unix:path=/nowhere"))
        with qtbot.waitSignal(talk.motion_told, timeout=LONG_MS):
            talk.open()
        talk.close()
    assert "Nobody here asks before the session ends" in caplog.text
