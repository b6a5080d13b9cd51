"""Tiles on fleets of CPU ranks: any number of ranks makes of them what one process makes of the same tiles."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from podium.models.diffusion_decoder import frame_decoder_builder
from podium.models.tile_layout import TileSizeConfig
from podium.models.tiled_decoding import DecodedPart, FramesDone, TileDone
from podium.models.transformer.builder import transformer_builder
from podium.models.video_vae import video_decoder_builder
from podium.multigpu import SymmetricRunnerError

from tests.fakes.thorough import thorough
from tests.fakes.tiled_jobs import CPU, make_latent, make_stage, run_stage, stream_clip
from tests.fleet.conftest import REPOSITORY, FleetPool

RANKS = [thorough(1), 2, 3, thorough(4)]
# Counts and overlaps by frames, height and width: six tiles (more than ranks), two (fewer), four.
STAGE_TILES = [((1, 2, 3), (0, 1, 1)), ((1, 1, 2), (0, 0, 3)), ((2, 1, 2), (1, 0, 2))]
# Two cells a side with one shared, four latent frames with one shared; and room for a whole tile in time.
SMALL, LONG = TileSizeConfig(64, 32, 32, 8), TileSizeConfig(64, 32, 80, 8)
CLIPS: dict[str, dict[str, Any]] = {
    "a column a rank, and again within it in time": {
        "grid": (6, 2, 5), "tiles": ((1, 1, 4), (0, 0, 1)), "sizes": SMALL,
    },
    "columns of unlike size, and again within them": {
        "grid": (2, 2, 6), "tiles": ((1, 1, 2), (0, 0, 1)), "sizes": SMALL,
    },
    "in time between the ranks": {"grid": (9, 1, 3), "tiles": ((3, 1, 1), (1, 0, 0)), "sizes": LONG},
    "a clip too small for its tiles": {"grid": (2, 2, 2), "tiles": ((1, 2, 2), (0, 4, 4)), "sizes": SMALL},
}  # fmt: skip


def relative(ours: Tensor, theirs: Tensor) -> float:
    return float((ours - theirs).norm() / theirs.norm())


@pytest.fixture(scope="module")
def transformer_2_5(tiny_pack: Path) -> Path:
    return tiny_pack / "ltx-2.5" / "transformer.safetensors"


@pytest.fixture(scope="module")
def stages_alone(transformer_2_5: Path) -> list[tuple[Tensor, Tensor]]:
    return [run_stage(transformer_2_5, None, *tiles) for tiles in STAGE_TILES]


@pytest.mark.parametrize("num_ranks", RANKS)
def test_a_stage_in_tiles_is_the_same_on_any_number_of_ranks(
    fleets: FleetPool,
    transformer_2_5: Path,
    stages_alone: list[tuple[Tensor, Tensor]],
    num_ranks: int,
    record_property: Callable[[str, object], None],
) -> None:
    call = {"function": "tests.fakes.tiled_jobs:stage_job", "checkpoint": transformer_2_5, "tiles": STAGE_TILES}
    found: dict[int, list[tuple[Tensor, Tensor]]] = {rank: [] for rank in range(num_ranks)}
    for rank, video, audio in fleets.get(num_ranks).stream(action="call", **call):
        found[rank].append((video, audio))
    worst = 0.0
    for of_rank in found.values():
        for ours, alone, first in zip(of_rank, stages_alone, found[0], strict=True):
            worst = max([worst, *(relative(*pair) for pair in zip(ours, alone, strict=True))])
            # Nothing may drift apart: every rank goes on with the same bits.
            assert all(torch.equal(*pair) for pair in zip(ours, first, strict=True))
    record_property("figure", (f"stage in tiles, {num_ranks} ranks against one process", f"{worst:.1e}"))
    assert worst < 1e-6


def test_a_stage_in_tiles_differs_from_the_whole_one_by_so_much(
    transformer_2_5: Path, stages_alone: list[tuple[Tensor, Tensor]], record_property: Callable[[str, object], None]
) -> None:
    model = transformer_builder(transformer_2_5).build(CPU, torch.float32)
    untiled = make_stage(model).run(model)[0][0, :72].view(4, 3, 6, -1)
    tiled = stages_alone[1][0][0, :72].view(4, 3, 6, -1)
    by_column = (tiled - untiled).norm(dim=3).mean(dim=(0, 1)) / untiled.norm(dim=3).mean()
    for near in range(3):
        seen = float(by_column[[2 - near, 3 + near]].mean())
        record_property(
            "figure", (f"stage in two tiles against whole, {near + 0.5} columns from the seam", f"{seen:.3f}")
        )
        assert 0 < seen < 0.5


def frames_of(parts: Iterable[DecodedPart]) -> Tensor:
    """Return the frames of the first rank's parts, which come in order and without a gap."""
    frames, num_frames = [], 0
    for part in parts:
        if isinstance(part, FramesDone):
            assert part.first_frame == num_frames
            assert part.pixels_BCFHW is not None
            frames.append(part.pixels_BCFHW.clone())
            num_frames += part.num_frames
    return torch.cat(frames, dim=2)


@pytest.mark.parametrize("num_ranks", RANKS)
@pytest.mark.parametrize("name", CLIPS)
def test_a_clip_in_tiles_is_the_same_on_any_number_of_ranks(
    fleets: FleetPool, tiny_pack: Path, num_ranks: int, name: str, record_property: Callable[[str, object], None]
) -> None:
    call = {"checkpoint": tiny_pack / "ltx-2.3-tiny.safetensors", **CLIPS[name]}
    alone = frames_of(stream_clip(group=None, **call))
    by_rank: dict[int, list[DecodedPart]] = {rank: [] for rank in range(num_ranks)}
    for rank, part in fleets.get(num_ranks).stream(action="call", function="tests.fakes.tiled_jobs:clip_job", **call):
        by_rank[rank].append(part)
    worst = relative(frames_of(by_rank[0]), alone)
    record_property("figure", (f"clip in tiles, {num_ranks} ranks, {name}", f"{worst:.1e}"))
    assert worst < 1e-6
    # Boundaries are collectives: all ranks come to as many, at the same frames, and only the first has pictures.
    assert all(_outline(parts) == _outline(by_rank[0]) for parts in by_rank.values())
    others = [part for rank, parts in by_rank.items() if rank > 0 for part in parts if isinstance(part, FramesDone)]
    assert all(part.pixels_BCFHW is None for part in others)


def _outline(parts: list[DecodedPart]) -> list[tuple[int, ...]]:
    return [
        (part.done, part.total) if isinstance(part, TileDone) else (part.first_frame, part.num_frames, 0)
        for part in parts
    ]


def test_a_diffusion_decoder_runs_on_the_first_rank_and_the_others_keep_step(
    fleets: FleetPool, tiny_pack: Path
) -> None:
    checkpoint = tiny_pack / "ltx-2.5" / "video_vae_diffusion.safetensors"
    call = {"checkpoint": checkpoint, "grid": (3, 2, 4), "tiles": ((1, 1, 2), (0, 0, 1)), "sizes": SMALL}
    by_rank: dict[int, list[DecodedPart]] = {0: [], 1: []}
    for rank, part in fleets.get(2).stream(action="call", function="tests.fakes.tiled_jobs:clip_job", **call):
        by_rank[rank].append(part)
    with torch.inference_mode():
        alone = frame_decoder_builder(checkpoint).build(CPU, torch.float32).decode(make_latent((3, 2, 4)))
    assert relative(frames_of(by_rank[0]), alone) < 1e-5
    assert _outline(by_rank[1]) == _outline(by_rank[0])
    assert not any(isinstance(part, FramesDone) and part.pixels_BCFHW is not None for part in by_rank[1])


def test_a_clip_in_tiles_differs_from_the_whole_one_near_its_seam(
    tiny_pack: Path, record_property: Callable[[str, object], None]
) -> None:
    checkpoint, grid = tiny_pack / "ltx-2.3-tiny.safetensors", (1, 1, 24)
    tiled = frames_of(stream_clip(checkpoint, None, grid, ((1, 1, 2), (0, 0, 4)), TileSizeConfig()))
    with torch.inference_mode():
        untiled = video_decoder_builder(checkpoint).build(CPU, torch.float32).decode(make_latent(grid))
    difference = ((tiled - untiled).abs() / untiled.std()).mean(dim=(0, 1, 2, 3))
    cell = (torch.arange(24 * 32) - (12 * 32 - 0.5)).abs() // 32
    seen = [float(difference[cell == near].mean()) for near in range(12)]
    for near in range(0, 12, 2):
        record_property("figure", (f"clip in two tiles against whole, {near} cells from the seam", f"{seen[near]:.1e}"))
    assert seen[0] == max(seen) > 0.01
    assert max(seen[8:]) < 1e-5


def test_time_split_between_ranks_and_within_one_is_refused_by_all_and_the_fleet_lives(
    fleets: FleetPool, tiny_pack: Path
) -> None:
    call = {"checkpoint": tiny_pack / "ltx-2.3-tiny.safetensors", "grid": (12, 1, 1), "sizes": SMALL}
    fleet = fleets.get(2)
    with pytest.raises(SymmetricRunnerError, match="too long to be decoded in 2 tiles in time"):
        list(
            fleet.stream(
                action="call", function="tests.fakes.tiled_jobs:clip_job", tiles=((2, 1, 1), (1, 0, 0)), **call
            )
        )
    assert list(fleet.stream(action="count", num_items=3)) == [0, 1, 2]


@pytest.mark.thorough
def test_a_long_clip_takes_no_more_memory_than_a_short_one(
    tiny_pack: Path, record_property: Callable[[str, object], None]
) -> None:
    # Room that malloc keeps for later would be counted too, and differ from run to run.
    environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}
    command = [sys.executable, "-m", "tests.fleet.decode_memory", str(tiny_pack / "ltx-2.3-tiny.safetensors"), "128"]
    done = subprocess.run(
        [*command, "97", "257"], cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=True
    )
    short, long = map(int, done.stdout.split())
    for num_frames, seen in ((97, short), (257, long)):
        record_property("figure", (f"memory to decode {num_frames} frames at 128 x 128", f"{seen:,} bytes"))
    # Pages, and what else a process does.
    assert 50e6 < long <= short * 1.02
