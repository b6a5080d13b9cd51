"""The thread that owns the fleet, over real ranks: it tells everything, and the window's thread can always stop it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from podium.jobs import Phase, PhaseStarted, PreviewPicture, StepDone
from podium.models.residency import Place, ResidencyPlan
from podium.ui.state.events import (
    FleetFailed,
    FleetReady,
    FleetStarting,
    FleetStopped,
    FleetStopping,
    JobEnded,
    JobStarted,
    JobTaken,
)
from podium.ui.state.values import JobPhase

from tests.fakes.busyness import Patience
from tests.fakes.owner import OwnerBench, spec
from tests.fakes.processes import is_running, wait_until

RETURNS_S, OWNER_KNOWS_S, ENDS_S = 0.1, 0.5, 3.0
LONG_MS = 20_000

pytestmark = pytest.mark.usefixtures("warm_forkserver")


@pytest.fixture
def bench(qapp: object, tmp_path: Path, patience: Patience) -> Iterator[OwnerBench]:
    bench = OwnerBench(tmp_path)
    bench.owner.start()
    yield bench
    bench.owner.quit()
    assert bench.owner.join(patience(ENDS_S))


def wait_for(qtbot: QtBot, bench: OwnerBench, kind: type, count: int = 1) -> list[object]:
    qtbot.waitUntil(lambda: len(bench.listener.of(kind)) >= count, timeout=LONG_MS)
    return bench.listener.of(kind)


def outcomes(bench: OwnerBench) -> list[JobPhase]:
    return [event.outcome for event in bench.listener.of(JobEnded)]


def pids(bench: OwnerBench) -> list[int]:
    return [status.pid for made in bench.maker.made for status in made.rank_status() if status.pid is not None]


def test_a_job_starts_its_fleet_and_ends_in_a_clip(bench: OwnerBench, qtbot: QtBot) -> None:
    order = bench.order("clip")
    wait_for(qtbot, bench, JobEnded)
    kinds = [type(event) for event in bench.listener.events]
    assert kinds == [JobTaken, FleetStarting, FleetReady, JobStarted, JobEnded]
    assert bench.listener.of(JobEnded)[0].clip.path == order.request.output_path
    (mail,) = bench.mailbox.take()
    assert isinstance(mail.events[0], PhaseStarted)
    assert {type(preview).__name__ for preview in mail.previews} == {"PreviewPicture", "MotionPreview"}


def test_everything_is_heard_in_the_windows_thread(bench: OwnerBench, qtbot: QtBot) -> None:
    bench.order("clip")
    wait_for(qtbot, bench, JobEnded)
    assert bench.listener.thread_ids == {threading.get_ident()}


def test_the_next_job_finds_the_fleet_up_and_another_model_does_not(bench: OwnerBench, qtbot: QtBot) -> None:
    bench.order("clip")
    bench.order("clip")
    wait_for(qtbot, bench, JobEnded, 2)
    assert len(bench.maker.made) == 1
    bench.order("clip", bench.with_longer_clips())
    wait_for(qtbot, bench, JobEnded, 3)
    assert len(bench.maker.made) == 2
    assert len(bench.listener.of(FleetStopping)) == 1
    bench.order("clip")
    wait_for(qtbot, bench, JobEnded, 4)
    assert len(bench.maker.made) == 2
    assert outcomes(bench) == [JobPhase.FINISHED] * 4


def test_a_plan_for_the_parts_of_a_model_goes_with_the_setup_and_with_each_order(
    bench: OwnerBench, qtbot: QtBot
) -> None:
    first, second = ResidencyPlan(text_encoder=Place.VISITING), ResidencyPlan(decoders=Place.VISITING)
    for index, residency in enumerate((first, second, None)):
        bench.order("clip", residency=residency)
        qtbot.waitUntil(lambda count=index + 1: len(bench.listener.of(JobEnded)) == count, timeout=20_000)  # type: ignore[misc] # mypy does not see the default
    (made,) = bench.maker.made
    assert made.set_up_with["residency"] == first
    assert [call.get("residency") for call in made.called_with] == [first, second, None]


def test_a_soft_cancel_ends_the_job_and_keeps_the_fleet(bench: OwnerBench, qtbot: QtBot, patience: Patience) -> None:
    order = bench.order("clip 10000 0.02")
    wait_for(qtbot, bench, JobStarted)
    called_at_s = time.monotonic()
    bench.baton.cancel(order.key)
    wait_for(qtbot, bench, JobEnded)
    assert bench.listener.heard_at_s[-1] - called_at_s < patience(0.02 + 0.2 + 0.2)
    assert outcomes(bench) == [JobPhase.STOPPED]
    bench.order("clip")
    wait_for(qtbot, bench, JobEnded, 2)
    assert len(bench.maker.made) == 1


def test_a_prompt_is_written_out_between_two_clips_on_the_fleet_that_is_up(bench: OwnerBench, qtbot: QtBot) -> None:
    bench.order("clip")
    # It would want longer clips, and has no use for them.
    prompt = bench.prompt_order("write", bench.with_longer_clips())
    bench.order("clip")
    wait_for(qtbot, bench, JobEnded, 3)
    assert [event.key for event in bench.listener.of(JobEnded)] == [1, prompt.key, 2]
    answer = bench.listener.of(JobEnded)[1].answer
    assert (answer.prompt, answer.note) == ("write, written out", "A note.")
    assert len(bench.maker.made) == 1
    mail = next(mail for mail in bench.mailbox.take() if mail.key == prompt.key)
    steps = [event for event in mail.events if isinstance(event, StepDone)]
    assert steps[-1].step == 3


def test_a_prompt_is_written_out_before_there_is_a_clip(bench: OwnerBench, qtbot: QtBot) -> None:
    bench.prompt_order("write")
    wait_for(qtbot, bench, JobEnded)
    kinds = [type(event) for event in bench.listener.events]
    assert kinds == [JobTaken, FleetStarting, FleetReady, JobStarted, JobEnded]


def test_writing_ends_softly_and_keeps_the_fleet(bench: OwnerBench, qtbot: QtBot) -> None:
    order = bench.prompt_order("write 100000 0.02")
    wait_for(qtbot, bench, JobStarted)
    bench.baton.cancel(order.key)
    wait_for(qtbot, bench, JobEnded)
    bench.order("clip")
    wait_for(qtbot, bench, JobEnded, 2)
    assert outcomes(bench) == [JobPhase.STOPPED, JobPhase.FINISHED]
    assert len(bench.maker.made) == 1


def test_what_was_cancelled_before_its_turn_starts_no_fleet(bench: OwnerBench, qtbot: QtBot) -> None:
    bench.order("clip 30 0.02")
    wait_for(qtbot, bench, JobStarted)
    order = bench.prompt_order("write", spec("hang"))
    bench.baton.cancel(order.key)
    wait_for(qtbot, bench, JobEnded, 2)
    assert outcomes(bench) == [JobPhase.FINISHED, JobPhase.STOPPED]
    assert len(bench.maker.made) == 1


def test_a_force_stop_takes_back_what_waits_and_a_new_fleet_still_comes_by_itself(
    bench: OwnerBench, qtbot: QtBot
) -> None:
    bench.order("clip 100000 0.02")
    wait_for(qtbot, bench, JobStarted)
    bench.prompt_order("write")
    bench.baton.force_stop()
    wait_for(qtbot, bench, FleetReady, 2)
    assert outcomes(bench) == [JobPhase.STOPPED, JobPhase.STOPPED]


def test_a_cancel_before_there_is_a_stream_still_reaches_the_job(bench: OwnerBench, qtbot: QtBot) -> None:
    order = bench.order("clip 10000 0.02")
    bench.baton.cancel(order.key)
    wait_for(qtbot, bench, JobEnded)
    assert outcomes(bench) == [JobPhase.STOPPED]


def test_a_force_stop_frees_the_owner_of_a_stopped_rank_and_a_new_fleet_comes_by_itself(
    bench: OwnerBench, qtbot: QtBot, patience: Patience
) -> None:
    bench.order("stop_rank 1")
    wait_for(qtbot, bench, JobStarted)
    qtbot.waitUntil(lambda: any(row.text == "stopped" for row in bench.baton.rank_rows()), timeout=LONG_MS)
    old_pids = pids(bench)
    bench.baton.force_stop()
    (call,) = bench.maker.made[0].shutdowns
    assert call.thread_id == threading.get_ident()
    assert call.graceful_timeout == 0
    assert call.took_s < patience(RETURNS_S)
    wait_for(qtbot, bench, JobEnded)
    ended_at_s = bench.listener.heard_at_s[bench.listener.events.index(bench.listener.of(JobEnded)[0])]
    assert ended_at_s - call.called_at_s < patience(OWNER_KNOWS_S)
    assert outcomes(bench) == [JobPhase.STOPPED]
    wait_for(qtbot, bench, FleetReady, 2)
    qtbot.waitUntil(lambda: not any(map(is_running, old_pids)), timeout=LONG_MS)
    bench.order("clip")
    wait_for(qtbot, bench, JobEnded, 2)
    assert outcomes(bench) == [JobPhase.STOPPED, JobPhase.FINISHED]
    assert len(bench.maker.made) == 2


def test_a_force_stop_during_the_start_ends_job_and_fleet_and_the_next_job_has_a_new_one(
    bench: OwnerBench, qtbot: QtBot, patience: Patience
) -> None:
    bench.order("clip", spec("hang"))
    wait_for(qtbot, bench, FleetStarting)
    qtbot.waitUntil(lambda: all(row.phase == "loading" for row in bench.baton.rank_rows()), timeout=LONG_MS)
    bench.baton.force_stop()
    (call,) = bench.maker.made[0].shutdowns
    assert call.thread_id == threading.get_ident()
    assert call.took_s < patience(RETURNS_S)
    qtbot.waitUntil(lambda: bench.maker.made[0].start_failed_at_s > 0, timeout=LONG_MS)
    assert bench.maker.made[0].start_failed_at_s - call.called_at_s < patience(OWNER_KNOWS_S)
    # The fleet's end is told before the job's.
    wait_for(qtbot, bench, FleetStopped)
    wait_for(qtbot, bench, JobEnded)
    assert outcomes(bench) == [JobPhase.STOPPED]
    bench.order("clip")
    wait_for(qtbot, bench, JobEnded, 2)
    assert outcomes(bench)[-1] is JobPhase.FINISHED


def test_a_force_stop_before_the_owner_came_to_the_job_starts_nothing(bench: OwnerBench, qtbot: QtBot) -> None:
    bench.order("clip")
    bench.baton.force_stop()
    wait_for(qtbot, bench, JobEnded)
    assert outcomes(bench) == [JobPhase.STOPPED]
    assert bench.listener.of(FleetReady) == []


@pytest.mark.logs_warnings
def test_a_death_fails_the_job_says_why_and_one_new_fleet_comes_by_itself(bench: OwnerBench, qtbot: QtBot) -> None:
    bench.order("die 1")
    wait_for(qtbot, bench, FleetReady, 2)
    assert outcomes(bench) == [JobPhase.FAILED]
    (failed,) = bench.listener.of(FleetFailed)
    assert failed.will_restart
    assert not failed.is_end
    (ended,) = bench.listener.of(JobEnded)
    # This runner tells of no phase, so it is the last one that the rank was in.
    assert (ended.rank, ended.phase) == (1, Phase.STARTING)
    assert ended.message == failed.message
    # The queue begins its next entry when it hears of the end: by then it has to know of the fleet.
    assert bench.listener.events.index(failed) < bench.listener.events.index(ended)
    assert "Rank 1" in failed.message.sentence
    assert "killed by the system" in failed.message.sentence
    bench.order("clip")
    wait_for(qtbot, bench, JobEnded, 2)
    assert outcomes(bench)[-1] is JobPhase.FINISHED


@pytest.mark.logs_warnings
def test_after_two_failures_in_a_row_no_fleet_comes_by_itself(bench: OwnerBench, qtbot: QtBot) -> None:
    bench.order("die 0")
    bench.order("die 1")
    wait_for(qtbot, bench, FleetFailed, 2)
    bench.owner.check_fleet()
    assert [event.will_restart for event in bench.listener.of(FleetFailed)] == [True, False]
    assert [event.is_end for event in bench.listener.of(FleetFailed)] == [False, True]
    assert "second failure in a row" in bench.listener.of(FleetFailed)[-1].message.sentence
    # What is asked for is still done.
    bench.order("clip")
    wait_for(qtbot, bench, JobEnded, 3)
    assert outcomes(bench) == [JobPhase.FAILED, JobPhase.FAILED, JobPhase.FINISHED]
    assert len(bench.maker.made) == 3


@pytest.mark.logs_warnings
def test_a_clip_between_two_failures_lets_them_be_no_row(bench: OwnerBench, qtbot: QtBot) -> None:
    for prompt in ("die 0", "clip", "die 1"):
        bench.order(prompt)
    wait_for(qtbot, bench, FleetFailed, 2)
    assert [event.is_end for event in bench.listener.of(FleetFailed)] == [False, False]


@pytest.mark.logs_warnings
def test_two_setups_that_are_refused_are_a_row_too(bench: OwnerBench, qtbot: QtBot) -> None:
    bench.order("clip", spec("refuse"))
    bench.order("clip", spec("refuse"))
    wait_for(qtbot, bench, FleetFailed, 2)
    assert [(event.will_restart, event.is_end) for event in bench.listener.of(FleetFailed)] == [
        (False, False),
        (False, True),
    ]


@pytest.mark.logs_warnings
def test_what_ranks_refuse_in_setup_is_told_and_not_tried_again(bench: OwnerBench, qtbot: QtBot) -> None:
    bench.order("clip", spec("refuse"))
    wait_for(qtbot, bench, FleetFailed)
    (failed,) = bench.listener.of(FleetFailed)
    assert not failed.will_restart
    assert "Choose the bf16 checkpoint" in failed.message.sentence
    wait_for(qtbot, bench, JobEnded)
    assert bench.listener.of(JobEnded)[0].message == failed.message


@pytest.mark.logs_warnings
def test_a_rank_that_dies_at_every_start_stops_after_the_second(bench: OwnerBench, qtbot: QtBot) -> None:
    bench.owner.start_fleet(spec("die"))
    wait_for(qtbot, bench, FleetFailed, 2)
    assert [event.will_restart for event in bench.listener.of(FleetFailed)] == [True, False]
    assert len(bench.maker.made) == 2


@pytest.mark.logs_warnings
def test_a_refusal_by_all_ranks_keeps_the_fleet(bench: OwnerBench, qtbot: QtBot) -> None:
    bench.order("refuse The picture is gone.")
    wait_for(qtbot, bench, JobEnded)
    (ended,) = bench.listener.of(JobEnded)
    assert (ended.outcome, ended.message.sentence) == (JobPhase.REFUSED, "The picture is gone.")
    bench.order("clip")
    wait_for(qtbot, bench, JobEnded, 2)
    assert len(bench.maker.made) == 1


@pytest.mark.logs_warnings
def test_a_rank_that_dies_between_jobs_is_noticed_when_looked_for(bench: OwnerBench, qtbot: QtBot) -> None:
    bench.order("clip")
    wait_for(qtbot, bench, JobEnded)
    import os
    import signal

    pid = bench.maker.made[0].rank_status()[1].pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    qtbot.waitUntil(lambda: not bench.maker.made[0].is_alive, timeout=LONG_MS)
    bench.owner.check_fleet()
    wait_for(qtbot, bench, FleetFailed)
    assert "Rank 1" in bench.listener.of(FleetFailed)[0].message.sentence
    wait_for(qtbot, bench, FleetReady, 2)


def test_a_force_stop_that_met_a_fleet_whose_job_had_just_ended_is_no_failure(bench: OwnerBench, qtbot: QtBot) -> None:
    bench.order("clip")
    wait_for(qtbot, bench, JobEnded)
    bench.baton.force_stop()
    bench.owner.check_fleet()
    wait_for(qtbot, bench, FleetReady, 2)
    assert len(bench.listener.of(FleetStopped)) == 1
    assert bench.listener.of(FleetFailed) == []


def test_a_stopped_fleet_gives_its_devices_back(bench: OwnerBench, qtbot: QtBot) -> None:
    bench.owner.start_fleet(spec())
    wait_for(qtbot, bench, FleetReady)
    ranks = pids(bench)
    bench.owner.stop_fleet()
    wait_for(qtbot, bench, FleetStopped)
    assert not any(map(is_running, ranks))
    assert bench.baton.rank_rows() == ()


@pytest.mark.parametrize("state", ["before it started", "idle", "starting", "ready", "busy", "wedged"])
def test_the_end_comes_within_three_seconds_whatever_the_ranks_do(
    qapp: object, qtbot: QtBot, tmp_path: Path, patience: Patience, state: str
) -> None:
    bench = OwnerBench(tmp_path)
    if state != "before it started":
        bench.owner.start()
    if state == "starting":
        bench.owner.start_fleet(spec("hang"))
        wait_for(qtbot, bench, FleetStarting)
    elif state == "ready":
        bench.owner.start_fleet(spec())
        wait_for(qtbot, bench, FleetReady)
    elif state in ("busy", "wedged"):
        bench.order("clip 100000 0.02" if state == "busy" else "stop_rank 0")
        wait_for(qtbot, bench, JobStarted)
    if state == "wedged":
        qtbot.waitUntil(lambda: any(row.text == "stopped" for row in bench.baton.rank_rows()), timeout=LONG_MS)
    ranks = pids(bench)
    begun_s = time.monotonic()
    bench.owner.quit()
    assert time.monotonic() - begun_s < patience(RETURNS_S)
    assert bench.owner.join(patience(ENDS_S))
    assert wait_until(lambda: not any(map(is_running, ranks)), patience(ENDS_S))
    assert time.monotonic() - begun_s < patience(ENDS_S)


def test_previews_of_a_busy_second_do_not_queue_up(bench: OwnerBench, qtbot: QtBot) -> None:
    num_posted = 0

    def count() -> None:
        nonlocal num_posted
        num_posted += 1

    bench.owner.start_fleet(spec())
    wait_for(qtbot, bench, FleetReady)
    bench.signals.posted.connect(count)
    bench.order("flood 300 1000000")
    # The window's thread is busy: it takes nothing and hears nothing until the job has ended.
    deadline_s = time.monotonic() + 20
    while not (bench.folder / "clips" / "1.mp4").exists() and time.monotonic() < deadline_s:
        time.sleep(0.01)
    assert (bench.folder / "clips" / "1.mp4").exists()
    wait_for(qtbot, bench, JobEnded)
    assert num_posted == 1
    (mail,) = bench.mailbox.take()
    pictures = [preview for preview in mail.previews if isinstance(preview, PreviewPicture)]
    assert len(pictures) == 1
    assert sum(len(preview.rgb) for preview in mail.previews) < 2_000_000
    assert [event for event in mail.events if isinstance(event, StepDone)]


def test_five_thousand_words_from_a_plain_thread_all_arrive(qapp: object, qtbot: QtBot, tmp_path: Path) -> None:
    bench = OwnerBench(tmp_path)

    def talk() -> None:
        for key in range(5000):
            bench.signals.told.emit(JobTaken(key))

    talker = threading.Thread(target=talk)
    talker.start()
    qtbot.waitUntil(lambda: len(bench.listener.events) == 5000, timeout=LONG_MS)
    talker.join()
    assert [event.key for event in bench.listener.of(JobTaken)] == list(range(5000))
