"""Whoever has no mouse, or no eyes, has the whole window: every widget that takes the focus is named, seen, reached."""

from __future__ import annotations

import os
from collections.abc import Callable

os.environ["QT_FFMPEG_DECODING_HW_DEVICE_TYPES"] = ","
os.environ["QT_FFMPEG_ENCODING_HW_DEVICE_TYPES"] = ","

import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QAccessible, QImage, QRegion
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialog,
    QLineEdit,
    QMenuBar,
    QRadioButton,
    QScrollArea,
    QTabBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

from podium.ui.state.values import ErrorMessage
from podium.ui.views.dialogs import CloseDialog
from podium.ui.views.fault_dialog import FaultDialog
from podium.ui.views.main_window import MainWindow
from podium.ui.views.shown_clip import ShownClip

from tests.ui.views import scenes, work_scenes
from tests.ui.views.scenes import Scene, World

SCENES: dict[str, Scene] = {
    "welcomed": scenes.welcomed,
    "guided": scenes.guided,
    "failed": scenes.failed,
    "queued": work_scenes.queued,
}
# Roles that say nothing to whoever hears them.
SPEECHLESS = {QAccessible.Role.NoRole, QAccessible.Role.Client, QAccessible.Role.Window}
# Around a widget, where a ring may be drawn.
MARGIN_PX = 3


@pytest.fixture
def opened(show_scene: Callable[[Scene], MainWindow], qtbot: QtBot) -> Callable[[Scene], MainWindow]:
    """Return a function that shows the window in a scene, and has it be the active one."""

    def show(scene: Scene) -> MainWindow:
        window = show_scene(scene)
        bring_up(window, qtbot)
        return window

    return show


def bring_up(widget: QWidget, qtbot: QtBot) -> None:
    """Show a window and have it be the active one."""
    with qtbot.waitActive(widget):
        widget.show()
        widget.activateWindow()


def focusable(window: QWidget) -> list[QWidget]:
    """Return every widget in a window that the keyboard can be in now."""
    return [
        one
        for one in window.findChildren(QWidget)
        if one.focusPolicy() & Qt.FocusPolicy.TabFocus
        and one.isVisibleTo(window)
        and one.isEnabled()
        and one.window() is window
        and one.focusProxy() is None
        # Qt's own part of a spin box or a box of choices, which stands for both.
        and not isinstance(one.parent(), QAbstractSpinBox | QComboBox)
    ]


def described(widget: QWidget) -> str:
    text = widget.text() if isinstance(widget, QAbstractButton | QLineEdit) else ""
    chain = " < ".join(type(parent).__name__ for parent in ancestors(widget)[:2])
    return f"{type(widget).__name__} “{text or widget.accessibleName()}” in {chain}"


def ancestors(widget: QWidget) -> list[QWidget]:
    parent = widget.parentWidget()
    return [] if parent is None else [parent, *ancestors(parent)]


def nameless(window: QWidget) -> list[str]:
    """Return what has no name or no role for who hears the window."""
    found = []
    for widget in focusable(window):
        interface = QAccessible.queryAccessibleInterface(widget)
        if isinstance(widget, QScrollArea):
            continue
        if not interface.text(QAccessible.Text.Name).strip() or interface.role() in SPEECHLESS:
            found.append(f"{described(widget)}: {interface.role()}")
    return found


def tabbed(window: QWidget) -> set[QWidget]:
    """Return where Tab leads, from wherever the focus is until it is there again."""
    reached: list[QWidget] = []
    focusable(window)[0].setFocus(Qt.FocusReason.TabFocusReason)
    for _ in range(400):
        QTest.keyClick(window.windowHandle(), Qt.Key.Key_Tab)
        now = QApplication.focusWidget()
        if now is None or now in reached:
            return set(reached)
        reached.append(now)
    raise AssertionError("Tab never comes round")


def unreached(window: QWidget) -> list[str]:
    """Return what Tab does not lead to."""
    reached = tabbed(window)
    wanted = [one for one in focusable(window) if not is_of_group(one, reached)]
    return [described(one) for one in wanted if one not in reached and not is_around(one, reached)]


def is_of_group(widget: QWidget, reached: set[QWidget]) -> bool:
    """Return whether arrows lead to a widget from one that Tab leads to: Qt gives one of a group the focus by Tab."""
    if not isinstance(widget, QAbstractButton):
        return False
    group = widget.group()
    fellows = group.buttons() if group is not None else []
    if isinstance(widget, QRadioButton) and widget.autoExclusive() and widget.parentWidget() is not None:
        fellows = widget.parentWidget().findChildren(QRadioButton)
    return any(fellow in reached for fellow in fellows if fellow is not widget)


def is_around(widget: QWidget, reached: set[QWidget]) -> bool:
    """Return whether it is a frame with scroll bars around something that is reached."""
    return isinstance(widget, QScrollArea) and any(widget.isAncestorOf(one) for one in reached)


def painted(window: QWidget, widget: QWidget) -> NDArray[np.uint32]:
    """Return how a widget looks in its window, with what is drawn around it."""
    whole = QRect(widget.mapTo(window, QPoint(0, 0)), widget.size())
    part = whole.adjusted(-MARGIN_PX, -MARGIN_PX, MARGIN_PX, MARGIN_PX).intersected(window.rect())
    image = QImage(part.size(), QImage.Format.Format_RGB32)
    window.render(image, QPoint(0, 0), QRegion(part))
    return np.frombuffer(image.constBits(), np.uint32).copy()


def unseen(window: QWidget, within: QWidget | None = None) -> list[str]:
    """Return what looks the same with the focus and without."""
    found = []
    for widget in focusable(window):
        if isinstance(widget, QScrollArea) or (within is not None and not within.isAncestorOf(widget)):
            continue
        for area in (one for one in ancestors(widget) if isinstance(one, QScrollArea)):
            # As Tab does.
            area.ensureWidgetVisible(widget)
        widget.setFocus(Qt.FocusReason.TabFocusReason)
        with_focus = painted(window, widget)
        widget.clearFocus()
        if np.array_equal(with_focus, painted(window, widget)):
            found.append(described(widget))
    return found


def check(window: QWidget, within: QWidget | None = None) -> None:
    assert len(focusable(window)) >= 1
    assert nameless(window) == []
    assert unreached(window) == []
    assert unseen(window, within) == []


@pytest.mark.parametrize("scene", SCENES)
def test_everything_in_the_window_is_named_seen_and_reached(opened: Callable[[Scene], MainWindow], scene: str) -> None:
    window = opened(SCENES[scene])
    check(window)
    if not window.is_welcoming:
        for index in range(window.tabs.count()):
            window.tabs.setCurrentIndex(index)
            check(window, window.tabs.widget(index))


DIALOGS: dict[str, Callable[[MainWindow], object]] = {
    "model": lambda window: window.dialogs.choose_model(),
    "devices": lambda window: window.dialogs.choose_devices(),
    "shortcuts": lambda window: window.menu_actions.shortcuts.trigger(),
    "about": lambda window: window.dialogs.show_about(),
    "close": lambda window: CloseDialog(window, has_clip=True, has_export=True).open(),
    "fault": lambda window: FaultDialog(ErrorMessage("Something went wrong.", "ValueError"), window).open(),
}


@pytest.mark.parametrize("name", DIALOGS)
def test_everything_in_a_dialog_is_named_seen_and_reached(
    opened: Callable[[Scene], MainWindow], qtbot: QtBot, name: str
) -> None:
    window = opened(scenes.guided)
    DIALOGS[name](window)
    dialogs = [one for one in window.findChildren(QDialog) if one.isVisible()]
    assert len(dialogs) == 1
    bring_up(dialogs[0], qtbot)
    check(dialogs[0])
    QTest.keyClick(dialogs[0], Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not [one for one in window.findChildren(QDialog) if one.isVisible()])


@pytest.mark.parametrize("name", ["reuse", "export"])
def test_everything_in_a_dialog_about_a_clip_is_named_seen_and_reached(
    opened: Callable[[Scene], MainWindow], staged: World, qtbot: QtBot, name: str
) -> None:
    window = opened(work_scenes.queued)
    entry = work_scenes.add_clip(staged, 99)
    if name == "reuse":
        window.dialogs.reuse(entry, True)
    else:
        window.dialogs.export(ShownClip(entry.clip.path, entry.clip.clip))
    (dialog,) = [one for one in window.findChildren(QDialog) if one.isVisible()]
    bring_up(dialog, qtbot)
    check(dialog)
    dialog.close()


def test_every_menu_is_reached_by_a_letter_and_every_entry_by_one_of_its_own(
    opened: Callable[[Scene], MainWindow],
) -> None:
    window = opened(scenes.guided)
    menus = [action for action in window.menuBar().actions() if action.menu() is not None]
    letters = [letter_of(action.text()) for action in menus]
    assert None not in letters
    assert len(set(letters)) == len(letters)
    for menu in menus:
        inner = menu.menu()
        texts = [action.text() for action in inner.actions() if not action.isSeparator()]
        of_menu = [letter_of(text) for text in texts]
        assert None not in of_menu, texts
        assert len(set(of_menu)) == len(of_menu), texts


def letter_of(text: str) -> str | None:
    """Return the letter that an & marks."""
    plain = text.replace("&&", "")
    return plain[plain.index("&") + 1].lower() if "&" in plain else None


def test_lists_say_what_they_hold(opened: Callable[[Scene], MainWindow]) -> None:
    window = opened(work_scenes.queued)
    for index in range(window.tabs.count()):
        window.tabs.setCurrentIndex(index)
        for view in window.findChildren(QAbstractItemView):
            if not view.isVisible() or view.model() is None:
                continue
            for row in range(min(5, view.model().rowCount())):
                said = view.model().index(row, 0).data(Qt.ItemDataRole.AccessibleTextRole)
                shown = view.model().index(row, 0).data(Qt.ItemDataRole.DisplayRole)
                assert (said or shown or "").strip(), f"{described(view)}, row {row}"


def test_the_walk_finds_what_it_looks_for(qtbot: QtBot, qapp: QApplication) -> None:
    window = QWidget()
    silent, hidden = QLineEdit(window), QLineEdit(window)
    silent.setGeometry(10, 10, 80, 30)
    silent.setStyleSheet("border: none; background: black")
    hidden.setGeometry(10, 50, 80, 30)
    hidden.setAccessibleName("hidden")
    window.resize(120, 100)
    bring_up(window, qtbot)
    QWidget.setTabOrder(silent, silent)
    assert len(nameless(window)) == 1
    assert [one for one in (QMenuBar, QTabBar) if window.findChildren(one)] == []
    assert unreached(window) == []
    hidden.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
    assert focusable(window) == [silent]
    window.close()
    window.deleteLater()
