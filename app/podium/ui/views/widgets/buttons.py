"""Buttons with their icon, name and shortcut in one place."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QPushButton, QToolButton, QWidget

from podium.ui.theme import METRICS, Tint, load_icon
from podium.ui.views.widgets.roles import give


def make_button(text: str, *, kind: str = "", icon: str = "", tint: Tint = Tint.TEXT) -> QPushButton:
    """Return a button of a kind; the keyboard reaches it by Tab, and only then it shows the focus."""
    button = QPushButton(text)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    button.setAutoDefault(False)
    if icon:
        button.setIcon(load_icon(icon, tint))
        button.setIconSize(QSize(METRICS.icon, METRICS.icon))
    return give(button, kind=kind) if kind else button


def make_icon_button(icon: str, name: str, *, tint: Tint = Tint.TEXT, is_checkable: bool = False) -> QToolButton:
    """Return a button that is an icon alone; `name` is what it does, for the tooltip and for screen readers."""
    button = QToolButton()
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    button.setCheckable(is_checkable)
    button.setIconSize(QSize(METRICS.icon, METRICS.icon))
    show_icon(button, icon, name, tint=tint)
    return give(button, kind="quiet")


def show_icon(button: QToolButton, icon: str, name: str, *, tint: Tint = Tint.TEXT) -> None:
    """Show another icon and name on an icon button."""
    button.setIcon(load_icon(icon, tint))
    button.setToolTip(name)
    button.setAccessibleName(name)


def tell_shortcut(widget: QWidget, action: QAction) -> None:
    """Say in a widget's tooltip what it does and which keys do the same."""
    keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
    text = action.toolTip()
    widget.setToolTip(f"{text} ({keys})" if keys else text)
