"""The sound of a clip by QtMultimedia; by the rule of `media_player` the player is sent to and never called."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Qt, QUrl, Signal
from PySide6.QtMultimedia import QAudio, QAudioOutput, QMediaPlayer

from podium.ui.views.player.clip_sound import ClipSound

# Lips are seen to be late from about a tenth of a second on.
_MAX_DRIFT_MS = 90


class MediaClipSound(ClipSound):
    """Play the sound of one clip where a clock says it is."""

    _source_wanted = Signal(QUrl)
    _play_wanted = Signal()
    _pause_wanted = Signal()
    _stop_wanted = Signal()
    _speed_wanted = Signal(float)
    # Milliseconds; a plain int would be cut to 32 bits.
    _position_wanted = Signal("qlonglong")  # type: ignore[arg-type]  # PySide takes the names of C++ types too

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._output = QAudioOutput(self)
        self._media = QMediaPlayer(self)
        self._media.setAudioOutput(self._output)
        for wanted, slot in (
            (self._source_wanted, self._media.setSource),
            (self._play_wanted, self._media.play),
            (self._pause_wanted, self._media.pause),
            (self._stop_wanted, self._media.stop),
            (self._speed_wanted, self._media.setPlaybackRate),
            (self._position_wanted, self._media.setPosition),
        ):
            wanted.connect(slot, Qt.ConnectionType.QueuedConnection)

    @property
    def media(self) -> QMediaPlayer:
        """Return Qt's player."""
        return self._media

    def open(self, path: Path) -> None:
        """Open a clip's sound, paused at its start."""
        self._source_wanted.emit(QUrl.fromLocalFile(str(path)))
        self._pause_wanted.emit()

    def close(self) -> None:
        """Let the clip go."""
        self._stop_wanted.emit()
        self._source_wanted.emit(QUrl())

    def pause(self) -> None:
        """Be silent."""
        self._pause_wanted.emit()

    def follow(self, moment_ms: int, *, is_playing: bool, is_jump: bool) -> None:
        """Be where the clock is; small differences are left, since every jump is heard."""
        is_running = self._media.playbackState() is QMediaPlayer.PlaybackState.PlayingState
        is_over = self._media.duration() > 0 and moment_ms >= self._media.duration()
        drift_ms = abs(self._media.position() - moment_ms)
        if is_jump or (is_running and drift_ms > _MAX_DRIFT_MS):
            self._position_wanted.emit(moment_ms)
        if is_playing and not is_running and not is_over:
            self._play_wanted.emit()

    def set_speed(self, speed: float) -> None:
        """Choose how fast it plays."""
        self._speed_wanted.emit(speed)

    def set_volume(self, volume: float) -> None:
        """Choose how loud it is, 0 to 1, as the ear hears it."""
        scales = QAudio.VolumeScale.LogarithmicVolumeScale, QAudio.VolumeScale.LinearVolumeScale
        self._output.setVolume(QAudio.convertVolume(volume, *scales))

    def set_muted(self, is_muted: bool) -> None:  # noqa: FBT001 - the slot of a toggle
        """Choose whether it is heard."""
        self._output.setMuted(is_muted)
