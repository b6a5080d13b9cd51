"""A language that nobody speaks: every word of ours, 40 % longer and with marks on its vowels."""

from __future__ import annotations

import re

from PySide6.QtCore import QTranslator

LONGER = 0.4
_MARKS = str.maketrans("aouAOU", "äöüÄÖÜ")
# What is filled in later, entities and tags of rich text, the letter of a shortcut.
_WORD = re.compile(r"\{[^}]*\}|<[^>]*>|&\w+;|%n|[^\W\d_]+")


def longer(text: str) -> str:
    """Return a text in that language."""
    owed = 0.0

    def stretch(match: re.Match[str]) -> str:
        nonlocal owed
        word = match[0]
        if not word[0].isalpha():
            return word
        owed += LONGER * len(word)
        more, owed = int(owed), owed % 1
        return (word + (word.lower() * 2)[-more:] if more else word).translate(_MARKS)

    return _WORD.sub(stretch, text)


class LongerLanguage(QTranslator):
    """The language as Qt asks for it: it knows every text."""

    def isEmpty(self) -> bool:  # noqa: N802 - Qt's name
        return False

    def translate(self, context: str, text: str, disambiguation: str | None = None, n: int = -1) -> str:
        return longer(text)
