"""Ending a job, softly and hard."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable

import pytest

from podium.multigpu import ControllerStoppedError, JobCancelled, MGPUController, RankState, SymmetricRunnerError

from tests.fakes.processes import is_running, wait_until
from tests.fleet.conftest import FleetPool

# The contract's numbers, in seconds.
RETURNS_S, OWNER_KNOWS_S, ALL_GONE_S = 0.1, 0.5, 2.0


class ForceStop:
    """Shut a controller down without grace from another thread, and note when that returned."""

    def __init__(self, fleet: MGPUController) -> None:
        self._fleet = fleet
        self.pids = [status.pid for status in fleet.rank_status() if status.pid is not None]
        self.took_s = 0.0
        self.called_at_s = 0.0
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        self.called_at_s = time.monotonic()
        self._fleet.shutdown(graceful_timeout=0)
        self.took_s = time.monotonic() - self.called_at_s

    def start(self) -> ForceStop:
        self._thread.start()
        return self

    def check(self) -> None:
        """Check the contract, in the thread that has just got its error."""
        known_s = time.monotonic() - self.called_at_s
        self._thread.join(timeout=10)
        assert self.took_s < RETURNS_S
        assert known_s < OWNER_KNOWS_S
        assert not self._fleet.is_alive
        assert wait_until(lambda: not any(map(is_running, self.pids)), ALL_GONE_S)


def test_a_cancelled_job_ends_at_the_next_step_and_the_fleet_goes_on(fleets: FleetPool) -> None:
    fleet = fleets.get()
    stream = fleet.stream(action="steps", num_steps=1000, step_s=0.01)
    assert next(stream) == 1
    canceller = threading.Thread(target=stream.cancel)
    canceller.start()
    with pytest.raises(SymmetricRunnerError) as caught:
        list(stream)
    canceller.join()
    assert [type(error) for error in caught.value.errors] == [JobCancelled] * 2
    assert fleet.is_alive
    assert list(fleet.stream(action="steps", num_steps=3)) == [1, 2, 3]


def test_four_ranks_end_at_the_same_step(fleets: FleetPool) -> None:
    fleet = fleets.get(4)
    stream = fleet.stream(action="steps", num_steps=1000, step_s=0.002)
    next(stream)
    stream.cancel()
    with pytest.raises(SymmetricRunnerError):
        list(stream)
    steps = {status.num_collectives for status in fleet.rank_status()}
    assert len(steps) == 1


def test_a_cancel_after_the_end_does_nothing(fleets: FleetPool) -> None:
    fleet = fleets.get()
    stream = fleet.stream(action="count", num_items=1)
    assert list(stream) == [0]
    stream.cancel()
    assert list(fleet.stream(action="steps", num_steps=3)) == [1, 2, 3]
    stream.cancel()


def test_a_cancel_meant_for_an_earlier_job_spares_the_next(fleets: FleetPool) -> None:
    fleet = fleets.get()
    first = fleet.stream(action="count", num_items=1)
    list(first)
    second = fleet.stream(action="steps", num_steps=20, step_s=0.005)
    first.cancel()
    assert list(second) == list(range(1, 21))


def test_cancelling_many_times_from_many_threads_is_one_cancel(fleets: FleetPool) -> None:
    stream = fleets.get().stream(action="steps", num_steps=1000, step_s=0.01)
    threads = [threading.Thread(target=stream.cancel) for _ in range(20)]
    for thread in threads:
        thread.start()
    with pytest.raises(SymmetricRunnerError):
        list(stream)
    for thread in threads:
        thread.join()


def test_a_force_stop_frees_a_wedged_owner_though_a_rank_is_stopped(own_fleet: Callable[..., MGPUController]) -> None:
    fleet = own_fleet(2)
    stop = ForceStop(fleet)
    stream = fleet.stream(action="kill", rank=1, signal_number=signal.SIGSTOP)
    assert wait_until(lambda: fleet.rank_status()[1].state is RankState.STOPPED)
    threading.Timer(0.2, stop.start).start()
    with pytest.raises(ControllerStoppedError):
        next(stream)
    stop.check()
    stream.drain()


def test_a_force_stop_works_while_a_fleet_starts(own_fleet: Callable[..., MGPUController]) -> None:
    fleet = own_fleet(2, start=False)
    stops: list[ForceStop] = []

    def stop_when_it_loads() -> None:
        wait_until(lambda: all(status.phase == "loading" for status in fleet.rank_status()))
        stops.append(ForceStop(fleet).start())

    waiter = threading.Thread(target=stop_when_it_loads)
    waiter.start()
    with pytest.raises(ControllerStoppedError):
        fleet.start(action="wait")
    known_at_s = time.monotonic()
    waiter.join()
    assert known_at_s - stops[0].called_at_s < OWNER_KNOWS_S
    stops[0].check()


@pytest.mark.parametrize("delay_s", [0.0, 0.005, 0.02, 0.06])
def test_a_force_stop_at_any_moment_of_a_start_leaves_nothing(
    own_fleet: Callable[..., MGPUController], delay_s: float
) -> None:
    fleet = own_fleet(4, start=False)
    timer = threading.Timer(delay_s, fleet.shutdown, kwargs={"graceful_timeout": 0})
    timer.start()
    with pytest.raises(ControllerStoppedError):
        fleet.start(action="wait")
    timer.join()
    fleet.shutdown(graceful_timeout=10)
    assert not any(is_running(status.pid) for status in fleet.rank_status() if status.pid is not None)


def test_a_force_stop_takes_what_the_ranks_started_along(own_fleet: Callable[..., MGPUController]) -> None:
    fleet = own_fleet(2)
    children = list(fleet.stream(action="start_child"))
    assert all(map(is_running, children))
    fleet.shutdown(graceful_timeout=0)
    assert wait_until(lambda: not any(map(is_running, children)), ALL_GONE_S)


def test_a_graceful_stop_takes_what_the_ranks_started_along_too(own_fleet: Callable[..., MGPUController]) -> None:
    fleet = own_fleet(2)
    children = list(fleet.stream(action="start_child"))
    fleet.shutdown()
    # They were killed by then; a busy kernel takes a moment to end them.
    assert wait_until(lambda: not any(map(is_running, children)), ALL_GONE_S)


def test_a_graceful_stop_cancels_the_job_that_runs(own_fleet: Callable[..., MGPUController]) -> None:
    fleet = own_fleet(2)
    stream = fleet.stream(action="steps", num_steps=100_000, step_s=0.01)
    next(stream)
    stopper = threading.Thread(target=fleet.shutdown)
    stopper.start()
    with pytest.raises(ControllerStoppedError):
        list(stream)
    stopper.join(timeout=10)
    assert [status.state for status in fleet.rank_status()] == [RankState.DEAD] * 2


def test_a_graceful_stop_of_a_job_that_does_not_listen_ends_in_time(own_fleet: Callable[..., MGPUController]) -> None:
    fleet = own_fleet(2)
    stream = fleet.stream(action="wait")
    pids = [status.pid for status in fleet.rank_status() if status.pid is not None]
    begun_s = time.monotonic()
    fleet.shutdown(graceful_timeout=0.3)
    assert 0.3 <= time.monotonic() - begun_s < 5
    assert not any(map(is_running, pids))
    with pytest.raises(ControllerStoppedError):
        next(stream)


def test_a_force_stop_does_not_wait_for_who_asks_after_a_dead_rank(own_fleet: Callable[..., MGPUController]) -> None:
    """While it is being found out who died, a dispatch waits for the answer, and a shutdown does not."""
    fleet = own_fleet(2)
    stop = ForceStop(fleet)
    os.kill(stop.pids[1], signal.SIGKILL)
    assert wait_until(lambda: not fleet.is_alive)
    stop.start()
    with pytest.raises(ControllerStoppedError):
        fleet.stream(action="nothing")
    stop.check()


def test_stopping_again_from_many_threads_is_harmless(own_fleet: Callable[..., MGPUController]) -> None:
    fleet = own_fleet(2)
    threads = [
        threading.Thread(target=fleet.shutdown, kwargs={"graceful_timeout": grace}) for grace in (5, 0, 5, 0.01, 0)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    assert not fleet.is_alive


def test_a_new_fleet_is_ready_soon_after_a_force_stop(own_fleet: Callable[..., MGPUController]) -> None:
    fleet = own_fleet(2)
    fleet.stream(action="wait")
    fleet.shutdown(graceful_timeout=0)
    begun_s = time.monotonic()
    assert list(own_fleet(2).stream(action="count", num_items=1)) == [0]
    assert time.monotonic() - begun_s < 4


def test_stopping_a_stopped_rank_needs_no_help_from_it(own_fleet: Callable[..., MGPUController]) -> None:
    fleet = own_fleet(1)
    pid = fleet.rank_status()[0].pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    fleet.shutdown(graceful_timeout=0.2)
    assert not is_running(pid)
