"""Every way in which a rank can end, or a job overstay: who is named, what is said, and that nothing is left."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from podium.errors import PodiumError
from podium.jobs import Phase
from podium.multigpu import (
    ControllerStoppedError,
    FleetError,
    JobTimeoutError,
    MGPUController,
    RunnerCrashedError,
    RunnerError,
    StartTimeoutError,
    WorkerDiedError,
)
from podium.multigpu.forkserver import SharedForkServer

from tests.fakes.processes import is_running, wait_until
from tests.fakes.runners import ScriptedRunner
from tests.gpu.places import devices_of, fleet_place

OwnFleet = Callable[..., MGPUController]


def pids_of(fleet: MGPUController) -> list[int]:
    return [status.pid for status in fleet.rank_status() if status.pid is not None]


@pytest.fixture
def fails(own_fleet: OwnFleet) -> Callable[..., WorkerDiedError]:
    """Run a job that kills its fleet, check that nothing is left of it, and return the error."""

    def run(**job: Any) -> WorkerDiedError:
        fleet = own_fleet(2)
        pids = pids_of(fleet)
        stream = fleet.stream(**job)
        with pytest.raises(WorkerDiedError) as caught:
            list(stream)
        assert not fleet.is_alive
        assert wait_until(lambda: not any(map(is_running, pids)), 5)
        with pytest.raises(ControllerStoppedError) as after:
            fleet.stream()
        assert isinstance(after.value.__cause__, WorkerDiedError)
        assert list(stream) == []
        stream.drain()
        return caught.value

    return run


def test_a_kill_that_nobody_of_us_sent_reads_as_out_of_memory(fails: Callable[..., WorkerDiedError]) -> None:
    error = fails(action="kill", rank=1)
    assert (error.rank, error.exitcode, error.signal) == (1, None, signal.SIGKILL)
    assert "killed by the system" in str(error)
    assert "out of memory" in str(error)
    assert any("the last words of rank 1" in line for line in error.log_lines)


@pytest.mark.parametrize("code", [0, 3])
def test_an_exit_is_told_with_its_code(fails: Callable[..., WorkerDiedError], code: int) -> None:
    error = fails(action="exit", rank=1, code=code)
    assert (error.rank, error.exitcode, error.signal) == (1, code, None)


def test_a_segmentation_fault_is_told_with_where_it_was(fails: Callable[..., WorkerDiedError]) -> None:
    error = fails(action="segfault", rank=0)
    assert (error.rank, error.signal) == (0, signal.SIGSEGV)
    assert "SIGSEGV" in str(error)
    assert "do_segfault" in error.details


def test_an_unexpected_exception_is_told_with_its_traceback(fails: Callable[..., WorkerDiedError]) -> None:
    error = fails(action="raise", rank=1)
    assert isinstance(error, RunnerCrashedError)
    assert error.rank == 1
    assert "RuntimeError: boom on rank 1" in str(error)
    assert "do_raise" in error.details
    assert isinstance(error.__cause__, RuntimeError)


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt, MemoryError])
def test_no_kind_of_exception_is_lost(fails: Callable[..., WorkerDiedError], kind: type[BaseException]) -> None:
    assert kind.__name__ in str(fails(action="raise", rank=0, kind=kind))


def test_an_item_that_cannot_be_pickled_is_fatal_and_told(fails: Callable[..., WorkerDiedError]) -> None:
    error = fails(action="yield_unpicklable", rank=1)
    assert error.rank == 1
    assert "cannot be sent" in str(error)


def test_arguments_that_the_runner_does_not_take_are_fatal(fails: Callable[..., WorkerDiedError]) -> None:
    assert "unexpected keyword argument 'colour'" in str(fails(action="count", num_items=1, colour="red"))


def test_the_errors_of_the_survivors_do_not_hide_the_death(fails: Callable[..., WorkerDiedError]) -> None:
    error = fails(action="raise_after_barrier", rank=1)
    assert (error.rank, error.signal) == (1, signal.SIGKILL)


@pytest.mark.parametrize("rank", [0, 1])
def test_a_rank_that_refuses_what_the_others_go_on_with_ends_the_fleet(
    fails: Callable[..., WorkerDiedError], rank: int
) -> None:
    """They would wait for it for ever, or leave values in the groups that the next job takes for its own."""
    error = fails(action="desert", rank=rank, num_steps=3)
    assert isinstance(error, RunnerCrashedError)
    assert error.rank == rank
    assert f"rank {rank} has had enough" in str(error)
    assert isinstance(error.__cause__, RunnerError)


def test_what_a_rank_sent_is_delivered_before_its_death(own_fleet: OwnFleet) -> None:
    stream = own_fleet(2).stream(action="yield_then_die", rank=1, num_items=20)
    received = []
    with pytest.raises(WorkerDiedError):
        received.extend(float(item[0, 0]) for item in stream)
    assert received == [float(k) for k in range(20)]


def test_a_death_between_jobs_is_seen_at_once(own_fleet: OwnFleet) -> None:
    fleet = own_fleet(2)
    os.kill(pids_of(fleet)[1], signal.SIGKILL)
    begun_s = time.monotonic()
    assert wait_until(lambda: not fleet.is_alive, 5)
    assert time.monotonic() - begun_s < 1
    with pytest.raises(ControllerStoppedError, match="killed by the system"):
        fleet.stream()


def test_the_death_of_one_rank_ends_the_others_though_one_is_stopped(own_fleet: OwnFleet) -> None:
    fleet = own_fleet(4)
    pids = pids_of(fleet)
    os.kill(pids[2], signal.SIGSTOP)
    os.kill(pids[1], signal.SIGKILL)
    assert wait_until(lambda: not any(map(is_running, pids)), 5)


def test_a_job_that_takes_too_long_is_told_with_what_every_rank_does(own_fleet: OwnFleet) -> None:
    fleet = own_fleet(2)
    pids = pids_of(fleet)
    begun_s = time.monotonic()
    stream = fleet.stream(action="hang_in_collective", rank=1, timeout=0.5)
    device = devices_of(fleet_place(2))[1]
    with pytest.raises(JobTimeoutError, match=rf"rank 1 \({device}\)") as caught:
        list(stream)
    assert 0.5 <= time.monotonic() - begun_s < 5
    assert caught.value.ranks == (0, 1)
    assert caught.value.phases == (Phase.STAGE_1, Phase.STAGE_1)
    assert not fleet.is_alive
    assert wait_until(lambda: not any(map(is_running, pids)), 5)


def test_a_job_in_time_is_not_touched_by_its_timeout(own_fleet: OwnFleet) -> None:
    fleet = own_fleet(1)
    assert list(fleet.stream(action="count", num_items=1, timeout=0.5)) == [0]
    time.sleep(0.6)
    assert fleet.is_alive


@pytest.mark.parametrize(
    ("setup", "expected", "words"),
    [
        ({"action": "raise"}, RunnerCrashedError, "RuntimeError: boom on rank 1"),
        ({"action": "kill"}, WorkerDiedError, "killed by the system"),
        ({"action": "exit", "code": 7}, WorkerDiedError, "code 7"),
        ({"action": "refuse", "ranks": (1,)}, RunnerError, "rank 1 says no"),
        ({"action": "raise", "kind": PodiumError}, PodiumError, "boom on rank 1"),
        ({"action": "raise", "kind": ValueError}, RunnerCrashedError, "ValueError: boom on rank 1"),
    ],
)
def test_one_rank_that_fails_to_start_ends_all_before_start_raises(
    own_fleet: OwnFleet, setup: dict[str, Any], expected: type[Exception], words: str
) -> None:
    fleet = own_fleet(3, start=False)
    with pytest.raises(expected, match=words) as caught:
        fleet.start(rank=1, **setup)
    pids = pids_of(fleet)
    assert len(pids) == 3
    assert not any(map(is_running, pids))
    assert type(caught.value) is expected
    if isinstance(caught.value, WorkerDiedError):
        assert caught.value.rank == 1
    assert not fleet.is_alive


def test_a_fleet_that_is_not_ready_in_time_is_gone(own_fleet: OwnFleet) -> None:
    fleet = own_fleet(2, start=False)
    with pytest.raises(StartTimeoutError, match=r"0\.5 seconds") as caught:
        fleet.start(timeout=0.5, action="wait")
    assert caught.value.ranks == (0, 1)
    assert not any(map(is_running, pids_of(fleet)))


def test_a_runner_that_is_no_generator_is_told_so(own_fleet: OwnFleet) -> None:
    class Wrong(ScriptedRunner):
        def __call__(self, **kwargs: Any) -> Iterator[Any]:
            return [1]  # type: ignore[return-value]

    with pytest.raises(RunnerCrashedError, match="has to be a generator"):
        list(own_fleet(1, runner=Wrong).stream())


@pytest.fixture
def own_forkserver() -> Iterator[SharedForkServer]:
    server = SharedForkServer()
    server.get(("torch",))
    yield server
    server.close()


def test_a_dead_forkserver_poisons_its_fleet_and_is_replaced(own_forkserver: SharedForkServer) -> None:
    with MGPUController(ScriptedRunner, cpu_ranks=2, forkserver=own_forkserver) as fleet:
        fleet.start(timeout=60)
        pids = pids_of(fleet)
        os.kill(own_forkserver.get().pid, signal.SIGKILL)
        assert wait_until(lambda: not fleet.is_alive, 5)
        assert wait_until(lambda: not any(map(is_running, pids)), 5)
        with pytest.raises(ControllerStoppedError) as caught:
            fleet.stream()
        assert isinstance(caught.value.__cause__, FleetError)
    with MGPUController(ScriptedRunner, cpu_ranks=1, forkserver=own_forkserver) as fleet:
        fleet.start(timeout=60)
        assert list(fleet.stream(action="count", num_items=1)) == [0]


def test_a_death_is_seen_though_the_process_that_would_tell_of_it_is_stopped(own_forkserver: SharedForkServer) -> None:
    with MGPUController(ScriptedRunner, cpu_ranks=2, forkserver=own_forkserver) as fleet:
        fleet.start(timeout=60)
        stream = fleet.stream(action="wait")
        os.kill(own_forkserver.get().pid, signal.SIGSTOP)
        os.kill(pids_of(fleet)[1], signal.SIGKILL)
        with pytest.raises(WorkerDiedError, match="Rank 1") as caught:
            list(stream)
        assert caught.value.rank == 1
        assert (caught.value.exitcode, caught.value.signal) == (None, None)


def test_a_forkserver_that_does_not_answer_is_replaced_and_keeps_nobody_waiting(
    own_forkserver: SharedForkServer,
) -> None:
    with MGPUController(ScriptedRunner, cpu_ranks=1, forkserver=own_forkserver) as fleet:
        fleet.start(timeout=60)
    stopped_pid = own_forkserver.get().pid
    os.kill(stopped_pid, signal.SIGSTOP)
    begun_s = time.monotonic()
    with (
        MGPUController(ScriptedRunner, cpu_ranks=1, forkserver=own_forkserver) as fleet,
        pytest.raises(StartTimeoutError),
    ):
        fleet.start(timeout=0.5)
    assert time.monotonic() - begun_s < 2.5
    assert not is_running(stopped_pid)
    assert own_forkserver.get().preload == ("torch",)
