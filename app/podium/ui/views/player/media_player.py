"""Play a clip with sound by QtMultimedia, and paint its frames ourselves.

Rule for whoever changes this: what makes the player begin, stop or move is sent to it through the event loop and never
called. These calls wait for threads of FFmpeg; called from Python they hold the interpreter's lock meanwhile, and a
thread that has something to log by then (to a message handler in Python) waits for that lock: both wait for ever.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Qt, QUrl, Signal, Slot
from PySide6.QtMultimedia import QAudio, QAudioOutput, QMediaPlayer, QVideoFrame, QVideoSink

from podium.geometry import ClipFormat
from podium.ui.views.player.clip_player import ClipPlayer, middle_of_frame_s

_US_PER_S = 1_000_000
_MS_PER_S = 1_000


class MediaClipPlayer(ClipPlayer):
    """Play a clip by QtMultimedia."""

    _source_wanted = Signal(QUrl)
    _play_wanted = Signal()
    _pause_wanted = Signal()
    _stop_wanted = Signal()
    _speed_wanted = Signal(float)
    # Milliseconds; a plain int would be cut to 32 bits.
    _position_wanted = Signal("qlonglong")  # type: ignore[arg-type]  # PySide takes the names of C++ types too

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._sound = QAudioOutput(self)
        self._sink = QVideoSink(self)
        self._media = QMediaPlayer(self)
        self._media.setAudioOutput(self._sound)
        self._media.setVideoSink(self._sink)
        self._media.setLoops(QMediaPlayer.Loops.Infinite.value)
        for wanted, slot in (
            (self._source_wanted, self._media.setSource),
            (self._play_wanted, self._media.play),
            (self._pause_wanted, self._media.pause),
            (self._stop_wanted, self._media.stop),
            (self._speed_wanted, self._media.setPlaybackRate),
            (self._position_wanted, self._media.setPosition),
        ):
            wanted.connect(slot, Qt.ConnectionType.QueuedConnection)
        self._sink.videoFrameChanged.connect(self._on_video_frame)
        self._media.playbackStateChanged.connect(self._on_state)
        self._media.errorOccurred.connect(self._on_error)

    @property
    def is_playing(self) -> bool:
        """Return whether it plays."""
        return self._media.playbackState() is QMediaPlayer.PlaybackState.PlayingState

    def open(self, path: Path, clip: ClipFormat) -> None:
        """Open a clip and show its first frame, paused."""
        self._clip = clip
        self._frame = 0
        self._source_wanted.emit(QUrl.fromLocalFile(str(path)))
        # A player that stands still shows its first frame; one that never moved shows none.
        self._pause_wanted.emit()

    def close(self) -> None:
        """Let the clip go."""
        self._clip = None
        self._stop_wanted.emit()
        self._source_wanted.emit(QUrl())

    def play(self) -> None:
        """Play on from the frame shown; at the end of a clip that does not loop, from its start."""
        if self._clip is not None:
            self._play_wanted.emit()

    def pause(self) -> None:
        """Stand still."""
        if self._clip is not None:
            self._pause_wanted.emit()

    def seek(self, frame: int) -> None:
        """Show a frame; one outside the clip becomes the nearest."""
        if self._clip is not None:
            middle_s = middle_of_frame_s(self._nearest_frame(frame), self._clip.fps)
            self._position_wanted.emit(round(middle_s * _MS_PER_S))

    def set_looping(self, is_looping: bool) -> None:  # noqa: FBT001 - the slot of a toggle
        """Choose whether it begins again at its end."""
        self._media.setLoops(QMediaPlayer.Loops.Infinite.value if is_looping else QMediaPlayer.Loops.Once.value)

    def set_speed(self, speed: float) -> None:
        """Choose how fast it plays, one of `SPEEDS`."""
        self._speed_wanted.emit(speed)

    def set_volume(self, volume: float) -> None:
        """Choose how loud it is, 0 to 1, as the ear hears it."""
        scales = QAudio.VolumeScale.LogarithmicVolumeScale, QAudio.VolumeScale.LinearVolumeScale
        self._sound.setVolume(QAudio.convertVolume(volume, *scales))

    def set_muted(self, is_muted: bool) -> None:  # noqa: FBT001 - the slot of a toggle
        """Choose whether it is heard."""
        self._sound.setMuted(is_muted)

    @Slot(QVideoFrame)
    def _on_video_frame(self, video_frame: QVideoFrame) -> None:
        # What stops sends an empty frame; the last picture stays.
        if self._clip is None or not video_frame.isValid():
            return
        frame = round(video_frame.startTime() * self._clip.fps / _US_PER_S)
        self._show_frame(video_frame.toImage(), self._nearest_frame(frame))

    @Slot()
    def _on_state(self) -> None:
        self.playing_changed.emit(self.is_playing)

    @Slot()
    def _on_error(self) -> None:
        sentence = self.tr("The clip is there and cannot be played here. Another player may open it.")
        self.failed.emit(sentence, f"{self._media.error().name}: {self._media.errorString()}")
