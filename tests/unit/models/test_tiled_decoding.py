"""Decoding in tiles: the same frames in order, early, in room that does not grow with the clip."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from podium.errors import JobRefusedError
from podium.geometry import LatentGrid
from podium.models.decode_plan import plan_decoding
from podium.models.tile_layout import DimensionTilingConfig, TileCountConfig, TileSizeConfig
from podium.models.tiled_decoding import DecodedPart, FramesDone, TileDone, blend_rounds, decode_parts
from podium.models.video_vae import VideoDecoder

from tests.fakes.storage_counter import StorageCounter

# Two cells a side with one shared, four latent frames with one shared.
SMALL = TileSizeConfig(long_side_px=64, side_overlap_px=32, num_frames=32, frame_overlap=8)
WHATEVER_IT_TAKES = settings(max_examples=40)


def noise(*grid: int) -> Tensor:
    return torch.randn(1, 128, *grid, generator=torch.Generator().manual_seed(3))


def whole(parts: Iterator[DecodedPart]) -> Tensor:
    """Return the frames of a stream, which must come in order and without a gap."""
    frames, num_frames = [], 0
    for part in parts:
        if isinstance(part, FramesDone):
            assert part.pixels_BCFHW is not None
            assert part.first_frame == num_frames
            assert 0 < part.num_frames == part.pixels_BCFHW.shape[2] <= 8
            frames.append(part.pixels_BCFHW.clone())
            num_frames += part.num_frames
    return torch.cat(frames, dim=2)


class NearestDecoder:
    """Decodes every cell to one colour, whatever is around it: tiles of it are cuts of the whole."""

    def __init__(self) -> None:
        self.num_decodes = 0

    def decode(self, latent_BCFHW: Tensor) -> Tensor:
        """Return its first three channels, enlarged."""
        self.num_decodes += 1
        cells = latent_BCFHW[:, :3].repeat_interleave(32, dim=3).repeat_interleave(32, dim=4)
        return torch.cat((cells[:, :, :1], cells[:, :, 1:].repeat_interleave(8, dim=2)), dim=2)


def test_a_clip_that_fits_is_decoded_whole_and_bit_by_bit(video_decoder: VideoDecoder) -> None:
    latent = noise(3, 2, 3)
    parts = list(decode_parts(video_decoder, latent, TileSizeConfig()))
    assert not any(isinstance(part, TileDone) for part in parts)
    with torch.inference_mode():
        assert torch.equal(whole(iter(parts)), video_decoder.decode(latent))


def trapezoid(length: int, rise: list[float], fall: list[float]) -> Tensor:
    weights = torch.ones(length, dtype=torch.float64)
    weights[: len(rise)] = torch.tensor(rise, dtype=torch.float64)
    if fall:
        weights[-len(fall) :] = torch.tensor(fall, dtype=torch.float64)
    return weights


# What `SMALL` makes of 8 latent frames and 3 rows, by hand: cells, first place, weights. A causal tile's ramp of two
# cells rises over 1 + 8 frames from 0, one cell's fall takes 8 frames; a ramp of one row takes 32 pixels.
FRAME_RISE, FRAME_FALL = [i / 9 for i in range(9)], [1 - i / 9 for i in range(1, 9)]
ROW_RISE, ROW_FALL = [i / 33 for i in range(1, 33)], [1 - i / 33 for i in range(1, 33)]
FRAME_TILES = [
    (0, 4, 0, trapezoid(25, [], FRAME_FALL)),
    (2, 6, 16, trapezoid(25, FRAME_RISE, FRAME_FALL)),
    (4, 8, 32, trapezoid(25, FRAME_RISE, [])),
]
ROW_TILES = [(0, 2, 0, trapezoid(64, [], ROW_FALL)), (1, 3, 32, trapezoid(64, ROW_RISE, []))]


@pytest.fixture(scope="module")
def tiled_and_oracle(video_decoder: VideoDecoder) -> tuple[Tensor, Tensor]:
    """Return a clip decoded in tiles by us, and in the same tiles by the oracle."""
    latent = noise(8, 3, 2)
    ours = whole(decode_parts(video_decoder, latent, SMALL))
    oracle = torch.zeros(1, 3, 57, 96, 64, dtype=torch.float64)
    with torch.inference_mode():
        for (f0, f1, frame, f_weights), (r0, r1, row, r_weights) in product(FRAME_TILES, ROW_TILES):
            tile = video_decoder.decode(latent[:, :, f0:f1, r0:r1])
            weighted = tile.double() * f_weights[:, None, None] * r_weights[:, None]
            oracle[:, :, frame : frame + len(f_weights), row : row + len(r_weights)] += weighted
    return ours, oracle


def test_tiles_are_blended_as_an_independent_sum_of_the_same_tiles(tiled_and_oracle: tuple[Tensor, Tensor]) -> None:
    ours, oracle = tiled_and_oracle
    assert ours.shape == oracle.shape
    assert float((ours - oracle).abs().max()) < 1e-6


def test_tiles_between_ranks_and_within_them_multiply_their_weights(video_decoder: VideoDecoder) -> None:
    # Five columns between two ranks with one shared: [0, 3) and [2, 5); within each [0, 2) and [1, 3) of its own.
    left, right = trapezoid(96, [], ROW_FALL), trapezoid(96, ROW_RISE, [])
    first, second = trapezoid(64, [], ROW_FALL), trapezoid(64, ROW_RISE, [])
    weights = [left[:64] * first, left[32:] * second, right[:64] * first, right[32:] * second]
    latent = noise(1, 1, 5)
    oracle = torch.zeros(1, 3, 1, 32, 160, dtype=torch.float64)
    with torch.inference_mode():
        for cell, of_piece in enumerate(weights):
            piece = video_decoder.decode(latent[..., cell : cell + 2])
            oracle[..., 32 * cell : 32 * cell + 64] += piece.double() * of_piece
    plan = plan_decoding(LatentGrid(1, 1, 5), SMALL, TileCountConfig(width=DimensionTilingConfig(2, 1)), 2)
    with torch.inference_mode():
        ours = whole(
            blend_rounds(
                plan,
                lambda index: [(p, video_decoder.decode(p.latent_of(latent))) for p in plan.rounds[index] if p],
                latent,
            )
        )
    assert float((ours - oracle).abs().max()) < 1e-6


@pytest.fixture(scope="module")
def difference_by_cell(video_decoder: VideoDecoder) -> list[float]:
    """Return how two tiles that share four rows differ from the whole, by cells from the seam."""
    latent = noise(1, 20, 1)
    tiled = whole(decode_parts(video_decoder, latent, TileSizeConfig(long_side_px=12 * 32, side_overlap_px=4 * 32)))
    with torch.inference_mode():
        untiled = video_decoder.decode(latent)
    difference = ((tiled - untiled).abs() / untiled.std()).mean(dim=(0, 1, 2, 4))
    cell = ((torch.arange(20 * 32) - (10 * 32 - 0.5)).abs() // 32).long()
    return [float(difference[cell == near].mean()) for near in range(10)]


def test_tiles_differ_from_the_whole_clip_near_their_seam_alone(difference_by_cell: list[float]) -> None:
    print("\ncells from the seam: mean difference in standard deviations of the clip")
    print(", ".join(f"{near}: {seen:.1e}" for near, seen in enumerate(difference_by_cell)))
    assert difference_by_cell[0] == max(difference_by_cell) > 0.01
    assert max(difference_by_cell[7:]) < 1e-5


@WHATEVER_IT_TAKES
@given(
    grid=st.tuples(st.integers(1, 14), st.integers(1, 6), st.integers(1, 6)),
    counts=st.tuples(*[st.integers(1, 3)] * 3),
    overlap=st.integers(0, 2),
    num_ranks=st.integers(1, 5),
)
def test_whatever_the_tiles_and_ranks_every_pixel_comes_once(
    grid: tuple[int, int, int], counts: tuple[int, int, int], overlap: int, num_ranks: int
) -> None:
    # Split in time between ranks, a tile must fit as it is.
    sizes = SMALL if counts[0] == 1 else TileSizeConfig(64, 32, 8 * 14, 8)
    between = TileCountConfig(*(DimensionTilingConfig(count, overlap) for count in counts))
    plan = plan_decoding(LatentGrid(*grid), sizes, between, num_ranks)
    decoder, latent = NearestDecoder(), noise(*grid)

    def decode_round(index: int) -> list[tuple[object, Tensor]]:
        return [(piece, decoder.decode(piece.latent_of(latent))) for piece in plan.rounds[index] if piece is not None]

    ours = whole(blend_rounds(plan, decode_round, latent))  # type: ignore[arg-type] # pieces, as planned
    assert torch.allclose(ours, NearestDecoder().decode(latent), atol=2e-6)
    assert all(len(pieces) == num_ranks for pieces in plan.rounds)


@WHATEVER_IT_TAKES
@given(st.integers(11, 400), st.integers(2, 5))
def test_the_window_of_frames_does_not_grow_with_the_clip(num_cells: int, num_ranks: int) -> None:
    between = TileCountConfig(width=DimensionTilingConfig(num_ranks, 1))
    plan = plan_decoding(LatentGrid(num_cells, 3, 30), TileSizeConfig(), between, num_ranks)
    # Ten latent frames, and nothing besides.
    assert plan.window == 73


def test_frames_leave_before_the_next_tile_is_decoded() -> None:
    decoder = NearestDecoder()
    seen = [
        (decoder.num_decodes, part.first_frame)
        for part in decode_parts(decoder, noise(8, 2, 2), SMALL)
        if isinstance(part, FramesDone)
    ]
    assert seen == [(1, 0), (1, 8), (2, 16), (2, 24), (3, 32), (3, 40), (3, 48), (3, 56)]


def test_a_listener_that_leaves_between_tiles_ends_the_work() -> None:
    decoder = NearestDecoder()
    parts = decode_parts(decoder, noise(8, 3, 3), SMALL)
    assert next(parts) == TileDone(1, 12)
    parts.close()  # type: ignore[attr-defined] # a generator
    assert decoder.num_decodes == 1


def test_every_tile_but_the_last_is_told() -> None:
    told = [part for part in decode_parts(NearestDecoder(), noise(8, 2, 2), SMALL) if isinstance(part, TileDone)]
    assert told == [TileDone(1, 3), TileDone(2, 3)]


def test_tiles_are_dealt_to_the_ranks_in_turn() -> None:
    between = TileCountConfig(width=DimensionTilingConfig(5, 0))
    plan = plan_decoding(LatentGrid(2, 2, 5), TileSizeConfig(), between, 2)
    columns = [[None if piece is None else piece.width.start for piece in pieces] for pieces in plan.rounds]
    assert columns == [[0, 1], [2, 3], [4, None]]


def test_each_stretch_of_time_is_dealt_anew_so_that_frames_can_leave() -> None:
    between = TileCountConfig(width=DimensionTilingConfig(2, 1))
    plan = plan_decoding(LatentGrid(8, 2, 3), SMALL, between, 2)
    assert [[piece.frames.start for piece in pieces if piece] for pieces in plan.rounds] == [
        [0, 0], [2, 2], [4, 4]
    ]  # fmt: skip
    assert plan.complete_after == (16, 32, 57)


def test_a_rank_with_fewer_pieces_sits_the_last_ones_out() -> None:
    between = TileCountConfig(width=DimensionTilingConfig(2, 1))
    plan = plan_decoding(LatentGrid(1, 2, 4), SMALL, between, 2)
    columns = [[None if piece is None else piece.width.start for piece in pieces] for pieces in plan.rounds]
    assert columns == [[0, 2], [1, None]]


def test_a_split_in_time_between_ranks_and_again_within_one_is_refused() -> None:
    between = TileCountConfig(frames=DimensionTilingConfig(2, 1))
    with pytest.raises(JobRefusedError, match="too long to be decoded in 2 tiles in time: a tile would have 33 frames"):
        plan_decoding(LatentGrid(8, 1, 1), SMALL, between, 2)
    assert len(plan_decoding(LatentGrid(6, 1, 1), SMALL, between, 2).rounds) == 1


def peak_bytes(decoder: VideoDecoder, num_cells: int) -> int:
    # The plan is made here: four bytes a frame of each tile.
    parts = decode_parts(decoder, noise(num_cells, 1, 1), TileSizeConfig())
    with StorageCounter() as counter:
        for _part in parts:
            pass
    return counter.peak_bytes


def test_a_clip_of_257_frames_decodes_with_no_more_memory_than_one_of_97(video_decoder: VideoDecoder) -> None:
    short, long = (peak_bytes(video_decoder, (num_frames - 1) // 8 + 1) for num_frames in (97, 257))
    print(f"\nmost bytes of tensors: 97 frames {short:,}, 257 frames {long:,}")
    assert long <= short


def test_tiles_of_half_precision_are_blended_in_full() -> None:
    latent = noise(8, 3, 3).bfloat16()
    tiled = whole(decode_parts(NearestDecoder(), latent, SMALL))
    assert tiled.dtype == torch.float32
    assert math.isclose(float((tiled - NearestDecoder().decode(latent.float())).abs().max()), 0, abs_tol=2e-6)
