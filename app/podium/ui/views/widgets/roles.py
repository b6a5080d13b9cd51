"""How a widget says what it is, so that the style sheet can dress it."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

WidgetT = TypeVar("WidgetT", bound=QWidget)


def give(widget: WidgetT, **roles: str) -> WidgetT:
    """Give a widget roles such as `kind="primary"` and return it; it is dressed anew only if one is new."""
    new = {name: value for name, value in roles.items() if (widget.property(name) or "") != value}
    for name, value in new.items():
        widget.setProperty(name, value)
    if new:
        widget.style().unpolish(widget)
        widget.style().polish(widget)
        widget.update()
    return widget


def give_surface(widget: WidgetT, surface: str) -> WidgetT:
    """Give a plain widget the background of a surface and return it."""
    widget.setAttribute(Qt.WidgetAttribute.WA_StyledBackground, on=True)
    return give(widget, surface=surface)


def make_label(text: str = "", role: str = "", *, wraps: bool = False) -> QLabel:
    """Return a label of plain text in a role; one that wraps takes the height its text needs."""
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    if role:
        label.setProperty("role", role)
    if role == "headline":
        # Whatever room there is to spare, it stands at the top.
        label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
    if wraps:
        label.setWordWrap(True)
        policy = label.sizePolicy()
        policy.setHorizontalPolicy(QSizePolicy.Policy.Ignored)
        policy.setVerticalPolicy(QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        label.setSizePolicy(policy)
    return label


def hairline(parent: QWidget | None = None) -> QWidget:
    """Return a horizontal line that parts two areas."""
    line = give_surface(QWidget(parent), "line")
    line.setFixedHeight(1)
    return line
