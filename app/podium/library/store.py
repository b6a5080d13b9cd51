"""The library: one file, and a store for each kind of thing in it."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self

from podium.library.database import Database, open_database, open_in_memory
from podium.library.files import FileStore
from podium.library.history_store import HistoryStore
from podium.library.pictures import PictureStore
from podium.library.queue_store import QueueStore
from podium.library.texts import FormStore, PresetStore, PromptStore
from podium.library.timings import TimingStore

FILE_NAME = "library.sqlite"


class Library:
    """What the window keeps from one day to the next. Made by `open` or `in_memory`; used in one thread.

    Args:
        database: With its tables.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.queue = QueueStore(database)
        self.history = HistoryStore(database)
        self.timings = TimingStore(database)
        self.prompts = PromptStore(database)
        self.presets = PresetStore(database)
        self.files = FileStore(database)
        self.pictures = PictureStore(database)
        self.form = FormStore(database)
        self.drafts = FormStore(database, "drafts")

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the library in a file, or make it; `problem` tells what was found wrong.

        There is a library afterwards whatever is wrong with the file: a damaged one is kept aside, and where nothing
        can be written all is held in memory.
        """
        return cls(open_database(path))

    @classmethod
    def in_memory(cls) -> Self:
        """Return a library that is gone with the process."""
        return cls(open_in_memory())

    @property
    def path(self) -> Path:
        """Return where the file lies, or would lie."""
        return self._database.path

    @property
    def problem(self) -> str:
        """Return a sentence on what was found wrong when it was opened; empty if nothing was."""
        return self._database.problem

    @property
    def is_kept(self) -> bool:
        """Return whether what is written outlives the process."""
        return self._database.is_kept

    @property
    def was_left_open(self) -> bool:
        """Return whether the window that had it last did not come to close it."""
        return self._database.was_left_open

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
