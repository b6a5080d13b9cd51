"""Tiles on a GPU, over both backends: what one CPU process makes of the same tiles, within the precision of kernels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pynvml
import pytest
import torch
from torch import Tensor

from podium.models.tiled_decoding import FramesDone
from podium.multigpu import MGPUController, RunnerRef

from tests.fakes.tiled_jobs import run_stage, stream_clip
from tests.fleet.test_tiled_fleet import CLIPS, STAGE_TILES, frames_of, relative
from tests.gpu.conftest import PLACEMENTS

pytestmark = pytest.mark.gpu

RUNNER = RunnerRef("tests.fakes.full_precision_runner:FullPrecisionRunner")


def all_placements() -> dict[str, dict[str, Any]]:
    """Return the usual ones, and two ranks on NCCL where there are two GPUs."""
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return PLACEMENTS
    try:
        several = pynvml.nvmlDeviceGetCount() > 1
    finally:
        pynvml.nvmlShutdown()
    return {**PLACEMENTS, "two ranks on NCCL": {"devices": [0, 1]}} if several else PLACEMENTS


@pytest.fixture(params=list(all_placements()), scope="module")
def tiled_fleet(request: pytest.FixtureRequest, make_fleet: Callable[..., MGPUController]) -> MGPUController:
    return make_fleet(RUNNER, all_placements()[request.param])


def test_a_stage_in_tiles_is_that_of_the_cpu(tiled_fleet: MGPUController, tiny_pack: Path) -> None:
    checkpoint = tiny_pack / "ltx-2.5" / "transformer.safetensors"
    wanted = [run_stage(checkpoint, None, *tiles) for tiles in STAGE_TILES]
    found: dict[int, list[tuple[Tensor, Tensor]]] = {}
    for rank, video, audio in tiled_fleet.stream(
        action="call", function="tests.fakes.tiled_jobs:stage_job", checkpoint=checkpoint, tiles=STAGE_TILES
    ):
        found.setdefault(rank, []).append((video.cpu().clone(), audio.cpu().clone()))
    for of_rank in found.values():
        for ours, theirs, first in zip(of_rank, wanted, found[0], strict=True):
            error = max(relative(*pair) for pair in zip(ours, theirs, strict=True))
            print(f"stage in tiles: {error:.2e}")
            assert error < 1e-4
            assert all(torch.equal(*pair) for pair in zip(ours, first, strict=True))


@pytest.mark.parametrize("name", CLIPS)
def test_a_clip_in_tiles_is_that_of_the_cpu(tiled_fleet: MGPUController, tiny_pack: Path, name: str) -> None:
    call = {"checkpoint": tiny_pack / "ltx-2.3-tiny.safetensors", **CLIPS[name]}
    wanted = frames_of(stream_clip(group=None, **call))
    parts = tiled_fleet.stream(action="call", function="tests.fakes.tiled_jobs:clip_job", **call)
    found, num_others = [], 0
    for rank, part in parts:
        if rank == 0 and isinstance(part, FramesDone):
            assert part.pixels_BCFHW is not None
            found.append(part.pixels_BCFHW.cpu().clone())
        num_others += rank != 0
    error = relative(torch.cat(found, dim=2), wanted)
    print(f"{name}: {error:.2e}, {num_others} parts on other ranks")
    assert error < 1e-4
