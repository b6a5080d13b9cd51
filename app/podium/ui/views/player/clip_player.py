"""What every player can do, and the choice of one."""

from __future__ import annotations

import logging
from fractions import Fraction
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage

from podium.geometry import ClipFormat

SPEEDS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0)
"""How fast a clip can be played; 1 is as it was made."""

_log = logging.getLogger(__name__)


class ClipPlayer(QObject):
    """Play one clip at a time; a frame is counted from 0.

    `frame_shown` brings the image to paint and its number. Players loop unless told otherwise.
    """

    frame_shown = Signal(QImage, int)
    playing_changed = Signal(bool)
    failed = Signal(str, str)
    """The clip cannot be played: a sentence and details."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._clip: ClipFormat | None = None
        self._frame = 0

    @property
    def note(self) -> str:
        """Return a sentence on what this player cannot do; empty if it can do all."""
        return ""

    @property
    def clip(self) -> ClipFormat | None:
        """Return the format of the clip that is open; None without one."""
        return self._clip

    @property
    def frame(self) -> int:
        """Return the number of the frame shown last."""
        return self._frame

    @property
    def num_frames(self) -> int:
        """Return how many frames the clip has; 0 without one."""
        return self._clip.num_frames if self._clip else 0

    @property
    def is_playing(self) -> bool:
        """Return whether it plays."""
        raise NotImplementedError

    def open(self, path: Path, clip: ClipFormat) -> None:
        """Open a clip and show its first frame, paused."""
        raise NotImplementedError

    def close(self) -> None:
        """Let the clip go."""
        raise NotImplementedError

    def play(self) -> None:
        """Play on from the frame shown; at the end of a clip that does not loop, from its start."""
        raise NotImplementedError

    def pause(self) -> None:
        """Stand still."""
        raise NotImplementedError

    def seek(self, frame: int) -> None:
        """Show a frame; one outside the clip becomes the nearest."""
        raise NotImplementedError

    def set_looping(self, is_looping: bool) -> None:  # noqa: FBT001 - the slot of a toggle
        """Choose whether it begins again at its end."""
        raise NotImplementedError

    def set_speed(self, speed: float) -> None:
        """Choose how fast it plays, one of `SPEEDS`."""
        raise NotImplementedError

    def set_volume(self, volume: float) -> None:
        """Choose how loud it is, 0 to 1, as the ear hears it."""
        raise NotImplementedError

    def set_muted(self, is_muted: bool) -> None:  # noqa: FBT001 - the slot of a toggle
        """Choose whether it is heard."""
        raise NotImplementedError

    def toggle(self) -> None:
        """Play if it stands, stand if it plays."""
        if self.is_playing:
            self.pause()
        else:
            self.play()

    def step(self, num_frames: int) -> None:
        """Stand still, so many frames further; back where negative."""
        self.pause()
        self.seek(self._frame + num_frames)

    def _nearest_frame(self, frame: int) -> int:
        return min(self.num_frames - 1, max(0, frame))

    def _show_frame(self, image: QImage, frame: int) -> None:
        self._frame = frame
        self.frame_shown.emit(image, frame)


def middle_of_frame_s(frame: int, fps: Fraction) -> Fraction:
    """Return the time in the middle of a frame: no rounding of a player's clock leads to its neighbour."""
    return (frame + Fraction(1, 2)) / fps


def make_clip_player(parent: QObject | None = None) -> ClipPlayer:
    """Return the best player that this machine has."""
    try:
        # The border to QtMultimedia: it loads FFmpeg and the sound system, and needs libraries that may be missing.
        from podium.ui.views.player.media_player import MediaClipPlayer  # noqa: PLC0415
    except ImportError as error:
        _log.warning("Clips are shown without sound: %s", error)
        from podium.ui.views.player.frame_player import FrameClipPlayer  # noqa: PLC0415

        return FrameClipPlayer(missing=str(error), parent=parent)
    return MediaClipPlayer(parent)
