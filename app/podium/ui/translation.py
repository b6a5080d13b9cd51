"""The window's language: which one, and where its words come from.

Rule for callers: it is chosen before the first state or view is made, since most of them take their words once.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

from podium.assets import read_bytes
from podium.ui.state.sentences import SOURCE_LANGUAGE

LANGUAGES = ("de",)
"""What Podium is translated into, beside the language it is written in."""
_log = logging.getLogger(__name__)


class _ShippedTranslator(QTranslator):
    """A translator over bytes, which Qt reads as long as it is installed.

    Args:
        data: A compiled translation.
    """

    def __init__(self, data: bytes, parent: QCoreApplication) -> None:
        super().__init__(parent)
        self._data = data
        self.is_loaded = self.load(data)


def install_translation(application: QCoreApplication, language: str = "") -> str:
    """Have the window speak a language, and return it.

    Args:
        application: The process's.
        language: Such as "de"; empty for the first of the system's that Podium speaks.
    """
    chosen = choose_language([language] if language else QLocale.system().uiLanguages())
    # Fields for numbers are Qt's own: they read and write as this says.
    QLocale.setDefault(QLocale(chosen))
    if chosen == SOURCE_LANGUAGE:
        return chosen
    translator = _ShippedTranslator(read_bytes(f"translations/podium_{chosen}.qm"), application)
    if not translator.is_loaded:
        _log.error("The words for the language %s cannot be read", chosen)
        QLocale.setDefault(QLocale(SOURCE_LANGUAGE))
        return SOURCE_LANGUAGE
    of_qt = QTranslator(application)
    # Dialogs for files, the menu of a text field: Qt's own.
    if of_qt.load(f"qtbase_{chosen}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
        application.installTranslator(of_qt)
    application.installTranslator(translator)
    return chosen


def choose_language(wanted: Sequence[str]) -> str:
    """Return the first of the languages wanted, such as "de-AT", that Podium speaks; else the one it is written in."""
    for tag in wanted:
        language = tag.replace("_", "-").partition("-")[0].lower()
        if language == SOURCE_LANGUAGE or language in LANGUAGES:
            return language
    return SOURCE_LANGUAGE
