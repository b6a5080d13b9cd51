"""Keep one tiny pack in a cache folder, written at first use."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Collection
from pathlib import Path

from podium.models.errors import PackWriteError
from podium.models.kept_folder import Facts, facts_of, put_folder
from podium.models.tiny_pack.places import TinyPack
from podium.models.tiny_pack.recipe import DEMO_PARTS, write_tiny_pack
from podium.models.tiny_pack.writing import StoredDtype

_log = logging.getLogger(__name__)

# A pack of another edition has other numbers or other files; raise it when the recipe changes.
_EDITION = 2
_PARTS = "parts"


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
    present = _parts(facts_of(pack.folder))
    if set(parts) <= present:
        return pack
    wanted = {*parts, *present}
    fill = functools.partial(write_tiny_pack, dtype=dtype, parts=wanted, progress=progress)
    try:
        put_folder(pack.folder, {_PARTS: sorted(wanted)}, fill, lambda facts: wanted <= _parts(facts))
    except OSError as error:
        raise PackWriteError(
            f"The demo model cannot be written to “{cache_folder}”. It needs a folder you may write to, "
            "with 60 MB free (350 MB for all of its parts).",
            folder=cache_folder,
            details=str(error),
        ) from error
    _log.info("Wrote the demo model to %s", pack.folder)
    return pack


def _parts(facts: Facts | None) -> set[str]:
    """Return the parts of a pack by what was noted of it."""
    parts = (facts or {}).get(_PARTS)
    return set(parts) if isinstance(parts, list) else set()
