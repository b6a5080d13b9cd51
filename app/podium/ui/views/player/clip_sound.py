"""The sound of a clip alone, led by a clock of somebody else's."""

from __future__ import annotations

import logging
from pathlib import Path

from PySide6.QtCore import QObject

_log = logging.getLogger(__name__)


class ClipSound(QObject):
    """Play the sound of one clip where a clock says it is. This one is silent: there is no QtMultimedia."""

    def open(self, path: Path) -> None:
        """Open a clip's sound, paused at its start."""

    def close(self) -> None:
        """Let the clip go."""

    def pause(self) -> None:
        """Be silent."""

    def follow(self, moment_ms: int, *, is_playing: bool, is_jump: bool) -> None:
        """Be where the clock is.

        Args:
            moment_ms: Where the clock is.
            is_playing: Whether it runs.
            is_jump: It did not get there by running.
        """

    def set_speed(self, speed: float) -> None:
        """Choose how fast it plays."""

    def set_volume(self, volume: float) -> None:
        """Choose how loud it is, 0 to 1, as the ear hears it."""

    def set_muted(self, is_muted: bool) -> None:  # noqa: FBT001 - the slot of a toggle
        """Choose whether it is heard."""


def make_clip_sound(parent: QObject | None = None) -> ClipSound:
    """Return sound as far as this machine has it."""
    try:
        # The border to QtMultimedia: it loads FFmpeg and the sound system, and needs libraries that may be missing.
        from podium.ui.views.player.media_sound import MediaClipSound  # noqa: PLC0415
    except ImportError as error:
        _log.warning("Clips are compared without sound: %s", error)
        return ClipSound(parent)
    return MediaClipSound(parent)
