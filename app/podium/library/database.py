"""One connection to the library's file, and the one place where an error of SQLite's becomes a sentence."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from podium.library.errors import library_error
from podium.library.schema import VERSION, migrate, version_of

BUSY_LIMIT_S = 2.0
IN_MEMORY = ":memory:"
_OPEN = "is_open"
_COMPANIONS = ("-wal", "-shm")
_log = logging.getLogger(__name__)

Value = str | int | float | None


class Database:
    """A connection with its tables in place.

    Args:
        connection: Opened by this room.
        path: Where the file lies, or would lie.
        problem: A sentence on what was found when it was opened; empty if all was well.
        was_left_open: Whoever had it last did not close it.
        is_kept: What is written is on the disk.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        *,
        problem: str = "",
        was_left_open: bool = False,
        is_kept: bool = True,
    ) -> None:
        self._connection = connection
        self._is_closed = False
        self.path = path
        self.problem = problem
        self.was_left_open = was_left_open
        self.is_kept = is_kept

    def read(self, sql: str, values: Sequence[Value] | Mapping[str, Value] = ()) -> list[tuple[Value, ...]]:
        """Return the rows that a query finds.

        Raises:
            LibraryError: It cannot be read.
        """
        try:
            return self._connection.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise library_error(error, self.path) from error

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Do all that happens in the block, or nothing of it; blocks within it are parts of it.

        Raises:
            LibraryError: It cannot be written; nothing was.
        """
        connection = self._connection
        if not self._is_closed and connection.in_transaction:
            yield connection
            return
        try:
            # One that is closed says so here.
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            self._roll_back()
            raise library_error(error, self.path) from error
        except BaseException:
            self._roll_back()
            raise

    def write(self, sql: str, values: Sequence[Value] | Mapping[str, Value] = ()) -> None:
        """Do one statement.

        Raises:
            LibraryError: It cannot be written.
        """
        with self.writing() as connection:
            connection.execute(sql, values)

    def write_all(self, sql: str, rows: Iterable[Sequence[Value]]) -> None:
        """Do one statement for each row, for all or for none.

        Raises:
            LibraryError: It cannot be written.
        """
        with self.writing() as connection:
            connection.executemany(sql, rows)

    def close(self) -> None:
        """Let go of the file, and note in it that this was meant."""
        if self._is_closed:
            return
        self._is_closed = True
        try:
            _note_open(self._connection, is_open=False)
            self._connection.close()
        except sqlite3.Error as error:
            _log.warning("The library was not closed well: %s", error)

    def _roll_back(self) -> None:
        # SQLite ends a transaction by itself where the disk is full.
        if not self._is_closed and self._connection.in_transaction:
            try:
                self._connection.execute("ROLLBACK")
            except sqlite3.Error as error:
                _log.warning("A change to the library could not be taken back: %s", error)


def open_database(path: Path) -> Database:
    """Open the file, or make it. Whatever is wrong with it, there is a database afterwards, and `problem` tells.

    A damaged file is kept aside. Where nothing can be written, or a newer Podium wrote the file, all is held in memory.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return _open_file(path)
    except sqlite3.OperationalError as error:
        if _is_damage(error):
            return _open_anew(path, error)
        return _open_in_memory(path, library_error(error, path).message)
    except sqlite3.DatabaseError as error:
        return _open_anew(path, error)
    except OSError as error:
        return _open_in_memory(path, library_error(error, path).message)


def open_in_memory() -> Database:
    """Return a database that is gone with the process."""
    return _open_in_memory(Path(IN_MEMORY), "")


def _open_file(path: Path) -> Database:
    connection = _connect(str(path))
    try:
        version = version_of(connection)
        if version > VERSION:
            connection.close()
            return _open_in_memory(path, _NEWER.format(path))
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        was_left_open = version > 0 and _is_noted_open(connection)
        if was_left_open:
            _check_whole(connection)
        migrate(connection)
        _note_open(connection, is_open=True)
    except BaseException:
        connection.close()
        raise
    return Database(connection, path, was_left_open=was_left_open)


def _open_anew(path: Path, error: sqlite3.DatabaseError) -> Database:
    _log.warning("The library %s is damaged: %s", path, error)
    try:
        kept = _keep_aside(path)
        database = _open_file(path)
    except (sqlite3.Error, OSError) as second:
        return _open_in_memory(path, library_error(second, path).message)
    database.problem = (
        f"The file with queue and history was damaged. It is kept as “{kept.name}” in “{kept.parent}”, and "
        "new ones were begun; the clips themselves lie where they lay."
    )
    return database


def _open_in_memory(path: Path, problem: str) -> Database:
    connection = _connect(IN_MEMORY)
    if problem and path.is_file():
        _copy_into(connection, path)
    migrate(connection)
    return Database(connection, path, problem=problem, is_kept=not problem)


def _copy_into(connection: sqlite3.Connection, path: Path) -> None:
    """Take what can be read of a file that cannot be written."""
    try:
        # Immutable: no file may be made beside it, which reading a WAL database would want.
        source = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
        try:
            if version_of(source) <= VERSION:
                source.backup(connection)
        finally:
            source.close()
    except sqlite3.Error as error:
        _log.info("The library %s cannot be read either: %s", path, error)


def _connect(target: str) -> sqlite3.Connection:
    connection = sqlite3.connect(target, timeout=BUSY_LIMIT_S, isolation_level=None)
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def _check_whole(connection: sqlite3.Connection) -> None:
    found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        raise sqlite3.DatabaseError(found)


def _is_damage(error: sqlite3.Error) -> bool:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    # A file with a version but without its tables is damaged, too; SQLite calls that an ordinary error.
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)


def _keep_aside(path: Path) -> Path:
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S-%f")
    kept = path.with_name(f"{path.name}.damaged-{stamp}")
    path.replace(kept)
    for ending in _COMPANIONS:
        companion = path.with_name(path.name + ending)
        if companion.exists():
            companion.replace(kept.with_name(kept.name + ending))
    return kept


def _is_noted_open(connection: sqlite3.Connection) -> bool:
    row = connection.execute("SELECT value FROM flag WHERE name = ?", (_OPEN,)).fetchone()
    return row is not None and row[0] == "1"


def _note_open(connection: sqlite3.Connection, *, is_open: bool) -> None:
    connection.execute("INSERT OR REPLACE INTO flag (name, value) VALUES (?, ?)", (_OPEN, str(int(is_open))))


_NEWER = (
    "“{0}” was written by a newer Podium, and is left as it is. Queue and history of this one hold until the window is "
    "closed. Start the newer Podium to have yours."
)
