"""Play a clip with sound by QtMultimedia, and paint its frames ourselves."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Slot
from PySide6.QtMultimedia import QMediaPlayer, QVideoFrame, QVideoSink

from podium.geometry import ClipFormat
from podium.ui.views.player.clip_player import ClipPlayer, middle_of_frame_s
from podium.ui.views.player.queued_media import QueuedMedia

_US_PER_S = 1_000_000
_MS_PER_S = 1_000


class MediaClipPlayer(ClipPlayer):
    """Play a clip by QtMultimedia."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._sink = QVideoSink(self)
        self._queued = QueuedMedia(self)
        self._media = self._queued.player
        self._media.setVideoSink(self._sink)
        self._media.setLoops(QMediaPlayer.Loops.Infinite.value)
        self._sink.videoFrameChanged.connect(self._on_video_frame)
        self._media.playbackStateChanged.connect(self._on_state)
        self._media.errorOccurred.connect(self._on_error)

    @property
    def is_playing(self) -> bool:
        """Return whether it plays."""
        return self._queued.is_playing

    def open(self, path: Path, clip: ClipFormat) -> None:
        """Open a clip and show its first frame, paused."""
        self._clip = clip
        self._frame = 0
        self._queued.open(path)

    def close(self) -> None:
        """Let the clip go."""
        self._clip = None
        self._queued.close()

    def play(self) -> None:
        """Play on from the frame shown; at the end of a clip that does not loop, from its start."""
        if self._clip is not None:
            self._queued.play()

    def pause(self) -> None:
        """Stand still."""
        if self._clip is not None:
            self._queued.pause()

    def seek(self, frame: int) -> None:
        """Show a frame; one outside the clip becomes the nearest."""
        if self._clip is not None:
            middle_s = middle_of_frame_s(self._nearest_frame(frame), self._clip.fps)
            self._queued.go_to(round(middle_s * _MS_PER_S))

    def set_looping(self, is_looping: bool) -> None:  # noqa: FBT001 - the slot of a toggle
        """Choose whether it begins again at its end."""
        self._media.setLoops(QMediaPlayer.Loops.Infinite.value if is_looping else QMediaPlayer.Loops.Once.value)

    def set_speed(self, speed: float) -> None:
        """Choose how fast it plays, one of `SPEEDS`."""
        self._queued.set_speed(speed)

    def set_volume(self, volume: float) -> None:
        """Choose how loud it is, 0 to 1, as the ear hears it."""
        self._queued.set_volume(volume)

    def set_muted(self, is_muted: bool) -> None:  # noqa: FBT001 - the slot of a toggle
        """Choose whether it is heard."""
        self._queued.set_muted(is_muted)

    @Slot(QVideoFrame)
    def _on_video_frame(self, video_frame: QVideoFrame) -> None:
        # What stops sends an empty frame; the last picture stays.
        if self._clip is None or not video_frame.isValid() or not self._queued.is_at_wanted:
            return
        frame = round(video_frame.startTime() * self._clip.fps / _US_PER_S)
        self._show_frame(video_frame.toImage(), self._nearest_frame(frame))

    @Slot()
    def _on_state(self) -> None:
        self.playing_changed.emit(self.is_playing)

    @Slot()
    def _on_error(self) -> None:
        if not self._queued.is_at_wanted:
            return
        sentence = self.tr("The clip is there and cannot be played here. Another player may open it.")
        self.failed.emit(sentence, f"{self._media.error().name}: {self._media.errorString()}")
