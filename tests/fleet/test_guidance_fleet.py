"""Guided steps on fleets of CPU ranks: one pass after another, one batch, teams; always what one rank makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from podium.jobs import GuidanceMode

from tests.fakes.guidance_jobs import FOUR, STAGE_1, THREE, GuidedCase, Way, guided_pipeline, stage_1_latents
from tests.fakes.thorough import thorough
from tests.fleet.conftest import FleetPool
from tests.tiny_pack import TinyPack

SEQUENTIAL, BATCHED, MESH = Way(GuidanceMode.SEQUENTIAL), Way(GuidanceMode.BATCHED), Way(GuidanceMode.MESH)
PAIRS = Way(GuidanceMode.MESH, num_teams=2)
RUNS = {
    1: [(FOUR, BATCHED), (THREE, MESH)],
    2: [(FOUR, SEQUENTIAL), (FOUR, BATCHED), (FOUR, MESH), (THREE, MESH)],
    3: [(THREE, SEQUENTIAL), (THREE, BATCHED), (FOUR, MESH), (THREE, MESH)],
    4: [(FOUR, SEQUENTIAL), (FOUR, BATCHED), (FOUR, MESH), (FOUR, PAIRS), (THREE, MESH), (THREE, PAIRS)],
}
MESHES = {2: {"2 teams of 1"}, 3: {"3 teams of 1"}, 4: {"2 teams of 2", "4 teams of 1"}}


def relative(ours: Tensor, theirs: Tensor) -> float:
    return float((ours - theirs).norm() / theirs.norm())


@pytest.fixture(scope="module")
def alone(tiny_pack_2_3: TinyPack) -> dict[GuidedCase, dict[str, Tensor]]:
    pipeline, _ = guided_pipeline(tiny_pack_2_3, None)
    return {case: stage_1_latents(pipeline, case.call) for case in (FOUR, THREE)}


@pytest.mark.parametrize(
    ("num_ranks", "recorded"),
    [
        thorough(1, None), (2, None), thorough(3, None), (4, None),
        thorough(2, {}), thorough(3, {}), thorough(4, {}), (4, {"failing_ranks": (2,)}),
    ],
)  # fmt: skip
def test_every_way_to_run_the_passes_makes_what_one_rank_makes(
    fleets: FleetPool,
    tiny_pack_2_3: TinyPack,
    alone: dict[GuidedCase, dict[str, Tensor]],
    num_ranks: int,
    recorded: dict[str, Any] | None,
    record_property: Callable[[str, object], None],
) -> None:
    job = "guidance_jobs:guidance_job" if recorded is None else "reruns:recorded_guidance_job"
    call = {"function": f"tests.fakes.{job}", "pack": tiny_pack_2_3, "runs": RUNS[num_ranks], **(recorded or {})}
    found: dict[int, dict[int, tuple[Any, ...]]] = {}
    for rank, run, *rest in fleets.get(num_ranks).stream(action="call", **call):
        found.setdefault(run, {})[rank] = tuple(rest)
    worst = {way.mode: 0.0 for _, way in RUNS[num_ranks]}
    for (case, way), of_ranks in zip(RUNS[num_ranks], found.values(), strict=True):
        latents, plans, _ = of_ranks[0]
        worst[way.mode] = max(worst[way.mode], *(relative(latents[name], alone[case][name]) for name in STAGE_1))
        for theirs, their_plans, _ in of_ranks.values():
            # Nothing may drift apart: every rank goes on with the same bits, and with the same plan.
            assert all(torch.equal(theirs[name], latents[name]) for name in STAGE_1)
            assert their_plans == plans
        # Whoever had less to do is not taken for one that stands still.
        assert len({num_collectives for *_, num_collectives in of_ranks.values()}) == 1
        if way.mode is GuidanceMode.MESH and num_ranks > 1:
            assert set(plans.values()) <= MESHES[num_ranks]
    how = "" if recorded is None else ", recorded"
    for mode, figure in worst.items():
        record_property("figure", (f"guided, {mode}{how}, {num_ranks} ranks against one", f"{figure:.1e}"))
    assert max(worst.values()) < 1e-5
