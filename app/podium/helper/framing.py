"""How requests and answers travel: pickles, each behind its length. Light."""

from __future__ import annotations

import pickle
import struct
from collections.abc import Iterator

_LENGTH = struct.Struct("<Q")
LENGTH_BYTES = _LENGTH.size


def frame(message: object) -> bytes:
    """Return a message as it travels."""
    data = pickle.dumps(message)
    return _LENGTH.pack(len(data)) + data


def unpack_length(data: bytes) -> int:
    """Return how many bytes follow a length."""
    return int(_LENGTH.unpack(data)[0])


class FrameReader:
    """Puts messages together from bytes that come in pieces."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[object]:
        """Take bytes in, and yield each message that is whole."""
        self._buffer += data
        while len(self._buffer) >= LENGTH_BYTES:
            end = LENGTH_BYTES + unpack_length(bytes(self._buffer[:LENGTH_BYTES]))
            if len(self._buffer) < end:
                return
            message = pickle.loads(self._buffer[LENGTH_BYTES:end])
            del self._buffer[:end]
            yield message
