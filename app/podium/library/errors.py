"""What can go wrong with the library."""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path

from podium.errors import PodiumError


class LibraryError(PodiumError):
    """The library cannot be read or written: what was to be kept is not on the disk."""


def library_error(error: sqlite3.Error | OSError, path: Path) -> LibraryError:
    """Return an error of SQLite's or the system's in words for the artist."""
    reason = _reason(error)
    return LibraryError(
        f"Queue and history cannot be kept in “{path.parent}”: {reason} They hold until the window is closed.",
        details=f"{path}: {type(error).__name__}: {error}",
    )


def _reason(error: sqlite3.Error | OSError) -> str:
    if isinstance(error, OSError):
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            return "the disk is full. Make room on it."
        return f"{(error.strerror or str(error)).lower()}. Make the folder writable."
    code = getattr(error, "sqlite_errorcode", None)
    primary = None if code is None else code & 0xFF
    return _SENTENCES.get(primary, f"{error}.")


_SENTENCES: dict[int | None, str] = {
    sqlite3.SQLITE_FULL: "the disk is full. Make room on it.",
    sqlite3.SQLITE_READONLY: "it is read-only. Make the folder writable.",
    sqlite3.SQLITE_PERM: "Podium may not write there. Make the folder writable.",
    sqlite3.SQLITE_CANTOPEN: "no file can be made there. Make the folder writable.",
    sqlite3.SQLITE_IOERR: "the disk reports a failure. See to it before more is lost.",
    sqlite3.SQLITE_BUSY: "another program holds the file. Close that program.",
    sqlite3.SQLITE_LOCKED: "another program holds the file. Close that program.",
    sqlite3.SQLITE_CORRUPT: "the file is damaged. Start Podium anew: it keeps the damaged one aside.",
    sqlite3.SQLITE_NOTADB: "the file is damaged. Start Podium anew: it keeps the damaged one aside.",
}
