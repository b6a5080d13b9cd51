"""Keep a folder of files in the cache that is whole or not there, whoever else writes it at the same time.

It is filled under another name and renamed. A list of its files and their sizes, kept inside, shows whether something
took a piece away later; what the writer wants to know of it again stands beside that list.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

Facts: TypeAlias = Mapping[str, object]
"""What was noted of a folder: plain JSON."""

_CONTENTS_NAME = ".contents.json"
_FILES = "files"
_NUM_ATTEMPTS = 5
# Filling one takes seconds.
_ABANDONED_S = 3600


def facts_of(folder: Path) -> Facts | None:
    """Return what was noted of a folder; None if it is missing, or any of its files has gone or changed its size."""
    try:
        contents = json.loads((folder / _CONTENTS_NAME).read_text(encoding="utf-8"))
        return contents if contents[_FILES] == _sizes(folder) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def put_folder(
    folder: Path, facts: Facts, fill: Callable[[Path], None], is_enough: Callable[[Facts | None], bool]
) -> None:
    """Fill a folder and put it in its place; what stands there goes, unless another writer's does as well.

    Args:
        folder: Its place.
        facts: What to note of it.
        fill: Writes the files into the folder it is given, which it makes itself.
        is_enough: Says by its facts whether the folder of another writer serves as well as this one.

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
        contents = json.dumps({**facts, _FILES: _sizes(fresh)}, indent=1)
        (fresh / _CONTENTS_NAME).write_text(contents, encoding="utf-8")
        _put_in_place(fresh, folder, Path(scratch), is_enough)


def _remove_abandoned(folder: Path) -> None:
    """Remove what a process that was killed while it wrote has left."""
    oldest = time.time() - _ABANDONED_S
    for path in folder.parent.glob(f".{folder.name}-*"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < oldest:
                shutil.rmtree(path)


def _put_in_place(fresh: Path, folder: Path, scratch: Path, is_enough: Callable[[Facts | None], bool]) -> None:
    """Rename `fresh` to `folder`; what stands there goes to `scratch`, unless it is as good as ours."""
    failure = OSError()
    for attempt in range(_NUM_ATTEMPTS):
        try:
            fresh.rename(folder)
        except OSError as error:
            failure = error
        else:
            return
        if is_enough(facts_of(folder)):
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
