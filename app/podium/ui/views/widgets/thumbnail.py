"""A small picture that fills its square."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QImage, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QWidget

from podium.ui.theme import METRICS
from podium.ui.views.widgets.roles import give_surface


class ThumbnailLabel(QWidget):
    """Show the middle of a picture in a square with round corners.

    Args:
        name: What it is, for screen readers.
    """

    def __init__(self, name: str, *, size: int = METRICS.thumbnail) -> None:
        super().__init__()
        self._image = QImage()
        self.setFixedSize(size, size)
        self.setAccessibleName(name)
        give_surface(self, "thumbnail")

    def show_image(self, image: QImage) -> None:
        """Show another picture; a null one leaves the square empty."""
        self._image = image
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Paint the picture over the square."""
        super().paintEvent(event)
        if self._image.isNull():
            return
        painter = QPainter(self)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        path = QPainterPath()
        path.addRoundedRect(QRectF(self.rect()), METRICS.radius, METRICS.radius)
        painter.setClipPath(path)
        size = self._image.size().scaled(self.size(), Qt.AspectRatioMode.KeepAspectRatioByExpanding)
        left, top = (self.width() - size.width()) / 2, (self.height() - size.height()) / 2
        painter.drawImage(QRectF(left, top, size.width(), size.height()), self._image)
