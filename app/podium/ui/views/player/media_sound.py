"""The sound of a clip by QtMultimedia; by the rule of `queued_media` the player is sent to and never called."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtMultimedia import QMediaPlayer

from podium.ui.views.player.clip_sound import ClipSound
from podium.ui.views.player.queued_media import QueuedMedia

# Lips are seen to be late from about a tenth of a second on.
_MAX_DRIFT_MS = 90


class MediaClipSound(ClipSound):
    """Play the sound of one clip where a clock says it is."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._queued = QueuedMedia(self)
        self._media = self._queued.player

    @property
    def media(self) -> QMediaPlayer:
        """Return Qt's player."""
        return self._media

    def open(self, path: Path) -> None:
        """Open a clip's sound, paused at its start."""
        self._queued.open(path)

    def close(self) -> None:
        """Let the clip go."""
        self._queued.close()

    def pause(self) -> None:
        """Be silent."""
        self._queued.pause()

    def follow(self, moment_ms: int, *, is_playing: bool, is_jump: bool) -> None:
        """Be where the clock is; small differences are left, since every jump is heard."""
        is_running = self._queued.is_playing
        is_over = self._media.duration() > 0 and moment_ms >= self._media.duration()
        drift_ms = abs(self._media.position() - moment_ms)
        if is_jump or (is_running and drift_ms > _MAX_DRIFT_MS):
            self._queued.go_to(moment_ms)
        if is_playing and not is_running and not is_over:
            self._queued.play()

    def set_speed(self, speed: float) -> None:
        """Choose how fast it plays."""
        self._queued.set_speed(speed)

    def set_volume(self, volume: float) -> None:
        """Choose how loud it is, 0 to 1, as the ear hears it."""
        self._queued.set_volume(volume)

    def set_muted(self, is_muted: bool) -> None:  # noqa: FBT001 - the slot of a toggle
        """Choose whether it is heard."""
        self._queued.set_muted(is_muted)
