"""Read a clip back: what it is, its parameters, its pictures and its sound.

Pictures come out as RGB through the matrix that the clip names; a clip that names none is taken for BT.709.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.video.reformatter import ColorRange, Colorspace, Interpolation, VideoReformatter
from av.video.stream import VideoStream
from numpy.typing import NDArray

from podium.media.errors import MediaError, describe
from podium.media.parameters import decode_parameters, sidecar_path

_logger = logging.getLogger(__name__)

# FFmpeg's AVColorSpace against swscale's own numbers, which agree for these: 5 and 6 are both BT.601.
_NAMED_MATRICES = frozenset({1, 4, 5, 6, 7, 9})
_READING = Interpolation.BICUBIC | Interpolation.ACCURATE_RND | Interpolation.FULL_CHR_H_INT
_NUM_THREADS = 2


@dataclass(frozen=True, slots=True)
class ClipInfo:
    """What a clip is, from its headers.

    Args:
        width: Pixels.
        height: Pixels.
        num_frames: Pictures in it.
        fps: Frames per second, exact.
        duration_s: From the first picture's begin to the last one's end, exact.
        video_codec: FFmpeg's name, such as "h264".
        audio_codec: The same for the sound; None in a silent clip.
        audio_sample_rate_hz: None in a silent clip.
        audio_duration_s: Exact; None in a silent clip.
        num_audio_channels: 0 in a silent clip.
    """

    width: int
    height: int
    num_frames: int
    fps: Fraction
    duration_s: Fraction
    video_codec: str
    audio_codec: str | None = None
    audio_sample_rate_hz: int | None = None
    audio_duration_s: Fraction | None = None
    num_audio_channels: int = 0


def read_clip_info(path: Path) -> ClipInfo:
    """Return what a clip is.

    Raises:
        MediaError: It is missing, unreadable or no clip with a picture.
    """
    with _open(path) as container:
        video, audio = _video_of(container, path), _audio_of(container)
        # A container that keeps no index has to be counted.
        num_frames = video.frames or sum(packet.size > 0 for packet in container.demux(video))
        fps = video.average_rate or video.guessed_rate
        if fps is None or video.width < 1 or video.height < 1:
            raise MediaError(f"“{path.name}” has no picture that could be read. An mp4 made by Podium would do.")
        info = ClipInfo(
            width=video.width,
            height=video.height,
            num_frames=num_frames,
            fps=Fraction(fps),
            duration_s=_duration_s(video) or num_frames / Fraction(fps),
            video_codec=video.codec_context.name,
        )
        return info if audio is None else _with_sound(info, audio)


def read_parameters(path: Path) -> dict[str, object]:
    """Return the parameters a clip was made with, from its tag or else from its sidecar.

    Raises:
        MediaError: It is missing, unreadable or not made by Podium.
    """
    with _open(path) as container:
        text = container.metadata.get("comment", "")
    try:
        return decode_parameters(text)
    except ValueError as error:
        _logger.debug("No parameters in the tag of %s: %s", path, error)
    try:
        return decode_parameters(sidecar_path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise MediaError(
            f"“{path.name}” holds no parameters. Clips made by Podium carry them, in the file or in a .json beside it.",
            details=describe(error),
        ) from error


def read_frames(path: Path, *, first: int = 0, size_px: tuple[int, int] | None = None) -> Iterator[NDArray[np.uint8]]:
    """Iterate over a clip's pictures in order, uint8 [height, width, 3], RGB.

    Args:
        path: The clip.
        first: Number of the first picture wanted, from 0; what lies before it is skipped by the clip's index.
        size_px: Width and height to scale to; None keeps the clip's own.

    Raises:
        MediaError: It is missing, unreadable, damaged or has no picture.
    """
    reformatter = VideoReformatter()
    width, height = size_px or (None, None)
    for frame in decode_pictures(path, first=first):
        rgb = reformatter.reformat(
            frame,
            width=width,
            height=height,
            format="rgb24",
            src_colorspace=matrix_of(frame),
            dst_color_range=ColorRange.JPEG,
            interpolation=_READING,
            threads=_NUM_THREADS,
        )
        yield rgb.to_ndarray().astype(np.uint8, copy=False)


def read_frame(path: Path, number: int) -> NDArray[np.uint8]:
    """Return one picture of a clip, counted from 0, uint8 [height, width, 3], RGB.

    Raises:
        MediaError: The clip is missing, unreadable or damaged, or has no such picture.
    """
    picture = next(read_frames(path, first=number), None)
    if picture is None:
        raise MediaError(f"“{path.name}” has no picture number {number + 1}: it is shorter than that.")
    return picture


def decode_pictures(path: Path, *, first: int = 0) -> Iterator[av.VideoFrame]:
    """Iterate over a clip's pictures as they were compressed, from one on that is counted from 0.

    Raises:
        MediaError: It is missing, unreadable, damaged or has no picture.
    """
    with _open(path) as container:
        video = _video_of(container, path)
        video.codec_context.thread_count = _NUM_THREADS
        if first:
            container.seek(_time_of(video, first), stream=video)
        for frame in container.decode(video):
            if not first or _number_of(video, frame) >= first:
                yield frame


def matrix_of(frame: av.VideoFrame) -> Colorspace | None:
    """Return the matrix to read a picture by: None for the one that it names, BT.709 where it names none."""
    return None if frame.colorspace in _NAMED_MATRICES else Colorspace.ITU709


def read_sound(path: Path) -> NDArray[np.float32]:
    """Return a clip's sound, float32 [channels, samples] at its own rate; [0, 0] where it has none.

    It ends where the clip says: what fills the encoder's last block is left out.

    Raises:
        MediaError: It is missing, unreadable or damaged.
    """
    with _open(path) as container:
        audio = _audio_of(container)
        if audio is None:
            return np.zeros((0, 0), np.float32)
        resampler = av.AudioResampler(format="fltp", layout=audio.layout, rate=audio.rate)
        blocks = [
            block.to_ndarray().astype(np.float32, copy=False)
            for frame in [*container.decode(audio), None]
            for block in resampler.resample(frame)
        ]
        duration_s = _duration_s(audio)
        sound = np.concatenate(blocks, axis=1) if blocks else np.zeros((audio.channels, 0), np.float32)
        return sound if duration_s is None else sound[:, : round(duration_s * audio.rate)]


@contextmanager
def _open(path: Path) -> Iterator[InputContainer]:
    try:
        with av.open(str(path), mode="r") as container:
            yield container
    except (av.FFmpegError, OSError) as error:
        raise MediaError(_reading_failed(path, error), details=describe(error)) from error


def _reading_failed(path: Path, error: Exception) -> str:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return f"“{path.name}” is not in “{path.parent}”. Choose a clip that is there."
    if isinstance(error, PermissionError):
        return f"“{path.name}” may not be read. Change its permissions or choose another clip."
    return f"“{path.name}” is no clip that can be read: it is damaged, unfinished or of another kind. An mp4 would do."


def _video_of(container: InputContainer, path: Path) -> VideoStream:
    if not container.streams.video:
        raise MediaError(f"“{path.name}” has no picture. A clip with a picture would do.")
    return container.streams.video[0]


def _audio_of(container: InputContainer) -> AudioStream | None:
    return container.streams.audio[0] if container.streams.audio else None


def _time_of(video: VideoStream, number: int) -> int:
    """Return the time of a picture in the stream's own unit."""
    fps, unit = video.average_rate or video.guessed_rate, video.time_base
    assert fps is not None, "a stream of pictures has a rate"
    assert unit is not None, "a stream has a unit of time"
    return (video.start_time or 0) + round(number / fps / unit)


def _number_of(video: VideoStream, frame: av.VideoFrame) -> int:
    fps, unit = video.average_rate or video.guessed_rate, video.time_base
    assert fps is not None, "a stream of pictures has a rate"
    assert unit is not None, "a stream has a unit of time"
    return round(((frame.pts or 0) - (video.start_time or 0)) * unit * fps)


def _with_sound(info: ClipInfo, audio: AudioStream) -> ClipInfo:
    return ClipInfo(
        info.width,
        info.height,
        info.num_frames,
        info.fps,
        info.duration_s,
        video_codec=info.video_codec,
        audio_codec=audio.codec_context.name,
        audio_sample_rate_hz=audio.rate,
        audio_duration_s=_duration_s(audio),
        num_audio_channels=audio.channels,
    )


def _duration_s(stream: VideoStream | AudioStream) -> Fraction | None:
    if stream.duration is None or stream.time_base is None:
        return None
    return stream.duration * stream.time_base
