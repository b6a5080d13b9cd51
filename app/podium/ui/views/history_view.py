"""The clips that were made, newest first."""

from __future__ import annotations

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QSize, Qt
from PySide6.QtGui import QIcon, QPixmap
from PySide6.QtWidgets import QFrame, QListView, QPushButton, QStackedWidget, QWidget

from podium.ui.state.history import HistoryState
from podium.ui.state.values import HistoryEntry
from podium.ui.theme import METRICS, Tint, load_icon
from podium.ui.views.images import image_of_rgb
from podium.ui.views.widgets.buttons import make_button
from podium.ui.views.widgets.layouts import column, row
from podium.ui.views.widgets.roles import give_surface, make_label
from podium.ui.views.widgets.words import seconds_in_words

_Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()


class HistoryItemModel(QAbstractListModel):
    """The entries of a `HistoryState` as Qt wants them."""

    def __init__(self, state: HistoryState) -> None:
        super().__init__()
        self._state = state
        self._entries: tuple[HistoryEntry, ...] = state.entries
        state.entries_changed.connect(self._on_changed)

    def rowCount(self, parent: _Index = _NO_INDEX) -> int:  # noqa: N802 - Qt's name
        """Return how many clips there are."""
        return 0 if parent.isValid() else len(self._entries)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return what is shown of a clip."""
        entry = self._entries[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return entry.finished_at.astimezone().strftime("%H:%M:%S")
        if role == Qt.ItemDataRole.DecorationRole:
            return self._icon(entry)
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._words(entry)
        if role == Qt.ItemDataRole.UserRole:
            return entry
        return None

    def _icon(self, entry: HistoryEntry) -> QIcon:
        thumbnail = entry.thumbnail
        if thumbnail is None:
            return load_icon("film", Tint.MUTED)
        image = image_of_rgb(thumbnail.rgb, thumbnail.width, thumbnail.height)
        icon = QIcon()
        # The selection is shown by its frame: a picture that is tinted is no picture.
        for mode in (QIcon.Mode.Normal, QIcon.Mode.Selected):
            icon.addPixmap(QPixmap.fromImage(image), mode)
        return icon

    def _words(self, entry: HistoryEntry) -> str:
        clip = entry.clip.clip
        size = f"{clip.width} × {clip.height} · {seconds_in_words(float(clip.duration_s))}"
        seed = self.tr("seed {0}").format(entry.request.seed)
        return f"{entry.request.prompt}\n{size} · {seed}"

    def _on_changed(self) -> None:
        self.beginResetModel()
        self._entries = self._state.entries
        self.endResetModel()


class HistoryView(QWidget):
    """Show a `HistoryState` and choose which of its clips the Stage shows."""

    def __init__(self, state: HistoryState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        give_surface(self, "panel")
        self._live = make_button(self.tr("Back to the clip at work"), kind="quiet", icon="play")
        self._list = QListView()
        self._list.setModel(HistoryItemModel(state))
        self._list.setAccessibleName(self.tr("Clips"))
        self._list.setViewMode(QListView.ViewMode.IconMode)
        self._list.setFlow(QListView.Flow.LeftToRight)
        self._list.setMovement(QListView.Movement.Static)
        self._list.setResizeMode(QListView.ResizeMode.Adjust)
        self._list.setUniformItemSizes(True)
        self._list.setFrameShape(QFrame.Shape.NoFrame)
        self._list.setIconSize(QSize(METRICS.history_width, METRICS.thumbnail))
        self._list.setSpacing(METRICS.space_xs)
        self._empty = make_label(self.tr("Finished clips are kept here, and in your clips folder."), "muted")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._empty)
        self._pages.addWidget(self._list)
        margins = (METRICS.space_m, METRICS.space_s, METRICS.space_m, METRICS.space_s)
        self.setLayout(column(row(None, self._live), self._pages, spacing=0, margins=margins))
        self._list.clicked.connect(self._on_chosen)
        self._list.activated.connect(self._on_chosen)
        self._live.clicked.connect(self._on_live)
        state.changed.connect(self._show)
        self._show()

    @property
    def list(self) -> QListView:
        """Return the list of clips."""
        return self._list

    @property
    def live_button(self) -> QPushButton:
        """Return what leads back to the clip at work."""
        return self._live

    def _on_chosen(self, index: QModelIndex) -> None:
        entry = index.data(Qt.ItemDataRole.UserRole)
        assert isinstance(entry, HistoryEntry)
        self._state.select(entry.clip.path)

    def _on_live(self) -> None:
        self._state.select(None)

    def _show(self) -> None:
        self._pages.setCurrentWidget(self._list if self._state.entries else self._empty)
        selected = self._state.selected
        self._live.setVisible(selected is not None)
        if selected is None:
            self._list.clearSelection()
            return
        index = self._list.model().index(self._state.entries.index(selected), 0)
        self._list.setCurrentIndex(index)
