"""A line of text that ends in an ellipsis where it has no room, and is whole in its tooltip."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QStyle, QStyleOption


class ElidedLabel(QLabel):
    """Show one line of plain text.

    Args:
        text: The line.
        role: How it is dressed.
        mode: Where the ellipsis stands.
    """

    def __init__(self, text: str = "", role: str = "", *, mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight) -> None:
        super().__init__()
        self._mode = mode
        self._hint = ""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        if role:
            self.setProperty("role", role)
        self.show_text(text)

    def show_text(self, text: str, hint: str = "") -> None:
        """Show a line; the tooltip is the hint, or the line itself where it has no room."""
        self._hint = hint
        self.setText(text)
        self.setAccessibleName(text)
        self._show_tooltip()

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Ask for the height of a line and no width."""
        return QSize(0, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name and arguments
        """Paint what of the line has room."""
        painter = QPainter(self)
        option = QStyleOption()
        option.initFrom(self)
        self.style().drawPrimitive(QStyle.PrimitiveElement.PE_Widget, option, painter, self)
        flags = int(self.alignment()) | int(Qt.TextFlag.TextSingleLine)
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(self.contentsRect(), flags, self._shown_text())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Find out whether the line has room."""
        super().resizeEvent(event)
        self._show_tooltip()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Find out whether the line has room in another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._show_tooltip()

    def _shown_text(self) -> str:
        return self.fontMetrics().elidedText(self.text(), self._mode, self.contentsRect().width())

    def _show_tooltip(self) -> None:
        # Asked as it is painted: a width in whole pixels may be a fraction too little.
        is_cut = self._shown_text() != self.text()
        self.setToolTip(self._hint or (self.text() if is_cut else ""))
