"""The whole window: what its menus, its keys and its closing do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from PySide6.QtCore import QByteArray, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QDialog,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QScrollBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

from podium.helper.requests import CheckRequest
from podium.ui.state.values import CancelPhase, JobPhase
from podium.ui.views.dialogs import CloseDialog
from podium.ui.views.main_window import MainWindow

from tests.ui.views import scenes
from tests.ui.views.scenes import Scene, World

Open = Callable[[Scene], MainWindow]
CONTROL = Qt.KeyboardModifier.ControlModifier
INTERACTIVE = (QAbstractButton, QAbstractSlider, QAbstractSpinBox, QComboBox, QLineEdit, QPlainTextEdit)


def in_menus(menu: QWidget) -> list[QAction]:
    found = []
    for action in menu.actions():
        submenu = action.menu()
        found += in_menus(submenu) if isinstance(submenu, QMenu) else [] if action.isSeparator() else [action]
    return found


def test_every_action_is_in_a_menu_and_has_its_own_letter_there(open_window: Open) -> None:
    window = open_window(scenes.composed)
    assert set(in_menus(window.menuBar())) == set(window.menu_actions.all())
    for menu in window.menuBar().findChildren(QMenu):
        letters = Counter(
            action.text()[action.text().index("&") + 1].lower() for action in menu.actions() if "&" in action.text()
        )
        assert not [letter for letter, count in letters.items() if count > 1], menu.title()
        assert not [action.text() for action in menu.actions() if action.text() and "&" not in action.text()]


def test_no_two_actions_share_keys(open_window: Open) -> None:
    window = open_window(scenes.composed)
    keys = Counter(a.shortcut().toString() for a in window.menu_actions.all() if not a.shortcut().isEmpty())
    assert not [key for key, count in keys.items() if count > 1]


@pytest.mark.parametrize("scene", [scenes.empty, scenes.composed, scenes.running, scenes.failed])
def test_everything_that_can_be_used_has_a_name(open_window: Open, scene: Scene) -> None:
    window = open_window(scene)
    used = [w for w in window.findChildren(QWidget) if isinstance(w, INTERACTIVE) and w.isVisible()]
    used = [w for w in used if not isinstance(w, QScrollBar) and w.objectName() != "qt_spinbox_lineedit"]
    nameless = [w for w in used if not (w.accessibleName() or getattr(w, "text", str)() or "")]
    assert not nameless
    assert len(used) > 10 or window.is_welcoming


def test_tab_leads_from_the_prompt_to_generate_in_the_order_of_the_form(open_window: Open, qtbot: QtBot) -> None:
    window = open_window(scenes.composed)
    compose = window.compose
    qtbot.waitUntil(lambda: window.focusWidget() is compose.prompt.editor)
    wanted = [
        *(compose.prompt.editor, compose.image.strength.slider, compose.format.aspect, compose.format.length.slider),
        *(compose.seed.field, compose.loras.add_button, compose.generate),
    ]
    met: list[QWidget] = []
    for _ in range(60):
        met.append(window.focusWidget())
        window.focusNextChild()
    places = [met.index(widget) for widget in wanted]
    assert places == sorted(places)


def test_the_first_run_leads_to_the_workspace(open_window: Open, world: World, qtbot: QtBot) -> None:
    window = open_window(scenes.empty)
    assert window.is_welcoming
    assert not window.welcome.start_button.isEnabled()
    scenes.ready(world)
    assert window.welcome.start_button.isEnabled()
    qtbot.mouseClick(window.welcome.start_button, Qt.MouseButton.LeftButton)
    assert not window.is_welcoming


def test_the_demo_is_one_press(open_window: Open, world: World, qtbot: QtBot) -> None:
    window = open_window(scenes.empty)
    qtbot.mouseClick(window.welcome.demo_button, Qt.MouseButton.LeftButton)
    assert world.session.pack.is_demo
    assert world.session.compose.prompt


def test_ctrl_return_generates_while_the_prompt_is_written(open_window: Open, world: World, qtbot: QtBot) -> None:
    window = open_window(scenes.composed)
    qtbot.keyClick(window.compose.prompt.editor, Qt.Key.Key_Return, CONTROL)
    assert world.session.job.phase is JobPhase.CHECKING
    assert len(world.helper.requests(CheckRequest)) == 1


def test_esc_asks_softly_and_never_forces(open_window: Open, world: World, qtbot: QtBot) -> None:
    window = open_window(scenes.running)
    key = world.session.job.key
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    world.session.job._force_timer.stop()
    world.session.job._offer_force()
    assert world.session.job.cancel_phase is CancelPhase.CAN_FORCE
    for _ in range(3):
        qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert world.controls.calls == [f"cancel {key}"]
    window.menu_actions.force_stop.trigger()
    assert world.controls.calls == [f"cancel {key}", "force_stop"]


def test_an_idle_window_closes_unasked(open_window: Open, qtbot: QtBot) -> None:
    window = open_window(scenes.composed)
    with qtbot.waitSignal(window.closing):
        assert window.close()


def the_dialog(window: MainWindow) -> CloseDialog:
    return next(dialog for dialog in window.findChildren(CloseDialog) if dialog.isVisible())


def test_closing_while_a_clip_is_made_asks_and_stays_by_default(open_window: Open, qtbot: QtBot) -> None:
    window = open_window(scenes.running)
    assert not window.close()
    qtbot.mouseClick(the_dialog(window).stay, Qt.MouseButton.LeftButton)
    assert window.isVisible()


def test_the_clip_can_be_finished_before_closing(open_window: Open, world: World, qtbot: QtBot) -> None:
    window = open_window(scenes.running)
    window.close()
    qtbot.mouseClick(the_dialog(window).finish, Qt.MouseButton.LeftButton)
    assert window.isVisible()
    with qtbot.waitSignal(window.closing):
        key = world.session.job.key
        assert key is not None
        world.session.apply(scenes.JobEnded(key, JobPhase.STOPPED))


def test_the_clip_can_be_stopped_by_closing(open_window: Open, qtbot: QtBot) -> None:
    window = open_window(scenes.running)
    window.close()
    with qtbot.waitSignal(window.closing):
        qtbot.mouseClick(the_dialog(window).stop, Qt.MouseButton.LeftButton)


def test_dialogs_open_beside_the_event_loop(open_window: Open) -> None:
    window = open_window(scenes.composed)
    actions = window.menu_actions
    for action in (actions.choose_model, actions.choose_devices, actions.shortcuts, actions.about):
        action.trigger()
        dialog = next(dialog for dialog in window.findChildren(QDialog) if dialog.isVisible())
        assert dialog.isModal()
        dialog.close()


def test_the_theme_is_asked_for_by_name(open_window: Open, qtbot: QtBot) -> None:
    window = open_window(scenes.composed)
    with qtbot.waitSignal(window.theme_requested) as asked:
        window.menu_actions.themes["light"].trigger()
    assert asked.args == ["light"]


def test_the_layout_is_kept(open_window: Open) -> None:
    window = open_window(scenes.composed)
    window._across.setSizes([500, 940])
    saved = window.save_layout()
    kept = window._across.sizes()
    window._across.setSizes([372, 1068])
    window.restore_layout(saved)
    assert window._across.sizes() == kept
    window.restore_layout(QByteArray(b"something else"))
    assert window._across.sizes() == kept


def test_the_status_line_says_how_things_stand(open_window: Open, world: World) -> None:
    window = open_window(scenes.running)
    assert window._status.text() == "Stage 2, step 2 of 3"
    key = world.session.job.key
    assert key is not None
    world.session.apply(scenes.JobEnded(key, JobPhase.STOPPED))
    assert window._status.text() == "Stopped. No file was written."
    assert str(world.session.clips_folder) in window._folder.text()
