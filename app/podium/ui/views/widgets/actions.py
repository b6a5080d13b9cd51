"""Actions and the buttons and menus that offer them, each with its words, icon and keys in one place."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from podium.ui.theme import Tint, load_icon
from podium.ui.views.widgets.buttons import make_icon_button

Keys = QKeySequence.StandardKey | str


def make_action(
    parent: QObject,
    text: str,
    keys: Keys | None = None,
    *,
    icon: str = "",
    is_checkable: bool = False,
    scope: Qt.ShortcutContext = Qt.ShortcutContext.WindowShortcut,
) -> QAction:
    """Return an action with its keys; where these work is its `scope`, once a widget has it."""
    action = QAction(text, parent)
    action.setCheckable(is_checkable)
    if icon:
        action.setIcon(load_icon(icon))
        # Menus are lists of words; icons stand on buttons.
        action.setIconVisibleInMenu(False)
    if keys is not None:
        action.setShortcut(QKeySequence(keys))
        action.setShortcutContext(scope)
    return action


def plain_text(action: QAction) -> str:
    """Return an action's words without the mark of its letter."""
    return action.text().replace("&", "")


def hint_of(action: QAction) -> str:
    """Return an action's words and keys for a tooltip."""
    keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
    words = plain_text(action).removesuffix("…")
    return f"{words} ({keys})" if keys else words


def make_action_button(action: QAction, icon: str, *, tint: Tint = Tint.TEXT) -> QToolButton:
    """Return an icon button that offers an action, and is enabled and checked as it is."""
    button = make_icon_button(icon, hint_of(action), tint=tint, is_checkable=action.isCheckable())
    button.setAccessibleName(plain_text(action).removesuffix("…"))
    button.clicked.connect(action.trigger)

    def show() -> None:
        button.setEnabled(action.isEnabled())
        button.setToolTip(hint_of(action))
        if action.isCheckable():
            button.setChecked(action.isChecked())

    action.changed.connect(show)
    show()
    return button


def make_menu_button(icon: str, name: str, actions: Sequence[QAction | None]) -> QToolButton:
    """Return an icon button that opens a menu of actions; None parts groups."""
    button = make_icon_button(icon, name)
    button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
    button.setMenu(make_menu(button, actions))
    return button


def make_menu(parent: QWidget, actions: Sequence[QAction | None], title: str = "") -> QMenu:
    """Return a menu of actions; None parts groups."""
    menu = QMenu(title, parent)
    for action in actions:
        if action is None:
            menu.addSeparator()
        else:
            menu.addAction(action)
    return menu
