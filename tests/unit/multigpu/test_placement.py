"""Which rank stands where, and what is refused."""

from __future__ import annotations

import sys

import pytest

from podium.multigpu import MGPUController, MGPURunner, PlacementError, RunnerRef, placement
from podium.multigpu.placement import Gpu, plan_fleet, visible_gpus

GPUS = tuple(Gpu(f"GPU-{letter}{letter}{letter}", f"Card {letter}") for letter in "abcd")


@pytest.fixture(autouse=True)
def _four_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placement, "_all_gpus", lambda: GPUS)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.delenv("CUDA_DEVICE_ORDER", raising=False)


def test_without_a_word_all_gpus_are_taken() -> None:
    plan = plan_fleet()
    assert [place.device for place in plan.places] == ["cuda:0", "cuda:1", "cuda:2", "cuda:3"]
    assert [place.uuid for place in plan.places] == [gpu.uuid for gpu in GPUS]
    assert plan.backend == "nccl"


def test_a_number_takes_the_first_ones() -> None:
    assert [place.device for place in plan_fleet(num_gpus=2).places] == ["cuda:0", "cuda:1"]


def test_devices_place_each_rank() -> None:
    plan = plan_fleet(devices=[3, 1])
    assert [(place.rank, place.device, place.uuid) for place in plan.places] == [
        (0, "cuda:3", "GPU-ddd"), (1, "cuda:1", "GPU-bbb"),
    ]  # fmt: skip


def test_cpu_ranks_stand_on_the_cpu() -> None:
    plan = plan_fleet(cpu_ranks=3)
    assert [place.device for place in plan.places] == ["cpu"] * 3
    assert (plan.backend, plan.uuids) == ("gloo", frozenset())


def test_ranks_share_a_gpu_only_when_told_to_and_then_meet_on_another_backend() -> None:
    with pytest.raises(ValueError, match="share_devices=True"):
        plan_fleet(devices=[0, 0])
    assert plan_fleet(devices=[0, 0], share_devices=True).backend == "gloo"
    assert plan_fleet(devices=[0, 1], share_devices=True).backend == "nccl"


@pytest.mark.parametrize(
    "arguments", [{"num_gpus": 1, "devices": [0]}, {"num_gpus": 1, "cpu_ranks": 1}, {"devices": [0], "cpu_ranks": 1}]
)
def test_ways_to_choose_exclude_each_other(arguments: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="exclude each other"):
        plan_fleet(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("arguments", [{"num_gpus": 0}, {"cpu_ranks": 0}, {"cpu_ranks": -1}, {"devices": []}])
def test_a_fleet_has_a_rank_at_least(arguments: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="1 or more|at least one"):
        plan_fleet(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("arguments", [{"num_gpus": 5}, {"devices": [4]}, {"devices": [-1]}])
def test_a_gpu_that_is_not_there_is_named(arguments: dict[str, object]) -> None:
    with pytest.raises(PlacementError, match=r"GPU (4|-1) was asked for, but there are 4 here"):
        plan_fleet(**arguments)  # type: ignore[arg-type]


def test_without_a_gpu_it_is_said_what_would_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placement, "_all_gpus", tuple)
    with pytest.raises(PlacementError, match="CPU ranks"):
        MGPUController(RunnerRef("a.module:Runner"))


def test_on_another_system_it_is_said_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(PlacementError, match="on Linux only"):
        plan_fleet(cpu_ranks=2)


@pytest.mark.parametrize(
    ("variable", "names"),
    [
        ("2,0", "ca"),
        ("", ""),
        ("1,9,0", "b"),
        ("-1", ""),
        ("GPU-dd,GPU-aaa", "da"),
        (" 1 , 2 ", "bc"),
    ],
)
def test_the_environment_chooses_which_gpus_are_counted(variable: str, names: str) -> None:
    assert [gpu.uuid[4] for gpu in visible_gpus({"CUDA_VISIBLE_DEVICES": variable})] == list(names)


def test_devices_count_within_the_visible_ones() -> None:
    plan = plan_fleet(devices=[1], environment={"CUDA_VISIBLE_DEVICES": "3,2"})
    assert (plan.places[0].device, plan.places[0].uuid) == ("cuda:1", "GPU-ccc")


def test_in_another_order_than_ours_no_card_is_vouched_for() -> None:
    assert plan_fleet(num_gpus=1, environment={"CUDA_DEVICE_ORDER": "FASTEST_FIRST"}).places[0].uuid is None


@pytest.mark.parametrize("path", ["module", "module:", ":Class", "a b:Class", "a.b:C.D", "a..b:C"])
def test_a_name_that_is_none_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match=r"package\.module:Class"):
        RunnerRef(path)


def test_a_name_resolves_to_a_runner_class_and_nothing_else() -> None:
    assert RunnerRef("podium.multigpu:MGPURunner").resolve() is MGPURunner
    with pytest.raises(TypeError, match="not a subclass"):
        RunnerRef("podium.multigpu:RunnerError").resolve()


@pytest.mark.parametrize("runner", [object, 3, "a.module:Runner"])
def test_a_controller_takes_runners_only(runner: object) -> None:
    with pytest.raises(TypeError, match="MGPURunner"):
        MGPUController(runner, cpu_ranks=1)  # type: ignore[arg-type]
