"""Key frames that the model makes by itself, between the pictures: models that have learned it can."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from podium.geometry import TIME_FACTOR
from podium.ui.state.observable import ObservableState

Keyframes = int | tuple[int, ...]
"""How many, spread evenly; or their frames, counted from 0."""


class KeyframesState(ObservableState):
    """How many key frames the model shall make, or where.

    Args:
        num_frames: The clip's length.
    """

    is_available_changed = Signal()
    wanted_changed = Signal()
    most_changed = Signal()

    def __init__(self, num_frames: int, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._is_available = False
        self._wanted: Keyframes = 0
        self._num_frames = num_frames
        self._most = _most_in(num_frames)

    @property
    def is_available(self) -> bool:
        """Return whether the chosen model makes key frames."""
        return self._is_available

    @property
    def wanted(self) -> Keyframes:
        """Return what the form holds; it waits there for a model that makes key frames."""
        return self._wanted

    @property
    def most(self) -> int:
        """Return how many the clip has room for."""
        return self._most

    @property
    def count(self) -> int:
        """Return how many the form holds; it changes with `wanted`."""
        return self._wanted if isinstance(self._wanted, int) else len(self._wanted)

    @property
    def asked(self) -> Keyframes:
        """Return what a request asks for: none of a model that makes none."""
        return self._wanted if self._is_available else 0

    def set_available(self, is_available: bool) -> None:  # noqa: FBT001 - told by a signal
        """Say whether the chosen model makes key frames."""
        self._update(is_available=is_available)

    def set_count(self, count: int) -> None:
        """Choose how many, spread evenly; what does not fit becomes the most that does."""
        if count != self.count:
            self._update(wanted=min(self._most, max(0, count)))

    def set_num_frames(self, num_frames: int) -> None:
        """Say how long the clip is; no more are held than it has room for."""
        self._num_frames = num_frames
        self._update(most=_most_in(num_frames))
        self.restore(self._wanted)

    def restore(self, wanted: object) -> None:
        """Take in what a request or a kept form holds; frames outside the clip are spread evenly instead."""
        if isinstance(wanted, Sequence) and not isinstance(wanted, str):
            frames = [frame for frame in wanted if isinstance(frame, int) and 0 <= frame < self._num_frames]
            fit = len(frames) == len(wanted) == len(set(frames)) and 0 < len(frames) <= self._most
            wanted = tuple(sorted(frames)) if fit else len(wanted)
        if isinstance(wanted, int) and not isinstance(wanted, bool):
            wanted = min(self._most, max(0, wanted))
        if isinstance(wanted, int | tuple):
            self._update(wanted=wanted)

    def form(self) -> int | list[int]:
        """Return what the form holds as a plain value that becomes JSON."""
        return self._wanted if isinstance(self._wanted, int) else list(self._wanted)


def _most_in(num_frames: int) -> int:
    return (num_frames - 1) // TIME_FACTOR
