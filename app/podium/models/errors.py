"""What can be wrong with a model's files. No torch."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from podium.errors import PodiumError


class CheckpointReason(StrEnum):
    """Why a file or a set of files cannot be used: a closed set."""

    MISSING = "missing"
    IS_FOLDER = "is_folder"
    IS_FILE = "is_file"
    UNREADABLE = "unreadable"
    EMPTY = "empty"
    TRUNCATED = "truncated"
    CORRUPT = "corrupt"
    GGUF = "gguf"
    PICKLE = "pickle"
    WEB_PAGE = "web_page"
    LFS_POINTER = "lfs_pointer"
    NOT_SAFETENSORS = "not_safetensors"
    WRONG_KIND = "wrong_kind"
    INCOMPLETE = "incomplete"
    WRONG_GENERATION = "wrong_generation"
    QUANTISED = "quantised"
    MISMATCHED = "mismatched"


class CheckpointError(PodiumError):
    """Refuse a model file: the artist has to choose another, or fetch it again.

    Args:
        message: Sentences for the artist.
        path: The file or folder; None where the one who found the fault was handed only its contents.
        reason: What is wrong with it.
        details: Technical lines to fold beneath the sentence; the path stands there if nothing else does.
    """

    def __init__(
        self,
        message: str,
        *,
        path: Path | None = None,
        reason: CheckpointReason = CheckpointReason.CORRUPT,
        details: str = "",
    ) -> None:
        super().__init__(message, details=details or ("" if path is None else str(path)))
        self.path = path
        self.reason = reason


class PackWriteError(PodiumError):
    """The tiny pack cannot be written where it was asked for.

    Args:
        message: Sentences for the artist.
        folder: Where it should have gone.
        details: The system's own words.
    """

    def __init__(self, message: str, *, folder: Path, details: str = "") -> None:
        super().__init__(message, details=details)
        self.folder = folder
