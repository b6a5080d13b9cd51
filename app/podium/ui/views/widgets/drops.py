"""What of a drag or of the clipboard are files of this machine."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData


def local_paths(data: QMimeData) -> list[Path]:
    """Return the files and folders that data names; empty if there are none."""
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]
