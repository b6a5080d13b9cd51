"""The whole window: what its menus, its keys and its closing do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QByteArray, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QAction, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QDialog,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QScrollBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

from podium.helper.requests import CheckRequest, ExportClip, ReadClip
from podium.jobs import ClipFinished
from podium.media.errors import MediaError
from podium.ui.state.values import CancelPhase, ClipOffer, ErrorMessage, JobPhase, ReusePart
from podium.ui.theme import METRICS
from podium.ui.views.dialogs import CloseDialog
from podium.ui.views.export_dialog import ExportDialog
from podium.ui.views.main_window import MainWindow
from podium.ui.views.reuse_dialog import ReuseDialog
from podium.ui.views.widgets.banner import Banner

from tests.ui.views import scenes, work_scenes
from tests.ui.views.scenes import Scene, World

Open = Callable[[Scene], MainWindow]
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
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


@pytest.mark.parametrize("scene", [scenes.empty, scenes.composed, scenes.running, scenes.failed, work_scenes.paused])
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
        *(compose.prompt.editor, compose.image.add_button, compose.format.aspect, compose.format.length.slider),
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


def test_ctrl_shift_return_puts_the_clip_in_front(open_window: Open, world: World, qtbot: QtBot) -> None:
    window = open_window(scenes.composed)
    queue = world.session.queue
    queue.pause_for("It stands.")
    compose, editor = world.session.compose, window.compose.prompt.editor
    for prompt, keys in (("first", CONTROL), ("second", CONTROL), ("third", CONTROL | SHIFT)):
        compose.set_prompt(prompt)
        qtbot.keyClick(editor, Qt.Key.Key_Return, keys)
    assert [entry.title for entry in queue.entries] == ["third", "first", "second"]
    assert window.tabs.tabText(0) == "Queue (3)"


def test_several_seeds_are_several_entries(open_window: Open, world: World) -> None:
    window = open_window(scenes.composed)
    world.session.queue.pause_for("It stands.")
    world.session.compose.set_num_seeds(3)
    window.menu_actions.generate.trigger()
    seeds = [entry.request.seed for entry in world.session.queue.entries]
    assert seeds == [271828182, 271828183, 271828184]


def test_an_edited_entry_is_said_to_be_in_the_form(open_window: Open, world: World) -> None:
    window = open_window(work_scenes.queued)
    window.queue.choose(world.session.queue.entries[2].key)
    window.queue.actions_of_queue.edit.trigger()
    assert window.compose.prompt.editor.toPlainText() == work_scenes.PROMPTS[3]
    assert window._status.text().startswith("An entry of the queue is in the form")


def test_a_failure_is_said_once(open_window: Open) -> None:
    window = open_window(scenes.failed)
    window.tabs.setCurrentWidget(window.queue)
    sentence = "killed by the system"
    labels = [label for label in window.findChildren(QLabel) if label.isVisible() and sentence in label.text()]
    assert len(labels) == 1


def drag_of(path: Path) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    return data


def dropped(window: MainWindow, path: Path) -> bool:
    """Drop a file onto the window as a file manager does; return whether it was taken."""
    data, keys = drag_of(path), Qt.KeyboardModifier.NoModifier
    buttons, copy = Qt.MouseButton.LeftButton, Qt.DropAction.CopyAction
    enter = QDragEnterEvent(QPoint(700, 300), copy, data, buttons, keys)
    enter.ignore()
    window.dragEnterEvent(enter)
    if enter.isAccepted():
        window.dropEvent(QDropEvent(QPointF(700, 300), copy, data, buttons, keys))
    return enter.isAccepted()


def test_a_dropped_clip_offers_what_it_was_made_with(open_window: Open, world: World, qtbot: QtBot) -> None:
    window = open_window(scenes.composed)
    assert dropped(window, Path("/clips/other.mp4"))
    assert [request.path for request in world.helper.requests(ReadClip)] == [Path("/clips/other.mp4")]
    offer = ClipOffer(Path("/clips/other.mp4"), work_scenes.make_request(2), None, sentence="A LoRA is not here.")
    world.session.reuse_offered.emit(offer)
    dialog = next(dialog for dialog in window.findChildren(ReuseDialog) if dialog.isVisible())
    assert not dialog.check_box(ReusePart.MODEL).isEnabled()
    assert "A LoRA is not here." in [banner.sentence for banner in dialog.findChildren(Banner)]
    qtbot.mouseClick(dialog.reuse_button, Qt.MouseButton.LeftButton)
    assert world.session.compose.prompt == work_scenes.PROMPTS[2]
    assert world.session.compose.seed == 402


def test_other_files_are_not_taken_by_the_window(open_window: Open, world: World) -> None:
    assert not dropped(open_window(scenes.composed), Path("/clips/other.txt"))
    assert not world.helper.requests(ReadClip)


def test_what_is_refused_is_said_until_it_is_dismissed(open_window: Open, world: World, qtbot: QtBot) -> None:
    window = open_window(scenes.composed)
    assert not window.notice.isVisible()
    world.session.clip_refused.emit(ErrorMessage("“other.mp4” was not made by Podium.", "No comment tag."))
    assert window.notice.sentence == "“other.mp4” was not made by Podium."
    assert window.notice.isVisible()
    button = next(b for b in window.notice.findChildren(QPushButton) if b.text() == "Dismiss")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert not window.notice.isVisible()


def test_an_export_is_begun_by_menu_and_watched_in_the_status_line(
    open_window: Open, world: World, small_clip: ClipFinished
) -> None:
    window = open_window(lambda world: scenes.finish(world, small_clip))
    window.stage.desk.actions.export.trigger()
    dialog = next(dialog for dialog in window.findChildren(ExportDialog) if dialog.isVisible())
    dialog.export_button.click()
    dialog.close()
    assert window._status.text() == "Exporting “small-prores.mov”, 0%"
    world.helper.answer(ExportClip, error=MediaError("There is no room left."))
    assert window.notice.sentence == "There is no room left."


def test_a_clip_is_reused_whole_or_in_parts(open_window: Open, world: World) -> None:
    window = open_window(work_scenes.day)
    history = world.session.history
    history.select(history.model.entries[3].key)
    window.stage.desk.actions.reuse_all.trigger()
    assert world.session.compose.prompt == history.model.entries[3].request.prompt
    window.stage.desk.actions.reuse_parts.trigger()
    dialog = next(dialog for dialog in window.findChildren(ReuseDialog) if dialog.isVisible())
    assert dialog.check_box(ReusePart.MODEL).isEnabled()
    dialog.close()


def test_the_panels_are_shown_and_hidden_and_reached_by_keys(open_window: Open, qtbot: QtBot) -> None:
    window = open_window(scenes.composed)
    for action, tab in (
        (window.menu_actions.show_history, window.history),
        (window.menu_actions.show_fleet, window.fleet),
        (window.menu_actions.show_log, window.log),
        (window.menu_actions.show_queue, window.queue),
    ):
        action.trigger()
        assert window.tabs.currentWidget() is tab
    window.menu_actions.show_panels.trigger()
    assert not window.tabs.isVisible()
    window.menu_actions.show_history.trigger()
    assert window.tabs.isVisible()
    window.history.actions_of_list.find.trigger()
    qtbot.waitUntil(window.history.search_field.hasFocus)


def test_the_keys_of_every_place_are_listed(open_window: Open) -> None:
    window = open_window(scenes.composed)
    window.menu_actions.shortcuts.trigger()
    dialog = next(dialog for dialog in window.findChildren(QDialog) if dialog.isVisible())
    shown = {label.text() for label in dialog.findChildren(QLabel)}
    assert {"Ctrl+Return", "Ctrl+Shift+Return", "F11", "Space", "L", "Alt+Up", "Del"} <= shown
    assert dialog.sizeHint().height() <= METRICS.window_min_height + METRICS.bottom_height
    dialog.close()


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


def test_panels_tab_and_history_s_shape_are_kept(open_window: Open) -> None:
    window = open_window(scenes.composed)
    window.tabs.setCurrentWidget(window.history)
    window.history.actions_of_list.as_list.trigger()
    window.menu_actions.show_panels.trigger()
    assert window.menu_actions.reduce_motion.isChecked()
    saved = window.save_layout()
    window.menu_actions.reduce_motion.trigger()
    window.tabs.setCurrentWidget(window.log)
    window.history.set_list_mode(False)
    window.menu_actions.show_panels.trigger()
    window.restore_layout(saved)
    assert window.tabs.currentWidget() is window.history
    assert window.history.is_list_mode
    assert window.menu_actions.reduce_motion.isChecked()
    assert not window.tabs.isVisible()


def test_the_status_line_says_how_things_stand(open_window: Open, world: World) -> None:
    window = open_window(scenes.running)
    assert window._status.text() == "Stage 2, step 2 of 3"
    key = world.session.job.key
    assert key is not None
    world.session.apply(scenes.JobEnded(key, JobPhase.STOPPED))
    assert window._status.text() == "Stopped. No file was written."
    assert str(world.session.clips_folder) in window._folder.text()
