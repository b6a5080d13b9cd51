"""What can be known of every rank at any time."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

from podium.jobs import Phase
from podium.multigpu import MGPUController, RankState

from tests.fakes.processes import wait_until
from tests.fleet.conftest import FleetPool
from tests.gpu.places import devices_of, fleet_place


def test_an_idle_fleet_is_alive_and_shows_its_processes(fleets: FleetPool) -> None:
    statuses = fleets.get().rank_status()
    assert [status.rank for status in statuses] == [0, 1]
    assert [status.state for status in statuses] == [RankState.ALIVE] * 2
    assert [status.phase for status in statuses] == [Phase.IDLE] * 2
    assert [status.device for status in statuses] == devices_of(fleet_place(2))
    assert all(os.getpgid(status.pid or 0) == status.pid for status in statuses)
    assert all(status.sign_age_s < 5 for status in statuses)


def test_steps_are_shown_while_they_pass(fleets: FleetPool) -> None:
    fleet = fleets.get()
    stream = fleet.stream(action="steps", num_steps=50, step_s=0.01)
    assert next(stream) == 1
    status = fleet.rank_status()[0]
    assert (status.phase, status.num_steps, status.job_id) == (Phase.STAGE_1, 50, stream.job_id)
    assert status.step is not None
    assert 1 <= status.step <= 50
    stream.drain()


def test_bytes_are_shown_while_a_rank_loads(own_fleet: Callable[..., MGPUController]) -> None:
    fleet = own_fleet(1)
    fleet.stream(action="load", bytes_total=1000)
    assert wait_until(lambda: fleet.rank_status()[0].bytes_done == 500)
    assert fleet.rank_status()[0].bytes_total == 1000


def test_the_rank_that_began_fewer_collectives_shows_fewer(own_fleet: Callable[..., MGPUController]) -> None:
    fleet = own_fleet(2)
    stream = fleet.stream(action="hang_in_collective", rank=1)
    assert sorted([next(stream), next(stream)]) == [0, 1]
    assert wait_until(lambda: fleet.rank_status()[0].num_collectives == 1)
    assert fleet.rank_status()[1].num_collectives == 0


def test_a_stopped_rank_is_named_and_the_others_wait_for_it(own_fleet: Callable[..., MGPUController]) -> None:
    fleet = own_fleet(2)
    stream = fleet.stream(action="hang_in_collective", rank=1)
    assert sorted([next(stream), next(stream)]) == [0, 1]
    pid = fleet.rank_status()[1].pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    assert wait_until(lambda: [status.text for status in fleet.rank_status()] == ["waiting for rank 1", "stopped"])
    os.kill(pid, signal.SIGCONT)
    assert wait_until(lambda: fleet.rank_status()[1].state is RankState.ALIVE)


def test_after_the_end_every_rank_is_dead_and_its_last_phase_stays(own_fleet: Callable[..., MGPUController]) -> None:
    fleet = own_fleet(2)
    fleet.stream(action="load", bytes_total=10)
    assert wait_until(lambda: all(status.bytes_done == 5 for status in fleet.rank_status()))
    fleet.shutdown(graceful_timeout=0)
    fleet.shutdown(graceful_timeout=5)
    assert [status.state for status in fleet.rank_status()] == [RankState.DEAD] * 2
    assert [status.phase for status in fleet.rank_status()] == [Phase.LOADING] * 2
