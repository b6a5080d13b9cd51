"""What this room raises when a file or a folder will not do."""

from __future__ import annotations

import errno

from podium.errors import PodiumError

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_FORBIDDEN = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_MISSING = frozenset({errno.ENOENT, errno.ENOTDIR})


class MediaError(PodiumError):
    """Report a picture, clip or folder that cannot be read or written."""


def writing_failed(name: str, folder: str, error: Exception) -> MediaError:
    """Return the sentence for a file that could not be written.

    Args:
        name: The file's name, without its folder.
        folder: The folder, as the artist knows it.
        error: What the system or the libraries of FFmpeg said; its `errno` decides the sentence.
    """
    code = getattr(error, "errno", None)
    if code in _FULL:
        reason = "there is no room left for it. Free some space or choose another folder."
    elif code in _FORBIDDEN:
        reason = "the folder may not be written to. Choose another folder."
    elif code in _MISSING:
        reason = "that is no folder that can be reached. Choose one that exists, on a drive that is there."
    elif code == errno.ENAMETOOLONG:
        reason = "the name is too long. Choose a shorter one."
    else:
        reason = "the drive or the encoder refused. Choose another folder, or look at the details."
    return MediaError(f"“{name}” could not be written to “{folder}”: {reason}", details=describe(error))


def describe(error: BaseException) -> str:
    """Return the technical line of an error, to fold beneath a sentence."""
    return f"{type(error).__name__}: {error}"
