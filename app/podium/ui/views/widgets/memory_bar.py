"""A bar of a device's memory: what is ours, what is others', what is free."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from podium.ui.theme import METRICS, role_color


class MemoryBar(QWidget):
    """Show shares of a whole, from the left: ours in the accent, others' in grey.

    Args:
        name: What it is of, for screen readers.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self._ours = self._others = 0.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(METRICS.bar_large)
        self.setAccessibleName(name)

    @property
    def shares(self) -> tuple[float, float]:
        """Return the shares shown, ours and others', each from 0 to 1."""
        return self._ours, self._others

    def show_memory(self, ours: int, others: int, total: int) -> None:
        """Show so many bytes of so many; nothing of nothing."""
        shares = (0.0, 0.0)
        if total > 0:
            share = min(1.0, ours / total)
            shares = share, min(1.0 - share, others / total)
        if shares != (self._ours, self._others):
            self._ours, self._others = shares
            self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Ask for a bar's height."""
        return QSize(METRICS.number_width, METRICS.bar_large)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name and arguments
        """Paint the shares with a hairline between them."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        outline = QPainterPath()
        radius = self.height() / 2
        outline.addRoundedRect(QRectF(self.rect()), radius, radius)
        painter.setClipPath(outline)
        painter.fillRect(self.rect(), role_color("track"))
        painter.setPen(Qt.PenStyle.NoPen)
        ours, others = self._ours * self.width(), self._others * self.width()
        painter.fillRect(QRectF(0, 0, ours, self.height()), role_color("accent"))
        gap = METRICS.hairline if ours > 0 and others > 0 else 0
        painter.fillRect(QRectF(ours + gap, 0, max(0.0, others - gap), self.height()), role_color("text_muted"))
