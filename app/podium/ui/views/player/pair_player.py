"""Play two clips in step: one clock says which picture of each is due, and neither is shown without the other."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QElapsedTimer, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QImage

from podium.geometry import ClipFormat
from podium.media.frame_cache import FrameCache
from podium.ui.state.sentences import said
from podium.ui.views.player.clip_player import ClipPlayer, middle_of_frame_s
from podium.ui.views.player.clip_sound import make_clip_sound

_TICK_MS = 5
_MS_PER_S = 1_000


@dataclass(frozen=True, slots=True)
class PairSide:
    """One of two clips: its file and its format."""

    path: Path
    clip: ClipFormat

    def frame_at(self, moment_s: Fraction) -> int:
        """Return the picture that is due at a moment; behind its end the clip holds its last one."""
        return min(self.clip.num_frames - 1, math.floor(moment_s * self.clip.fps))


class PairPlayer(ClipPlayer):
    """Play two clips in step, with the sound of one.

    It counts in pictures of the quicker clip, to the end of the longer one. Where a picture is not here yet the clock
    waits for it: the two are never out of step.
    """

    pair_shown = Signal(QImage, QImage)
    """The pictures of both sides that are due."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._sides: tuple[PairSide, PairSide] | None = None
        self._caches: tuple[FrameCache, ...] = ()
        self._shown: tuple[int, int] = (-1, -1)
        self._images = QImage(), QImage()
        self._told = -1
        self._sound = make_clip_sound(self)
        self._sound_side = 0
        self._is_playing = False
        self._is_looping = True
        self._speed = 1.0
        self._since = QElapsedTimer()
        self._base_s = 0.0
        self._timer = QTimer(self, interval=_TICK_MS)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._on_tick)

    @property
    def is_playing(self) -> bool:
        """Return whether it plays."""
        return self._is_playing

    @property
    def sound_side(self) -> int:
        """Return whose sound is heard: 0 or 1."""
        return self._sound_side

    def open_pair(self, first: PairSide, second: PairSide) -> None:
        """Open two clips and show their first pictures, paused."""
        self.close()
        self._sides = first, second
        self._clip = _timeline(first.clip, second.clip)
        self._caches = tuple(
            FrameCache(side.path, side.clip.num_frames, (side.clip.width, side.clip.height)) for side in self._sides
        )
        for cache in self._caches:
            cache.start()
        self._open_sound()
        self.seek(0)

    def swap(self) -> None:
        """Exchange the two sides; what is heard stays."""
        if self._sides is not None:
            self._sides = self._sides[1], self._sides[0]
            self._caches = self._caches[::-1]
            self._sound_side = 1 - self._sound_side
            self._shown = (-1, -1)
            self._show_due()

    def set_sound_side(self, side: int) -> None:
        """Hear the sound of this side: 0 or 1."""
        if side != self._sound_side:
            self._sound_side = side
            self._open_sound()
            self._follow(is_jump=True)

    def open(self, path: Path, clip: ClipFormat) -> None:
        """Open one clip on both sides."""
        self.open_pair(PairSide(path, clip), PairSide(path, clip))

    def close(self) -> None:
        """Let the clips go."""
        self.pause()
        self._timer.stop()
        for cache in self._caches:
            cache.close()
        self._caches = ()
        self._sides, self._clip, self._frame = None, None, 0
        self._shown, self._told = (-1, -1), -1
        self._sound.close()

    def play(self) -> None:
        """Play on from the picture shown; at the end of a pair that does not loop, from its start."""
        if self._clip is None or self._is_playing:
            return
        if self._frame == self.num_frames - 1:
            self._frame = 0
        self._is_playing = True
        self._rebase()
        self._timer.start()
        self._follow(is_jump=True)
        self.playing_changed.emit(True)

    def pause(self) -> None:
        """Stand still."""
        if self._is_playing:
            self._is_playing = False
            self._sound.pause()
            self.playing_changed.emit(False)

    def seek(self, frame: int) -> None:
        """Show the pictures of a moment; one outside becomes the nearest."""
        if self._clip is not None:
            self._frame = self._nearest_frame(frame)
            self._rebase()
            self._show_due()
            self._timer.start()
            self._follow(is_jump=True)

    def set_looping(self, is_looping: bool) -> None:  # noqa: FBT001 - the slot of a toggle
        """Choose whether it begins again at its end."""
        self._is_looping = is_looping

    def set_speed(self, speed: float) -> None:
        """Choose how fast it plays, one of `SPEEDS`."""
        self._rebase()
        self._speed = speed
        self._sound.set_speed(speed)

    def set_volume(self, volume: float) -> None:
        """Choose how loud it is, 0 to 1, as the ear hears it."""
        self._sound.set_volume(volume)

    def set_muted(self, is_muted: bool) -> None:  # noqa: FBT001 - the slot of a toggle
        """Choose whether it is heard."""
        self._sound.set_muted(is_muted)

    def _on_tick(self) -> None:
        if self._clip is None:
            return
        if not self._show_due():
            # The clock waits, so that nothing is skipped.
            self._rebase()
            return
        if not self._is_playing:
            self._timer.stop()
            return
        frame = math.floor(self._clock_s() * self._clip.fps)
        if frame < self.num_frames:
            self._advance(frame)
        elif self._is_looping:
            self.seek(0)
        else:
            self.pause()

    def _advance(self, frame: int) -> None:
        if frame == self._frame:
            return
        before = self._frame
        self._frame = frame
        if not self._show_due():
            self._frame = before
            self._rebase()
        self._follow(is_jump=False)

    def _show_due(self) -> bool:
        """Show the pictures that are due, and return whether both are here."""
        if self._sides is None or self._clip is None:
            return False
        moment_s = middle_of_frame_s(self._frame, self._clip.fps)
        due = (self._sides[0].frame_at(moment_s), self._sides[1].frame_at(moment_s))
        first, second = (cache.get(number) for cache, number in zip(self._caches, due, strict=True))
        if first is None or second is None:
            self._tell_errors()
            return False
        if due != self._shown:
            self._shown = due
            self._images = _image_of(first), _image_of(second)
            self.pair_shown.emit(*self._images)
            self._told = -1
        if self._told != self._frame:
            self._told = self._frame
            self._show_frame(self._images[0], self._frame)
        return True

    def _tell_errors(self) -> None:
        error = next((cache.error for cache in self._caches if cache.error is not None), None)
        if error is not None:
            self.close()
            self.failed.emit(said(error.message), error.details)

    def _clock_s(self) -> float:
        return self._base_s + self._speed * self._since.nsecsElapsed() / 1e9

    def _rebase(self) -> None:
        """Let the clock go on from the picture shown."""
        if self._clip is not None:
            self._base_s = float(self._frame / self._clip.fps)
            self._since.restart()

    def _open_sound(self) -> None:
        if self._sides is not None:
            self._sound.open(self._sides[self._sound_side].path)
            self._sound.set_speed(self._speed)

    def _follow(self, *, is_jump: bool) -> None:
        """Have the sound where the pictures are."""
        if self._clip is not None:
            moment_ms = round(self._frame / self._clip.fps * _MS_PER_S)
            self._sound.follow(moment_ms, is_playing=self._is_playing, is_jump=is_jump)


def _timeline(first: ClipFormat, second: ClipFormat) -> ClipFormat:
    """Return what both are counted in: the quicker one's rate, the longer one's length."""
    fps = max(first.fps, second.fps)
    num_frames = math.ceil(max(first.duration_s, second.duration_s) * fps)
    return ClipFormat(first.height, first.width, num_frames, fps)


def _image_of(rgb: NDArray[np.uint8]) -> QImage:
    height, width, _ = rgb.shape
    return QImage(rgb.tobytes(), width, height, 3 * width, QImage.Format.Format_RGB888).copy()
