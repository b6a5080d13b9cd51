"""From a press of Generate to the clip, and every way to end it before."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from podium.helper.requests import CheckedJob, CheckRequest, KeepThumbnail, ListDevices, Thumbnail, WriteDemoPack
from podium.jobs import (
    ClipFinished,
    ClipFormat,
    LorasApplied,
    MotionPreview,
    Phase,
    PhaseEnded,
    PhaseStarted,
    PreviewPicture,
    RankMemory,
    StepDone,
)
from podium.models.errors import CheckpointError
from podium.models.residency import ResidencyPlan
from podium.ui.state.events import (
    FleetFailed,
    FleetReady,
    FleetStarting,
    FleetStopped,
    JobEnded,
    JobNews,
    JobStarted,
)
from podium.ui.state.force_timer import FORCE_AFTER_S, MIN_CANCELLING_S
from podium.ui.state.job import JobState
from podium.ui.state.orders import JobOrder
from podium.ui.state.progress import JobProgress
from podium.ui.state.session import SessionState
from podium.ui.state.values import CancelPhase, ErrorMessage, FleetPhase, JobPhase, RankRow

from tests.fakes.ui import DEMO, MODELS, SPEC, FakeControls, FakeHelper

CLIP = ClipFormat(192, 256, 25, Fraction(24))
World = tuple[SessionState, FakeHelper, FakeControls]


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def controls() -> FakeControls:
    return FakeControls()


@pytest.fixture
def job(qapp: object, controls: FakeControls, clock: Clock) -> Iterator[JobState]:
    job = JobState(controls, now_s=clock)
    yield job
    job.close()


@pytest.fixture
def running(job: JobState) -> JobState:
    job.begin(1, CLIP)
    job.wait_for_fleet()
    job.start(1)
    return job


def row(rank: int, *, is_responding: bool = True, text: str = "alive") -> RankRow:
    return RankRow(rank, "cpu", text, is_responding, Phase.STAGE_1)


def ready(world: World) -> World:
    """Bring a window to where Generate can be pressed."""
    session, helper, _ = world
    session.try_demo()
    helper.answer(WriteDemoPack, DEMO)
    session.devices.use_cpu(2)
    return world


def finished(path: Path) -> ClipFinished:
    return ClipFinished(path, path.with_suffix(".json"), CLIP, 24_000, 1)


def test_a_cancel_asks_softly_and_shows_at_once(running: JobState, controls: FakeControls) -> None:
    assert running.cancel_phase is CancelPhase.CAN_CANCEL
    running.cancel()
    assert running.cancel_phase is CancelPhase.CANCELLING
    assert controls.calls == ["cancel 1"]


def test_a_repeated_press_never_forces(running: JobState, controls: FakeControls) -> None:
    for _ in range(5):
        running.cancel()
        running.force_stop()
    assert controls.calls == ["cancel 1"]
    running._offer_force()
    running.cancel()
    assert controls.calls == ["cancel 1"]


def test_force_is_offered_after_five_seconds(running: JobState) -> None:
    running.cancel()
    assert running._force_timer.interval() == pytest.approx(FORCE_AFTER_S * 1000, abs=100)


def test_force_is_offered_after_three_slow_steps(running: JobState) -> None:
    running.take_news(JobNews(1, (PhaseStarted(Phase.STAGE_1, 9), StepDone(Phase.STAGE_1, 1, 9, 10.0))))
    running.cancel()
    assert running._force_timer.interval() == pytest.approx(30_000, abs=100)


def test_a_silent_rank_brings_force_forward_but_not_within_a_double_click(
    running: JobState, clock: Clock, qtbot: QtBot
) -> None:
    running.note_ranks((row(0), row(1, is_responding=False, text="not responding")))
    assert running.cancel_phase is CancelPhase.CAN_CANCEL
    running.cancel()
    assert running.cancel_phase is CancelPhase.CANCELLING
    assert running._force_timer.interval() == pytest.approx(MIN_CANCELLING_S * 1000, abs=100)
    clock.now_s += MIN_CANCELLING_S
    running.note_ranks((row(0), row(1, is_responding=False)))
    qtbot.waitUntil(lambda: running.cancel_phase is CancelPhase.CAN_FORCE)


def test_a_force_stop_says_what_it_costs_and_is_a_press_of_its_own(running: JobState, controls: FakeControls) -> None:
    running.note_start_duration(41.6)
    running.cancel()
    running._offer_force()
    assert running.force_cost == "Force stop ends the fleet at once; the weights load again, about 42 s."
    running.force_stop()
    running.force_stop()
    assert running.cancel_phase is CancelPhase.FORCING
    assert controls.calls == ["cancel 1", "force_stop"]


def test_while_the_fleet_starts_only_force_is_left_and_esc_does_nothing(job: JobState, controls: FakeControls) -> None:
    job.begin(1, CLIP)
    job.wait_for_fleet()
    assert job.cancel_phase is CancelPhase.CAN_FORCE
    job.cancel()
    assert controls.calls == []
    job.force_stop()
    assert controls.calls == ["force_stop"]


def test_a_job_that_is_being_checked_ends_without_a_rank(job: JobState, controls: FakeControls) -> None:
    job.begin(1, CLIP)
    job.cancel()
    assert job.phase is JobPhase.STOPPED
    assert controls.calls == []


def test_news_of_another_job_change_nothing(running: JobState, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(running.changed):
        running.take_news(JobNews(7, (PhaseStarted(Phase.STAGE_1, 9),)))
        running.take_preview(7, PreviewPicture(Phase.STAGE_1, 1, 1, 1, b"rgb"))
        running.end(JobEnded(7, JobPhase.FAILED))


def test_previews_and_what_loras_did_are_shown(running: JobState) -> None:
    picture = PreviewPicture(Phase.STAGE_1, 1, 1, 1, b"rgb")
    motion = MotionPreview(Phase.STAGE_1, 1, 1, 1, 2, 0.1, b"rgbrgb")
    running.take_preview(1, picture)
    running.take_preview(1, motion)
    running.take_news(JobNews(1, (LorasApplied(("all applied",)),)))
    assert (running.picture, running.motion, running.lora_summaries) == (picture, motion, ("all applied",))


def test_a_job_whose_likes_were_timed_knows_how_long_it_takes(job: JobState) -> None:
    job.begin(1, CLIP)
    job.wait_for_fleet()
    job.start(1)
    first = [PhaseStarted(Phase.STAGE_1, 2), PhaseEnded(Phase.STAGE_1, 20.0)]
    job.take_news(JobNews(1, (*first, PhaseStarted(Phase.DECODING), PhaseEnded(Phase.DECODING, 10.0))))
    assert job.fraction is None
    job.end(JobEnded(1, JobPhase.FINISHED, finished(Path("/a.mp4"))))
    job.begin(2, CLIP, {Phase.STAGE_1: 20.0, Phase.DECODING: 10.0})
    job.wait_for_fleet()
    job.start(2)
    job.take_news(JobNews(2, (PhaseStarted(Phase.STAGE_1, 2), StepDone(Phase.STAGE_1, 1, 2, 10.0))))
    assert job.time_left_s == pytest.approx(20.0)
    assert job.fraction == pytest.approx(1 / 3)


def test_time_left_comes_from_the_steps_that_were_done() -> None:
    progress = JobProgress()
    for event in (PhaseStarted(Phase.STAGE_2, 4), StepDone(Phase.STAGE_2, 1, 4, 2.0)):
        progress.note(event)
    assert progress.time_left_s == pytest.approx(6.0)
    assert progress.step_median_s == 2.0


def test_the_format_of_the_job_at_work_is_told(job: JobState) -> None:
    assert job.format is None
    job.begin(1, CLIP)
    assert job.format == CLIP


def test_a_job_tells_its_end_whichever_way_it_came(job: JobState) -> None:
    ends: list[JobEnded] = []
    job.ended.connect(ends.append)
    job.begin(1, CLIP)
    job.cancel()
    job.begin(2, CLIP)
    job.refuse(ErrorMessage("No."))
    job.begin(3, CLIP)
    job.wait_for_fleet()
    job.end(JobEnded(3, JobPhase.FAILED, message=ErrorMessage("Died."), rank=1))
    job.end(JobEnded(3, JobPhase.STOPPED))
    assert [(end.key, end.outcome) for end in ends] == [
        (1, JobPhase.STOPPED),
        (2, JobPhase.REFUSED),
        (3, JobPhase.FAILED),
    ]
    assert ends[1].message == ErrorMessage("No.")
    assert ends[2].rank == 1


def test_a_soft_cancel_while_the_fleet_starts_is_shown_once_there_is_a_stream(
    job: JobState, controls: FakeControls
) -> None:
    job.begin(1, CLIP)
    job.wait_for_fleet()
    job.cancel_soon()
    assert controls.calls == ["cancel 1"]
    job.start(1)
    assert job.cancel_phase is CancelPhase.CANCELLING


def test_generate_checks_the_request_and_hands_it_over(world: World, qtbot: QtBot) -> None:
    session, helper, _ = ready(world)
    assert session.problem == ""
    with qtbot.waitSignal(session.job_ordered) as ordered:
        session.generate()
        assert session.job.phase is JobPhase.CHECKING
        assert session.can_generate
        asked = helper.answer(CheckRequest, CheckedJob(5, (), {"podium": 1}, residency=ResidencyPlan()))
    (order,) = ordered.args
    assert asked.devices == ()
    assert order.setup == {"residency": ResidencyPlan()}
    assert order.arguments == {"request": order.request, "parameters": {"podium": 1}, "residency": ResidencyPlan()}
    assert isinstance(order, JobOrder)
    assert order.request == asked.request
    assert (order.spec.models, order.spec.choice.cpu_ranks, order.spec.dtype) == (MODELS, 2, "float32")
    assert order.parameters == {"podium": 1}
    assert order.request.output_path.suffix == ".mp4"
    assert session.job.phase is JobPhase.WAITING


def test_a_request_that_cannot_be_made_is_refused_before_any_rank(world: World, qtbot: QtBot) -> None:
    session, helper, _ = ready(world)
    with qtbot.assertNotEmitted(session.job_ordered):
        session.generate()
        helper.answer(CheckRequest, error=CheckpointError("It is cut off.", path=Path("/a")))
    assert session.job.phase is JobPhase.REFUSED
    assert session.job.error == ErrorMessage("It is cut off.", "/a")
    assert session.can_generate


def test_the_first_problem_stands_beside_generate(world: World) -> None:
    session, helper, _ = world
    assert session.problem.startswith("Choose the checkpoint")
    session.try_demo()
    helper.answer(WriteDemoPack, DEMO)
    assert session.problem == "The devices are being looked for."
    session.devices.refresh()
    helper.answer(ListDevices, ())
    assert "No NVIDIA GPU" in session.problem
    session.devices.use_cpu()
    assert session.problem == ""


def test_a_whole_job_as_the_owner_tells_it(world: World, tmp_path: Path) -> None:
    session, helper, controls = ready(world)
    session.generate()
    helper.answer(CheckRequest, CheckedJob(5, (), {}))
    session.apply(FleetStarting(SPEC))
    assert session.fleet.phase is FleetPhase.STARTING
    session.apply(FleetReady(SPEC, 2.5))
    session.apply(JobStarted(1))
    assert (session.fleet.phase, session.job.phase) == (FleetPhase.BUSY, JobPhase.RUNNING)
    controls.rows = (row(0),)
    session.take_news(JobNews(1, (RankMemory(0, 123, 456),)))
    session.fleet._poll()
    assert session.fleet.rows[0].memory_bytes == 123
    session.apply(JobEnded(1, JobPhase.FINISHED, finished(tmp_path / "a.mp4")))
    assert (session.fleet.phase, session.job.phase) == (FleetPhase.READY, JobPhase.FINISHED)
    assert session.queue.entries == ()
    session.history.model.fetchMore()
    (entry,) = session.history.model.entries
    assert entry.request.prompt == session.compose.prompt
    session.history.select(entry.key)
    helper.answer(KeepThumbnail, Thumbnail(1, 1, b"rgb"))
    assert session.history.selected is not None
    assert session.history.selected.thumbnail == Thumbnail(1, 1, b"rgb")


def test_an_unlocked_seed_is_another_for_the_next_clip_unless_one_was_typed(world: World) -> None:
    session, helper, _ = ready(world)
    session.compose.set_seed(7)

    def make() -> int:
        session.generate()
        request = helper.answer(CheckRequest, error=CheckpointError("no")).request
        return int(request.seed)

    assert make() == 7
    assert make() != 7
    session.compose.set_seed(9)
    assert make() == 9
    session.compose.set_seed_locked(True)
    assert make() == 9


def test_a_fleet_that_is_stopped_while_it_starts_is_killed(world: World, qtbot: QtBot) -> None:
    session, _, controls = ready(world)
    session.apply(FleetStarting(SPEC))
    with qtbot.waitSignal(session.fleet_stop_ordered):
        session.fleet.stop()
    assert controls.calls == ["force_stop"]
    assert session.fleet.phase is FleetPhase.STOPPING
    session.apply(FleetStopped())
    assert session.fleet.phase is FleetPhase.STOPPED


def test_stopping_a_busy_fleet_cancels_its_job_first(world: World, qtbot: QtBot) -> None:
    session, helper, controls = ready(world)
    session.generate()
    helper.answer(CheckRequest, CheckedJob(5, (), {}))
    for event in (FleetStarting(SPEC), FleetReady(SPEC, 1.0), JobStarted(1)):
        session.apply(event)
    session.fleet.stop()
    assert controls.calls == ["cancel 1"]
    assert session.job.cancel_phase is CancelPhase.CANCELLING


def test_a_failed_fleet_says_why_and_what_happens(world: World) -> None:
    session, *_ = world
    session.apply(FleetStarting(SPEC))
    session.apply(FleetFailed(ErrorMessage("Rank 1 died.", "trace"), will_restart=True))
    assert session.fleet.phase is FleetPhase.FAILED
    assert session.fleet.error == ErrorMessage("Rank 1 died.", "trace")
    assert session.fleet.note == "A new fleet is started."
    session.apply(FleetFailed(ErrorMessage("GPU 0 is blocked."), is_blocked=True))
    assert session.fleet.phase is FleetPhase.BLOCKED


def test_a_dead_rank_of_an_idle_fleet_has_the_owner_look(world: World, qtbot: QtBot) -> None:
    session, _, controls = world
    session.apply(FleetStarting(SPEC))
    session.apply(FleetReady(SPEC, 1.0))
    controls.rows = (row(0), row(1, is_responding=False, text="dead"))
    with qtbot.waitSignal(session.fleet.check_requested):
        pass


def test_the_window_closes_once_the_clip_is_done_if_that_was_asked(world: World, qtbot: QtBot, tmp_path: Path) -> None:
    session, helper, _ = ready(world)
    session.generate()
    helper.answer(CheckRequest, CheckedJob(5, (), {}))
    session.apply(JobStarted(1))
    with qtbot.assertNotEmitted(session.close_wanted):
        session.close_when_done()
    with qtbot.waitSignal(session.close_wanted):
        session.apply(JobEnded(1, JobPhase.FINISHED, finished(tmp_path / "a.mp4")))
