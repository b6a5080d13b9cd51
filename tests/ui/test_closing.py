"""The window closes with a clip at work: what happens until the artist has said what becomes of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from podium.ui.state.session import SessionState
from podium.ui.state.values import EntryStatus
from podium.ui.theme import apply_theme
from podium.ui.views.dialogs import CloseDialog
from podium.ui.views.main_window import MainWindow
from podium.ui.views.widgets.elided_label import ElidedLabel

from tests.fakes.ui import FakeControls, FakeHelper, finish, make_ready, run_next

World = tuple[SessionState, FakeHelper, FakeControls]


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


def ask(window: MainWindow) -> CloseDialog:
    """Close the window and return what it asks."""
    assert not window.close()
    return next(dialog for dialog in window.findChildren(CloseDialog) if dialog.isVisible())


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
    assert "Podium closes once this clip is finished." in window.statusBar().findChild(ElidedLabel).text()
    ask(window).stay.click()
    assert "closes" not in window.statusBar().findChild(ElidedLabel).text()
    with qtbot.assertNotEmitted(session.close_wanted):
        finish(session, key)
    assert window.isVisible()
    assert statuses(session) == [EntryStatus.RUNNING]
