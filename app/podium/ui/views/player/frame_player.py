"""Show a clip's frames one after another by PyAV, without sound: where QtMultimedia is missing."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Qt, QTimer

from podium.geometry import ClipFormat
from podium.media.clip_reader import read_frames
from podium.media.errors import MediaError
from podium.ui.state.sentences import said
from podium.ui.views.images import image_of_rgb
from podium.ui.views.player.clip_player import ClipPlayer

_MS_PER_S = 1_000


class FrameClipPlayer(ClipPlayer):
    """Show a clip's frames; it decodes in order, so that going back begins anew.

    Args:
        missing: Why QtMultimedia could not be loaded.
    """

    def __init__(self, *, missing: str = "", parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._missing = missing
        self._path: Path | None = None
        self._frames: Iterator[NDArray[np.uint8]] = iter(())
        self._next = 0
        self._is_looping = True
        self._speed = 1.0
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._on_tick)

    @property
    def note(self) -> str:
        """Return a sentence on what this player cannot do."""
        text = self.tr("Clips play without sound, since Qt's multimedia part cannot be loaded: {0}.")
        return text.format(self._missing.rstrip("."))

    @property
    def is_playing(self) -> bool:
        """Return whether it plays."""
        return self._timer.isActive()

    def open(self, path: Path, clip: ClipFormat) -> None:
        """Open a clip and show its first frame, paused."""
        self.close()
        self._path, self._clip = path, clip
        self._rewind()
        self.seek(0)

    def close(self) -> None:
        """Let the clip go."""
        self.pause()
        self._path, self._clip = None, None
        self._frames, self._next = iter(()), 0

    def play(self) -> None:
        """Play on from the frame shown; at the end of a clip that does not loop, from its start."""
        if self._clip is None or self.is_playing:
            return
        if self._frame == self.num_frames - 1:
            self.seek(0)
        self._timer.start(self._interval_ms(self._clip))
        self.playing_changed.emit(True)

    def pause(self) -> None:
        """Stand still."""
        if self.is_playing:
            self._timer.stop()
            self.playing_changed.emit(False)

    def seek(self, frame: int) -> None:
        """Show a frame; one outside the clip becomes the nearest."""
        if self._clip is None:
            return
        frame = self._nearest_frame(frame)
        if frame < self._next:
            self._rewind()
        try:
            rgb = next(itertools.islice(self._frames, frame - self._next, None), None)
        except MediaError as error:
            self.pause()
            self.failed.emit(said(error.message), error.details)
            return
        self._next = frame + 1
        if rgb is not None:
            height, width, _ = rgb.shape
            self._show_frame(image_of_rgb(rgb.tobytes(), width, height), frame)

    def set_looping(self, is_looping: bool) -> None:  # noqa: FBT001 - the slot of a toggle
        """Choose whether it begins again at its end."""
        self._is_looping = is_looping

    def set_speed(self, speed: float) -> None:
        """Choose how fast it plays, one of `SPEEDS`."""
        self._speed = speed
        if self._clip is not None and self.is_playing:
            self._timer.start(self._interval_ms(self._clip))

    def set_volume(self, volume: float) -> None:
        """Do nothing: it is silent."""

    def set_muted(self, is_muted: bool) -> None:  # noqa: FBT001 - the slot of a toggle
        """Do nothing: it is silent."""

    def _interval_ms(self, clip: ClipFormat) -> int:
        return max(1, round(_MS_PER_S / (float(clip.fps) * self._speed)))

    def _rewind(self) -> None:
        assert self._path is not None, "a clip is open"
        self._frames, self._next = read_frames(self._path), 0

    def _on_tick(self) -> None:
        if self._frame < self.num_frames - 1:
            self.seek(self._frame + 1)
        elif self._is_looping:
            self.seek(0)
        else:
            self.pause()
