"""Which pictures anything in the library refers to: none of them may be thrown away."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from podium.library.database import Database
from podium.library.errors import LibraryError


class PictureStore:
    """Looks for pictures in queue, history, presets and forms."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def in_folder(self, folder: Path) -> frozenset[Path]:
        """Return the pictures of a folder that something refers to.

        Args:
            folder: Its own name is of ASCII alone; the path to it need not be.

        Raises:
            LibraryError: The file cannot be read, or part of it not be understood.
        """
        assert folder.name.isascii(), "the texts are looked through for it as it stands there"
        rows = []
        for table, column in (("queue", "request"), ("history", "request"), ("preset", "preset"), ("form", "form")):
            # What does not even hold the folder's name is not read: that is nearly all of a long history.
            sql = f"SELECT {column} FROM {table} WHERE instr({column}, ?)"
            rows += self._database.read(sql, (folder.name,))
        try:
            paths = {path for (text,) in rows for path in _paths(json.loads(str(text)))}
        except ValueError as error:
            raise LibraryError(
                "The pictures that queue and history refer to cannot be told, since a part of them is damaged.",
                details=f"{self._database.path}: {error}",
            ) from error
        # By name: the folder may have been reached another way when the path was written down.
        return frozenset(folder / path.name for path in paths if path.parent.name == folder.name)


def _paths(data: Any) -> Iterator[Path]:  # noqa: ANN401 - whatever JSON holds
    """Yield every value that is named a path, however deep it lies."""
    if isinstance(data, dict):
        path = data.get("path")
        if isinstance(path, str):
            yield Path(path)
        data = list(data.values())
    if isinstance(data, list):
        for part in data:
            yield from _paths(part)
