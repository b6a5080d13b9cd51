"""Jobs on a fleet that lives: what comes back, who may ask, and what is refused."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from podium.errors import JobRefusedError
from podium.multigpu import (
    AsymmetricRunnerError,
    ControllerBusyError,
    ControllerStoppedError,
    MGPUController,
    RunnerError,
    Stream,
    SymmetricRunnerError,
)

from tests.fleet.conftest import FleetPool


def result_of(stream: Stream) -> tuple[list[Any], Any]:
    items = []
    while True:
        try:
            items.append(next(stream))
        except StopIteration as end:
            return items, end.value


def in_thread(function: Callable[[], object]) -> object:
    """Return what a function returned, or raised, in another thread."""
    outcome: list[object] = []

    def run() -> None:
        try:
            outcome.append(function())
        except Exception as error:  # noqa: BLE001 - the caller looks at it
            outcome.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(timeout=30)
    return outcome[0]


def test_items_arrive_one_by_one_and_the_returns_of_all_ranks_end_the_stream(fleets: FleetPool) -> None:
    assert result_of(fleets.get().stream(action="count", num_items=3)) == ([0, 1, 2], (0, 10))


def test_yield_from_a_stream_gives_the_returns(fleets: FleetPool) -> None:
    def caller() -> Any:
        returned = yield from fleets.get().stream(action="count", num_items=1)
        yield returned

    assert list(caller()) == [0, (0, 10)]


def test_an_ended_stream_stays_ended(fleets: FleetPool) -> None:
    stream = fleets.get().stream(action="count", num_items=1)
    assert list(stream) == [0]
    assert list(stream) == []


def test_four_ranks_work_together(fleets: FleetPool) -> None:
    import torch

    items, _ = result_of(fleets.get(4).stream(action="sum", tensor=torch.tensor([1.0, 2.0])))
    assert [item.tolist() for item in items] == [[10.0, 20.0]] * 4


def test_each_rank_knows_where_it_is(fleets: FleetPool) -> None:
    items, _ = result_of(fleets.get().stream(action="describe"))
    first, second = sorted(items, key=lambda item: int(item["rank"]))
    assert [first["rank"], second["rank"]] == [0, 1]
    assert (first["device"], first["world_size"], first["backends"]) == ("cpu", 2, ["gloo", "gloo"])
    assert second["environment"]["RANK"] == second["environment"]["LOCAL_RANK"] == "1"
    assert second["environment"]["MASTER_ADDR"] == "localhost"
    assert second["environment"]["GLOO_SOCKET_IFNAME"] == second["environment"]["NCCL_SOCKET_IFNAME"] == "lo"
    assert second["environment"]["HF_HUB_OFFLINE"] == "1"
    assert first["group"] == first["pid"] != second["group"]
    assert first["niceness"] > os.nice(0)
    assert first["setup"] == {"flavour": "shared"}


def test_a_worker_has_the_environment_of_the_driver_at_its_start(
    own_fleet: Callable[..., MGPUController], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PODIUM_TEST_FLAVOUR", "late")
    monkeypatch.delenv("TOKENIZERS_PARALLELISM", raising=False)
    monkeypatch.chdir(tmp_path)
    items, _ = result_of(own_fleet(1).stream(action="describe"))
    assert items[0]["environment"]["PODIUM_TEST_FLAVOUR"] == "late"
    assert items[0]["folder"] == str(tmp_path)


def test_no_other_thread_may_iterate_or_drain_a_stream(fleets: FleetPool) -> None:
    stream = fleets.get().stream(action="count", num_items=1)
    for function in (lambda: next(stream), stream.drain):
        error = in_thread(function)
        assert isinstance(error, RuntimeError)
        assert "belongs to the thread" in str(error)
    assert list(stream) == [0]


def test_any_thread_may_dispatch_and_then_owns_its_stream(fleets: FleetPool) -> None:
    assert in_thread(lambda: result_of(fleets.get().stream(action="count", num_items=2))) == ([0, 1], (0, 10))


def test_of_two_concurrent_calls_one_wins(fleets: FleetPool) -> None:
    fleet = fleets.get()
    barrier = threading.Barrier(8)
    outcomes: list[object] = []

    def dispatch() -> None:
        barrier.wait()
        try:
            stream = fleet.stream(action="count", num_items=1)
        except ControllerBusyError as error:
            outcomes.append(error)
            barrier.wait()
        else:
            barrier.wait()
            outcomes.append(list(stream))

    threads = [threading.Thread(target=dispatch) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert [outcome for outcome in outcomes if not isinstance(outcome, ControllerBusyError)] == [[0]]
    assert len(outcomes) == 8


def test_an_abandoned_stream_keeps_the_controller_busy_until_it_is_drained(fleets: FleetPool) -> None:
    fleet = fleets.get()
    stream = fleet.stream(action="count", num_items=1000)
    assert next(stream) == 0
    with pytest.raises(ControllerBusyError, match="drain"):
        fleet.stream(action="nothing")
    stream.drain()
    stream.drain()
    assert list(fleet.stream(action="count", num_items=1)) == [0]


def test_a_job_that_ended_unread_keeps_the_controller_busy_too(fleets: FleetPool) -> None:
    fleet = fleets.get()
    stream = fleet.stream(action="nothing")
    with pytest.raises(ControllerBusyError):
        fleet.stream(action="nothing")
    stream.drain()


@pytest.mark.parametrize("kind", [RunnerError, ValueError, JobRefusedError, UnicodeError])
def test_a_refusal_of_all_ranks_keeps_the_fleet(fleets: FleetPool, kind: type[Exception]) -> None:
    fleet = fleets.get()
    with pytest.raises(SymmetricRunnerError, match="rank 0 says no") as caught:
        list(fleet.stream(action="refuse", ranks=(0, 1), kind=kind))
    assert [str(error) for error in caught.value.errors] == ["rank 0 says no", "rank 1 says no"]
    assert all(isinstance(error, RunnerError) for error in caught.value.errors)
    assert caught.value.__cause__ is caught.value.errors[0]
    if kind is not RunnerError:
        assert type(caught.value.errors[1].__cause__) is kind
    assert list(fleet.stream(action="count", num_items=1)) == [0]


def test_a_refusal_class_of_the_drivers_own_comes_back_as_that_class(fleets: FleetPool) -> None:
    class TooDarkError(RunnerError):
        pass

    with pytest.raises(SymmetricRunnerError) as caught:
        list(fleets.get().stream(action="refuse", ranks=(0, 1), kind=TooDarkError))
    assert type(caught.value.errors[0]) is TooDarkError


def test_a_refusal_of_some_ranks_is_told_apart_and_keeps_the_fleet(fleets: FleetPool) -> None:
    fleet = fleets.get()
    with pytest.raises(AsymmetricRunnerError, match=r"rank 1 of 2.*rank 1 says no") as caught:
        list(fleet.stream(action="refuse", ranks=(1,)))
    assert caught.value.errors[0] is None
    assert str(caught.value.errors[1]) == "rank 1 says no"
    assert list(fleet.stream(action="count", num_items=1)) == [0]


def test_draining_a_refused_job_raises_nothing(fleets: FleetPool, caplog: pytest.LogCaptureFixture) -> None:
    fleet = fleets.get()
    fleet.stream(action="refuse", ranks=(0, 1)).drain()
    assert "rank 0 says no" in caplog.text
    assert list(fleet.stream(action="count", num_items=1)) == [0]


def test_arguments_that_cannot_be_pickled_are_refused_before_anything_is_sent(fleets: FleetPool) -> None:
    fleet = fleets.get()
    with pytest.raises(TypeError, match="pickle"):
        fleet.stream(action="echo", lock=threading.Lock())
    assert list(fleet.stream(action="count", num_items=1)) == [0]


def test_an_unread_stream_blocks_no_rank(fleets: FleetPool) -> None:
    """More bytes than any socket holds wait unread, and every rank is idle."""
    fleet = fleets.get()
    stream = fleet.stream(action="count", num_items=20_000)
    from tests.fakes.processes import wait_until

    assert wait_until(lambda: all(s.phase == "idle" and s.job_id == stream.job_id for s in fleet.rank_status()), 30)
    assert list(stream) == list(range(20_000))


def test_a_stopped_controller_takes_no_job_and_no_start(own_fleet: Callable[..., MGPUController]) -> None:
    fleet = own_fleet(1)
    with pytest.raises(RuntimeError, match="started before"):
        fleet.start()
    fleet.shutdown()
    assert not fleet.is_alive
    with pytest.raises(ControllerStoppedError):
        fleet.stream()
    with pytest.raises(ControllerStoppedError):
        fleet.start()
    fleet.shutdown()


def test_a_controller_that_was_never_started_says_so(own_fleet: Callable[..., MGPUController]) -> None:
    fleet = own_fleet(start=False)
    assert not fleet.is_alive
    with pytest.raises(ControllerStoppedError, match="not started"):
        fleet.stream()
    assert [status.pid for status in fleet.rank_status()] == [None, None]
