"""The queue on disk."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from podium.jobs import FileIdentity, GenerationRequest
from podium.library.database import Database, Value
from podium.library.moments import from_us, to_us
from podium.library.request_json import (
    identity_from_dict,
    identity_to_dict,
    request_from_dict,
    request_to_dict,
    to_text,
)

_log = logging.getLogger(__name__)
_SAVE = (
    "INSERT INTO queue (key, place, status, request, fleet, files, failure, notes, added_at) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (key) DO UPDATE SET status = excluded.status, request = excluded.request, fleet = excluded.fleet, "
    "files = excluded.files, failure = excluded.failure, notes = excluded.notes"
)


@dataclass(frozen=True, slots=True)
class QueueRow:
    """An entry as it lies on disk.

    Args:
        key: Never given twice.
        fleet: What it is to run on, as JSON holds it.
        status: A word of whoever keeps the queue.
        failure: What went wrong with it, as JSON holds it; empty if nothing did.
        files: What the files it needs were when it was frozen.
        notes: What its check had to say without refusing it, a sentence each.
    """

    key: int
    request: GenerationRequest
    fleet: Mapping[str, object]
    status: str
    added_at: datetime
    failure: Mapping[str, object] = field(default_factory=dict)
    files: tuple[FileIdentity, ...] = ()
    notes: tuple[str, ...] = ()


class QueueStore:
    """The queue on disk, in its order."""

    def __init__(self, database: Database) -> None:
        self._database = database
        # As they lie on disk; what stays in its place is not written again.
        self._places: dict[int, int] = {}
        self._unsaved: dict[int, QueueRow] = {}
        self._unremoved: set[int] = set()

    def load(self) -> tuple[QueueRow, ...]:
        """Return the entries in their order; one that cannot be read is left where it is, with a warning.

        Raises:
            LibraryError: The file cannot be read.
        """
        found = self._database.read(
            "SELECT key, request, fleet, status, added_at, failure, files, notes FROM queue ORDER BY place, key"
        )
        rows = []
        for values in found:
            try:
                rows.append(_row(values))
            except (ValueError, KeyError, TypeError) as error:
                _log.warning("The entry %s of the queue cannot be read and is left out: %s", values[0], error)
        self._places = {row.key: -1 for row in rows}
        return tuple(rows)

    def last_key(self) -> int:
        """Return the highest key that was ever given; 0 before the first.

        Raises:
            LibraryError: The file cannot be read.
        """
        found = self._database.read("SELECT seq FROM sqlite_sequence WHERE name = 'queue'")
        return int(found[0][0] or 0) if found else 0

    def write(self, order: Sequence[int], *, saved: Sequence[QueueRow] = (), removed: Sequence[int] = ()) -> None:
        """Save and remove entries, and put all in order; everything or nothing.

        What could not be written is kept, and written with the next that can be.

        Args:
            order: The keys of all entries.
            saved: Entries that are new or not as they were.
            removed: Keys of entries that are no more.

        Raises:
            LibraryError: Nothing was written.
        """
        self._unsaved |= {row.key: row for row in saved}
        self._unremoved |= set(removed)
        places = {key: place for place, key in enumerate(order)}
        moved = [(place, key) for key, place in places.items() if self._places.get(key) != place]
        rows = [_values(row, places[key]) for key, row in self._unsaved.items() if key in places]
        if not (rows or moved or self._unremoved):
            return
        with self._database.writing() as connection:
            connection.executemany("DELETE FROM queue WHERE key = ?", [(key,) for key in self._unremoved])
            connection.executemany(_SAVE, rows)
            connection.executemany("UPDATE queue SET place = ? WHERE key = ?", moved)
        self._places = places
        self._unsaved.clear()
        self._unremoved.clear()


def _values(row: QueueRow, place: int) -> tuple[Value, ...]:
    return (
        row.key,
        place,
        row.status,
        to_text(request_to_dict(row.request)),
        to_text(row.fleet),
        to_text([identity_to_dict(identity) for identity in row.files]),
        to_text(row.failure),
        to_text(list(row.notes)),
        to_us(row.added_at),
    )


def _row(values: tuple[Value, ...]) -> QueueRow:
    key, request, fleet, status, added_at, failure, files, notes = values
    return QueueRow(
        key=int(key or 0),
        request=request_from_dict(json.loads(str(request))),
        fleet=json.loads(str(fleet)),
        status=str(status),
        added_at=from_us(int(added_at or 0)),
        failure=json.loads(str(failure)),
        files=tuple(identity_from_dict(identity) for identity in json.loads(str(files))),
        notes=tuple(str(note) for note in json.loads(str(notes))),
    )
