"""Stored pictures of the window, and how far a new one may be from them.

To store new ones after looking at them: `python -m tests.ui.views.render_pictures`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from PySide6.QtGui import QImage, QPixmap

FOLDER = Path(__file__).parent / "pictures"
# FreeType and FFmpeg differ a little from machine to machine.
MAX_DIFFERENCE = 40
MAX_SHARE = 0.001


def pixels_of(pixmap: QPixmap) -> NDArray[np.uint8]:
    """Return what was grabbed, uint8 [height, width, 3]."""
    image = pixmap.toImage().convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return rows[:, : 3 * image.width()].reshape(image.height(), image.width(), 3).copy()


def share_that_differs(new: NDArray[np.uint8], stored: NDArray[np.uint8]) -> float:
    """Return the share of pixels that are clearly another colour; 1 where the sizes differ."""
    if new.shape != stored.shape:
        return 1.0
    difference = np.abs(new.astype(np.int16) - stored.astype(np.int16)).max(axis=2)
    return float((difference > MAX_DIFFERENCE).mean())


def load(path: Path) -> NDArray[np.uint8]:
    """Return a stored picture."""
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"))


def store(pixels: NDArray[np.uint8], path: Path) -> None:
    """Store a picture as it is."""
    Image.fromarray(pixels).save(path, optimize=True)


def check_picture(pixmap: QPixmap, name: str) -> None:
    """Fail if a picture is not the stored one; the new one then lies beside it."""
    stored, beside = FOLDER / f"{name}.png", FOLDER / f"{name}.new.png"
    new = pixels_of(pixmap)
    share = share_that_differs(new, load(stored)) if stored.is_file() else 1.0
    if share > MAX_SHARE:
        store(new, beside)
        raise AssertionError(f"{share:.2%} of {name} is not as stored; the new picture is {beside}")
