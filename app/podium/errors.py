"""The error family that every room raises from. No torch, no Qt.

A `PodiumError` is something the artist can be told: its message is one or two sentences that say what is wrong, where,
and what would be accepted; `details` is what belongs folded beneath. Rooms subclass it once per thing a caller can do.
"""

from __future__ import annotations


class PodiumError(Exception):
    """Report a failure in words for the artist.

    Args:
        message: Sentences for the artist.
        details: Technical lines to fold beneath the sentence; may be empty.
    """

    def __init__(self, message: str, *, details: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.details = details

    def __reduce__(self) -> tuple[object, ...]:
        # Errors cross process borders: rebuild from fields, since keyword-only arguments do not survive pickling.
        return (_rebuild, (type(self), self.message, self.__dict__.copy()))


class JobRefusedError(PodiumError):
    """Refuse a request before any work: the request has to change."""


def _rebuild(kind: type[PodiumError], message: str, state: dict[str, object]) -> PodiumError:
    error = kind.__new__(kind)
    Exception.__init__(error, message)
    error.__dict__.update(state)
    return error
