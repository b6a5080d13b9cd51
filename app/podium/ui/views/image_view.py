"""The pictures that the clip starts from, ends with or passes through: chosen, dropped or pasted."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QMimeData, Qt, Signal, Slot
from PySide6.QtGui import (
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QGuiApplication,
    QImage,
    QKeyEvent,
    QKeySequence,
)
from PySide6.QtWidgets import QPushButton, QWidget

from podium.ui.state.images import ImagesState
from podium.ui.theme import METRICS, Tint
from podium.ui.views.image_item_view import ImageItemView
from podium.ui.views.widgets.buttons import make_button
from podium.ui.views.widgets.drops import dropped_clip, picture_paths
from podium.ui.views.widgets.elided_label import ElidedLabel
from podium.ui.views.widgets.file_dialogs import open_file_dialog
from podium.ui.views.widgets.icon_label import IconLabel
from podium.ui.views.widgets.layouts import around, column, row
from podium.ui.views.widgets.roles import give, give_surface, make_label

_PATTERN = "*.png *.jpg *.jpeg *.webp *.avif *.tif *.tiff *.bmp"


class ImageView(QWidget):
    """Show and change an `ImagesState`; files can be dropped on it and pictures pasted."""

    image_pasted = Signal(object)
    """A picture without a file was pasted or dropped: a QImage that somebody has to keep in one."""
    clip_brought = Signal(object)
    """A clip was pasted, or dropped among pictures: its `Path`."""

    def __init__(self, state: ImagesState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._views: dict[int, ImageItemView] = {}
        self.setAcceptDrops(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._add = make_button(self.tr("Add…"), icon="plus")
        self._add.setAccessibleName(self.tr("Add pictures"))
        self._empty = give_surface(QWidget(), "drop")
        words = make_label(self.tr("Drop or paste pictures to start from"), wraps=True)
        line = row(IconLabel("image", Tint.MUTED), margins=around(METRICS.space_m))
        line.addWidget(words, 1)
        self._empty.setLayout(line)
        self._list = column()
        self._removed = self._make_removed()
        head = row(make_label(self.tr("Pictures"), "section"), None, self._add)
        self.setLayout(column(head, self._empty, self._list, self._removed))
        self._add.clicked.connect(self.choose)
        for signal in (state.items_changed, state.num_frames_changed, state.removed_names_changed):
            signal.connect(self._show)
        self._show()

    @property
    def item_views(self) -> list[ImageItemView]:
        """Return what shows each picture, in their order."""
        return [self._views[item.key] for item in self._state.items]

    @property
    def add_button(self) -> QPushButton:
        """Return what opens the file dialog."""
        return self._add

    @property
    def undo_button(self) -> QPushButton:
        """Return what brings back the picture that was taken out."""
        return self._undo

    def choose(self) -> None:
        """Ask for picture files."""
        name_filter = self.tr("Pictures ({0})").format(_PATTERN)
        dialog = open_file_dialog(self, self.tr("Add pictures"), name_filter=name_filter, takes_many=True)
        dialog.filesSelected.connect(self._on_files)

    def paste(self) -> None:
        """Take the picture, or the picture files, that are on the clipboard."""
        self._take(QGuiApplication.clipboard().mimeData())

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Paste on the platform's keys."""
        if event.matches(QKeySequence.StandardKey.Paste):
            self.paste()
        else:
            super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802 - Qt's name
        """Show that a picture can be dropped."""
        # A clip is no picture: it is left to the window, which reads what it was made with.
        if picture_paths(event.mimeData()) or event.mimeData().hasImage():
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

    def _make_removed(self) -> QWidget:
        line = QWidget()
        self._removed_words = ElidedLabel("", "caption", mode=Qt.TextElideMode.ElideMiddle)
        self._undo = make_button(self.tr("Undo"), kind="link", icon="undo", tint=Tint.ACCENT)
        self._undo.setAccessibleName(self.tr("Bring the picture back"))
        whole = row(spacing=METRICS.space_s)
        whole.addWidget(self._removed_words, 1)
        whole.addWidget(self._undo)
        line.setLayout(whole)
        self._undo.clicked.connect(self._state.undo_remove)
        return line

    @Slot(list)
    def _on_files(self, names: list[str]) -> None:
        self._state.add([Path(name) for name in names])

    def _take(self, data: QMimeData) -> None:
        paths, clip = picture_paths(data), dropped_clip(data)
        if paths:
            self._state.add(paths)
        if clip is not None:
            self.clip_brought.emit(clip)
        elif not paths and data.hasImage():
            self.image_pasted.emit(QImage(data.imageData()))

    def _set_hot(self, *, is_hot: bool) -> None:
        # Under pictures that are there already, the zone shows only while something is over it.
        self._empty.setVisible(is_hot or not self._state.items)
        give(self._empty, hot="true" if is_hot else "")

    def _show(self) -> None:
        items = self._state.items
        for key in self._views.keys() - {item.key for item in items}:
            view = self._views.pop(key)
            self._list.removeWidget(view)
            view.hide()
            view.deleteLater()
        for place, item in enumerate(items):
            view = self._views.get(item.key) or self._make_view(item.key)
            if self._list.indexOf(view) != place:
                self._list.insertWidget(place, view)
            view.show_item(item, self._state.num_frames)
        self._empty.setVisible(not items)
        removed = self._state.removed_names
        words = self.tr("“{0}” was taken out.") if len(removed) == 1 else self.tr("{1} pictures were taken out.")
        self._removed_words.show_text(words.format("".join(removed[:1]), len(removed)))
        self._removed.setVisible(bool(removed))

    def _make_view(self, key: int) -> ImageItemView:
        view = ImageItemView(self)
        self._views[key] = view
        view.place_chosen.connect(partial(self._state.set_place, key))
        view.frame_chosen.connect(partial(self._state.set_frame, key))
        view.strength_changed.connect(partial(self._state.set_strength, key))
        view.crf_chosen.connect(partial(self._state.set_crf, key))
        view.remove_requested.connect(partial(self._state.remove, key))
        return view
