"""What a runner reports of its job, and how it is cancelled."""

from __future__ import annotations

import pytest

from podium.jobs import Phase
from podium.multigpu import JobCancelled, JobContext
from podium.multigpu.status import PAGE_BYTES, StatusPage


class Mark:
    """A device event that writes down what is asked of it."""

    def __init__(self, calls: list[str], name: str) -> None:
        self._calls, self._name = calls, name

    def record(self) -> None:
        self._calls.append(f"record {self._name}")

    def synchronize(self) -> None:
        self._calls.append(f"wait {self._name}")


@pytest.fixture
def page() -> StatusPage:
    return StatusPage(bytearray(PAGE_BYTES))


@pytest.fixture
def job(page: StatusPage) -> JobContext:
    context = JobContext(page, agree=lambda flag: flag)
    context.begin_job(1, Phase.STARTING)
    return context


def test_a_phase_begins_at_step_zero(job: JobContext, page: StatusPage) -> None:
    job.begin_phase(Phase.STAGE_1, 8)
    assert (page.read().phase, page.read().step, page.read().num_steps) == (Phase.STAGE_1, 0, 8)


def test_a_phase_without_steps_shows_none(job: JobContext, page: StatusPage) -> None:
    job.begin_phase(Phase.WRITING)
    assert (page.read().step, page.read().num_steps) == (None, None)


def test_progress_shows_steps_and_bytes(job: JobContext, page: StatusPage) -> None:
    job.begin_phase(Phase.LOADING, bytes_total=100)
    job.report_progress(bytes_done=40)
    assert (page.read().bytes_done, page.read().bytes_total) == (40, 100)
    before_s = page.read().progress_time_s
    job.report_progress()
    assert page.read().progress_time_s >= before_s


def test_collectives_are_counted_over_all_jobs(job: JobContext, page: StatusPage) -> None:
    job.collective_begun()
    job.begin_job(2, Phase.STARTING)
    job.collective_begun(3)
    assert page.read().num_collectives == 4


def test_a_checkpoint_begins_its_phase_once(job: JobContext, page: StatusPage) -> None:
    job.checkpoint(Phase.STAGE_1, 1, 3)
    job.checkpoint(Phase.STAGE_1, 2, 3)
    assert (page.read().phase, page.read().step, page.read().num_collectives) == (Phase.STAGE_1, 2, 2)
    job.checkpoint(Phase.STAGE_2, 1, 3)
    assert (page.read().phase, page.read().step) == (Phase.STAGE_2, 1)


def test_a_cancel_of_this_job_is_raised_at_the_next_check(job: JobContext, page: StatusPage) -> None:
    job.check_cancelled()
    page.request_cancel(1)
    with pytest.raises(JobCancelled):
        job.check_cancelled()
    job.begin_job(2, Phase.STARTING)
    job.check_cancelled()


def test_the_verdict_counts_and_not_this_ranks_own_flag(page: StatusPage) -> None:
    job = JobContext(page, agree=lambda flag: True)
    job.begin_job(1, Phase.STARTING)
    with pytest.raises(JobCancelled):
        job.check_cancelled()


def test_in_setup_nothing_is_asked_of_the_other_ranks(page: StatusPage) -> None:
    def agree(flag: bool) -> bool:
        raise AssertionError("a collective in setup")

    job = JobContext(page, agree)
    job.check_cancelled()
    assert page.read().num_collectives == 0


def test_the_host_waits_for_the_event_of_the_step_before(page: StatusPage) -> None:
    calls: list[str] = []
    names = iter("abc")
    job = JobContext(page, lambda flag: flag, lambda: Mark(calls, next(names)))
    for _ in range(3):
        job.sync_host_with_device()
    assert calls == ["record a", "record b", "wait a", "record c", "wait b"]


def test_a_new_job_waits_for_no_event_of_the_last(page: StatusPage) -> None:
    calls: list[str] = []
    job = JobContext(page, lambda flag: flag, lambda: Mark(calls, "x"))
    job.sync_host_with_device()
    job.begin_job(2, Phase.STARTING)
    job.sync_host_with_device()
    assert calls == ["record x", "record x"]


def test_without_a_fleet_it_reports_to_nobody_and_is_never_cancelled() -> None:
    job = JobContext.detached()
    job.checkpoint(Phase.STAGE_1, 1, 2)
    assert (job.phase, job.job_id) == (Phase.STAGE_1, 0)
