"""The system's trash."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QFile


class SystemTrash:
    """Moves files to the system's trash, out of which they can be taken back."""

    def take(self, path: Path) -> bool:
        """Move a file there, and return whether that worked; it lies where it lay if not."""
        return QFile(str(path)).moveToTrash()
