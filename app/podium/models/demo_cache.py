"""Keep the demo model in a cache folder: unpacked from the zip that ships. No torch."""

from __future__ import annotations

import hashlib
import io
import logging
import zipfile
from collections.abc import Callable
from pathlib import Path

from podium.assets import read_bytes
from podium.models.demo_pack import ARCHIVE_NAME, FOLDER_NAME, DemoModel, DemoPack
from podium.models.errors import PackWriteError
from podium.models.kept_folder import is_kept, put_folder

_log = logging.getLogger(__name__)


def ensure_demo_model(cache_folder: Path, progress: Callable[[str], None] | None = None) -> DemoModel:
    """Return the demo model in `cache_folder`; put it there first where it is missing or not whole.

    Args:
        cache_folder: Podium's cache; made if missing.
        progress: Called with the name of what is written, before it is; never where the model is there.

    Raises:
        PackWriteError: The cache folder cannot be written, or its disk is full.
    """
    pack = unpack_demo(read_bytes(ARCHIVE_NAME), cache_folder, progress)
    return DemoModel(pack.model_paths, pack.style_lora_paths)


def unpack_demo(archive: bytes, cache_folder: Path, progress: Callable[[str], None] | None = None) -> DemoPack:
    """Return the pack in `cache_folder` that an archive holds; unpack it where another one or none is there.

    Two processes may do this at once: the first to end wins, and both return a whole pack.

    Args:
        archive: The zip.
        cache_folder: Podium's cache; made if missing.
        progress: Called with the folder's name before it is unpacked.

    Raises:
        PackWriteError: The cache folder cannot be written, or its disk is full.
    """
    pack = DemoPack(cache_folder / FOLDER_NAME)
    digest = hashlib.sha256(archive).hexdigest()

    def fill(folder: Path) -> None:
        with zipfile.ZipFile(io.BytesIO(archive)) as file:
            file.extractall(folder)

    if is_kept(pack.folder, digest):
        return pack
    if progress is not None:
        progress(FOLDER_NAME)
    try:
        put_folder(pack.folder, digest, fill)
    except OSError as error:
        raise PackWriteError(
            f"The demo model cannot be unpacked into “{cache_folder}”. It needs a folder you may write to, "
            "with 60 MB free.",
            folder=cache_folder,
            details=str(error),
        ) from error
    _log.info("Unpacked the demo model into %s", pack.folder)
    return pack
