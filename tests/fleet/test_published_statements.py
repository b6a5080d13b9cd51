"""What was published of the controller and the builders and no other test shows: one test a statement."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from podium.multigpu import ControllerBusyError, MGPUController, RunnerRef
from podium.multigpu.runners.clip_runner import ClipRunner
from podium.multigpu.runners.distilled_mgpu import DistilledRunner
from podium.multigpu.runners.ti2vid_two_stages_hq_mgpu import TI2VidTwoStagesHQRunner
from podium.multigpu.runners.ti2vid_two_stages_mgpu import TI2VidTwoStagesRunner

from tests.fleet.conftest import FleetPool

SHIPPED = (DistilledRunner, TI2VidTwoStagesRunner, TI2VidTwoStagesHQRunner)


@pytest.fixture
def persistent(own_fleet: Callable[..., MGPUController]) -> MGPUController:
    return own_fleet(2, runner=RunnerRef("tests.fakes.persistent_runner:PersistentRunner"))


def tell(fleet: MGPUController) -> list[dict[str, Any]]:
    return sorted(fleet.stream(), key=lambda item: int(item["rank"]))


def test_each_rank_makes_one_runner_sets_it_up_once_and_calls_it_for_every_job(persistent: MGPUController) -> None:
    for num_calls in (1, 2, 3):
        for item in tell(persistent):
            assert (item["made"], item["setups"], item["calls"]) == (1, 1, num_calls)
            assert item["groups in setup"]


def test_the_framework_does_not_apply_inference_mode(persistent: MGPUController) -> None:
    assert [(item["inference in setup"], item["inference"]) for item in tell(persistent)] == [(False, False)] * 2


def test_a_job_is_dispatched_at_once_and_no_other_beside_it(fleets: FleetPool) -> None:
    fleet = fleets.get(2)
    # Its end hangs on what only the stream can say: who waited for it would wait for ever.
    stream = fleet.stream(action="steps", num_steps=10**9)
    try:
        with pytest.raises(ControllerBusyError):
            fleet.stream(action="nothing")
    finally:
        stream.cancel()
        stream.drain()
    assert list(fleet.stream(action="count", num_items=2)) == [0, 1]


def test_two_controllers_work_side_by_side(own_fleet: Callable[..., MGPUController]) -> None:
    both = [own_fleet(1), own_fleet(2)]
    streams = [fleet.stream(action="count", num_items=3) for fleet in both]
    # One item of each in turn: neither waits for the other's end.
    assert [[next(stream) for stream in streams] for _ in range(3)] == [[0, 0], [1, 1], [2, 2]]
    for stream in streams:
        stream.drain()
    both[0].shutdown(graceful_timeout=10)
    assert list(both[1].stream(action="count", num_items=1)) == [0]


@pytest.mark.parametrize(("kind", "holders"), [("accelerate", [False, True]), ("batch", [True, True])])
def test_one_rank_holds_the_text_encoder_for_all_or_every_rank_a_whole_one(
    own_fleet: Callable[..., MGPUController], tiny_pack: Path, kind: str, holders: list[bool]
) -> None:
    fleet = own_fleet(2, runner=RunnerRef("tests.fakes.gemma_runner:GemmaRunner"))
    call = {"action": "encode", "kind": kind, "path": tiny_pack / "gemma3", "prompts": ["a fox"], "src_rank": 1}
    ranks = sorted(fleet.stream(**call), key=lambda item: int(item["rank"]))
    assert [item["devices"] != [] for item in ranks] == holders


@pytest.mark.parametrize("runner", SHIPPED)
def test_the_shipped_runners_are_set_up_alike(runner: type[ClipRunner[Any]]) -> None:
    assert issubclass(runner, ClipRunner)
    assert runner.setup is ClipRunner.setup


def test_and_so_each_of_them_encodes_on_one_rank_for_all(
    own_fleet: Callable[..., MGPUController], tiny_pack_2_3: Any
) -> None:
    paths = tiny_pack_2_3.model_paths
    fleet = own_fleet(
        1,
        runner=RunnerRef("tests.fakes.resident_runner:ResidentRunner"),
        dtype="float32",
        checkpoint_path=paths.checkpoint_path,
        gemma_root=paths.gemma_root,
        spatial_upsampler_path=paths.spatial_upsampler_path,
    )
    assert list(fleet.stream(asked="text encoder")) == ["AccelerateGemmaBuilder"]
