"""Tiles on a GPU, over both backends: what one CPU process makes of the same tiles, within the precision of kernels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

from podium.models.tiled_decoding import FramesDone
from podium.multigpu import MGPUController, RunnerRef

from tests.fakes.tiled_jobs import run_stage, stream_clip
from tests.fleet.test_tiled_fleet import CLIPS, STAGE_TILES, frames_of, relative
from tests.gpu.places import Place, devices_of

pytestmark = pytest.mark.gpu

RUNNER = RunnerRef("tests.fakes.full_precision_runner:FullPrecisionRunner")


@pytest.fixture(scope="module")
def tiled_fleet(make_fleet: Callable[..., MGPUController], place: Place) -> MGPUController:
    return make_fleet(RUNNER, place)


def test_a_stage_in_tiles_is_that_of_the_cpu(
    tiled_fleet: MGPUController, place: Place, tiny_pack: Path, record_property: Callable[[str, object], None]
) -> None:
    checkpoint = tiny_pack / "ltx-2.5" / "transformer.safetensors"
    wanted = [run_stage(checkpoint, None, *tiles) for tiles in STAGE_TILES]
    found: dict[int, list[tuple[Tensor, Tensor]]] = {}
    for rank, video, audio in tiled_fleet.stream(
        action="call", function="tests.fakes.tiled_jobs:stage_job", checkpoint=checkpoint, tiles=STAGE_TILES
    ):
        found.setdefault(rank, []).append((video.cpu().clone(), audio.cpu().clone()))
    worst = 0.0
    for of_rank in found.values():
        for ours, theirs, first in zip(of_rank, wanted, found[0], strict=True):
            worst = max(worst, *(relative(*pair) for pair in zip(ours, theirs, strict=True)))
            assert all(torch.equal(*pair) for pair in zip(ours, first, strict=True))
    record_property("figure", (f"stage in tiles, {devices_of(place)} against a CPU", f"{worst:.2e}"))
    assert worst < 1e-4


@pytest.mark.parametrize("name", CLIPS)
def test_a_clip_in_tiles_is_that_of_the_cpu(
    tiled_fleet: MGPUController,
    place: Place,
    tiny_pack: Path,
    name: str,
    record_property: Callable[[str, object], None],
) -> None:
    call = {"checkpoint": tiny_pack / "ltx-2.3-tiny.safetensors", **CLIPS[name]}
    wanted = frames_of(stream_clip(group=None, **call))
    parts = tiled_fleet.stream(action="call", function="tests.fakes.tiled_jobs:clip_job", **call)
    found = []
    for rank, part in parts:
        if rank == 0 and isinstance(part, FramesDone):
            assert part.pixels_BCFHW is not None
            found.append(part.pixels_BCFHW.cpu().clone())
    error = relative(torch.cat(found, dim=2), wanted)
    record_property("figure", (f"clip in tiles, {name}, {devices_of(place)} against a CPU", f"{error:.2e}"))
    assert error < 1e-4
