"""What a finished clip can be exported as, and how far an export is. Light: loads no codec."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from pathlib import Path

from podium.media.errors import MediaError

DNXHR_MIN_SIZE_PX = (256, 120)
"""Smallest width and height of a DNxHR picture. Source: SMPTE ST 2019-1."""

MAX_GIF_FPS = 50
"""Viewers slow down a GIF whose pictures stand for less than two hundredths of a second."""


class ExportKind(StrEnum):
    """What a clip can be exported as: a closed set."""

    PRORES_422_HQ = "prores_422_hq"
    DNXHR_HQX = "dnxhr_hqx"
    PICTURES = "pictures"
    GIF = "gif"
    WEBP = "webp"

    @property
    def suffix(self) -> str:
        """Return the suffix of its file; empty for the folder of pictures."""
        return _SUFFIXES[self]

    @property
    def has_sound(self) -> bool:
        """Return whether the sound goes along."""
        return self not in (ExportKind.GIF, ExportKind.WEBP)


_SUFFIXES = {
    ExportKind.PRORES_422_HQ: ".mov",
    ExportKind.DNXHR_HQX: ".mov",
    ExportKind.PICTURES: "",
    ExportKind.GIF: ".gif",
    ExportKind.WEBP: ".webp",
}


class ExportCancelledError(MediaError):
    """Report that an export was ended because somebody asked for that; nothing is left of it."""


@dataclass(slots=True)
class ExportRun:
    """How far an export is; one thread exports, others look and may ask for its end.

    Args:
        num_done: Pictures read.
        num_pictures: Pictures to be read in all; 0 until that is known.
        is_cancelled: Its end is asked for.
        part: What lies on the drive until it has its name; None before there is anything.
    """

    num_done: int = 0
    num_pictures: int = 0
    is_cancelled: bool = False
    part: Path | None = None

    @property
    def share(self) -> float:
        """Return how much is done, 0 to 1."""
        return min(1.0, self.num_done / self.num_pictures) if self.num_pictures else 0.0

    def step(self) -> None:
        """Note that one more picture is done.

        Raises:
            ExportCancelledError: The end is asked for.
        """
        if self.is_cancelled:
            raise ExportCancelledError("The export was cancelled. Nothing was written.")
        self.num_done += 1

    def check_whole(self) -> None:
        """Check that every picture came.

        Raises:
            MediaError: The clip ended before its last picture.
        """
        if self.num_done != self.num_pictures:
            raise MediaError(
                f"The clip is damaged: {self.num_done} of its {self.num_pictures} pictures could be read. Nothing was "
                "written."
            )


def gif_stride(fps: Fraction) -> int:
    """Return that every n-th picture goes into a GIF: each, unless they follow faster than a GIF can show them."""
    stride = 1
    while fps / stride > MAX_GIF_FPS:
        stride += 1
    return stride


def fitted_size(width: int, height: int, max_side_px: int | None) -> tuple[int, int]:
    """Return a size of the same shape whose longer side is at most so many pixels; None keeps it."""
    longer = max(width, height)
    if max_side_px is None or longer <= max_side_px:
        return width, height
    return max(1, round(width * max_side_px / longer)), max(1, round(height * max_side_px / longer))
