"""What stands in the middle of the Stage: a picture that can be pressed and dragged away, or words."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData, QPoint, QSize, Qt, QUrl, Signal
from PySide6.QtGui import QDrag, QImage, QMouseEvent, QPixmap
from PySide6.QtWidgets import QApplication, QWidget

from podium.ui.theme import METRICS, Tint
from podium.ui.views.picture import PictureView
from podium.ui.views.widgets.icon_label import IconLabel
from podium.ui.views.widgets.layouts import column
from podium.ui.views.widgets.roles import make_label


class StagePicture(PictureView):
    """A picture that the keyboard reaches, that says when it is pressed, and that is dragged out as its clip's file."""

    pressed = Signal()
    """The left button went down and up on it."""

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._file: Path | None = None
        self._pressed_at: QPoint | None = None

    def set_file(self, path: Path | None) -> None:
        """Say which file is dragged out; None lets nothing be dragged."""
        self._file = path

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Remember where: it may become a drag."""
        super().mousePressEvent(event)
        if event.button() is Qt.MouseButton.LeftButton:
            self._pressed_at = event.position().toPoint()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Begin a drag once the pointer is far enough away."""
        super().mouseMoveEvent(event)
        if self._pressed_at is None or self._file is None:
            return
        way = event.position().toPoint() - self._pressed_at
        if way.manhattanLength() >= QApplication.startDragDistance():
            self._pressed_at = None
            drag = make_file_drag(self, self._file, self.image)
            drag.exec(Qt.DropAction.CopyAction)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Say that it was pressed, unless it was dragged."""
        super().mouseReleaseEvent(event)
        if event.button() is Qt.MouseButton.LeftButton and self._pressed_at is not None:
            self._pressed_at = None
            self.pressed.emit()


def make_file_drag(source: QWidget, path: Path, image: QImage) -> QDrag:
    """Return a drag of a file out of the window, under a small picture of it."""
    drag = QDrag(source)
    drag.setMimeData(file_mime(path))
    if not image.isNull():
        size = QSize(METRICS.tile_width, METRICS.tile_picture_height)
        mode = Qt.TransformationMode.SmoothTransformation
        drag.setPixmap(QPixmap.fromImage(image.scaled(size, Qt.AspectRatioMode.KeepAspectRatio, mode)))
    return drag


def file_mime(path: Path) -> QMimeData:
    """Return a file for the clipboard or a drag."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    return data


class StageMessage(QWidget):
    """Words in the middle of the Stage where there is no picture."""

    def __init__(self) -> None:
        super().__init__()
        self._icon = IconLabel("film", Tint.MUTED, size=METRICS.icon_large)
        self._title = make_label("", "headline")
        self._text = make_label("", "muted")
        for label in (self._title, self._text):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        middle = column(spacing=METRICS.space_s)
        middle.addStretch(1)
        middle.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignHCenter)
        middle.addSpacing(METRICS.space_s)
        middle.addWidget(self._title)
        middle.addWidget(self._text)
        middle.addStretch(1)
        self.setLayout(middle)

    @property
    def title_text(self) -> str:
        """Return the words in large."""
        return self._title.text()

    def show_words(self, title: str, text: str, icon: str) -> None:
        """Say something else."""
        self._title.setText(title)
        self._text.setText(text)
        self._icon.show_icon(icon, Tint.MUTED)
