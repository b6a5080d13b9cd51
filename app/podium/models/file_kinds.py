"""Say what a file is that stands in a safetensors file's place. No torch; its first bytes decide, not its name."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

from podium.models.errors import CheckpointError, CheckpointReason

_PICKLE_PROTOCOLS = range(2, 6)
_WEB_PAGE_STARTS = (b"<!doctype", b"<html", b"<head", b"<?xml")
_LFS_START = b"version https://git-lfs"
_ARCHIVE_STARTS = (b"PK\x03\x04", b"PK\x05\x06")

_SENTENCES = {
    CheckpointReason.GGUF: (
        "“{name}” is a GGUF file, which Podium does not read. Choose the same model as a .safetensors file."
    ),
    CheckpointReason.PICKLE: (
        "“{name}” is a pickled checkpoint, which can run any program when it is opened, so Podium does not read it. "
        "Choose the same model as a .safetensors file."
    ),
    CheckpointReason.WEB_PAGE: (
        "“{name}” is a web page saved under the name of a model: the site asked to sign in or to accept a licence. "
        "Do so in the browser, then fetch the file again."
    ),
    CheckpointReason.LFS_POINTER: (
        "“{name}” is a pointer of a few lines, left by a git clone without its large files. "
        "Run “git lfs pull” in that folder, or fetch the file itself."
    ),
    CheckpointReason.NOT_SAFETENSORS: (
        "“{name}” is no safetensors file, or its beginning is damaged. Choose a file that ends in .safetensors, "
        "or fetch it again."
    ),
}


def refuse_foreign_file(path: Path, start: bytes) -> NoReturn:
    """Refuse a file that is no safetensors file.

    Args:
        path: The file.
        start: Its first bytes, 64 or more where it has them.

    Raises:
        CheckpointError: Always; its reason and sentence say what the file is.
    """
    reason = _reason(start)
    raise CheckpointError(_SENTENCES[reason].format(name=path.name), path=path, reason=reason)


def is_folder(path: Path) -> bool:
    """Tell whether `path` is a folder; no where the system does not say."""
    try:
        return path.is_dir()
    except OSError:
        return False


def is_file(path: Path) -> bool:
    """Tell whether `path` is a file; no where the system does not say."""
    try:
        return path.is_file()
    except OSError:
        return False


def _reason(start: bytes) -> CheckpointReason:
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if start.startswith(b"GGUF"):
        return CheckpointReason.GGUF
    if start.startswith(_ARCHIVE_STARTS) or (start[:1] == b"\x80" and start[1:2] and start[1] in _PICKLE_PROTOCOLS):
        return CheckpointReason.PICKLE
    if text.startswith(_WEB_PAGE_STARTS):
        return CheckpointReason.WEB_PAGE
    if text.startswith(_LFS_START):
        return CheckpointReason.LFS_POINTER
    return CheckpointReason.NOT_SAFETENSORS
