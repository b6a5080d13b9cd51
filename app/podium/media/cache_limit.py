"""A limit on what may be made again: thumbnails and drafts, the longest unused of which give way."""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

DEFAULT_MAX_BYTES = 512 * 1024 * 1024
# So that not every new file has to look for an old one.
_TARGET = 0.9
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CacheLimit:
    """A limit on the files below some folders together.

    Args:
        folders: They hold nothing that exists there alone, apart from `kept`; a file is used when its time of change is
            set.
        max_bytes: Of all files together that may go.
        kept: Files that stay, and do not count.
        min_age_s: Files that were used since so many seconds ago stay, too.
    """

    folders: tuple[Path, ...]
    max_bytes: int = DEFAULT_MAX_BYTES
    kept: Collection[Path] = frozenset()
    min_age_s: float = 0.0

    def measure(self) -> int:
        """Return the bytes of all files that count."""
        return sum(num_bytes for _, num_bytes, _ in self._counted())

    def keep(self) -> int:
        """Remove the longest unused files where all are too large together, and return how many bytes that freed."""
        files = self._counted()
        used_bytes = sum(num_bytes for _, num_bytes, _ in files)
        if used_bytes <= self.max_bytes:
            return 0
        freed_bytes = 0
        newest_ns = time.time_ns() - int(self.min_age_s * 1e9)
        for used_ns, num_bytes, path in sorted(files):
            if used_bytes - freed_bytes <= self.max_bytes * _TARGET or used_ns > newest_ns:
                break
            try:
                path.unlink()
            except OSError as error:
                _log.info("%s stays in the cache: %s", path, error)
            else:
                freed_bytes += num_bytes
        return freed_bytes

    def _counted(self) -> list[tuple[int, int, Path]]:
        return [found for folder in self.folders for found in _files(folder) if found[2] not in self.kept]


def note_use(path: Path) -> None:
    """Note that a file of the cache was used just now."""
    with contextlib.suppress(OSError):
        os.utime(path)


def _files(folder: Path) -> Sequence[tuple[int, int, Path]]:
    """Return time of use, size and path of each file below a folder; what is being written is left alone."""
    found = []
    for parent, _, names in os.walk(folder):
        for name in names:
            if name.startswith("."):
                continue
            path = Path(parent, name)
            with contextlib.suppress(OSError):
                status = path.stat()
                found.append((status.st_mtime_ns, status.st_size, path))
    return found
