"""Keep a folder of files in the cache that is whole or not there, whoever else writes it at the same time.

It is filled under another name and renamed. A list of its files and their sizes, kept inside, shows whether something
took a piece away later; beside it stands which version of them it holds.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

_CONTENTS_NAME = ".contents.json"
_FILES, _VERSION = "files", "version"
_NUM_ATTEMPTS = 5
# Filling one takes seconds.
_ABANDONED_S = 3600


def is_kept(folder: Path, version: str) -> bool:
    """Return whether a folder holds that version, and all of its files as they were written."""
    try:
        contents = json.loads((folder / _CONTENTS_NAME).read_text(encoding="utf-8"))
        return bool(contents == {_VERSION: version, _FILES: _sizes(folder)})
    except (OSError, ValueError):
        return False


def put_folder(folder: Path, version: str, fill: Callable[[Path], None]) -> None:
    """Fill a folder and put it in its place; what stands there goes, unless another writer put the same version there.

    Args:
        folder: Its place.
        version: Of what it holds.
        fill: Writes the files into the folder it is given, which it makes itself.

    Raises:
        OSError: It cannot be written, or the disk is full.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(folder)
    with tempfile.TemporaryDirectory(
        prefix=f".{folder.name}-", dir=folder.parent, ignore_cleanup_errors=True
    ) as scratch:
        fresh = Path(scratch) / "fresh"
        fill(fresh)
        contents = json.dumps({_VERSION: version, _FILES: _sizes(fresh)}, indent=1)
        (fresh / _CONTENTS_NAME).write_text(contents, encoding="utf-8")
        _put_in_place(fresh, folder, Path(scratch), version)


def _remove_abandoned(folder: Path) -> None:
    """Remove what a process that was killed while it wrote has left."""
    oldest = time.time() - _ABANDONED_S
    for path in folder.parent.glob(f".{folder.name}-*"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < oldest:
                shutil.rmtree(path)


def _put_in_place(fresh: Path, folder: Path, scratch: Path, version: str) -> None:
    """Rename `fresh` to `folder`; what stands there goes to `scratch`, unless it is the same."""
    failure = OSError()
    for attempt in range(_NUM_ATTEMPTS):
        try:
            fresh.rename(folder)
        except OSError as error:
            failure = error
        else:
            return
        if is_kept(folder, version):
            return
        # Another process may move it away, or put its own there, at the same time.
        with contextlib.suppress(FileNotFoundError):
            folder.rename(scratch / f"old-{attempt}")
    raise failure


def _sizes(folder: Path) -> dict[str, int]:
    return {
        path.relative_to(folder).as_posix(): path.stat().st_size
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != _CONTENTS_NAME
    }
