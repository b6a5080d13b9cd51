"""A handle by which something is moved along its list: dragged, or by the arrow keys."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QApplication, QToolButton

from podium.ui.theme import Tint
from podium.ui.views.widgets.buttons import show_icon
from podium.ui.views.widgets.roles import give

_STEPS = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}


class Grip(QToolButton):
    """Say where the artist drags it, or which way it is pushed."""

    dragged = Signal(object)
    """A `QPointF` of the screen: where the pointer is while it drags."""
    pushed = Signal(int)
    """-1: one place up; 1: one place down."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._start: QPointF | None = None
        self._is_dragging = False
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.OpenHandCursor)
        show_icon(self, "grip", name, tint=Tint.MUTED)
        give(self, kind="grip")

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Push it by the arrow keys."""
        step = _STEPS.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
        else:
            self.pushed.emit(step)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Take hold."""
        if event.button() is Qt.MouseButton.LeftButton:
            self._start, self._is_dragging = event.globalPosition(), False
            self.setCursor(Qt.CursorShape.ClosedHandCursor)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Drag, once the pointer has moved farther than a hand trembles."""
        if self._start is None:
            return
        way = (event.globalPosition() - self._start).manhattanLength()
        self._is_dragging = self._is_dragging or way >= QApplication.startDragDistance()
        if self._is_dragging:
            self.dragged.emit(event.globalPosition())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802, ARG002 - Qt's name and arguments
        """Let go."""
        self._start, self._is_dragging = None, False
        self.setCursor(Qt.CursorShape.OpenHandCursor)
