"""An icon that stands by itself and follows the theme and the screen's density."""

from __future__ import annotations

from PySide6.QtCore import QRect
from PySide6.QtGui import QIcon, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from podium.ui.theme import METRICS, Tint, load_icon


class IconLabel(QWidget):
    """Show an icon; it is decoration, and screen readers pass over it.

    Args:
        name: Of the icon; "" shows none and keeps its room.
        size: Of its square.
    """

    def __init__(self, name: str = "", tint: Tint = Tint.TEXT, *, size: int = METRICS.icon) -> None:
        super().__init__()
        self._shown: tuple[str, Tint] | None = None
        self._icon = QIcon()
        self._size = size
        self.setFixedSize(size, size)
        self.show_icon(name, tint)

    def show_icon(self, name: str, tint: Tint = Tint.TEXT) -> None:
        """Show another icon."""
        if (name, tint) != self._shown:
            self._shown = (name, tint)
            self._icon = load_icon(name, tint) if name else QIcon()
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name and arguments
        """Paint the icon from its drawing."""
        mode = QIcon.Mode.Normal if self.isEnabled() else QIcon.Mode.Disabled
        self._icon.paint(QPainter(self), QRect(0, 0, self._size, self._size), mode=mode)
