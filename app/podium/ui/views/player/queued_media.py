"""Qt's player of clips and sounds, spoken to through the event loop alone.

Rule for whoever changes this: what makes the player begin, stop or move is sent to it through the event loop and never
called. These calls wait for threads of FFmpeg; called from Python they hold the interpreter's lock meanwhile, and a
thread that has something to log by then (to a message handler in Python) waits for that lock: both wait for ever.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Qt, QUrl, Signal
from PySide6.QtMultimedia import QAudio, QAudioOutput, QMediaPlayer


class QueuedMedia(QObject):
    """A player with sound; every method returns at once, and what it asks for comes later."""

    _source_wanted = Signal(QUrl)
    _play_wanted = Signal()
    _pause_wanted = Signal()
    _stop_wanted = Signal()
    _speed_wanted = Signal(float)
    # Milliseconds; a plain int would be cut to 32 bits.
    _position_wanted = Signal("qlonglong")  # type: ignore[arg-type]  # PySide takes the names of C++ types too

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._wanted = QUrl()
        self._output = QAudioOutput(self)
        self.player = QMediaPlayer(self)
        self.player.setAudioOutput(self._output)
        for wanted, slot in (
            (self._source_wanted, self.player.setSource),
            (self._play_wanted, self.player.play),
            (self._pause_wanted, self.player.pause),
            (self._stop_wanted, self.player.stop),
            (self._speed_wanted, self.player.setPlaybackRate),
            (self._position_wanted, self.player.setPosition),
        ):
            wanted.connect(slot, Qt.ConnectionType.QueuedConnection)

    @property
    def is_playing(self) -> bool:
        """Return whether it plays."""
        return self.player.playbackState() is QMediaPlayer.PlaybackState.PlayingState

    @property
    def is_at_wanted(self) -> bool:
        """Return whether what comes from the player is about the file that was opened last, and no earlier one."""
        return self.player.source() == self._wanted

    def open(self, path: Path) -> None:
        """Open a file, paused at its start: a player that never moved shows no picture."""
        self._want(QUrl.fromLocalFile(str(path)))
        self._pause_wanted.emit()

    def close(self) -> None:
        """Let the file go."""
        self._stop_wanted.emit()
        self._want(QUrl())

    def play(self) -> None:
        """Play on."""
        self._play_wanted.emit()

    def pause(self) -> None:
        """Stand still."""
        self._pause_wanted.emit()

    def go_to(self, moment_ms: int) -> None:
        """Move to a moment."""
        self._position_wanted.emit(moment_ms)

    def set_speed(self, speed: float) -> None:
        """Choose how fast it plays; 1 as recorded."""
        self._speed_wanted.emit(speed)

    def set_volume(self, volume: float) -> None:
        """Choose how loud it is, 0 to 1, as the ear hears it."""
        scales = QAudio.VolumeScale.LogarithmicVolumeScale, QAudio.VolumeScale.LinearVolumeScale
        self._output.setVolume(QAudio.convertVolume(volume, *scales))

    def set_muted(self, is_muted: bool) -> None:  # noqa: FBT001 - the slot of a toggle
        """Choose whether it is heard."""
        self._output.setMuted(is_muted)

    def _want(self, source: QUrl) -> None:
        self._wanted = source
        self._source_wanted.emit(source)
