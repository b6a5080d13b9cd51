"""The queue's entries as Qt's list views want them; a drag asks for an entry's new place."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractListModel, QMimeData, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from podium.ui.state.queue import QueueState
from podium.ui.state.values import EntryStatus, QueueEntry
from podium.ui.views.queue_words import QueueWords

_Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
_MIME = "application/x-podium-queue-entry"


class QueueItemModel(QAbstractListModel):
    """The entries of a `QueueState`. Of a change only what changed is told, so that lists keep their place."""

    ENTRY_ROLE = Qt.ItemDataRole.UserRole
    """A `QueueEntry`."""

    move_requested = Signal(object, object)
    """The entry of this key shall stand at this place, counted from 0."""

    def __init__(self, state: QueueState, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._words = QueueWords(self)
        self._entries: tuple[QueueEntry, ...] = state.entries
        state.entries_changed.connect(self._on_changed)

    def rowCount(self, parent: _Index = _NO_INDEX) -> int:  # noqa: N802 - Qt's name
        """Return how many entries there are."""
        return 0 if parent.isValid() else len(self._entries)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return what is shown of an entry."""
        if not index.isValid() or not 0 <= index.row() < len(self._entries):
            return None
        entry = self._entries[index.row()]
        if role == self.ENTRY_ROLE:
            return entry
        if role == Qt.ItemDataRole.DisplayRole:
            return entry.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self._words.whole(entry, is_edited=entry.key == self._state.edited_key)
        if role == Qt.ItemDataRole.ToolTipRole:
            return "\n\n".join((entry.request.prompt, *entry.notes))
        return None

    def flags(self, index: _Index) -> Qt.ItemFlag:
        """Return that entries are dragged, and dropped between others."""
        base = super().flags(index)
        if not index.isValid():
            return base | Qt.ItemFlag.ItemIsDropEnabled
        is_running = self._entries[index.row()].status is EntryStatus.RUNNING
        return base if is_running else base | Qt.ItemFlag.ItemIsDragEnabled

    def supportedDropActions(self) -> Qt.DropAction:  # noqa: N802 - Qt's name
        """Return that entries are moved."""
        return Qt.DropAction.MoveAction

    def mimeTypes(self) -> list[str]:  # noqa: N802 - Qt's name
        """Return what a dragged entry is."""
        return [_MIME]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:  # noqa: N802 - Qt's name
        """Return a dragged entry: its key."""
        data = QMimeData()
        keys = [str(self._entries[index.row()].key) for index in indexes if index.isValid()]
        data.setData(_MIME, " ".join(keys).encode())
        return data

    def dropMimeData(  # noqa: N802 - Qt's name
        self, data: QMimeData, action: Qt.DropAction, row: int, column: int, parent: _Index
    ) -> bool:
        """Ask for the new place of a dropped entry."""
        del column
        if action is not Qt.DropAction.MoveAction or not data.hasFormat(_MIME):
            return False
        place = row if row >= 0 else parent.row() if parent.isValid() else len(self._entries)
        for key in bytes(data.data(_MIME).data()).split():
            self._ask(int(key), place)
        return True

    def moveRows(  # noqa: N802 - Qt's name
        self, source_parent: _Index, source_row: int, count: int, target_parent: _Index, target_row: int
    ) -> bool:
        """Ask for the new place of entries that Qt's list moves itself."""
        if source_parent.isValid() or target_parent.isValid():
            return False
        for key in [entry.key for entry in self._entries[source_row : source_row + count]]:
            self._ask(key, target_row)
        return True

    def row_of(self, key: int) -> int | None:
        """Return the row of an entry; None if it is not there."""
        return next((row for row, entry in enumerate(self._entries) if entry.key == key), None)

    def _ask(self, key: int, gap: int) -> None:
        """Ask for a place: Qt counts gaps with the entry in its old place, the queue counts without it."""
        row = self.row_of(key)
        if row is not None:
            self.move_requested.emit(key, gap - 1 if row < gap else gap)

    def _on_changed(self) -> None:
        old, new = self._entries, self._state.entries
        old_keys, new_keys = [entry.key for entry in old], [entry.key for entry in new]
        if old_keys == new_keys:
            self._entries = new
        elif sorted(old_keys) == sorted(new_keys):
            self._take_order(new, {key: row for row, key in enumerate(new_keys)})
        else:
            self._take_others(new, old_keys, new_keys)
        before = {entry.key: entry for entry in old}
        for row, entry in enumerate(new):
            if before.get(entry.key, entry) != entry:
                self.dataChanged.emit(self.index(row, 0), self.index(row, 0))

    def _take_order(self, entries: tuple[QueueEntry, ...], rows: dict[int, int]) -> None:
        self.layoutAboutToBeChanged.emit()
        before = self.persistentIndexList()
        after = [self.index(rows[self._entries[index.row()].key], 0) for index in before]
        self._entries = entries
        self.changePersistentIndexList(before, after)
        self.layoutChanged.emit()

    def _take_others(self, entries: tuple[QueueEntry, ...], old: list[int], new: list[int]) -> None:
        """Take entries in or out: as one block where it is one, so that nothing else moves."""
        same = min(len(old), len(new))
        head = next((row for row in range(same) if old[row] != new[row]), same)
        tail = next((row for row in range(same - head) if old[-1 - row] != new[-1 - row]), same - head)
        num_out, num_in = len(old) - head - tail, len(new) - head - tail
        if num_out == 0:
            self.beginInsertRows(_NO_INDEX, head, head + num_in - 1)
            self._entries = entries
            self.endInsertRows()
        elif num_in == 0:
            self.beginRemoveRows(_NO_INDEX, head, head + num_out - 1)
            self._entries = entries
            self.endRemoveRows()
        else:
            self.beginResetModel()
            self._entries = entries
            self.endResetModel()
