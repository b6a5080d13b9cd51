"""A panel that scrolls where the screen is too low for it."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from podium.ui.theme import METRICS
from podium.ui.views.widgets.roles import give

_SHARE_OF_SCREEN = 0.7


class Scrolled(QScrollArea):
    """Show a panel whole if the screen has room for it, and let it scroll if not.

    Args:
        panel: What is shown.
    """

    def __init__(self, panel: QWidget) -> None:
        super().__init__()
        self._panel = give(panel, surface="scrolled")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(panel)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Ask for the panel's own size, as far as the screen has it."""
        wanted = self._panel.sizeHint()
        width = max(wanted.width() + METRICS.scroll_bar, self.minimumWidth())
        height = max(wanted.height(), self._panel.heightForWidth(width - METRICS.scroll_bar))
        most = round(self.screen().availableGeometry().height() * _SHARE_OF_SCREEN)
        return QSize(width, min(height, most))
