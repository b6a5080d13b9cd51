"""What the artist wrote and chose: prompts, presets, and the form as it was left."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from podium.library.database import Database
from podium.library.request_json import to_text
from podium.library.words import clause, to_words

NUM_PROMPTS = 1000
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PromptPair:
    """A prompt that was used, with the negative one that went with it; that may be empty."""

    prompt: str
    negative_prompt: str = ""


class PromptStore:
    """The prompts that were used last, each once."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, prompt: str, negative_prompt: str = "") -> None:
        """Put a prompt in front; one that is there moves there.

        Raises:
            LibraryError: Nothing was written.
        """
        if not prompt.strip():
            return
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO prompt (prompt, negative_prompt, used, words) "
                "VALUES (?, ?, (SELECT coalesce(max(used), 0) + 1 FROM prompt), ?) "
                "ON CONFLICT (prompt, negative_prompt) DO UPDATE SET used = excluded.used",
                (to_text(prompt), to_text(negative_prompt), to_words(prompt, negative_prompt)),
            )
            connection.execute(
                "DELETE FROM prompt WHERE used <= (SELECT max(used) FROM prompt) - ?",
                (NUM_PROMPTS,),
            )

    def recent(self, limit: int = 50, search: str = "") -> tuple[PromptPair, ...]:
        """Return the prompts that hold all words of a search, the last used first, at most `limit`.

        Raises:
            LibraryError: The file cannot be read.
        """
        condition, values = clause("words", search)
        found = self._database.read(
            f"SELECT prompt, negative_prompt FROM prompt WHERE {condition} ORDER BY used DESC LIMIT ?",
            [*values, limit],
        )
        return tuple(PromptPair(json.loads(str(prompt)), json.loads(str(negative))) for prompt, negative in found)


class PresetStore:
    """Forms that were given a name."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def names(self) -> tuple[str, ...]:
        """Return the names in alphabetical order, whatever their case.

        Raises:
            LibraryError: The file cannot be read.
        """
        return tuple(sorted((str(name) for (name,) in self._database.read("SELECT name FROM preset")), key=to_words))

    def load(self, name: str) -> dict[str, Any]:
        """Return a preset; an empty one if there is none of that name.

        Raises:
            LibraryError: The file cannot be read.
        """
        return _load(self._database, "SELECT preset FROM preset WHERE name = ?", name) or {}

    def save(self, name: str, preset: Mapping[str, object]) -> None:
        """Keep a preset; one of that name gives way.

        Raises:
            LibraryError: Nothing was written.
        """
        self._database.write("INSERT OR REPLACE INTO preset (name, preset) VALUES (?, ?)", (name, to_text(preset)))

    def remove(self, name: str) -> None:
        """Forget a preset.

        Raises:
            LibraryError: It is still there.
        """
        self._database.write("DELETE FROM preset WHERE name = ?", (name,))


class FormStore:
    """The form as it was left.

    Args:
        name: Which form.
    """

    def __init__(self, database: Database, name: str = "compose") -> None:
        self._database = database
        self._name = name

    def load(self) -> dict[str, Any] | None:
        """Return the form; None before it was first saved.

        Raises:
            LibraryError: The file cannot be read.
        """
        return _load(self._database, "SELECT form FROM form WHERE name = ?", self._name)

    def save(self, form: Mapping[str, object]) -> None:
        """Keep the form.

        Raises:
            LibraryError: Nothing was written.
        """
        sql = "INSERT OR REPLACE INTO form (name, form) VALUES (?, ?)"
        self._database.write(sql, (self._name, to_text(form)))


def _load(database: Database, sql: str, name: str) -> dict[str, Any] | None:
    found = database.read(sql, (name,))
    if not found:
        return None
    try:
        data = json.loads(str(found[0][0]))
    except ValueError as error:
        _log.warning("“%s” in the library cannot be read and is left out: %s", name, error)
        return None
    return data if isinstance(data, dict) else None
