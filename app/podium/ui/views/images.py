"""Pictures from bytes as they cross threads and processes."""

from __future__ import annotations

from PySide6.QtGui import QImage


def image_of_rgb(rgb: bytes, width: int, height: int) -> QImage:
    """Return an image of RGB bytes, uint8, rows from the top; it owns its pixels."""
    return QImage(rgb, width, height, 3 * width, QImage.Format.Format_RGB888).copy()


def images_of_rgb(rgb: bytes, width: int, height: int, num_images: int) -> list[QImage]:
    """Return the images that lie one after another in RGB bytes; each owns its pixels."""
    size = 3 * width * height
    return [image_of_rgb(rgb[k * size : (k + 1) * size], width, height) for k in range(num_images)]
