"""The clips that were made, as Qt's list views want them: read from the library page by page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from podium.helper.requests import Thumbnail
from podium.ui.state.numbers import number_in_words
from podium.ui.state.values import HistoryEntry

PAGE_ENTRIES = 200
MAX_THUMBNAILS = 1000
"""About 60 MB; those of clips that are shown again are read again."""

_Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()

NextPage = Callable[[HistoryEntry | None, int], tuple[HistoryEntry, ...]]
"""Return the entries after one (None: the first ones), newest first, at most so many."""


class HistoryModel(QAbstractListModel):
    """The clips that pass the filters, newest first.

    Args:
        next_page: Reads a page.
    """

    ENTRY_ROLE = Qt.ItemDataRole.UserRole
    """A `HistoryEntry`, with its thumbnail where that is made."""

    thumbnail_wanted = Signal(object)
    """A `HistoryEntry` is shown whose thumbnail is not here."""

    def __init__(self, next_page: NextPage, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._next_page = next_page
        self._entries: list[HistoryEntry] = []
        self._rows: dict[int, int] = {}
        self._thumbnails: dict[int, Thumbnail] = {}
        self._is_loaded = False
        self._is_whole = False

    @property
    def is_loaded(self) -> bool:
        """Return whether the first page was read."""
        return self._is_loaded

    @property
    def entries(self) -> tuple[HistoryEntry, ...]:
        """Return what was read so far, newest first, without thumbnails."""
        return tuple(self._entries)

    def rowCount(self, parent: _Index = _NO_INDEX) -> int:  # noqa: N802 - Qt's name
        """Return how many clips were read so far."""
        return 0 if parent.isValid() else len(self._entries)

    def canFetchMore(self, parent: _Index = _NO_INDEX) -> bool:  # noqa: N802 - Qt's name
        """Return whether there may be more."""
        return not parent.isValid() and not self._is_whole

    def fetchMore(self, parent: _Index = _NO_INDEX) -> None:  # noqa: N802 - Qt's name
        """Read the next page."""
        if not self.canFetchMore(parent):
            return
        self._is_loaded = True
        page = self._next_page(self._entries[-1] if self._entries else None, PAGE_ENTRIES)
        self._is_whole = not page
        if page:
            first = len(self._entries)
            self.beginInsertRows(_NO_INDEX, first, first + len(page) - 1)
            self._entries.extend(page)
            self._rows |= {entry.key: first + place for place, entry in enumerate(page)}
            self.endInsertRows()

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return what is shown of a clip."""
        if not index.isValid() or not 0 <= index.row() < len(self._entries):
            return None
        entry = self._entries[index.row()]
        if role == self.ENTRY_ROLE:
            return self._with_thumbnail(entry)
        if role == Qt.ItemDataRole.DisplayRole:
            return entry.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self._words(entry)
        return None

    def row_of(self, key: int) -> int | None:
        """Return the row of a clip; None if it was not read, or is filtered out."""
        return self._rows.get(key)

    def entry_of(self, key: int) -> HistoryEntry | None:
        """Return a clip that was read, with its thumbnail."""
        row = self.row_of(key)
        return None if row is None else self._with_thumbnail(self._entries[row])

    def reload(self) -> None:
        """Read anew from the first page."""
        self.beginResetModel()
        self._is_loaded = True
        page = self._next_page(None, PAGE_ENTRIES)
        self._entries = list(page)
        self._is_whole = not page
        self._count_rows()
        self.endResetModel()

    def put_first(self, entry: HistoryEntry) -> None:
        """Put a new clip before all others."""
        self.beginInsertRows(_NO_INDEX, 0, 0)
        self._entries.insert(0, entry)
        self._count_rows()
        self.endInsertRows()

    def take_out(self, keys: Iterable[int]) -> None:
        """Show clips no more."""
        for row in sorted((self._rows[key] for key in keys if key in self._rows), reverse=True):
            self.beginRemoveRows(_NO_INDEX, row, row)
            del self._entries[row]
            self.endRemoveRows()
        self._count_rows()

    def replace_entry(self, entry: HistoryEntry) -> None:
        """Show a clip as it is now."""
        row = self._rows.get(entry.key)
        if row is not None:
            self._entries[row] = replace(entry, thumbnail=None)
            self._tell_changed(row)

    def set_thumbnail(self, key: int, thumbnail: Thumbnail) -> None:
        """Show a clip's thumbnail."""
        self._thumbnails[key] = thumbnail
        if len(self._thumbnails) > MAX_THUMBNAILS:
            del self._thumbnails[next(iter(self._thumbnails))]
        row = self._rows.get(key)
        if row is not None:
            self._tell_changed(row)

    def _with_thumbnail(self, entry: HistoryEntry) -> HistoryEntry:
        thumbnail = self._thumbnails.get(entry.key)
        if thumbnail is None:
            self.thumbnail_wanted.emit(entry)
            return entry
        return replace(entry, thumbnail=thumbnail)

    def _words(self, entry: HistoryEntry) -> str:
        clip = entry.clip.clip
        text = self.tr("{0}, {1} by {2} pixels, {3} seconds, seed {4}")
        duration = number_in_words(float(clip.duration_s), 1)
        words = text.format(entry.title, clip.width, clip.height, duration, entry.request.seed)
        return self.tr("{0}, starred").format(words) if entry.is_starred else words

    def _count_rows(self) -> None:
        self._rows = {entry.key: row for row, entry in enumerate(self._entries)}

    def _tell_changed(self, row: int) -> None:
        index = self.index(row, 0)
        self.dataChanged.emit(index, index)
