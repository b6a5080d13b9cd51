"""Files that appear under their name whole or not at all.

A `PartFile` is written beside its target under a hidden name and renamed at the end. It holds a lock while it is
written, so what a killed process left behind can be told from what another process is still writing.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import secrets
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from podium.media.errors import MediaError, writing_failed

if sys.platform != "win32":
    import fcntl

_logger = logging.getLogger(__name__)

_PREFIX, _SUFFIX = ".podium-", ".part"
# A part file exists for an instant before its lock does: younger ones are never taken for abandoned.
_MIN_ABANDONED_AGE_S = 60.0


class PartFile:
    """A file under a temporary name in the folder of its target.

    As a context manager it is removed at the end unless it was published.

    Args:
        target: The name it is to have.
    """

    def __init__(self, target: Path) -> None:
        self.target = target
        self.path = target.parent / f"{_prefix_of(target)}{secrets.token_hex(8)}{_SUFFIX}"
        self._fd: int | None = None

    def open(self) -> None:
        """Create and lock the empty file.

        Raises:
            MediaError: The folder is missing, read-only or full.
        """
        try:
            self._fd = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
        except OSError as error:
            raise writing_failed(self.target.name, str(self.target.parent), error) from error
        _lock(self._fd)

    def write_bytes(self, data: bytes) -> None:
        """Write the whole content.

        Raises:
            OSError: The folder is full or gone.
        """
        with self.path.open("wb") as file:
            file.write(data)

    def sync(self) -> None:
        """Wait until the content is on the drive.

        Raises:
            OSError: The drive refused what was written.
        """
        assert self._fd is not None, "open() comes first"
        os.fsync(self._fd)

    def publish(self) -> None:
        """Rename to the target, over whatever has that name.

        Raises:
            OSError: The rename failed; the target is as it was.
        """
        # Windows renames no open file.
        self._close()
        self.path.replace(self.target)

    def discard(self) -> None:
        """Remove the file, if it is still there; never raises."""
        self._close()
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.discard()

    def _close(self) -> None:
        if self._fd is not None:
            fd, self._fd = self._fd, None
            with contextlib.suppress(OSError):
                os.close(fd)


def write_whole(target: Path, data: bytes) -> None:
    """Write a file whole or not at all, over whatever has that name.

    Raises:
        OSError: The target is as it was.
        MediaError: The folder is missing, read-only or full.
    """
    with PartFile(target) as part:
        part.write_bytes(data)
        part.sync()
        part.publish()
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Make renames in a folder last through a power cut, where the system can."""
    # Windows opens no folders, and some network drives cannot sync one: the rename stands all the same.
    with contextlib.suppress(OSError):
        fd = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def check_target(target: Path, *, overwrite: bool = False) -> None:
    """Check that a file can be written, by creating a part file beside it and removing it.

    Raises:
        MediaError: The name is taken, or the folder is missing, read-only or full.
    """
    refuse_taken(target, overwrite=overwrite)
    with PartFile(target) as part:
        try:
            part.write_bytes(b"\0" * 4096)
        except OSError as error:
            raise writing_failed(target.name, str(target.parent), error) from error


def refuse_taken(target: Path, *, overwrite: bool) -> None:
    """Refuse a target whose name is taken.

    Raises:
        MediaError: A folder has that name, or a file and `overwrite` is false.
    """
    try:
        is_folder, is_taken = target.is_dir(), os.path.lexists(target)
        target.parent.stat()
    except OSError as error:
        raise writing_failed(target.name, str(target.parent), error) from error
    if is_folder:
        raise MediaError(f"“{target.name}” is a folder in “{target.parent}”. Choose the name of a file.")
    if is_taken and not overwrite:
        raise MediaError(f"“{target.name}” is in “{target.parent}” already and is kept. Choose another name.")


def remove_abandoned_parts(folder: Path) -> int:
    """Remove part files whose writers were killed; return how many. Never raises.

    A part file counts as abandoned when nobody holds its lock and it has not grown for a minute.
    """
    num_removed = 0
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX) and entry.name.endswith(_SUFFIX) and _is_abandoned(Path(entry.path)):
                Path(entry.path).unlink(missing_ok=True)
                num_removed += 1
    if num_removed:
        _logger.info("Removed %d unfinished files that a stopped job had left in %s", num_removed, folder)
    return num_removed


def remove_parts_of(target: Path) -> None:
    """Remove what a writer of `target` that was just killed has left; never raises, and leaves others' parts alone."""
    with contextlib.suppress(OSError):
        for path in target.parent.glob(f"{_prefix_of(target)}*{_SUFFIX}"):
            if _is_unlocked(path):
                path.unlink(missing_ok=True)


def _prefix_of(target: Path) -> str:
    return f"{_PREFIX}{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]}-"


def _is_abandoned(path: Path) -> bool:
    if time.time() - path.stat().st_mtime < _MIN_ABANDONED_AGE_S:
        return False
    return _is_unlocked(path)


def _is_unlocked(path: Path) -> bool:
    fd = os.open(path, os.O_RDWR)
    try:
        return _lock(fd)
    finally:
        os.close(fd)


def _lock(fd: int) -> bool:
    """Take the file's lock if nobody has it; the system drops it when the holder closes the file or dies."""
    if sys.platform == "win32":
        # An open file cannot be removed there, so it needs no lock.
        return True
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        # Held, or a drive without locks: then nothing on it is ever taken for abandoned.
        return False
    return True
