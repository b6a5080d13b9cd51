"""What other rooms say, in the window's language.

Rule for callers: whatever another room wrote for the artist, the message of an error above all, goes through `said`
before it is shown. What the window composes by itself goes through `tr`, and its numbers through `numbers`.
"""

from __future__ import annotations

from functools import cache

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, QLocale

from podium.assets import read_bytes
from podium.errors import PodiumError
from podium.ui.state.sentence_finder import Marks, SentenceFinder, Template, read_templates
from podium.ui.state.values import ErrorMessage

SOURCE_LANGUAGE = "en"
# What joins the last two of a list, wherever one is made.
_JOINED = (QT_TRANSLATE_NOOP("Sentences", "{0} and {1}"), QT_TRANSLATE_NOOP("Sentences", "{0} or {1}"))


def language() -> str:
    """Return which language the window speaks, such as "de"."""
    # Each translation says of itself which it is.
    return QCoreApplication.translate("Language", "en")


def locale() -> QLocale:
    """Return how the window's language writes numbers and moments."""
    return QLocale(language())


def said(text: str) -> str:
    """Return what another room wrote in the window's language; what none of them writes stays as it is."""
    name = language()
    return text if name == SOURCE_LANGUAGE or not text else _finder(name).say(text)


def said_of(error: PodiumError) -> ErrorMessage:
    """Return an error's own words in the window's language; its details stay technical."""
    return ErrorMessage(said(error.message), error.details)


@cache
def _finder(name: str) -> SentenceFinder:
    """Return who finds the words for a language; made once for each, since the catalogue never changes."""
    written = QLocale(name)
    before, _, after = written.quoteString("x").partition("x")
    marks = Marks(written.decimalPoint(), written.groupSeparator(), (before, after))
    joined = tuple(Template.of(str(text)) for text in _JOINED)
    templates = (*joined, *read_templates(read_bytes("translations/sentences.json")))
    return SentenceFinder(templates, _translated, marks)


def _translated(source: str) -> str:
    return QCoreApplication.translate("Sentences", source)
