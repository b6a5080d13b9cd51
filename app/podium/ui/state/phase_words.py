"""What phases are called before the artist, in the window's language."""

from __future__ import annotations

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from podium.jobs import PHASE_WORDS, Phase

SOURCES = (
    QT_TRANSLATE_NOOP("Phase", "Starting"),
    QT_TRANSLATE_NOOP("Phase", "Joining the devices"),
    QT_TRANSLATE_NOOP("Phase", "Loading the model"),
    QT_TRANSLATE_NOOP("Phase", "Waiting"),
    QT_TRANSLATE_NOOP("Phase", "Applying LoRAs"),
    QT_TRANSLATE_NOOP("Phase", "Reading the prompt"),
    QT_TRANSLATE_NOOP("Phase", "Compiling"),
    QT_TRANSLATE_NOOP("Phase", "Stage 1"),
    QT_TRANSLATE_NOOP("Phase", "Enlarging"),
    QT_TRANSLATE_NOOP("Phase", "Stage 2"),
    QT_TRANSLATE_NOOP("Phase", "Decoding"),
    QT_TRANSLATE_NOOP("Phase", "Writing the file"),
    QT_TRANSLATE_NOOP("Phase", "Stopping"),
)
"""The words of `PHASE_WORDS` once more, where whoever collects texts for translation finds them."""


def phase_words(phase: Phase) -> str:
    """Return what a phase is called."""
    return QCoreApplication.translate("Phase", PHASE_WORDS[phase])
