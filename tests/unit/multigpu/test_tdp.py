"""A stage in tiles on one process: the tokens that tiles get, and the blend of what they give."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch import Tensor

from podium.geometry import ClipFormat, LatentGrid
from podium.models.registry import StateDictRegistry
from podium.models.tile_layout import DimensionTilingConfig, TileCountConfig
from podium.models.transformer.builder import transformer_builder
from podium.models.transformer.model import AVTransformer
from podium.multigpu.tdp_builder import (
    TiledDataParallelBuilder,
    TiledTransformer,
    read_grid,
    tdp_tiling,
    token_tiles,
)
from podium.multigpu.weight_tracker import TransformerWeightTracker
from podium.pipelines.latents import video_positions

from tests.fakes.tiled_jobs import CLIP, CPU, NUM_REFERENCES, NUM_TOKENS, Stage, make_stage, tiling_of

WHATEVER_IT_TAKES = settings(max_examples=40)
COUNTS, OVERLAPS = (2, 1, 2), (1, 0, 2)
# What they make of 4 x 3 x 6 cells, by hand: cells, and the weight of each.
FRAME_TILES = [(0, 3, [1, 1, 1 / 2]), (2, 4, [1 / 2, 1])]
COLUMN_TILES = [(0, 4, [1, 1, 2 / 3, 1 / 3]), (2, 6, [1 / 3, 2 / 3, 1, 1])]


@pytest.fixture(scope="module")
def model(tiny_pack: Path) -> AVTransformer:
    # 2.5 has everything that a tile slices: the keyframe embedding too.
    return transformer_builder(tiny_pack / "ltx-2.5" / "transformer.safetensors").build(CPU, torch.float32)


@pytest.fixture(scope="module")
def stage(model: AVTransformer) -> Stage:
    return make_stage(model)


def tile_by_hand(
    stage: Stage, frames: tuple[int, int, list[float]], columns: tuple[int, int, list[float]]
) -> dict[int, float]:
    """Return the clip's tokens of a tile with their weights, then what it keeps of the others, with no weight yet."""
    found = {}
    for f, h, w in product(range(frames[0], frames[1]), range(3), range(columns[0], columns[1])):
        found[f * 18 + h * 6 + w] = frames[2][f - frames[0]] * columns[2][w - columns[0]]
    low = (max(0, 8 * frames[0] - 7) / 24, 0, 32 * columns[0])
    high = ((8 * frames[1] - 7) / 24, 96, 32 * columns[1])
    for token in range(NUM_TOKENS, stage.positions.shape[2]):
        bounds = stage.positions[0, :, token].tolist()
        is_inside = all(end > a and start < b for (start, end), a, b in zip(bounds, low, high, strict=True))
        if is_inside or bounds[0][0] < 0:
            found[token] = 0.0
    return found


@pytest.fixture(scope="module")
def oracle(model: AVTransformer, stage: Stage) -> tuple[Tensor, Tensor]:
    """Return the velocities of both streams: four forwards of the plain module, blended token by token."""
    tiles = [tile_by_hand(stage, *tile) for tile in product(FRAME_TILES, COLUMN_TILES)]
    video, audio = torch.zeros(stage.latent.shape, dtype=torch.float64), []
    for tile in tiles:
        tokens = list(tile)
        video_v, audio_v = stage.cut(tokens, stage.positions[0, :, tokens[0], :1]).run(model)
        audio.append(audio_v.double())
        for place, token in enumerate(tokens):
            kept_by = sum(token in other for other in tiles)
            weight = tile[token] if token < NUM_TOKENS else 1 / kept_by
            video[:, token] += video_v[:, place].double() * weight
    return video, torch.stack(audio).mean(dim=0)


def tiled(model: AVTransformer, *, normalize_positions: bool = True) -> TiledTransformer:
    return TiledTransformer(model, None, tiling_of(COUNTS, OVERLAPS), normalize_positions=normalize_positions)


def test_the_blend_is_that_of_the_same_tiles_run_one_by_one(
    model: AVTransformer, stage: Stage, oracle: tuple[Tensor, Tensor]
) -> None:
    for ours, theirs in zip(stage.run(tiled(model)), oracle, strict=True):
        assert ours.dtype == torch.float32
        assert float((ours - theirs).norm() / theirs.norm()) < 1e-6


def test_tiles_differ_from_the_whole_stage_and_by_how_much(model: AVTransformer, stage: Stage) -> None:
    (ours, _), (untiled, _) = stage.run(tiled(model)), stage.run(model)
    difference = ((ours - untiled).norm(dim=2) / untiled.norm(dim=2).mean())[0, :NUM_TOKENS].view(4, 3, 6)
    print("\ncolumns from the seam: mean difference, of the mean velocity")
    by_distance = [float(difference[:, :, [2 - near, 3 + near]].mean()) for near in range(3)]
    print(", ".join(f"{near + 0.5}: {seen:.3f}" for near, seen in enumerate(by_distance)))
    assert min(by_distance) > 1e-3


def test_a_single_tile_is_the_whole_stage(model: AVTransformer, stage: Stage) -> None:
    alone = TiledTransformer(model, None, TileCountConfig(), normalize_positions=True)
    for ours, untiled in zip(stage.run(alone), stage.run(model), strict=True):
        assert float((ours - untiled).norm() / untiled.norm()) < 1e-6


def test_one_stream_alone_runs_too(model: AVTransformer, stage: Stage) -> None:
    transformer = tiled(model)
    ropes = transformer.video_ropes(stage.positions)
    with torch.inference_mode():
        video_v, audio_v = transformer(stage.video(ropes), None)
    assert audio_v is None
    assert video_v is not None
    assert video_v.shape == stage.latent.shape


def test_without_a_mask_or_marker_nothing_is_sliced(model: AVTransformer, stage: Stage) -> None:
    transformer = tiled(model)
    video = stage.video(transformer.video_ropes(stage.positions))
    plain = replace(video, attention_mask=None, keyframes_mask=None)
    with torch.inference_mode():
        video_v, _ = transformer(plain, None)
    assert video_v is not None
    assert bool(torch.isfinite(video_v).all())


@pytest.mark.parametrize("normalizes", [True, False])
def test_positions_of_a_tile_begin_at_zero_if_asked(stage: Stage, normalizes: bool) -> None:
    for tile in token_tiles(stage.positions, tiling_of(COUNTS, OVERLAPS), normalize_positions=normalizes):
        own = tile.index < NUM_TOKENS
        assert bool((tile.positions[0, :, own].amin(dim=(1, 2)) == 0).all()) == (normalizes or tile.index[0] == 0)
        shift = stage.positions[:, :, tile.index] - tile.positions
        assert bool((shift == shift[:, :, :1, :1]).all()) or normalizes
        assert normalizes or torch.equal(shift, torch.zeros_like(shift))


def test_references_go_with_every_tile_and_pictures_with_those_they_touch(stage: Stage) -> None:
    tiles = token_tiles(stage.positions, tiling_of(COUNTS, OVERLAPS), normalize_positions=True)
    references = set(range(stage.positions.shape[2] - NUM_REFERENCES, stage.positions.shape[2]))
    kept = [set(tile.index[tile.index >= NUM_TOKENS].tolist()) for tile in tiles]
    assert all(references <= of_tile for of_tile in kept)
    # The picture stands at pixel frame 12: latent frame 2, which both tiles in time have; of its columns each has four.
    assert [len(of_tile - references) for of_tile in kept] == [12, 12, 12, 12]


# Any time but those of the clip's own tokens, which last one frame or eight.
CONDITIONING = st.lists(
    st.tuples(st.integers(-3, 40), st.integers(2, 7), st.integers(0, 5), st.integers(0, 5)), max_size=12
)


@WHATEVER_IT_TAKES
@given(
    grid=st.tuples(st.integers(1, 5), st.integers(1, 6), st.integers(1, 6)),
    counts=st.tuples(*[st.integers(1, 3)] * 3),
    overlaps=st.tuples(*[st.integers(0, 3)] * 3),
    conditioning=CONDITIONING,
)
def test_weights_sum_to_one_for_every_token_that_any_tile_has(
    grid: tuple[int, int, int],
    counts: tuple[int, int, int],
    overlaps: tuple[int, int, int],
    conditioning: list[tuple[int, int, int, int]],
) -> None:
    tiling = tiling_of(counts, overlaps)
    assume(tiling.fits(LatentGrid(*grid)))
    clip = ClipFormat(32 * grid[1], 32 * grid[2], 8 * (grid[0] - 1) + 1, Fraction(30000, 1001))
    boxes = [
        [[frame / 30, (frame + length) / 30], [32.0 * row, 32.0 * row + 32], [32.0 * column, 32.0 * column + 32]]
        for frame, length, row, column in conditioning
    ]
    extra = torch.tensor(boxes).view(-1, 3, 2).transpose(0, 1)[None]
    positions = torch.cat((video_positions(clip), extra), dim=2)
    total = torch.zeros(positions.shape[2])
    for tile in token_tiles(positions, tiling, normalize_positions=True):
        assert len(set(tile.index.tolist())) == len(tile.index)
        total.index_add_(0, tile.index, tile.weights)
    num_own = grid[0] * grid[1] * grid[2]
    assert bool((total[:num_own] - 1).abs().max() < 1e-6)
    assert all(min(abs(weight), abs(weight - 1)) < 1e-6 for weight in total[num_own:].tolist())
    assert all(abs(total[num_own + i] - 1) < 1e-6 for i, box in enumerate(conditioning) if box[0] < 0)


@WHATEVER_IT_TAKES
@given(
    st.tuples(st.integers(1, 61), st.integers(1, 5), st.integers(1, 5)),
    st.sampled_from([Fraction(24), Fraction(24000, 1001), Fraction(60), Fraction(1)]),
    st.integers(0, 480),
)
def test_the_grid_is_read_from_its_positions_whatever_stands_behind_it(
    grid: tuple[int, int, int], fps: Fraction, frame: int
) -> None:
    positions = video_positions(ClipFormat(32 * grid[1], 32 * grid[2], 8 * (grid[0] - 1) + 1, fps))
    picture = positions[:, :, : grid[1] * grid[2]].clone()
    picture[:, 0] = torch.tensor((frame, frame + 1), dtype=torch.float32) / float(fps)
    assert read_grid(positions) == LatentGrid(*grid)
    assert read_grid(torch.cat((positions, picture, picture), dim=2)) == LatentGrid(*grid)


def test_positions_without_a_grid_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="do not begin with the grid of a clip"):
        read_grid(video_positions(CLIP)[:, :, 3:20])


@pytest.mark.parametrize("clip", [CLIP, ClipFormat(256, 64, 9, Fraction(24))])
def test_tokens_lie_row_by_row(clip: ClipFormat) -> None:
    grid = clip.latent_grid
    (tile,) = token_tiles(video_positions(clip), TileCountConfig(), normalize_positions=False)
    assert tile.index.tolist() == list(range(grid.num_tokens))
    assert bool((tile.weights == 1).all())


def test_a_builder_brings_its_schedule_and_shares_the_trackers_module(tiny_pack: Path) -> None:
    registry, tracker = StateDictRegistry(), TransformerWeightTracker(None)
    builder = TiledDataParallelBuilder(
        inner=transformer_builder(tiny_pack / "ltx-2.5" / "transformer.safetensors", registry),
        group=None,
        tiling=tdp_tiling(4),
        registry=registry,
        tracker=tracker,
    )
    assert builder.sigmas == (0.625, 0.4, 0.0)
    assert builder.with_loras(()).build(CPU, torch.float32)._inner is builder.build(CPU, torch.float32)._inner


def test_a_clip_smaller_than_the_overlap_is_not_for_tiles() -> None:
    tiling = tdp_tiling(4)
    assert tiling == TileCountConfig(height=DimensionTilingConfig(2, 5), width=DimensionTilingConfig(2, 5))
    assert not tiling.fits(LatentGrid(3, 6, 20))
    assert tiling.fits(LatentGrid(3, 7, 20))
