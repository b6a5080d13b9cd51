"""The picture on the Stage: one image, as large as there is room, at its own shape."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, QRect, QSize, Qt, QTimer
from PySide6.QtGui import QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from podium.ui.views.widgets.roles import give_surface


class PictureView(QWidget):
    """Paint an image centred and smoothly scaled; without one only the stage is seen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._image = QImage()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(self.tr("Picture"))
        give_surface(self, "stage")

    @property
    def image(self) -> QImage:
        """Return the image that is painted; it may be null."""
        return self._image

    def show_image(self, image: QImage) -> None:
        """Paint this image from now on."""
        self._image = image
        self.update()

    def clear(self) -> None:
        """Paint no image."""
        self.show_image(QImage())

    def image_rect(self) -> QRect:
        """Return where the image is painted: whole pixels, its own shape."""
        size = self._image.size().scaled(self.size(), Qt.AspectRatioMode.KeepAspectRatio)
        return QRect((self.width() - size.width()) // 2, (self.height() - size.height()) // 2, *size.toTuple())

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Ask for next to no room: the splitters decide."""
        return QSize(160, 90)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Paint the stage, and the image on it."""
        super().paintEvent(event)
        if self._image.isNull():
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(self.image_rect(), self._image)


class MotionLoop(QObject):
    """Show pictures one after another, over and over, in a `PictureView`.

    Args:
        view: Where they are shown.
        is_still: Motion is unwelcome: only the first picture is shown.
    """

    def __init__(self, view: PictureView, *, is_still: bool = False) -> None:
        super().__init__(view)
        self._view = view
        self._is_still = is_still
        self._images: Sequence[QImage] = ()
        self._index = 0
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._on_tick)

    @property
    def is_running(self) -> bool:
        """Return whether pictures follow each other."""
        return self._timer.isActive()

    def set_still(self, is_still: bool) -> None:  # noqa: FBT001 - the slot of a toggle
        """Choose whether motion is unwelcome; what moves stands still, or moves again, at the next pictures."""
        self._is_still = is_still
        if is_still:
            self._timer.stop()

    def start(self, images: Sequence[QImage], frame_s: float) -> None:
        """Loop these pictures; a loop that runs goes on from where it is, so that a new step does not jump."""
        self._images = images
        self._index %= len(images)
        self._view.show_image(images[self._index])
        if self._is_still or len(images) < 2:
            self._timer.stop()
        else:
            self._timer.start(max(1, round(1000 * frame_s)))

    def stop(self) -> None:
        """Let the picture stand, and forget the others."""
        self._timer.stop()
        self._images = ()
        self._index = 0

    def _on_tick(self) -> None:
        self._index = (self._index + 1) % len(self._images)
        self._view.show_image(self._images[self._index])
