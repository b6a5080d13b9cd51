"""Two pictures in one place, parted by a line that is drawn from side to side."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QImage, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from podium.ui.theme import METRICS, load_icon, role_color
from podium.ui.views.widgets.roles import give_surface

_STEP, _LARGE_STEP = 0.02, 0.1


class WipeView(QWidget):
    """Paint one picture left of a line and another right of it, both in the same place and at the same size.

    The line follows the mouse while the button is down, and the arrow keys.
    """

    moved = Signal(float)
    """The line stands at this share of the width."""

    def __init__(self) -> None:
        super().__init__()
        self._images = QImage(), QImage()
        self._share = 0.5
        give_surface(self, "stage")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.SplitHCursor)
        self.setAccessibleName(self.tr("Wipe between the two clips"))
        self._tell()

    @property
    def share(self) -> float:
        """Return where the line stands: 0 at the left, 1 at the right."""
        return self._share

    @property
    def images(self) -> tuple[QImage, QImage]:
        """Return the pictures that are painted."""
        return self._images

    def show_images(self, left: QImage, right: QImage) -> None:
        """Paint these pictures from now on."""
        self._images = left, right
        self.update()

    def set_share(self, share: float) -> None:
        """Put the line at a share of the width; what lies outside becomes the nearest."""
        share = min(1.0, max(0.0, share))
        if share != self._share:
            self._share = share
            self._tell()
            self.update()
            self.moved.emit(share)

    def picture_rect(self) -> QRect:
        """Return where both pictures stand: as large as there is room for the left one's shape."""
        shape = next((image.size() for image in self._images if not image.isNull()), QSize(16, 9))
        size = shape.scaled(self.size(), Qt.AspectRatioMode.KeepAspectRatio)
        return QRect((self.width() - size.width()) // 2, (self.height() - size.height()) // 2, *size.toTuple())

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Ask for next to no room: the splitters decide."""
        return QSize(160, 90)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Take the line to the pointer."""
        if event.button() is Qt.MouseButton.LeftButton:
            self._take_to(event.position().toPoint())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Take the line along."""
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._take_to(event.position().toPoint())

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Move the line by the arrow keys, in large steps with Shift."""
        step = _LARGE_STEP if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else _STEP
        shares = {
            Qt.Key.Key_Left: self._share - step,
            Qt.Key.Key_Right: self._share + step,
            Qt.Key.Key_Home: 0.0,
            Qt.Key.Key_End: 1.0,
        }
        share = shares.get(Qt.Key(event.key()))
        if share is None:
            super().keyPressEvent(event)
        else:
            self.set_share(round(share, 4))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Paint the pictures, and the line between them."""
        super().paintEvent(event)
        if all(image.isNull() for image in self._images):
            return
        painter = QPainter(self)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        room = self.picture_rect()
        line = room.left() + round(self._share * room.width())
        sides = (
            QRect(QPoint(room.left(), room.top()), QPoint(line - 1, room.bottom())),
            QRect(QPoint(line, room.top()), room.bottomRight()),
        )
        for image, side in zip(self._images, sides, strict=True):
            painter.setClipRect(side)
            painter.drawImage(_fitted(room, image), image)
        painter.setClipping(False)
        self._paint_line(painter, room, line)

    def _paint_line(self, painter: QPainter, room: QRect, line: int) -> None:
        colour = role_color("focus" if self.hasFocus() else "accent")
        painter.setPen(QPen(colour, 2))
        painter.drawLine(line, room.top(), line, room.bottom())
        size = METRICS.wipe_grip
        grip = QRect(line - size // 2, room.center().y() - size // 2, size, size)
        painter.setBrush(role_color("panel"))
        painter.drawEllipse(grip)
        inset = (size - METRICS.icon) // 2
        load_icon("wipe").paint(painter, grip.adjusted(inset, inset, -inset, -inset))

    def _take_to(self, point: QPoint) -> None:
        room = self.picture_rect()
        self.set_share((point.x() - room.left()) / max(1, room.width()))

    def _tell(self) -> None:
        self.setAccessibleDescription(self.tr("{0} percent").format(round(100 * self._share)))


def _fitted(room: QRect, image: QImage) -> QRect:
    """Return where an image stands in a room at its own shape."""
    size = image.size().scaled(room.size(), Qt.AspectRatioMode.KeepAspectRatio)
    left = room.left() + (room.width() - size.width()) // 2
    top = room.top() + (room.height() - size.height()) // 2
    return QRect(left, top, size.width(), size.height())
