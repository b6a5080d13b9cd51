"""A dialog that is as high as what it shows at the moment.

Qt guesses the height of words that wrap from a width of its own choosing, and leaves room for lines that never come.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QDialog, QLayout, QWidget


class FittedDialog(QDialog):
    """As high as what it shows; it grows and shrinks with that, and what height an artist added stays.

    Args:
        least_width_px: It is never narrower.
    """

    def __init__(self, least_width_px: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._least_width_px = least_width_px
        self._needed_px = 0

    def fill(self, layout: QLayout) -> None:
        """Take in what it shows."""
        # Its own idea of the least height is the guess.
        layout.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        self.setLayout(layout)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the size that what it shows needs."""
        width = max(self._least_width_px, super().sizeHint().width())
        return QSize(width, self._needed_at(width))

    def event(self, event: QEvent) -> bool:
        """Fit once what it shows has changed."""
        is_done = super().event(event)
        if event.type() is QEvent.Type.LayoutRequest and self.isVisible():
            self._fit()
        return is_done

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Hold on to what it needs as it is shown."""
        super().showEvent(event)
        self._needed_px = self._needed_at(self.width())
        self._hold()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Wrap words anew where the width is another one."""
        super().resizeEvent(event)
        if self.isVisible() and event.size().width() != event.oldSize().width():
            self._fit()

    def _fit(self) -> None:
        needed_px = self._needed_at(self.width())
        height_px = self.height() + needed_px - self._needed_px
        self._needed_px = needed_px
        self._hold()
        self.resize(self.width(), height_px)

    def _hold(self) -> None:
        layout = self.layout()
        least_px = 0 if layout is None else layout.totalMinimumSize().width()
        self.setMinimumSize(max(self._least_width_px, least_px), self._needed_px)

    def _needed_at(self, width_px: int) -> int:
        layout = self.layout()
        if layout is None:
            return 0
        layout.activate()
        return layout.totalHeightForWidth(width_px) if layout.hasHeightForWidth() else layout.totalSizeHint().height()
