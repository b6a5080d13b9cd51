"""The history on disk: every clip that was made, whether or not its file is still there."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from podium.jobs import ClipFinished, GenerationRequest
from podium.library.database import Database, Value
from podium.library.moments import from_us, to_us
from podium.library.request_json import (
    finished_from_dict,
    finished_to_dict,
    request_from_dict,
    request_to_dict,
    to_text,
)
from podium.library.words import clause, to_words

_COLUMNS = "key, clip, request, finished_at, fleet, model_name, duration_s, is_starred, is_missing"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """A clip that was made.

    Args:
        key: Never given twice; 0 before it was added.
        fleet: What it was made on, as JSON holds it; None if that is not known.
        model_name: Of the checkpoint; empty if that is not known.
        duration_s: Seconds that making it took; None if that is not known.
    """

    clip: ClipFinished
    request: GenerationRequest
    finished_at: datetime
    key: int = 0
    fleet: Mapping[str, object] | None = None
    model_name: str = ""
    duration_s: float | None = None
    is_starred: bool = False
    is_missing: bool = False


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """Which clips are wanted; empty words and names want all.

    Args:
        search: Words that all have to be in the prompts, the LoRAs' or the model's name.
        lora: A LoRA's name.
        model: A model's name.
    """

    search: str = ""
    is_starred_only: bool = False
    lora: str = ""
    model: str = ""

    def sql(self) -> tuple[str, list[Value]]:
        """Return the SQL condition, and its values."""
        # A plus keeps SQLite at the index by time: it reads on until a page is full, and sorts nothing.
        conditions, values = ["1"], list[Value]()
        if self.search.strip():
            found, words = clause("words", self.search)
            conditions.append(f"+key IN (SELECT history_key FROM history_words WHERE {found})")
            values += words
        if self.is_starred_only:
            conditions.append("is_starred")
        if self.lora:
            conditions.append("+key IN (SELECT history_key FROM history_lora WHERE name = ?)")
            values.append(_safe(self.lora))
        if self.model:
            conditions.append("model_name = ?")
            values.append(_safe(self.model))
        return " AND ".join(conditions), values


NO_FILTER = HistoryFilter()


class HistoryStore:
    """The history on disk."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, row: HistoryRow, *, queue_key: int | None = None) -> int:
        """Keep a clip, and return its key; the queue's entry that it was goes with the same stroke.

        Raises:
            LibraryError: Nothing was written.
        """
        loras = [lora.path.stem for lora in row.request.loras]
        words = to_words(row.request.prompt, row.request.negative_prompt, row.model_name, *loras)
        with self._database.writing() as connection:
            if queue_key is not None:
                connection.execute("DELETE FROM queue WHERE key = ?", (queue_key,))
            key = connection.execute(
                "INSERT INTO history (finished_at, clip, path, request, fleet, model_name, duration_s, is_starred, "
                "is_missing) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    to_us(row.finished_at),
                    to_text(finished_to_dict(row.clip)),
                    _path_text(row.clip.path),
                    to_text(request_to_dict(row.request)),
                    None if row.fleet is None else to_text(row.fleet),
                    _safe(row.model_name),
                    row.duration_s,
                    row.is_starred,
                    row.is_missing,
                ),
            ).lastrowid
            assert key is not None, "a row that was inserted has a key"
            connection.execute("INSERT INTO history_words (history_key, words) VALUES (?, ?)", (key, words))
            connection.executemany(
                "INSERT OR IGNORE INTO history_lora (name, history_key) VALUES (?, ?)",
                [(_safe(name), key) for name in loras],
            )
        return key

    def page(
        self, wanted: HistoryFilter = NO_FILTER, *, after: HistoryRow | None = None, limit: int
    ) -> tuple[HistoryRow, ...]:
        """Return clips, newest first, from the one after `after` on; at most `limit`.

        Raises:
            LibraryError: The file cannot be read.
        """
        condition, values = wanted.sql()
        if after is not None:
            condition += " AND (finished_at, key) < (?, ?)"
            values += [to_us(after.finished_at), after.key]
        found = self._database.read(
            f"SELECT {_COLUMNS} FROM history WHERE {condition} ORDER BY finished_at DESC, key DESC LIMIT ?",
            [*values, limit],
        )
        return _rows(found)

    def count(self, wanted: HistoryFilter = NO_FILTER) -> int:
        """Return how many clips pass a filter.

        Raises:
            LibraryError: The file cannot be read.
        """
        condition, values = wanted.sql()
        return int(self._database.read(f"SELECT count(*) FROM history WHERE {condition}", values)[0][0] or 0)

    def find(self, key: int) -> HistoryRow | None:
        """Return a clip by its key.

        Raises:
            LibraryError: The file cannot be read.
        """
        return next(iter(_rows(self._database.read(f"SELECT {_COLUMNS} FROM history WHERE key = ?", (key,)))), None)

    def find_by_path(self, path: Path) -> HistoryRow | None:
        """Return the newest clip of a file.

        Raises:
            LibraryError: The file cannot be read.
        """
        found = self._database.read(
            f"SELECT {_COLUMNS} FROM history WHERE path = ? ORDER BY key DESC LIMIT 1",
            (_path_text(path),),
        )
        return next(iter(_rows(found)), None)

    def set_starred(self, key: int, *, is_starred: bool) -> None:
        """Star a clip, or take its star away.

        Raises:
            LibraryError: It was not written.
        """
        self._database.write("UPDATE history SET is_starred = ? WHERE key = ?", (is_starred, key))

    def set_missing(self, keys: Iterable[int], *, is_missing: bool) -> None:
        """Note whether clips' files are where they were written.

        Raises:
            LibraryError: It was not written.
        """
        self._database.write_all("UPDATE history SET is_missing = ? WHERE key = ?", [(is_missing, key) for key in keys])

    def remove(self, keys: Iterable[int]) -> None:
        """Forget clips; their files stay.

        Raises:
            LibraryError: Nothing was written.
        """
        self._database.write_all("DELETE FROM history WHERE key = ?", [(key,) for key in keys])

    def paths(self) -> dict[int, Path]:
        """Return where every clip was written, by its key.

        Raises:
            LibraryError: The file cannot be read.
        """
        found = self._database.read("SELECT key, clip FROM history")
        return {int(key or 0): Path(json.loads(str(clip))["path"]) for key, clip in found}

    def lora_names(self) -> tuple[str, ...]:
        """Return the names of the LoRAs there are clips of.

        Raises:
            LibraryError: The file cannot be read.
        """
        return self._names("history_lora", "name")

    def model_names(self) -> tuple[str, ...]:
        """Return the names of the models there are clips of.

        Raises:
            LibraryError: The file cannot be read.
        """
        return self._names("history", "model_name")

    def _names(self, table: str, column: str) -> tuple[str, ...]:
        """Return the different texts of an indexed column, from one to the next: there are few, of many rows."""
        found = self._database.read(
            f"WITH RECURSIVE step (text) AS (SELECT min({column}) FROM {table} UNION ALL "
            f"SELECT (SELECT min({column}) FROM {table} WHERE {column} > step.text) FROM step "
            "WHERE step.text IS NOT NULL) SELECT text FROM step"
        )
        return tuple(str(name) for (name,) in found if name)


def _rows(found: Sequence[tuple[Value, ...]]) -> tuple[HistoryRow, ...]:
    rows = []
    for values in found:
        try:
            rows.append(_row(values))
        except (ValueError, KeyError, TypeError) as error:
            _log.warning("The clip %s of the history cannot be read and is left out: %s", values[0], error)
    return tuple(rows)


def _row(values: tuple[Value, ...]) -> HistoryRow:
    key, clip, request, finished_at, fleet, model_name, duration_s, is_starred, is_missing = values
    return HistoryRow(
        key=int(key or 0),
        clip=finished_from_dict(json.loads(str(clip))),
        request=request_from_dict(json.loads(str(request))),
        finished_at=from_us(int(finished_at or 0)),
        fleet=None if fleet is None else json.loads(str(fleet)),
        model_name=str(model_name),
        duration_s=None if duration_s is None else float(duration_s),
        is_starred=bool(is_starred),
        is_missing=bool(is_missing),
    )


def _safe(text: str) -> str:
    """Return a text that the file can hold; a name on disk may have no UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode()


def _path_text(path: Path) -> str:
    return _safe(str(path))
