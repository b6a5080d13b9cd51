"""What of a drag or of the clipboard are files of this machine."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData

_CLIP_SUFFIX = ".mp4"


def local_paths(data: QMimeData) -> list[Path]:
    """Return the files and folders that data names; empty if there are none."""
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]


def dropped_clip(data: QMimeData) -> Path | None:
    """Return the clip that data brings, the first of several; None if it brings none."""
    return next(filter(_is_clip, local_paths(data)), None)


def picture_paths(data: QMimeData) -> list[Path]:
    """Return the files that may be pictures: all but clips."""
    return [path for path in local_paths(data) if not _is_clip(path)]


def _is_clip(path: Path) -> bool:
    return path.suffix.lower() == _CLIP_SUFFIX
