"""Pictures without a file get one."""

from __future__ import annotations

import logging
from pathlib import Path

from PySide6.QtGui import QImage

_log = logging.getLogger(__name__)


def keep_picture(image: QImage, path: Path) -> bool:
    """Write a picture as PNG, and return whether that worked; the folder is made where it is missing."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        _log.info("%s cannot be made: %s", path.parent, error)
        return False
    # 100 is the quickest: nothing is packed.
    is_kept = image.save(str(path), "PNG", 100)  # type: ignore[call-overload]  # Qt takes text, its stubs want bytes
    if not is_kept:
        path.unlink(missing_ok=True)
    return bool(is_kept)
