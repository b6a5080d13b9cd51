"""Pass a picture through H.264 and back: the model knows pictures as frames of compressed video."""

from __future__ import annotations

from fractions import Fraction

import av
import numpy as np
from av.packet import Packet
from av.video.codeccontext import VideoCodecContext
from av.video.stream import VideoStream
from numpy.typing import NDArray

from podium.media.errors import MediaError, describe

MAX_CRF = 51


def recompress_h264(rgb: NDArray[np.uint8], crf: int) -> NDArray[np.uint8]:
    """Return a picture as one libx264 frame shows it, in memory.

    An odd last row or column is cut off first, at a CRF of 0 as well. The colours go to yuv420p and back through
    swscale with PyAV's own settings, the same matrix on both ways.

    Args:
        rgb: uint8 [height, width, 3].
        crf: H.264 quality, 0 (returned without compression) to 51.

    Returns:
        uint8 [height // 2 * 2, width // 2 * 2, 3]; the same for the same libx264.

    Raises:
        MediaError: A side is below 2 or above what libx264 takes (16384).
        ValueError: `crf` is out of range.

    Source: the preset and the rate of one picture a second are those of diffusers 0.42.1 (pipelines/ltx2/utils.py);
        libx264 weighs a frame's quality by how long it is shown, so the rate matters.
    """
    if not 0 <= crf <= MAX_CRF:
        raise ValueError(f"a CRF lies from 0 to {MAX_CRF}, not {crf}")
    height, width = rgb.shape[0] // 2 * 2, rgb.shape[1] // 2 * 2
    if min(height, width) < 2:
        raise MediaError(f"A picture of {rgb.shape[1]} x {rgb.shape[0]} pixels is too small. 2 x 2 would do.")
    even = np.ascontiguousarray(rgb[:height, :width])
    if crf == 0:
        return even
    try:
        return _decode(_encode(even, crf))
    except av.FFmpegError as error:
        raise MediaError(
            f"A picture of {width} x {height} pixels cannot be re-compressed. A smaller one, or a CRF of 0, would do.",
            details=describe(error),
        ) from error


def _encode(rgb: NDArray[np.uint8], crf: int) -> list[Packet[VideoStream]]:
    context = av.CodecContext.create("libx264", "w")
    assert isinstance(context, VideoCodecContext), "libx264 encodes pictures"
    context.height, context.width = rgb.shape[:2]
    context.pix_fmt = "yuv420p"
    context.framerate, context.time_base = Fraction(1), Fraction(1)
    context.options = {"crf": str(crf), "preset": "veryfast"}
    # libx264's result depends on its threads; one gives every machine the same.
    context.thread_count = 1
    frame = av.VideoFrame.from_ndarray(rgb, format="rgb24").reformat(format="yuv420p")
    frame.pts = 0
    return [*context.encode(frame), *context.encode(None)]


def _decode(packets: list[Packet[VideoStream]]) -> NDArray[np.uint8]:
    context = av.CodecContext.create("h264", "r")
    assert isinstance(context, VideoCodecContext), "h264 decodes pictures"
    context.thread_count = 1
    frames = [frame for packet in [*packets, None] for frame in context.decode(packet)]
    return frames[0].to_ndarray(format="rgb24").astype(np.uint8, copy=False)
