"""The playable clip of a finished first stage, written while the second one is still to come."""

from __future__ import annotations

from pathlib import Path

from podium.geometry import ClipFormat
from podium.jobs import PreviewClip
from podium.media.mp4_muxer import VideoEncoding
from podium.media.video_writer import ClipWriter
from podium.pipelines.arrays import to_pictures, to_samples
from podium.pipelines.blocks.decoding import AudioDecoder, VideoDecoder
from podium.pipelines.events import FramesDecoded, StepDenoised

# It is looked at for seconds: quick to make comes first.
_ENCODING = VideoEncoding(crf=23, preset="veryfast")


class StageClips:
    """Writes first-stage clips into a folder, each in place of the one before.

    Args:
        video_decoder, audio_decoder: The pipeline's own blocks; on a fleet a video decoder of this rank alone.
        folder: Where they go; exists.
    """

    def __init__(self, video_decoder: VideoDecoder, audio_decoder: AudioDecoder, folder: Path) -> None:
        self._video_decoder = video_decoder
        self._audio_decoder = audio_decoder
        self._path = folder / "stage_1.mp4"

    def write(self, event: StepDenoised, clip: ClipFormat) -> PreviewClip:
        """Decode and write a stage's last estimate.

        Args:
            event: The stage's last step.
            clip: Format of the stage.

        Raises:
            MediaError: It cannot be written.
        """
        sound = self._audio_decoder.decode(event.audio_BCTM)
        writer = ClipWriter(
            self._path,
            clip,
            sample_rate_hz=sound.sample_rate_hz,
            parameters=None,
            encoding=_ENCODING,
            overwrite=True,
        )
        with writer:
            writer.add_sound(to_samples(sound.waveform))
            for part in self._video_decoder.stream(event.video_BCFHW):
                if isinstance(part, FramesDecoded):
                    writer.add_frames(to_pictures(part.frames_FHWC))
        return PreviewClip(event.phase, self._path)
