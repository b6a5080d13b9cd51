"""Numbers as an artist reads them."""

from __future__ import annotations

from fractions import Fraction

_GIB = 2**30
_MIB = 2**20


def bytes_in_words(num_bytes: int) -> str:
    """Return a count of bytes as “23.6 GB” or “410 MB”, in units of 1024."""
    if num_bytes >= 10 * _GIB:
        return f"{num_bytes / _GIB:.0f} GB"
    if num_bytes >= _GIB:
        return f"{num_bytes / _GIB:.1f} GB"
    return f"{num_bytes / _MIB:.0f} MB"


def seconds_in_words(duration_s: float) -> str:
    """Return a length of time as “0.4 s”, “12 s”, “3:05” or “1:02:09”."""
    if duration_s < 10:
        return f"{duration_s:.1f} s"
    if duration_s < 60:
        return f"{duration_s:.0f} s"
    minutes, seconds = divmod(round(duration_s), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def fps_in_words(fps: Fraction) -> str:
    """Return a frame rate as editors write it: 24, 23.976, 29.97."""
    return f"{float(fps):.5g}"
