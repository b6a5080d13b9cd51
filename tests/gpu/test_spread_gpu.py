"""Tokens and guided passes spread on a GPU, over both backends: what one CPU process makes, as far as kernels agree."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from podium.multigpu import MGPUController, RunnerRef

from tests.fakes.guidance_jobs import FOUR, STAGE_1, THREE, guided_pipeline, stage_1_latents
from tests.fakes.spread_jobs import SpreadCase, build, run_stage_spread
from tests.fakes.tiled_jobs import make_stage
from tests.fleet.test_guidance_fleet import BATCHED, MESH, SEQUENTIAL
from tests.fleet.test_spread_fleet import CASES, relative
from tests.gpu.places import Place, devices_of
from tests.tiny_pack import TinyPack

pytestmark = pytest.mark.gpu

RUNNER = RunnerRef("tests.fakes.full_precision_runner:FullPrecisionRunner")
RUNS = [(FOUR, SEQUENTIAL), (FOUR, BATCHED), (FOUR, MESH), (THREE, MESH)]


@pytest.fixture(scope="module")
def fleet(make_fleet: Callable[..., MGPUController], place: Place) -> MGPUController:
    return make_fleet(RUNNER, place)


def test_masks_and_batches_are_those_of_the_cpu(
    fleet: MGPUController, place: Place, tiny_pack: Path, record_property: Callable[[str, object], None]
) -> None:
    checkpoint = tiny_pack / "ltx-2.5" / "transformer.safetensors"
    transformer = build(checkpoint, None, SpreadCase())
    wanted = [run_stage_spread(transformer, make_stage(transformer._inner), case) for case in CASES]
    found: dict[int, list[tuple[Tensor, Tensor]]] = {}
    call = {"function": "tests.fakes.spread_jobs:spread_job", "checkpoint": checkpoint, "cases": CASES}
    for rank, video, audio in fleet.stream(action="call", **call):
        found.setdefault(rank, []).append((video, audio))
    worst = 0.0
    for of_rank in found.values():
        for ours, theirs, first in zip(of_rank, wanted, found[0], strict=True):
            worst = max(worst, *(relative(*pair) for pair in zip(ours, theirs, strict=True)))
            assert all(torch.equal(*pair) for pair in zip(ours, first, strict=True))
    record_property("figure", (f"tokens spread, {devices_of(place)} against a CPU", f"{worst:.2e}"))
    assert worst < 1e-4


def test_guided_steps_are_those_of_the_cpu_whatever_way_they_run(
    fleet: MGPUController,
    place: Place,
    tiny_pack_2_3: TinyPack,
    record_property: Callable[[str, object], None],
) -> None:
    pipeline, _ = guided_pipeline(tiny_pack_2_3, None)
    wanted = {case: stage_1_latents(pipeline, case.call) for case in (FOUR, THREE)}
    call = {"function": "tests.fakes.guidance_jobs:guidance_job", "pack": tiny_pack_2_3, "runs": RUNS}
    found: dict[int, dict[int, dict[str, Any]]] = {}
    counted: dict[int, set[int]] = {}
    for rank, run, latents, _plans, num_collectives in fleet.stream(action="call", **call):
        found.setdefault(run, {})[rank] = latents
        counted.setdefault(run, set()).add(num_collectives)
    assert len(found) == len(RUNS)
    # Those of recorded forwards too: a rank that has begun fewer holds the others up.
    assert [len(of_ranks) for of_ranks in counted.values()] == [1] * len(RUNS)
    for (case, way), of_ranks in zip(RUNS, found.values(), strict=True):
        error = max(relative(of_ranks[0][name], wanted[case][name]) for name in STAGE_1)
        record_property("figure", (f"guided, {way.mode}, {devices_of(place)} against a CPU", f"{error:.2e}"))
        assert error < 1e-4
        assert all(torch.equal(of[name], of_ranks[0][name]) for of in of_ranks.values() for name in STAGE_1)
