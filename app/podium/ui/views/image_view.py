"""The picture to start from: chosen, dropped or pasted, with how much of it stays."""

from __future__ import annotations

from PySide6.QtCore import QMimeData, Qt, QUrl, Signal, Slot
from PySide6.QtGui import (
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QGuiApplication,
    QImage,
    QKeyEvent,
    QKeySequence,
)
from PySide6.QtWidgets import QWidget

from podium.ui.state.compose import ComposeState
from podium.ui.theme import METRICS, Tint
from podium.ui.views.images import image_of_rgb
from podium.ui.views.widgets.buttons import make_button, make_icon_button
from podium.ui.views.widgets.drops import local_paths
from podium.ui.views.widgets.elided_label import ElidedLabel
from podium.ui.views.widgets.file_dialogs import open_file_dialog
from podium.ui.views.widgets.icon_label import IconLabel
from podium.ui.views.widgets.layouts import column, row
from podium.ui.views.widgets.roles import give, give_surface, make_label
from podium.ui.views.widgets.strength_field import StrengthField
from podium.ui.views.widgets.thumbnail import ThumbnailLabel


class ImageView(QWidget):
    """Show and change the picture of a `ComposeState`; files can be dropped on it and pictures pasted."""

    image_pasted = Signal(object)
    """A picture without a file was pasted or dropped: a QImage that somebody has to keep in one."""

    def __init__(self, state: ComposeState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self.setAcceptDrops(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._empty = self._make_empty_page()
        self._full = self._make_full_page()
        self.setLayout(column(make_label(self.tr("Start from a picture"), "section"), self._empty, self._full))
        for signal in (state.image_path_changed, state.image_thumbnail_changed, state.image_strength_changed):
            signal.connect(self._show)
        self._show()

    @property
    def strength(self) -> StrengthField:
        """Return where the strength is chosen."""
        return self._strength

    @property
    def choose_button(self) -> QWidget:
        """Return what opens the file dialog."""
        return self._choose

    def choose(self) -> None:
        """Ask for a picture file."""
        pattern = "*.png *.jpg *.jpeg *.webp *.avif *.tif *.tiff *.bmp"
        dialog = open_file_dialog(
            self, self.tr("Choose a picture to start from"), name_filter=self.tr("Pictures ({0})").format(pattern)
        )
        dialog.filesSelected.connect(self._on_files)

    def paste(self) -> None:
        """Take the picture, or the picture file, that is on the clipboard."""
        self._take(QGuiApplication.clipboard().mimeData())

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Paste on the platform's keys."""
        if event.matches(QKeySequence.StandardKey.Paste):
            self.paste()
        else:
            super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802 - Qt's name
        """Show that a picture can be dropped."""
        if local_paths(event.mimeData()) or event.mimeData().hasImage():
            event.acceptProposedAction()
            self._set_hot(is_hot=True)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:  # noqa: N802 - Qt's name
        """Show the zone at rest."""
        super().dragLeaveEvent(event)
        self._set_hot(is_hot=False)

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802 - Qt's name
        """Take what was dropped."""
        self._set_hot(is_hot=False)
        self._take(event.mimeData())
        event.acceptProposedAction()

    def _make_empty_page(self) -> QWidget:
        page = give_surface(QWidget(), "drop")
        self._choose = make_button(self.tr("Choose…"))
        self._choose.setAccessibleName(self.tr("Choose a picture to start from"))
        words = make_label(self.tr("Drop or paste a picture"))
        margins = (METRICS.space_m, METRICS.space_m, METRICS.space_m, METRICS.space_m)
        page.setLayout(row(IconLabel("image", Tint.MUTED), words, None, self._choose, margins=margins))
        self._choose.clicked.connect(self.choose)
        return page

    def _make_full_page(self) -> QWidget:
        page = give_surface(QWidget(), "item")
        self._thumbnail = ThumbnailLabel(self.tr("The picture"))
        self._name = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle)
        self._remove = make_icon_button("close", self.tr("Start from nothing"), tint=Tint.MUTED)
        self._strength = StrengthField(self.tr("Strength of the picture"))
        head = row(spacing=METRICS.space_s)
        head.addWidget(self._name, 1)
        head.addWidget(self._remove)
        right = column(head, self._strength, spacing=METRICS.space_xs)
        whole = row(self._thumbnail, spacing=METRICS.space_m, margins=(METRICS.space_s,) * 4)
        whole.addLayout(right, 1)
        page.setLayout(whole)
        self._remove.clicked.connect(self._state.clear_image)
        self._strength.changed.connect(self._state.set_image_strength)
        return page

    @Slot(list)
    def _on_files(self, names: list[str]) -> None:
        data = QMimeData()
        data.setUrls([*map(QUrl.fromLocalFile, names)])
        self._take(data)

    def _take(self, data: QMimeData) -> None:
        if paths := local_paths(data):
            self._state.set_image(paths[0])
        elif data.hasImage():
            self.image_pasted.emit(QImage(data.imageData()))

    def _set_hot(self, *, is_hot: bool) -> None:
        give(self._empty, hot="true" if is_hot else "")

    def _show(self) -> None:
        path = self._state.image_path
        self._empty.setVisible(path is None)
        self._full.setVisible(path is not None)
        self._strength.show_value(self._state.image_strength)
        self._name.show_text(path.name if path else "", str(path or ""))
        thumbnail = self._state.image_thumbnail
        self._thumbnail.show_image(
            image_of_rgb(thumbnail.rgb, thumbnail.width, thumbnail.height) if thumbnail else QImage()
        )
