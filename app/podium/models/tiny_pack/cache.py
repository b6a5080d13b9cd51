"""Keep one tiny pack in a cache folder, written at first use.

A pack there is whole or not there: it is written under another name and renamed. A list of its files and their sizes,
kept in the pack, shows whether something took a piece away later.
"""

from __future__ import annotations

import contextlib
import json
import logging
import shutil
import tempfile
import time
from collections.abc import Callable, Collection
from pathlib import Path

from podium.models.errors import PackWriteError
from podium.models.tiny_pack.places import TinyPack
from podium.models.tiny_pack.recipe import DEMO_PARTS, write_tiny_pack
from podium.models.tiny_pack.writing import StoredDtype

_log = logging.getLogger(__name__)

# A pack of another edition has other numbers or other files; raise it when the recipe changes.
_EDITION = 2
_CONTENTS_NAME = ".contents.json"
_NUM_ATTEMPTS = 5
# Writing takes seconds.
_ABANDONED_S = 3600


def ensure_tiny_pack(
    cache_folder: Path,
    *,
    parts: Collection[str] = DEMO_PARTS,
    dtype: StoredDtype = "bfloat16",
    progress: Callable[[str], None] | None = None,
) -> TinyPack:
    """Return the pack in `cache_folder`; write it first where it is missing, incomplete, or lacks one of `parts`.

    Two processes may do this at once: the first to end wins, and both return a whole pack.

    Args:
        cache_folder: Podium's cache; made if missing.
        parts: Which of `ALL_PARTS` are needed.
        dtype: How weights are stored; packs of both dtypes lie side by side.
        progress: Called with each part's name before it is written; never where the pack is there.

    Raises:
        PackWriteError: The cache folder cannot be written, or its disk is full.
        ValueError: An unknown part.
    """
    pack = TinyPack(cache_folder / f"tiny-pack-{_EDITION}-{dtype}")
    present = _whole_parts(pack.folder)
    if set(parts) <= present:
        return pack
    try:
        _write(pack, {*parts, *present}, dtype, progress)
    except OSError as error:
        raise PackWriteError(
            f"The demo model cannot be written to “{cache_folder}”. It needs a folder you may write to, "
            "with 60 MB free (350 MB for all of its parts).",
            folder=cache_folder,
            details=str(error),
        ) from error
    return pack


def _write(pack: TinyPack, parts: set[str], dtype: StoredDtype, progress: Callable[[str], None] | None) -> None:
    pack.folder.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(pack.folder)
    with tempfile.TemporaryDirectory(
        prefix=f".{pack.folder.name}-", dir=pack.folder.parent, ignore_cleanup_errors=True
    ) as scratch:
        fresh = Path(scratch) / "fresh"
        write_tiny_pack(fresh, dtype=dtype, parts=parts, progress=progress)
        contents = {"parts": sorted(parts), "files": _sizes(fresh)}
        (fresh / _CONTENTS_NAME).write_text(json.dumps(contents, indent=1), encoding="utf-8")
        _put_in_place(fresh, pack.folder, Path(scratch), parts)
    _log.info("Wrote the demo model to %s", pack.folder)


def _remove_abandoned(folder: Path) -> None:
    """Remove what a process that was killed while it wrote has left."""
    oldest = time.time() - _ABANDONED_S
    for path in folder.parent.glob(f".{folder.name}-*"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < oldest:
                shutil.rmtree(path)


def _put_in_place(fresh: Path, folder: Path, scratch: Path, parts: set[str]) -> None:
    """Rename `fresh` to `folder`; what stands there goes to `scratch`, unless it is a pack as good as ours."""
    failure = OSError()
    for attempt in range(_NUM_ATTEMPTS):
        try:
            fresh.rename(folder)
        except OSError as error:
            failure = error
        else:
            return
        if parts <= _whole_parts(folder):
            return
        # Another process may move it away, or put its own there, at the same time.
        with contextlib.suppress(FileNotFoundError):
            folder.rename(scratch / f"old-{attempt}")
    raise failure


def _whole_parts(folder: Path) -> set[str]:
    """Return the parts of the pack in `folder`; none if it is missing, or any of its files has gone or shrunk."""
    try:
        contents = json.loads((folder / _CONTENTS_NAME).read_text(encoding="utf-8"))
        is_whole = contents["files"] == _sizes(folder)
        return set(contents["parts"]) if is_whole else set()
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def _sizes(folder: Path) -> dict[str, int]:
    return {
        path.relative_to(folder).as_posix(): path.stat().st_size
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != _CONTENTS_NAME
    }
