"""Movies for editors: ProRes 422 HQ or DNxHR HQX with 24-bit PCM in a .mov, from a clip's own pictures.

Pictures go from the clip's samples to 4:2:2 in 10 bits without a turn through RGB: levels stay where they are, and only
the halved colour rows are filled in. It writes to one path and knows nothing of temporary names.
"""

from __future__ import annotations

import contextlib
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from av.audio.stream import AudioStream
from av.container import OutputContainer
from av.video.reformatter import ColorPrimaries, ColorRange, Colorspace, ColorTrc, Interpolation, VideoReformatter
from av.video.stream import VideoStream
from numpy.typing import NDArray

from podium.media.clip_reader import matrix_of
from podium.media.export_kinds import ExportKind

_PIXELS = "yuv422p10le"
_MATRIX = Colorspace.ITU709
_CONVERTING = Interpolation.BICUBIC | Interpolation.ACCURATE_RND | Interpolation.FULL_CHR_H_INT
_SOUND_BLOCK_SAMPLES = 1 << 16
_NUM_THREADS = 2
_MAX_LEVEL = 2**23 - 1
_CODECS = {
    # The vendor that editors look for; Apple's own files carry it.
    ExportKind.PRORES_422_HQ: ("prores_ks", {"profile": "hq", "vendor": "apl0"}),
    ExportKind.DNXHR_HQX: ("dnxhd", {"profile": "dnxhr_hqx"}),
}


def pcm_24(sound: NDArray[np.float32]) -> NDArray[np.int32]:
    """Return sound in 24 bits, int32 [channels, samples] from -2**23 to 2**23 - 1; what is louder is cut there."""
    levels = np.rint(sound.astype(np.float64) * 2**23)
    return np.clip(levels, -_MAX_LEVEL - 1, _MAX_LEVEL).astype(np.int32)


class MasterMovie:
    """Write one movie.

    Args:
        path: The file to write; one of that name is overwritten.
        kind: PRORES_422_HQ or DNXHR_HQX.
        size_px: Width and height, even.
        fps: Exact; every picture lasts exactly 1 / fps.
        sample_rate_hz: The sound's rate; None makes a silent movie.
        num_channels: 1 or 2.
    """

    def __init__(
        self,
        path: Path,
        kind: ExportKind,
        size_px: tuple[int, int],
        fps: Fraction,
        *,
        sample_rate_hz: int | None,
        num_channels: int = 2,
    ) -> None:
        self._path = path
        self._kind = kind
        self._size_px = size_px
        self._fps = fps
        self._sample_rate_hz = sample_rate_hz
        self._layout = "mono" if num_channels == 1 else "stereo"
        self._reformatter = VideoReformatter()
        self._container: OutputContainer | None = None
        self._num_pictures = 0

    def open(self) -> None:
        """Open the encoders and write the file's head.

        Raises:
            OSError, av.FFmpegError: The file or an encoder cannot be opened.
        """
        self._container = av.open(str(self._path), "w", format="mov")
        self._video = self._add_video(self._container)
        self._audio = None if self._sample_rate_hz is None else self._add_audio(self._container, self._sample_rate_hz)
        self._container.start_encoding()

    def add_picture(self, picture: av.VideoFrame) -> None:
        """Encode the next picture of a clip, as it was decoded.

        Raises:
            OSError, av.FFmpegError: The file cannot grow.
        """
        assert self._container is not None, "open() comes first"
        frame = self._reformatter.reformat(
            picture,
            format=_PIXELS,
            src_colorspace=matrix_of(picture),
            dst_colorspace=_MATRIX,
            dst_color_range=ColorRange.MPEG,
            interpolation=_CONVERTING,
            threads=_NUM_THREADS,
        )
        frame.pts, frame.time_base = self._num_pictures, 1 / self._fps
        self._container.mux(self._video.encode(frame))
        self._num_pictures += 1

    def add_sound(self, sound: NDArray[np.float32]) -> None:
        """Encode the whole sound, float32 [channels, samples].

        Raises:
            OSError, av.FFmpegError: The file cannot grow.
        """
        assert self._container is not None, "open() comes first"
        assert self._audio is not None, "a silent movie takes no sound"
        write_pcm(self._container, self._audio, sound)

    def finish(self) -> None:
        """Drain the encoders and write the index.

        Raises:
            OSError, av.FFmpegError: The file cannot grow.
        """
        assert self._container is not None, "open() comes first"
        if self._audio is not None:
            self._container.mux(self._audio.encode(None))
        self._container.mux(self._video.encode(None))
        container, self._container = self._container, None
        container.close()

    def abandon(self) -> None:
        """Let go of the file, whatever state it is in; never raises."""
        container, self._container = self._container, None
        if container is not None:
            with contextlib.suppress(OSError, av.FFmpegError):
                container.close()

    def _add_video(self, container: OutputContainer) -> VideoStream:
        codec, options = _CODECS[self._kind]
        stream = container.add_stream(codec, rate=self._fps, options=dict(options))
        assert isinstance(stream, VideoStream), "these codecs are of pictures"
        context = stream.codec_context
        context.width, context.height = self._size_px
        context.pix_fmt = _PIXELS
        context.time_base = 1 / self._fps
        context.thread_count = _NUM_THREADS
        context.color_range, context.colorspace = ColorRange.MPEG, _MATRIX
        context.color_primaries, context.color_trc = ColorPrimaries.BT709, ColorTrc.BT709
        return stream

    def _add_audio(self, container: OutputContainer, sample_rate_hz: int) -> AudioStream:
        return add_pcm_stream(container, sample_rate_hz, self._layout)


def add_pcm_stream(container: OutputContainer, sample_rate_hz: int, layout: str) -> AudioStream:
    """Add a stream of 24-bit PCM to a file that is about to be written."""
    stream: AudioStream = container.add_stream("pcm_s24le", rate=sample_rate_hz, layout=layout)
    stream.codec_context.time_base = Fraction(1, sample_rate_hz)
    return stream


def write_pcm(container: OutputContainer, stream: AudioStream, sound: NDArray[np.float32]) -> None:
    """Encode a whole sound, float32 [channels, samples], block by block.

    Raises:
        OSError, av.FFmpegError: The file cannot grow.
    """
    # The encoder takes 32 bits and keeps the upper 24.
    levels = pcm_24(sound) << 8
    for begin in range(0, levels.shape[1], _SOUND_BLOCK_SAMPLES):
        block = np.ascontiguousarray(levels[:, begin : begin + _SOUND_BLOCK_SAMPLES].T).reshape(1, -1)
        frame = av.AudioFrame.from_ndarray(block, format="s32", layout=stream.layout.name)
        frame.sample_rate, frame.pts, frame.time_base = stream.rate, begin, Fraction(1, stream.rate)
        container.mux(stream.encode(frame))
