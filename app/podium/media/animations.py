"""Silent animations for the web: GIF with a palette made for the clip, and animated WebP.

They count time in hundredths and thousandths of a second. A picture begins at the nearest such moment to its own, so
that no error adds up, and the whole lasts as long as the clip to one unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from av.container import OutputContainer
from av.filter import Graph
from av.filter.context import FilterContext
from av.video.format import VideoFormat
from av.video.stream import VideoStream
from numpy.typing import NDArray

from podium.media.clip_reader import read_frames
from podium.media.export_kinds import ExportRun, gif_stride

_Picture = NDArray[np.uint8]
_RGB = VideoFormat("rgb24")
_CENTISECOND, _MILLISECOND = Fraction(1, 100), Fraction(1, 1000)
_WEBP_OPTIONS = {"quality": "90", "compression_level": "4"}


def write_gif(path: Path, source: Path, size_px: tuple[int, int], fps: Fraction, run: ExportRun) -> None:
    """Write a clip's pictures as a GIF that repeats for ever.

    The clip is read twice: once for the 256 colours that suit all of it, and once to be painted with them.

    Raises:
        MediaError: The clip cannot be read, or the end of it was asked for.
        OSError, av.FFmpegError: The file cannot grow.
    """
    stride = gif_stride(fps)
    run.num_pictures *= 2
    palette = _palette_of(_pictures(source, size_px, stride, run), size_px)
    graph = _PaletteGraph(palette, size_px)
    with av.open(str(path), "w", format="gif") as container:
        stream = _add_stream(container, "gif", fps / stride, size_px, pixels="pal8", unit=_CENTISECOND)
        for number, picture in enumerate(_pictures(source, size_px, stride, run)):
            moment = round(number * stride / fps / _CENTISECOND)
            for frame in graph.paint(picture, moment):
                container.mux(stream.encode(frame))
        for frame in graph.finish():
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


def write_webp(path: Path, source: Path, size_px: tuple[int, int], fps: Fraction, run: ExportRun) -> None:
    """Write a clip's pictures as an animated WebP that repeats for ever.

    Raises:
        MediaError: The clip cannot be read, or the end of it was asked for.
        OSError, av.FFmpegError: The file cannot grow.
    """
    with av.open(str(path), "w", format="webp", options={"loop": "0"}) as container:
        stream = _add_stream(container, "libwebp_anim", fps, size_px, pixels="bgra", unit=_MILLISECOND)
        stream.codec_context.options = dict(_WEBP_OPTIONS)
        for number, picture in enumerate(_pictures(source, size_px, 1, run)):
            # The encoder takes RGB alone for what it is: colours of its own kind would be read by another matrix.
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24").reformat(format="bgra")
            frame.pts, frame.time_base = round(number / fps / _MILLISECOND), _MILLISECOND
            frame.duration = round((number + 1) / fps / _MILLISECOND) - frame.pts
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


class _PaletteGraph:
    """Paints pictures with the colours of a palette."""

    def __init__(self, palette: av.VideoFrame, size_px: tuple[int, int]) -> None:
        graph = Graph()
        self._source = _add_buffer(graph, "pictures", size_px, _RGB)
        colours = _add_buffer(graph, "colours", (palette.width, palette.height), palette.format)
        painter = graph.add("paletteuse", "dither=sierra2_4a:diff_mode=rectangle")
        self._sink = graph.add("buffersink")
        self._source.link_to(painter, 0, 0)
        colours.link_to(painter, 0, 1)
        painter.link_to(self._sink)
        graph.configure()
        self._graph = graph
        palette.pts, palette.time_base = 0, _CENTISECOND
        colours.push(palette)
        colours.push(None)

    def paint(self, picture: _Picture, moment: int) -> Iterator[av.VideoFrame]:
        """Take a picture in, and yield what is painted by now."""
        self._source.push(_frame_of(picture, moment))
        yield from self._painted()

    def finish(self) -> Iterator[av.VideoFrame]:
        """Yield what is still to come."""
        self._source.push(None)
        yield from self._painted()

    def _painted(self) -> Iterator[av.VideoFrame]:
        while True:
            try:
                frame = self._sink.pull()
            except (av.BlockingIOError, av.EOFError):
                return
            assert isinstance(frame, av.VideoFrame), "pictures went in"
            yield frame


def _palette_of(pictures: Iterable[_Picture], size_px: tuple[int, int]) -> av.VideoFrame:
    graph = Graph()
    source = _add_buffer(graph, "pictures", size_px, _RGB)
    maker, sink = graph.add("palettegen", "stats_mode=full"), graph.add("buffersink")
    source.link_to(maker)
    maker.link_to(sink)
    graph.configure()
    for moment, picture in enumerate(pictures):
        source.push(_frame_of(picture, moment))
    source.push(None)
    palette = sink.pull()
    assert isinstance(palette, av.VideoFrame), "a palette is a picture"
    return palette


def _add_buffer(graph: Graph, name: str, size_px: tuple[int, int], pixels: VideoFormat) -> FilterContext:
    width, height = size_px
    return graph.add_buffer(width=width, height=height, format=pixels, time_base=_CENTISECOND, name=name)


def _frame_of(picture: _Picture, moment: int) -> av.VideoFrame:
    frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
    frame.pts, frame.time_base = moment, _CENTISECOND
    return frame


def _pictures(source: Path, size_px: tuple[int, int], stride: int, run: ExportRun) -> Iterator[_Picture]:
    for number, picture in enumerate(read_frames(source, size_px=size_px)):
        run.step()
        if number % stride == 0:
            yield np.ascontiguousarray(picture)


def _add_stream(
    container: OutputContainer, codec: str, fps: Fraction, size_px: tuple[int, int], *, pixels: str, unit: Fraction
) -> VideoStream:
    stream = container.add_stream(codec, rate=fps)
    assert isinstance(stream, VideoStream), "these codecs are of pictures"
    context = stream.codec_context
    context.width, context.height = size_px
    context.pix_fmt, context.time_base = pixels, unit
    return stream
