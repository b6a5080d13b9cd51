"""The block that decodes the picture: frames in order, and between tiles a boundary to stop at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import pytest
import torch
from torch import Tensor

from podium.geometry import ClipFormat
from podium.jobs import GenerationRequest, Phase
from podium.models.tile_layout import TileSizeConfig
from podium.models.tiled_decoding import DecodedPart, FramesDone, TileDone
from podium.pipelines.blocks.decoding import VideoDecoder
from podium.pipelines.blocks.placement import Placement
from podium.pipelines.events import FramesDecoded, PhaseBegan, PipelineEvent, SoundDecoded, TileDecoded
from podium.pipelines.report import OpenBoundary, ReportContext, report_clip

CPU = torch.device("cpu")
CLIP = ClipFormat(64, 64, 57, Fraction(24))
# Two tiles a side, three in time.
SMALL = TileSizeConfig(long_side_px=32, side_overlap_px=0, num_frames=32, frame_overlap=8)


class Decoder:
    """Decodes to the number of the call, and counts its calls."""

    def __init__(self) -> None:
        self.num_decodes = 0

    def build(
        self, device: torch.device, dtype: torch.dtype, *, on_progress: Callable[[int, int], None] | None = None
    ) -> Decoder:
        """Return itself."""
        return self

    def decode(self, latent_BCFHW: Tensor) -> Tensor:
        """Return one colour."""
        self.num_decodes += 1
        batch, _, frames, height, width = latent_BCFHW.shape
        return torch.full((batch, 3, 8 * (frames - 1) + 1, 32 * height, 32 * width), 0.1 * self.num_decodes)


class BlindDecoder(Decoder):
    """Decodes as a rank does whose frames go to another one."""

    def decode_parts(self, latent_BCFHW: Tensor, sizes: TileSizeConfig) -> Iterator[DecodedPart]:
        """Yield parts without pixels."""
        yield TileDone(1, 2)
        yield FramesDone(0, 8, None)
        yield FramesDone(8, 1, None)


def block(decoder: Decoder) -> VideoDecoder:
    return VideoDecoder(decoder, Placement(CPU, torch.float32), SMALL)


def test_frames_come_in_order_between_tiles() -> None:
    events = list(block(Decoder()).stream(torch.zeros(1, 128, 8, 2, 2)))
    tiles = [event for event in events if isinstance(event, TileDecoded)]
    assert tiles == [TileDecoded(done, 12) for done in range(1, 12)]
    frames = [event for event in events if isinstance(event, FramesDecoded)]
    assert [event.first_frame for event in frames] == list(range(0, 57, 8))
    assert sum(len(event.frames_FHWC) for event in frames) == 57
    assert all(0 <= float(event.frames_FHWC.min()) <= float(event.frames_FHWC.max()) <= 1 for event in frames)
    # Four tiles make a stretch of time, whose frames leave before the next one is begun.
    assert events.index(frames[0]) < events.index(tiles[4])


def test_kept_frames_stay_as_they_were() -> None:
    kept, copies = [], []
    for event in block(Decoder()).stream(torch.zeros(1, 128, 8, 2, 2)):
        if isinstance(event, FramesDecoded):
            kept.append(event.frames_FHWC)
            copies.append(event.frames_FHWC.clone())
    assert all(torch.equal(*pair) for pair in zip(kept, copies, strict=True))


def test_a_trace_gets_the_clip_whole_and_once() -> None:
    trace: list[tuple[str, Tensor]] = []
    events = list(block(Decoder()).stream(torch.zeros(1, 128, 8, 2, 2), lambda *item: trace.append(item)))
    ((name, clip),) = trace
    assert name == "decoded.video"
    assert torch.equal(clip, torch.cat([event.frames_FHWC for event in events if isinstance(event, FramesDecoded)]))


def test_ranks_without_frames_yield_black_ones_that_take_no_memory() -> None:
    events = list(block(BlindDecoder()).stream(torch.zeros(1, 128, 2, 2, 3)))
    assert [type(event) for event in events] == [TileDecoded, FramesDecoded, FramesDecoded]
    frames = events[1]
    assert isinstance(frames, FramesDecoded)
    assert frames.frames_FHWC.shape == (8, 64, 96, 3)
    assert not frames.frames_FHWC.any()
    assert frames.frames_FHWC.untyped_storage().nbytes() == 4


class Stopped(Exception):
    """What a boundary raises in these tests."""


class Boundary(OpenBoundary):
    """Notes its steps, and ends the job at one of them."""

    def __init__(self, ends_at: int) -> None:
        self.steps: list[tuple[Phase, int, int]] = []
        self._ends_at = ends_at

    def checkpoint(self, phase: Phase, step: int, num_steps: int) -> None:
        """Note it."""
        self.steps.append((phase, step, num_steps))
        if len(self.steps) == self._ends_at:
            raise Stopped


class DecodingPipeline:
    """Decodes, and nothing else."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder

    @property
    def stream(self) -> Callable[..., Iterator[PipelineEvent]]:
        """Return the call."""
        return self._stream

    def _stream(self, **call: object) -> Iterator[PipelineEvent]:
        yield PhaseBegan(Phase.DECODING, CLIP.num_frames)
        yield SoundDecoded(torch.zeros(2, 16), 48_000)
        yield from block(self._decoder).stream(torch.zeros(1, 128, 8, 2, 2))


@pytest.mark.parametrize("ends_at", [1, 2, 5])
def test_a_cancel_ends_a_decode_within_a_tile(tmp_path: Path, ends_at: int) -> None:
    decoder, boundary = Decoder(), Boundary(ends_at)
    request = GenerationRequest("A fox.", 7, CLIP, tmp_path / "clip.mp4")
    with pytest.raises(Stopped):
        list(report_clip(DecodingPipeline(decoder), request, ReportContext({}, boundary)))
    assert decoder.num_decodes == min(ends_at, 4)
    # Four tiles make the first sixteen frames.
    assert boundary.steps == [(Phase.DECODING, step, 57) for step in (0, 0, 0, 0, 8)[:ends_at]]
    assert list(tmp_path.iterdir()) == []
