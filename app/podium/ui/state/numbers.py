"""Numbers and moments as an artist reads them, as the window's language writes them."""

from __future__ import annotations

from datetime import datetime
from fractions import Fraction

from PySide6.QtCore import QCoreApplication, QDateTime

from podium.ui.state.sentences import locale

_GIB = 2**30
_MIB = 2**20


def number_in_words(number: float, num_decimals: int = 0) -> str:
    """Return a number with so many decimals, its thousands grouped: “13,376”, “0.40”."""
    return locale().toString(float(number), "f", num_decimals)


def factor_in_words(factor: float) -> str:
    """Return a number with no more decimals than it has, such as “0.8” or “2”."""
    return locale().toString(float(factor), "g", 5)


def share_in_words(share: float) -> str:
    """Return a share of 0 to 1 as “45%”."""
    return QCoreApplication.translate("Numbers", "{0}%").format(round(100 * share))


def bytes_in_words(num_bytes: int) -> str:
    """Return a count of bytes as “23.6 GB” or “410 MB”, in units of 1024."""
    if num_bytes >= 10 * _GIB:
        return f"{number_in_words(num_bytes / _GIB)} GB"
    if num_bytes >= _GIB:
        return f"{number_in_words(num_bytes / _GIB, 1)} GB"
    return f"{number_in_words(num_bytes / _MIB)} MB"


def seconds_in_words(duration_s: float) -> str:
    """Return a length of time as “0.4 s”, “12 s”, “3:05” or “1:02:09”."""
    if duration_s < 60:
        return f"{number_in_words(duration_s, 1 if duration_s < 10 else 0)} s"
    minutes, seconds = divmod(round(duration_s), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def fps_in_words(fps: Fraction) -> str:
    """Return a frame rate as editors write it: 24, 23.976, 29.97."""
    return factor_in_words(float(fps))


def moment_in_words(moment: datetime) -> str:
    """Return day and time in the machine's zone as “29 Nov 12:07”."""
    shown = QDateTime.fromSecsSinceEpoch(int(moment.timestamp()))
    return locale().toString(shown, QCoreApplication.translate("Numbers", "dd MMM HH:mm"))
