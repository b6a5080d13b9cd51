"""A clip's pictures at hand for whoever must not wait: a thread reads ahead into a cache of limited size.

Rule for callers: `get` answers at once, with nothing where a picture is not here yet; ask again a little later.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from podium.media.clip_reader import read_frames
from podium.media.errors import MediaError
from podium.media.export_kinds import fitted_size

_logger = logging.getLogger(__name__)

_MIN_PICTURES = 8
# Of the cache, this share stays behind the picture wanted: stepping back is common, too.
_SHARE_BEHIND = 8


class FrameCache:
    """Reads a clip's pictures around the one that is wanted, and on from its start behind its end.

    Args:
        path: The clip.
        num_frames: How many pictures it has, at least 1.
        size_px: Its width and height.
        max_side_px: Longest side of the pictures kept.
        limit_bytes: Most bytes kept; eight pictures are kept in any case.
    """

    def __init__(
        self,
        path: Path,
        num_frames: int,
        size_px: tuple[int, int],
        *,
        max_side_px: int = 1280,
        limit_bytes: int = 256 * 2**20,
    ) -> None:
        self._path = path
        self._num_frames = num_frames
        self._size_px = fitted_size(*size_px, max_side_px)
        picture_bytes = 3 * self._size_px[0] * self._size_px[1]
        self._capacity = min(num_frames, max(_MIN_PICTURES, limit_bytes // picture_bytes))
        self._pictures: dict[int, NDArray[np.uint8]] = {}
        self._wanted = 0
        self._is_closed = False
        self._error: MediaError | None = None
        self._changed = threading.Condition()

    @property
    def error(self) -> MediaError | None:
        """Return why no more pictures come; None while they do."""
        return self._error

    @property
    def capacity(self) -> int:
        """Return how many pictures are kept at most."""
        return self._capacity

    def start(self) -> None:
        """Begin to read; once."""
        threading.Thread(target=self._run, name=f"frames of {self._path.name}", daemon=True).start()

    def close(self) -> None:
        """Have the thread end soon; waits for nothing."""
        with self._changed:
            self._is_closed = True
            self._pictures.clear()
            self._changed.notify_all()

    def get(self, number: int) -> NDArray[np.uint8] | None:
        """Return a picture, uint8 [height, width, 3], and read on from it; None if it is not here yet."""
        with self._changed:
            if number != self._wanted:
                self._wanted = number
                self._changed.notify_all()
            return self._pictures.get(number)

    def _run(self) -> None:
        try:
            self._read()
        except MediaError as error:
            _logger.info("The pictures of %s cannot be read on: %s", self._path, error)
            self._error = error

    def _read(self) -> None:
        pictures: Iterator[NDArray[np.uint8]] = iter(())
        following = -1
        while (number := self._next_missing()) is not None:
            if number != following:
                pictures = read_frames(self._path, first=number, size_px=self._size_px)
            picture = next(pictures, None)
            if picture is None:
                raise MediaError(f"“{self._path.name}” is damaged: its picture {number + 1} cannot be read.")
            following = number + 1
            self._keep(number, picture)

    def _next_missing(self) -> int | None:
        """Wait until a picture is missing, and return its number; None at the end."""
        with self._changed:
            while not self._is_closed:
                for number in self._window():
                    if number not in self._pictures:
                        return number
                self._changed.wait()
            return None

    def _window(self) -> list[int]:
        """Return the pictures to have, the most urgent first."""
        num_behind = min(self._capacity // _SHARE_BEHIND, self._capacity - 1)
        ahead = [(self._wanted + step) % self._num_frames for step in range(self._capacity - num_behind)]
        behind = [(self._wanted - step) % self._num_frames for step in range(num_behind, 0, -1)]
        return ahead + behind

    def _keep(self, number: int, picture: NDArray[np.uint8]) -> None:
        with self._changed:
            if self._is_closed:
                return
            self._pictures[number] = picture
            if len(self._pictures) > self._capacity:
                window = set(self._window())
                for old in [known for known in self._pictures if known not in window]:
                    del self._pictures[old]
