"""Whether all sentences that errors are raised with can be said in another language: a plugin that prints the others.

    python -m pytest -p tests.fakes.said_sentences tests/unit/models tests/unit/pipelines tests/unit/helper

Each error of the artist's family that the run makes is remembered; after it come the sentences of which some letters
are neither of a template in the shipped catalogue nor a name in quotes, with the number of all. Names that stand
without quotes (devices, layers) count among those letters, so what is printed is to be looked at; the commands' own
words, which reach the terminal alone, are not in the catalogue.
"""

from __future__ import annotations

import pytest

from podium.assets import read_bytes
from podium.errors import PodiumError
from podium.ui.state.sentence_finder import SentenceFinder, Template, read_templates

SAID: dict[str, None] = {}


def pytest_configure() -> None:
    """Have errors remembered."""
    made = PodiumError.__init__

    def remember(self: PodiumError, message: str, *, details: str = "") -> None:
        SAID.setdefault(message)
        made(self, message, details=details)

    PodiumError.__init__ = remember  # type: ignore[method-assign]  # for the length of a process that only tests


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what the catalogue does not know."""
    joined = (Template.of("{0} and {1}"), Template.of("{0} or {1}"))
    finder = SentenceFinder((*joined, *read_templates(read_bytes("translations/sentences.json"))), lambda text: text)
    unknown = [text for text in SAID if finder.num_unknown(text)]
    terminalreporter.write_line(f"\n{len(SAID)} sentences were made; of these hold unknown words: {len(unknown)}")
    for text in unknown:
        terminalreporter.write_line(f"  {finder.num_unknown(text):4}  {text}")
