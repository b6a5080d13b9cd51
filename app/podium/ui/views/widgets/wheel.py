"""The wheel scrolls a form and changes nothing in it, unless somebody is at work in that very field."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QWidget

WidgetT = TypeVar("WidgetT", bound=QWidget)


def leave_wheel(widget: WidgetT) -> WidgetT:
    """Have a field hand the wheel on while it has no focus, and return it."""
    widget.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    widget.installEventFilter(_WheelGuard(widget))
    return widget


class _WheelGuard(QObject):
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Stop the wheel on its way to a field without focus; ignored, it goes on to what scrolls."""
        if event.type() is QEvent.Type.Wheel and isinstance(watched, QWidget) and not watched.hasFocus():
            event.ignore()
            return True
        return False
