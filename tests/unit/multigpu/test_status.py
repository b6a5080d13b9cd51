"""The page that a rank writes, and the judgement on who holds the others up."""

from __future__ import annotations

import dataclasses

import hypothesis
from hypothesis import strategies as st

from podium.jobs import Phase
from podium.multigpu.status import (
    FIRST_STEP_S,
    PAGE_BYTES,
    STILL_S,
    Progress,
    RankSample,
    RankState,
    StatusPage,
    StepClock,
    judge,
    limit_s,
)

NOW_S = 10_000.0


def sample(
    rank: int, *, age_s: float = 0.0, collectives: int = 0, kernel: RankState = RankState.ALIVE, **changes: object
) -> RankSample:
    progress = Progress(
        phase=Phase.STAGE_1, step=3, num_steps=8, progress_time_s=NOW_S - age_s, step_median_s=2.0,
        num_collectives=collectives, sign_time_s=NOW_S,
    )  # fmt: skip
    return RankSample(rank, "cpu", 100 + rank, kernel, dataclasses.replace(progress, **changes))  # type: ignore[arg-type]


def texts(*samples: RankSample) -> list[str]:
    return [status.text for status in judge(samples, NOW_S)]


counts = st.none() | st.integers(0, 2**31 - 1)
progresses = st.builds(
    Progress,
    job_id=st.integers(0, 2**64 - 1),
    phase=st.sampled_from(Phase),
    step=counts,
    num_steps=counts,
    bytes_done=st.integers(0, 2**64 - 1),
    bytes_total=st.integers(0, 2**64 - 1),
    progress_time_s=st.floats(0, 1e9),
    step_median_s=st.floats(0, 1e9),
)


@hypothesis.given(progresses, st.integers(0, 2**63))
def test_a_page_gives_back_what_was_written(progress: Progress, num_collectives: int) -> None:
    page = StatusPage(bytearray(PAGE_BYTES))
    page.write(progress)
    page.write_collectives(num_collectives)
    assert page.read() == dataclasses.replace(progress, num_collectives=num_collectives)


def test_an_empty_page_reads_as_a_rank_that_starts() -> None:
    progress = StatusPage(bytearray(PAGE_BYTES)).read()
    assert (progress.phase, progress.job_id, progress.num_collectives) == (Phase.STARTING, 0, 0)


def test_a_cancel_is_for_one_job_alone() -> None:
    page = StatusPage(bytearray(PAGE_BYTES))
    page.request_cancel(7)
    assert page.is_cancel_requested(7)
    assert not page.is_cancel_requested(8)


def test_ranks_that_make_progress_are_alive() -> None:
    assert texts(sample(0, age_s=5, collectives=9), sample(1, age_s=29, collectives=3)) == ["alive", "alive"]


def test_when_nobody_makes_progress_the_rank_that_began_the_fewest_collectives_is_named() -> None:
    ranks = [sample(rank, age_s=STILL_S + 1, collectives=5 - (rank == 2)) for rank in range(4)]
    assert texts(*ranks) == ["waiting for rank 2", "waiting for rank 2", "not responding", "waiting for rank 2"]


def test_one_rank_that_makes_progress_clears_them_all() -> None:
    assert texts(sample(0, age_s=100, collectives=4), sample(1, age_s=1, collectives=3)) == ["alive", "alive"]


def test_a_slow_step_is_given_five_times_the_median() -> None:
    slow = [sample(rank, age_s=90, collectives=rank, step_median_s=20.0) for rank in range(2)]
    assert texts(*slow) == ["alive", "alive"]
    stuck = [sample(rank, age_s=101, collectives=rank, step_median_s=20.0) for rank in range(2)]
    assert texts(*stuck) == ["not responding", "waiting for rank 0"]


def test_loading_compiling_and_the_first_step_have_limits_of_their_own() -> None:
    assert limit_s(Progress(phase=Phase.LOADING)) == 600
    assert limit_s(Progress(phase=Phase.COMPILING)) == 1800
    assert limit_s(Progress(phase=Phase.STAGE_2, step=0)) == FIRST_STEP_S
    assert limit_s(Progress(phase=Phase.IDLE)) is None


def test_an_idle_fleet_never_stands_still() -> None:
    assert texts(*(sample(rank, age_s=1e6, phase=Phase.IDLE) for rank in range(2))) == ["alive", "alive"]


def test_a_rank_that_has_left_the_job_is_waited_for_but_not_blamed() -> None:
    gone = sample(0, age_s=100, collectives=2, phase=Phase.IDLE)
    assert texts(gone, sample(1, age_s=100, collectives=3)) == ["alive", "waiting for rank 0"]


def test_what_the_kernel_says_comes_first_and_at_once() -> None:
    ranks = [
        sample(0, age_s=2, collectives=1), sample(1, kernel=RankState.STOPPED, collectives=9), sample(2, age_s=0.5)
    ]  # fmt: skip
    assert texts(*ranks) == ["waiting for rank 1", "stopped", "alive"]
    assert texts(sample(0, age_s=2), sample(1, kernel=RankState.DEAD)) == ["waiting for rank 1", "dead"]


def test_the_ages_are_counted_from_the_last_signs() -> None:
    (status,) = judge([sample(0, age_s=12.5, sign_time_s=NOW_S - 2)], NOW_S)
    assert (status.progress_age_s, status.sign_age_s, status.pid) == (12.5, 2.0, 100)


def test_the_median_of_steps_forgets_an_earlier_phase() -> None:
    clock = StepClock()
    assert [clock.tick(now_s) for now_s in (0.0, 1.0, 2.0, 12.0)] == [0.0, 1.0, 1.0, 1.0]
    clock.restart()
    assert [clock.tick(now_s) for now_s in (100.0, 103.0)] == [0.0, 3.0]
