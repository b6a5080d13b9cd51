"""The files that clips were made with on this machine: where each content lay last."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from podium.jobs import FileIdentity
from podium.library.database import Database, Value
from podium.library.request_json import to_text


class FileStore:
    """Model files, LoRAs and pictures by name and fingerprint."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def note(self, identities: Iterable[FileIdentity]) -> None:
        """Keep what files are; those without a fingerprint are left out.

        Raises:
            LibraryError: Nothing was written.
        """
        self._database.write_all(
            "INSERT OR REPLACE INTO file (path, name, num_bytes, mtime_ns, fingerprint) VALUES (?, ?, ?, ?, ?)",
            [
                (to_text(str(each.path)), to_text(each.path.name), each.num_bytes, each.mtime_ns, each.fingerprint)
                for each in identities
                if each.fingerprint
            ],
        )

    def find(self, path: Path) -> FileIdentity | None:
        """Return what a file was when it was last used; None if it never was.

        Raises:
            LibraryError: The file cannot be read.
        """
        sql = "SELECT path, num_bytes, mtime_ns, fingerprint FROM file WHERE path = ?"
        return next(map(_identity, self._database.read(sql, (to_text(str(path)),))), None)

    def all(self) -> tuple[FileIdentity, ...]:
        """Return all files that were used.

        Raises:
            LibraryError: The file cannot be read.
        """
        return tuple(map(_identity, self._database.read("SELECT path, num_bytes, mtime_ns, fingerprint FROM file")))


def _identity(values: tuple[Value, ...]) -> FileIdentity:
    path, num_bytes, mtime_ns, fingerprint = values
    return FileIdentity(Path(json.loads(str(path))), int(num_bytes or 0), int(mtime_ns or 0), str(fingerprint))
