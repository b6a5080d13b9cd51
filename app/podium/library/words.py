"""How texts are searched: word by word, whatever their case, in any script."""

from __future__ import annotations

import re
import unicodedata

MAX_SEARCH = 1000
"""Characters of a search that count; SQLite takes no pattern without end."""

_WILDCARD, _ESCAPED = re.compile(r"[%_\\]"), r"\\\g<0>"


def to_words(*texts: str) -> str:
    """Return texts as they are searched in."""
    joined = unicodedata.normalize("NFKC", "\n".join(texts)).casefold()
    # Half a UTF-16 pair has no UTF-8, which the file is in.
    return joined.encode("utf-8", "replace").decode()


def words_of(search: str) -> list[str]:
    """Return the words that are searched for."""
    return to_words(search).split()


def clause(column: str, search: str) -> tuple[str, list[str]]:
    """Return an SQL condition that holds where all words are found, and its values; without words it always holds."""
    # LIKE is several times as quick as `instr`; its wildcards are escaped, since a searched “100%” means itself.
    patterns = [f"%{_WILDCARD.sub(_ESCAPED, word)}%" for word in words_of(search[:MAX_SEARCH])]
    return " AND ".join(f"{column} LIKE ? ESCAPE '\\'" for _ in patterns) or "1", patterns
