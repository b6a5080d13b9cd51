"""Tiles cover what they split, and their weights sum to one everywhere."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from podium.geometry import LatentGrid
from podium.models.tile_layout import (
    DimensionTilingConfig,
    Span,
    TileCountConfig,
    TileSizeConfig,
    balanced_tile_split,
    causal_spans,
    split_cells,
)
from podium.models.tiling import TileMask, causal_frame_masks, trapezoid_masks

CELLS, TILES, OVERLAPS = st.integers(1, 70), st.integers(1, 12), st.integers(0, 9)
# Machines under load are slow at random.
WHATEVER_IT_TAKES = settings(max_examples=60)


def total_of(masks: tuple[TileMask, ...], num_places: int) -> torch.Tensor:
    total = torch.zeros(num_places)
    for mask in masks:
        total[mask.start : mask.end] += mask.weights
    return total


def is_one(total: torch.Tensor) -> bool:
    return bool((total - 1).abs().max() < 1e-6)


@WHATEVER_IT_TAKES
@given(CELLS, TILES, OVERLAPS)
def test_tiles_share_their_overlap_and_cover_all_cells(num_cells: int, num_tiles: int, overlap: int) -> None:
    tiling = DimensionTilingConfig(num_tiles, overlap)
    assume(tiling.fits(num_cells))
    spans = split_cells(num_cells, tiling)
    assert (spans[0].start, spans[-1].end, len(spans)) == (0, num_cells, num_tiles)
    assert all(left.end - right.start == overlap for left, right in pairwise(spans))
    sizes = [span.num_cells for span in spans]
    assert sorted(sizes, reverse=True) == sizes
    assert max(sizes) - min(sizes) <= 1
    assert num_tiles == 1 or min(sizes) > overlap
    # As published: the size all tiles have at least.
    assert min(sizes) == (num_cells + overlap * (num_tiles - 1)) // num_tiles


@WHATEVER_IT_TAKES
@given(CELLS, TILES, OVERLAPS, st.sampled_from([1, 32]))
def test_masks_sum_to_one_for_any_tiling(num_cells: int, num_tiles: int, overlap: int, scale: int) -> None:
    tiling = DimensionTilingConfig(num_tiles, overlap)
    assume(tiling.fits(num_cells))
    masks = trapezoid_masks(split_cells(num_cells, tiling), scale)
    assert is_one(total_of(masks, num_cells * scale))
    assert all(bool((mask.weights > 0).all()) for mask in masks)


@WHATEVER_IT_TAKES
@given(CELLS, TILES, OVERLAPS)
def test_causal_masks_sum_to_one_for_any_tiling(num_cells: int, num_tiles: int, overlap: int) -> None:
    tiling = DimensionTilingConfig(num_tiles, overlap)
    assume(tiling.fits(num_cells))
    masks = causal_frame_masks(causal_spans(split_cells(num_cells, tiling)))
    assert is_one(total_of(masks, 8 * (num_cells - 1) + 1))


@WHATEVER_IT_TAKES
@given(st.integers(1, 6), st.integers(1, 7), st.integers(1, 7), st.integers(1, 3), st.integers(1, 3))
def test_products_of_masks_sum_to_one_in_three_dimensions(
    frames: int, height: int, width: int, tiles: int, overlap: int
) -> None:
    config = TileCountConfig(*[DimensionTilingConfig(tiles, overlap)] * 3).fitted(LatentGrid(frames, height, width))
    total = torch.zeros(frames, height, width)
    splits = [
        trapezoid_masks(split_cells(*of)) for of in
        ((frames, config.frames), (height, config.height), (width, config.width))
    ]  # fmt: skip
    for f in splits[0]:
        for h in splits[1]:
            for w in splits[2]:
                product = f.weights[:, None, None] * h.weights[:, None] * w.weights
                total[f.start : f.end, h.start : h.end, w.start : w.end] += product
    assert is_one(total)


def test_ramps_are_those_that_were_published() -> None:
    left, right = trapezoid_masks(split_cells(10, DimensionTilingConfig(2, 4)))
    ramp = torch.tensor([1, 2, 3, 4]) / 5
    assert (left.start, left.end, right.start, right.end) == (0, 7, 3, 10)
    assert torch.allclose(left.weights, torch.cat((torch.ones(3), ramp.flip(0))))
    assert torch.allclose(right.weights, torch.cat((ramp, torch.ones(3))))


def test_pixel_ramps_are_as_long_as_their_cells() -> None:
    left, right = trapezoid_masks(split_cells(5, DimensionTilingConfig(2, 1)), 32)
    assert (len(left.weights), right.start, len(right.weights)) == (96, 64, 96)
    assert torch.allclose(right.weights[:32], torch.arange(1, 33) / 33)
    assert bool((right.weights[32:] == 1).all())


def test_causal_tiles_begin_one_cell_earlier_with_the_published_frame_ramps() -> None:
    spans = causal_spans(split_cells(10, DimensionTilingConfig(2, 2)))
    assert spans == (Span(0, 6, 0, 2), Span(3, 10, 3, 0))
    first, second = causal_frame_masks(spans)
    assert (first.start, first.end, second.start, second.end) == (0, 41, 24, 73)
    # A right ramp of r cells falls over 8r frames, a left one of r rises over 8(r - 1) + 1.
    assert torch.allclose(first.weights[25:], 1 - torch.arange(1, 17) / 17)
    assert torch.allclose(second.weights[:17], torch.arange(17) / 17)
    assert bool((first.weights[:25] == 1).all())
    assert bool((second.weights[17:] == 1).all())


@WHATEVER_IT_TAKES
@given(st.integers(1, 200), st.integers(3, 20), st.integers(0, 8))
def test_tiles_by_size_cover_the_time_and_never_exceed_it(num_cells: int, most: int, overlap: int) -> None:
    assume(most > overlap + 1)
    sizes = TileSizeConfig(num_frames=8 * most, frame_overlap=8 * overlap)
    spans = causal_spans(sizes.split_frames(num_cells))
    assert all(span.num_cells <= most for span in spans)
    # Long clips find the tiles of shorter ones.
    assert all(span.num_cells == most for span in spans[:-1])
    assert is_one(total_of(causal_frame_masks(spans), 8 * (num_cells - 1) + 1))
    assert (len(spans) == 1) == (num_cells <= most)


@WHATEVER_IT_TAKES
@given(st.integers(1, 200), st.integers(1, 30), st.integers(0, 8))
def test_sides_by_size_take_the_fewest_tiles_that_are_small_enough(num_cells: int, most: int, overlap: int) -> None:
    assume(most > overlap)
    spans = TileSizeConfig(long_side_px=32 * most, side_overlap_px=32 * overlap).split_side(num_cells)
    assert max(span.num_cells for span in spans) <= most
    if len(spans) > 1:
        one_fewer = (num_cells + overlap * (len(spans) - 2)) / (len(spans) - 1)
        assert math.ceil(one_fewer) > most


def test_the_usual_tile_has_768_pixels_and_ten_latent_frames() -> None:
    sizes = TileSizeConfig()
    assert sizes.split_side(24) == (Span(0, 24),)
    assert sizes.split_side(25) == (Span(0, 14, 0, 2), Span(12, 25, 2, 0))
    assert sizes.split_frames(10) == (Span(0, 10),)
    assert causal_spans(sizes.split_frames(33))[:2] == (Span(0, 10, 0, 3), Span(6, 16, 4, 3))


@WHATEVER_IT_TAKES
@given(st.integers(1, 500))
def test_a_balanced_split_is_the_squarest_there_is(num_tiles: int) -> None:
    height, width = balanced_tile_split(num_tiles)
    assert height * width == num_tiles
    assert height <= width
    assert not any(num_tiles % n == 0 for n in range(height + 1, math.isqrt(num_tiles) + 1))


@pytest.mark.parametrize(("num_tiles", "split"), [(1, (1, 1)), (2, (1, 2)), (4, (2, 2)), (7, (1, 7)), (8, (2, 4))])
def test_balanced_splits_put_more_tiles_into_the_width(num_tiles: int, split: tuple[int, int]) -> None:
    assert balanced_tile_split(num_tiles) == split


def test_a_tile_that_would_not_exceed_its_overlap_is_refused_and_can_be_fitted() -> None:
    tiling = DimensionTilingConfig(3, 5)
    assert not tiling.fits(7)
    with pytest.raises(ValueError, match="must exceed the overlap"):
        split_cells(7, tiling)
    assert tiling.fitted(7) == DimensionTilingConfig(2, 5)
    assert tiling.fitted(5) == DimensionTilingConfig(1, 5)
    assert tiling.fitted(70) == tiling


@WHATEVER_IT_TAKES
@given(st.integers(1, 40), st.integers(1, 9), st.integers(0, 9))
def test_what_fits_is_what_can_be_split(num_cells: int, num_tiles: int, overlap: int) -> None:
    size = (num_cells + overlap * (num_tiles - 1)) // num_tiles
    assert DimensionTilingConfig(num_tiles, overlap).fits(num_cells) == (num_tiles == 1 or size > overlap)


@pytest.mark.parametrize("arguments", [(0, 0), (-1, 0), (1, -1)])
def test_a_tiling_of_nothing_is_a_mistake(arguments: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="names no tiling"):
        DimensionTilingConfig(*arguments)


@pytest.mark.parametrize(
    "changes",
    [{"long_side_px": 100}, {"num_frames": 81}, {"frame_overlap": 72}, {"side_overlap_px": 768}, {"num_frames": -8}],
)
def test_tile_sizes_come_in_whole_cells_and_exceed_what_they_share(changes: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="TileSizeConfig"):
        TileSizeConfig(**changes)
