"""The encoders and the muxer behind a clip: H.264 and AAC into an mp4, one picture at a time.

It writes to one path and knows nothing of temporary names; `podium.media.video_writer` sees to those.
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from av.audio.stream import AudioStream
from av.container import OutputContainer
from av.video.reformatter import ColorPrimaries, ColorRange, Colorspace, ColorTrc, Interpolation, VideoReformatter
from av.video.stream import VideoStream
from numpy.typing import NDArray

# FFmpeg's AVCOL_SPC_BT709; swscale's ITU709 has the same number.
_MATRIX = Colorspace.ITU709
_CONVERTING = Interpolation.BICUBIC | Interpolation.ACCURATE_RND | Interpolation.FULL_CHR_H_INP
_MAX_TIMESCALE = 2**31 - 1
_NUM_CHANNELS = 2
_SOUND_BLOCK_SAMPLES = 1 << 16

AAC_RATES_HZ = frozenset({96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000})
"""Rates that AAC can carry (ISO/IEC 14496-3, table 1.18)."""

AAC_FRAME_SAMPLES = 1024


@dataclass(frozen=True, slots=True)
class VideoEncoding:
    """How a clip is compressed.

    Args:
        crf: H.264 quality, 0 (lossless) to 51; 17 cannot be told from the source by eye.
        preset: libx264's trade of time for size.
        num_threads: Encoder threads, at least 1; the bytes depend on it.
        audio_bit_rate_bps: AAC bit rate of both channels together.
    """

    crf: int = 17
    preset: str = "medium"
    num_threads: int = 4
    audio_bit_rate_bps: int = 256_000


class Mp4Muxer:
    """Encode pictures and sound into an mp4, as they come and in any order between the two.

    Args:
        path: The file to write; one of that name is overwritten.
        size_px: Width and height, even.
        fps: Exact; every picture lasts exactly 1 / fps.
        sample_rate_hz: The sound's rate; None makes a silent clip.
        comment: Text of the comment tag; None for none.
        encoding: How to compress.
    """

    def __init__(
        self,
        path: Path,
        size_px: tuple[int, int],
        fps: Fraction,
        *,
        sample_rate_hz: int | None,
        comment: str | None,
        encoding: VideoEncoding,
    ) -> None:
        self._path = path
        self._size_px = size_px
        self._fps = fps
        self._sample_rate_hz = sample_rate_hz
        self._comment = comment
        self._encoding = encoding
        self._reformatter = VideoReformatter()
        self._container: OutputContainer | None = None
        self._num_pictures = 0
        self._num_samples = 0

    def open(self) -> None:
        """Open the encoders and write the file's head.

        Raises:
            OSError, av.FFmpegError: The file or an encoder cannot be opened.
        """
        self._container = av.open(str(self._path), "w", format="mp4", container_options=self._container_options())
        if self._comment is not None:
            self._container.metadata["comment"] = self._comment
        self._video = self._add_video(self._container)
        self._audio = None if self._sample_rate_hz is None else self._add_audio(self._container, self._sample_rate_hz)
        self._container.start_encoding()

    def add_picture(self, rgb: NDArray[np.uint8]) -> None:
        """Encode the next picture, uint8 [height, width, 3].

        Raises:
            OSError, av.FFmpegError: The file cannot grow.
        """
        assert self._container is not None, "open() comes first"
        frame = self._reformatter.reformat(
            av.VideoFrame.from_ndarray(np.ascontiguousarray(rgb), format="rgb24"),
            format="yuv420p",
            src_colorspace=_MATRIX,
            dst_colorspace=_MATRIX,
            src_color_range=ColorRange.JPEG,
            dst_color_range=ColorRange.MPEG,
            interpolation=_CONVERTING,
            threads=1,
        )
        frame.pts, frame.time_base = self._num_pictures, 1 / self._fps
        self._container.mux(self._video.encode(frame))
        self._num_pictures += 1

    def add_sound(self, sound: NDArray[np.float32]) -> None:
        """Encode the next samples, float32 [2, samples].

        Raises:
            OSError, av.FFmpegError: The file cannot grow.
        """
        assert self._container is not None, "open() comes first"
        assert self._audio is not None, "a silent clip takes no sound"
        for begin in range(0, sound.shape[1], _SOUND_BLOCK_SAMPLES):
            block = np.ascontiguousarray(sound[:, begin : begin + _SOUND_BLOCK_SAMPLES])
            frame = av.AudioFrame.from_ndarray(block, format="fltp", layout="stereo")
            frame.sample_rate, frame.pts = self._audio.rate, self._num_samples
            frame.time_base = Fraction(1, self._audio.rate)
            self._container.mux(self._audio.encode(frame))
            self._num_samples += block.shape[1]

    def finish(self) -> None:
        """Drain the encoders, write the index and move it to the front.

        Raises:
            OSError, av.FFmpegError: The file cannot grow.
        """
        assert self._container is not None, "open() comes first"
        if self._audio is not None:
            self._container.mux(self._audio.encode(None))
        self._container.mux(self._video.encode(None))
        self._close()

    def abandon(self) -> None:
        """Let go of the file, whatever state it is in; never raises."""
        with contextlib.suppress(OSError, av.FFmpegError):
            self._close()

    def _close(self) -> None:
        if self._container is not None:
            container, self._container = self._container, None
            container.close()

    def _container_options(self) -> dict[str, str]:
        options = {
            "movflags": "+faststart",
            # However late the sound comes, pictures wait for it: the two lie interleaved.
            "max_interleave_delta": "0",
        }
        # The edit lists count in this unit: only one that both streams divide ends each at its own exact end.
        timescale = math.lcm(self._fps.numerator, self._sample_rate_hz or 1)
        while timescale < 1000:
            timescale *= 2
        if timescale <= _MAX_TIMESCALE:
            options["movie_timescale"] = str(timescale)
        return options

    def _add_video(self, container: OutputContainer) -> VideoStream:
        options = {"crf": str(self._encoding.crf), "preset": self._encoding.preset, "profile": "high"}
        stream = container.add_stream("libx264", rate=self._fps, options=options)
        context = stream.codec_context
        context.width, context.height = self._size_px
        context.pix_fmt = "yuv420p"
        context.time_base = 1 / self._fps
        # A key picture at least every second keeps scrubbing quick.
        context.gop_size = max(1, math.floor(self._fps))
        context.thread_count = self._encoding.num_threads
        context.color_range, context.colorspace = ColorRange.MPEG, _MATRIX
        context.color_primaries, context.color_trc = ColorPrimaries.BT709, ColorTrc.BT709
        return stream

    def _add_audio(self, container: OutputContainer, sample_rate_hz: int) -> AudioStream:
        options = {"b": str(self._encoding.audio_bit_rate_bps)}
        stream = container.add_stream("aac", rate=sample_rate_hz, options=options, layout="stereo")
        stream.codec_context.time_base = Fraction(1, sample_rate_hz)
        return stream
