"""The queue: frozen at Generate, run in the order shown, and never lost."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from podium.errors import JobRefusedError
from podium.helper.requests import CheckedJob, CheckRequest, IdentifyFiles
from podium.jobs import FileIdentity, Phase, PhaseEnded, PhaseStarted, StepDone
from podium.library import Library
from podium.ui.state.events import FleetFailed, FleetStopped, JobEnded, JobNews, JobStarted
from podium.ui.state.orders import JobOrder
from podium.ui.state.queue_order import grouped, with_moved, with_switches
from podium.ui.state.session import SessionState
from podium.ui.state.values import EntryStatus, ErrorMessage, FleetSpec, JobPhase, QueueEntry, ReusePart

from tests.fakes.requests import make_request
from tests.fakes.ui import MODELS, SPEC, FakeControls, FakeHelper, finish, make_ready, make_session, run_next

World = tuple[SessionState, FakeHelper, FakeControls]


@pytest.fixture
def ready(world: World) -> World:
    make_ready(world[0], world[1], prompt="a fox")
    return world


def add(session: SessionState, *prompts: str, in_front: bool = False) -> list[int]:
    """Press Generate for each prompt, and return the new keys."""
    before = {entry.key for entry in session.queue.entries}
    for prompt in prompts:
        session.compose.set_prompt(prompt)
        session.generate(in_front)
    return sorted({entry.key for entry in session.queue.entries} - before)


def titles(session: SessionState) -> list[str]:
    return [entry.title for entry in session.queue.entries]


def statuses(session: SessionState) -> dict[str, EntryStatus]:
    return {entry.title: entry.status for entry in session.queue.entries}


def test_generate_never_waits_for_the_clip_at_work(ready: World) -> None:
    session, helper, _ = ready
    add(session, "one", "two", "three")
    assert session.problem == ""
    assert titles(session) == ["one", "two", "three"]
    assert session.queue.running is not None
    assert (session.queue.running.title, session.queue.num_pending) == ("one", 2)
    # Only the one whose turn it is is checked.
    assert len(helper.requests(CheckRequest)) == 1


def test_entries_run_in_the_order_shown(ready: World) -> None:
    session, helper, _ = ready
    keys = add(session, "one", "two", "three", "four")
    session.queue.move(keys[3], 1)
    session.queue.move_to_front(keys[2])
    assert titles(session) == ["one", "three", "four", "two"]
    made = []
    while (running := session.queue.running) is not None:
        made.append(running.title)
        finish(session, run_next(session, helper))
    assert made == ["one", "three", "four", "two"]
    assert session.queue.entries == ()
    assert session.history.num_entries == 4


def test_ctrl_shift_enter_runs_next_and_not_before_what_is_at_work(ready: World) -> None:
    session, *_ = ready
    add(session, "one", "two")
    add(session, "now", in_front=True)
    add(session, "even sooner", in_front=True)
    assert titles(session) == ["one", "even sooner", "now", "two"]


def test_several_seeds_are_several_entries_with_names_of_their_own(ready: World) -> None:
    session, *_ = ready
    session.compose.set_seed(2**64 - 2)
    session.generate(num_seeds=3)
    assert [entry.request.seed for entry in session.queue.entries] == [2**64 - 2, 2**64 - 1, 0]
    assert len({entry.request.output_path for entry in session.queue.entries}) == 3


def test_what_is_changed_after_generate_changes_no_entry(ready: World, tmp_path: Path) -> None:
    session, *_ = ready
    session.compose.set_seed(5)
    session.loras.add([Path("/loras/fox.safetensors")])
    add(session, "one", "two")
    before = session.queue.entries
    session.compose.set_prompt("another")
    session.compose.set_size(512, 512)
    session.loras.set_strength(1, 0.5)
    session.devices.use_cpu(1)
    session.set_clips_folder(tmp_path / "elsewhere")
    assert session.queue.entries == before
    add(session, "another")
    last = session.queue.entries[-1]
    assert last.request.loras[0].strength == 0.5
    assert (last.request.clip.width, last.spec.choice.cpu_ranks) == (512, 1)
    assert last.request.output_path.parent == tmp_path / "elsewhere"
    assert session.queue.entries[1].request.loras[0].strength == 1.0


def test_an_entry_is_checked_with_what_its_files_were_when_generate_was_pressed(ready: World) -> None:
    session, helper, _ = ready
    session.loras.add([Path("/loras/fox.safetensors")])
    add(session, "one", "two")
    asked = helper.requests(IdentifyFiles)
    assert Path("/loras/fox.safetensors") in asked[1].paths
    assert MODELS.checkpoint_path in asked[1].paths
    identity = FileIdentity(Path("/loras/fox.safetensors"), 10, 20, "ab")
    helper.answer(IdentifyFiles, ())
    helper.answer(IdentifyFiles, (identity,))
    finish(session, run_next(session, helper))
    assert helper.requests(CheckRequest)[0].files == (identity,)
    assert session.library.files.all() == (identity,)


def test_an_entry_that_cannot_be_made_says_why_stays_and_the_queue_goes_on(ready: World) -> None:
    session, helper, _ = ready
    keys = add(session, "one", "two")
    helper.answer(CheckRequest, error=JobRefusedError("“fox.safetensors” was changed since.", details="/loras"))
    assert statuses(session) == {"one": EntryStatus.REFUSED, "two": EntryStatus.RUNNING}
    assert session.queue.entries[0].error == ErrorMessage("“fox.safetensors” was changed since.", "/loras")
    session.queue.retry(keys[0])
    assert statuses(session)["one"] is EntryStatus.PENDING
    assert session.queue.entries[0].error is None
    finish(session, run_next(session, helper))
    assert session.queue.running is not None
    assert session.queue.running.title == "one"


def test_many_entries_that_cannot_be_placed_are_refused_one_after_another(ready: World) -> None:
    session, *_ = ready
    spec = replace(SPEC, choice=replace(SPEC.choice, cpu_ranks=None, devices=(0,), uuids=("GPU-gone",)))
    session.devices._has_listed = True
    session.queue.pause()
    session.queue.add([make_request(str(number), seed=number) for number in range(250)], spec)
    session.queue.resume()
    assert {entry.status for entry in session.queue.entries} == {EntryStatus.REFUSED}
    assert session.queue.entries[0].error is not None
    assert "not here any more" in session.queue.entries[0].error.sentence


def test_a_failed_entry_keeps_where_it_failed(ready: World) -> None:
    session, helper, controls = ready
    controls.logs = {1: tuple(f"line {number}" for number in range(300))}
    add(session, "one")
    key = run_next(session, helper)
    session.take_news(JobNews(key, (PhaseStarted(Phase.STAGE_1, 8), StepDone(Phase.STAGE_1, 1, 8, 1.0))))
    session.apply(JobEnded(key, JobPhase.FAILED, message=ErrorMessage("Rank 1 died.", "trace"), rank=1))
    (entry,) = session.queue.entries
    assert (entry.status, entry.error) == (EntryStatus.FAILED, ErrorMessage("Rank 1 died.", "trace"))
    assert (entry.failed_rank, entry.failed_phase) == (1, Phase.STAGE_1)
    assert entry.log_lines[-1] == "line 299"
    assert entry.request.prompt == "one"


def test_what_was_stopped_by_force_is_stopped_and_not_tried_again_by_itself(ready: World) -> None:
    session, helper, _ = ready
    add(session, "one", "two")
    key = run_next(session, helper)
    session.apply(FleetStopped())
    session.apply(JobEnded(key, JobPhase.STOPPED))
    assert statuses(session) == {"one": EntryStatus.STOPPED, "two": EntryStatus.RUNNING}
    finish(session, run_next(session, helper))
    assert statuses(session) == {"one": EntryStatus.STOPPED}
    assert session.queue.running is None


def test_an_entry_that_is_cancelled_while_it_is_checked_is_stopped(ready: World) -> None:
    session, helper, controls = ready
    add(session, "one")
    session.job.cancel()
    assert statuses(session) == {"one": EntryStatus.STOPPED}
    helper.answer(CheckRequest, CheckedJob(5, (), {}))
    assert session.job.phase is JobPhase.STOPPED
    assert controls.calls == []


def test_a_paused_queue_begins_nothing_and_finishes_what_is_at_work(ready: World) -> None:
    session, helper, _ = ready
    add(session, "one", "two")
    session.queue.pause()
    assert session.queue.is_paused
    assert session.queue.pause_reason != ""
    finish(session, run_next(session, helper))
    assert statuses(session) == {"two": EntryStatus.PENDING}
    session.queue.resume()
    assert session.queue.pause_reason == ""
    assert statuses(session) == {"two": EntryStatus.RUNNING}


def test_a_paused_entry_is_passed_over(ready: World) -> None:
    session, helper, _ = ready
    keys = add(session, "one", "two", "three")
    session.queue.set_entry_paused(keys[1], True)
    assert session.queue.num_pending == 1
    finish(session, run_next(session, helper))
    assert statuses(session) == {"two": EntryStatus.PAUSED, "three": EntryStatus.RUNNING}
    finish(session, run_next(session, helper))
    session.queue.set_entry_paused(keys[1], False)
    assert statuses(session) == {"two": EntryStatus.RUNNING}


def test_a_duplicate_stands_behind_its_original_under_a_name_of_its_own(ready: World) -> None:
    session, *_ = ready
    keys = add(session, "one", "two", "three")
    session.queue.duplicate(keys[1])
    assert titles(session) == ["one", "two", "two", "three"]
    original, copy = session.queue.entries[1:3]
    assert copy.key not in keys
    assert copy.request.output_path != original.request.output_path
    assert replace(copy.request, output_path=original.request.output_path) == original.request


def test_an_edited_entry_waits_for_generate_and_keeps_its_place(ready: World) -> None:
    session, helper, _ = ready
    session.compose.set_seed_locked(True)
    session.compose.set_seed(7)
    keys = add(session, "one", "two", "three")
    session.compose.set_prompt("something else")
    session.compose.set_seed(8)
    session.queue.edit(keys[1])
    assert session.queue.edited_key == keys[1]
    assert (session.compose.prompt, session.compose.seed) == ("two", 7)
    finish(session, run_next(session, helper))
    # It is in the form, so the one behind it has its turn.
    assert statuses(session) == {"two": EntryStatus.PENDING, "three": EntryStatus.RUNNING}
    session.compose.set_prompt("two, edited")
    session.generate()
    assert session.queue.edited_key is None
    assert [(entry.key, entry.title) for entry in session.queue.entries] == [
        (keys[1], "two, edited"),
        (keys[2], "three"),
    ]


def test_an_edited_seed_is_meant_even_if_it_was_the_last_clips(ready: World) -> None:
    session, *_ = ready
    session.compose.set_seed(7)
    keys = add(session, "one")
    session.queue.pause()
    keys = add(session, "two")
    seed = session.queue.entries[-1].request.seed
    session.queue.edit(keys[0])
    session.generate()
    assert session.queue.entries[-1].request.seed == seed


def test_editing_can_be_given_up(ready: World) -> None:
    session, helper, _ = ready
    keys = add(session, "one", "two")
    session.queue.edit(keys[1])
    finish(session, run_next(session, helper))
    assert session.queue.running is None
    session.queue.stop_editing()
    assert statuses(session) == {"two": EntryStatus.RUNNING}


def test_what_is_at_work_can_be_neither_edited_nor_moved(ready: World) -> None:
    session, *_ = ready
    keys = add(session, "one", "two")
    session.queue.move(keys[0], 1)
    session.queue.move_to_front(keys[0])
    assert titles(session) == ["one", "two"]
    session.queue.edit(keys[0])
    assert session.queue.edited_key is None


def test_an_edited_entry_that_is_removed_is_edited_no_more(ready: World) -> None:
    session, *_ = ready
    keys = add(session, "one", "two")
    session.queue.edit(keys[1])
    session.queue.remove(keys[1])
    assert session.queue.edited_key is None
    add(session, "three")
    assert titles(session) == ["one", "three"]


def test_removing_what_is_at_work_cancels_it_first(ready: World) -> None:
    session, helper, controls = ready
    keys = add(session, "one", "two")
    run_next(session, helper)
    session.queue.remove(keys[0])
    assert controls.calls == [f"cancel {keys[0]}"]
    assert titles(session) == ["one", "two"]
    session.apply(JobEnded(keys[0], JobPhase.STOPPED))
    assert titles(session) == ["two"]


def test_cancel_all_ends_what_is_at_work_softly_and_takes_out_what_waits(ready: World) -> None:
    session, helper, controls = ready
    keys = add(session, "one", "two", "three")
    session.queue.set_entry_paused(keys[2], True)
    run_next(session, helper)
    session.queue.cancel_all()
    assert controls.calls == [f"cancel {keys[0]}"]
    assert titles(session) == ["one"]
    session.apply(JobEnded(keys[0], JobPhase.STOPPED))
    assert statuses(session) == {"one": EntryStatus.STOPPED}


def test_cancel_all_reaches_an_entry_whose_fleet_still_starts(ready: World) -> None:
    session, helper, controls = ready
    keys = add(session, "one", "two")
    helper.answer(CheckRequest, CheckedJob(5, (), {}))
    session.queue.cancel_all()
    assert controls.calls == [f"cancel {keys[0]}"]


def test_clear_leaves_what_is_at_work(ready: World) -> None:
    session, helper, _ = ready
    add(session, "one", "two", "three")
    key = run_next(session, helper)
    session.apply(JobEnded(key, JobPhase.FAILED, message=ErrorMessage("No.")))
    session.queue.clear()
    assert statuses(session) == {"two": EntryStatus.RUNNING}


def test_clear_and_restart_kills_the_fleet_and_starts_another(ready: World, qtbot: QtBot) -> None:
    session, helper, controls = ready
    add(session, "one", "two")
    key = run_next(session, helper)
    with qtbot.waitSignal(session.fleet_ordered) as ordered:
        session.queue.clear_and_restart()
    assert "force_stop" in controls.calls
    assert ordered.args == [session.fleet.spec]
    assert titles(session) == ["one"]
    session.apply(FleetStopped())
    session.apply(JobEnded(key, JobPhase.STOPPED))
    assert session.queue.entries == ()


def test_fleets_that_fail_one_after_another_pause_the_queue_and_it_says_why(ready: World) -> None:
    session, helper, _ = ready
    add(session, "one", "two", "three")
    key = run_next(session, helper)
    session.apply(FleetFailed(ErrorMessage("Rank 1 died."), will_restart=True))
    session.apply(JobEnded(key, JobPhase.FAILED, message=ErrorMessage("Rank 1 died.")))
    assert not session.queue.is_paused
    key = run_next(session, helper)
    session.apply(FleetFailed(ErrorMessage("Rank 0 died."), is_end=True))
    session.apply(JobEnded(key, JobPhase.FAILED, message=ErrorMessage("Rank 0 died.")))
    assert session.queue.is_paused
    assert "Rank 0 died." in session.queue.pause_reason
    assert statuses(session) == {
        "one": EntryStatus.FAILED,
        "two": EntryStatus.FAILED,
        "three": EntryStatus.PENDING,
    }
    session.queue.resume()
    assert statuses(session)["three"] is EntryStatus.RUNNING


def test_a_fleet_that_the_artist_stops_is_not_started_again_by_the_queue(ready: World) -> None:
    session, helper, _ = ready
    add(session, "one", "two")
    key = run_next(session, helper)
    session.fleet.stop()
    session.apply(JobEnded(key, JobPhase.STOPPED))
    assert session.queue.is_paused
    assert "fleet was stopped" in session.queue.pause_reason
    assert statuses(session) == {"one": EntryStatus.STOPPED, "two": EntryStatus.PENDING}


def test_an_entry_that_needs_another_fleet_says_so_and_how_long_that_takes(ready: World) -> None:
    session, helper, _ = ready
    add(session, "one")
    run_next(session, helper)
    session.devices.use_cpu(1)
    add(session, "two", "three")
    assert [entry.needs_other_fleet for entry in session.queue.entries] == [False, True, False]
    # Nobody knows yet.
    assert session.queue.entries[1].switch_s is None
    session.timings.note_start(session.queue.entries[1].spec, 41.5)
    session.devices.use_cpu(2)
    add(session, "four")
    assert [entry.needs_other_fleet for entry in session.queue.entries] == [False, True, False, True]
    assert [entry.switch_s for entry in session.queue.entries] == [None, 41.5, None, 2.0]


def test_entries_for_one_fleet_come_together_only_when_that_is_asked_for(ready: World) -> None:
    session, helper, _ = ready
    add(session, "a1")
    run_next(session, helper)
    session.devices.use_cpu(1)
    add(session, "b1")
    session.devices.use_cpu(2)
    add(session, "a2")
    session.devices.use_cpu(1)
    add(session, "b2")
    assert titles(session) == ["a1", "b1", "a2", "b2"]
    session.queue.group_by_model()
    assert titles(session) == ["a1", "a2", "b1", "b2"]
    assert [entry.needs_other_fleet for entry in session.queue.entries] == [False, False, True, False]


def test_a_hundred_entries_are_one_change(ready: World) -> None:
    session, *_ = ready
    session.queue.pause()
    changes: list[int] = []
    session.queue.entries_changed.connect(lambda: changes.append(len(session.queue.entries)))
    session.generate(num_seeds=100)
    assert changes == [100]
    assert len(session.library.queue.load()) == 100


def test_closing_after_the_clip_begins_no_other(ready: World, qtbot: QtBot) -> None:
    session, helper, _ = ready
    add(session, "one", "two")
    key = run_next(session, helper)
    session.close_when_done()
    with qtbot.waitSignal(session.close_wanted):
        finish(session, key)
    assert statuses(session) == {"two": EntryStatus.PENDING}


def test_staying_lets_the_queue_go_on(ready: World) -> None:
    session, helper, _ = ready
    add(session, "one", "two")
    key = run_next(session, helper)
    session.close_when_done()
    session.stay()
    finish(session, key)
    assert statuses(session) == {"two": EntryStatus.RUNNING}


Reopen = Callable[..., World]


@pytest.fixture
def reopen(qapp: object, tmp_path: Path) -> Iterator[Reopen]:
    """Return an opener of windows, each over the library as the one before left it: closed, or killed on the spot."""
    opened: list[tuple[SessionState, Library]] = []

    def close() -> None:
        session, library = opened[-1]
        session.close()
        library.close()

    def open_window(*, is_sudden: bool = False) -> World:
        folder = tmp_path / str(len(opened))
        before = tmp_path / str(len(opened) - 1)
        if is_sudden:
            # What lies on the disk now is all that a killed window leaves.
            shutil.copytree(before, folder)
        if opened:
            close()
            if not is_sudden:
                shutil.copytree(before, folder)
        library = Library.open(folder / "library.sqlite")
        world = make_session(tmp_path, library)
        opened.append((world[0], library))
        return world

    yield open_window
    close()


@pytest.mark.parametrize("phase", ["idle", "checking", "starting", "step", "decode"])
def test_a_window_that_is_killed_loses_nothing_and_the_next_one_starts_paused(reopen: Reopen, phase: str) -> None:
    session, helper, _ = reopen()
    make_ready(session, helper, prompt="a fox")
    if phase == "idle":
        session.queue.pause()
    keys = add(session, "one", "two", "three")
    session.queue.move(keys[2], 0 if phase == "idle" else 1)
    if phase == "starting":
        helper.answer(CheckRequest, CheckedJob(5, (), {}))
    if phase in ("step", "decode"):
        key = run_next(session, helper)
        at_work = Phase.STAGE_1 if phase == "step" else Phase.DECODING
        session.take_news(JobNews(key, (PhaseStarted(at_work, 8), StepDone(at_work, 1, 8, 1.0))))
    before = {entry.key: entry.request for entry in session.queue.entries}
    session, helper, _ = reopen(is_sudden=True)
    assert {entry.key: entry.request for entry in session.queue.entries} == before
    assert titles(session) == (["three", "one", "two"] if phase == "idle" else ["one", "three", "two"])
    assert {entry.status for entry in session.queue.entries} == {EntryStatus.PENDING}
    assert session.queue.is_paused
    assert "unexpectedly" in session.queue.pause_reason
    assert helper.requests(CheckRequest) == []
    session.queue.resume()
    assert session.queue.running is session.queue.entries[0]


def test_a_window_that_is_closed_keeps_its_queue_and_does_not_run_it_unasked(reopen: Reopen) -> None:
    session, helper, _ = reopen()
    make_ready(session, helper, prompt="a fox")
    add(session, "one", "two")
    run_next(session, helper)
    session, *_ = reopen()
    assert titles(session) == ["one", "two"]
    assert session.queue.is_paused
    assert "left over when Podium was closed" in session.queue.pause_reason


def test_an_empty_queue_is_not_paused_whatever_came_before(reopen: Reopen) -> None:
    reopen()
    session, *_ = reopen(is_sudden=True)
    assert not session.queue.is_paused


def test_a_failed_entry_is_there_with_all_it_knows_the_next_time(reopen: Reopen) -> None:
    session, helper, _ = reopen()
    make_ready(session, helper, prompt="a fox")
    add(session, "one")
    key = run_next(session, helper)
    message = ErrorMessage("Rank 1 died.", "trace")
    phase = Phase.STAGE_2
    session.apply(JobEnded(key, JobPhase.FAILED, message=message, rank=1, phase=phase, log_lines=("last words",)))
    (before,) = session.queue.entries
    session, *_ = reopen()
    assert session.queue.entries == (before,)
    assert not session.queue.is_paused


@pytest.mark.parametrize("is_sudden", [True, False], ids=["killed", "closed"])
def test_what_its_check_said_stands_at_an_entry_the_next_time_until_the_next_check(
    reopen: Reopen, is_sudden: bool
) -> None:
    session, helper, _ = reopen()
    make_ready(session, helper, prompt="a fox")
    add(session, "one", "two")
    helper.answer(CheckRequest, CheckedJob(5, (), {}, notes=("It may do little.",)))
    session, helper, _ = reopen(is_sudden=is_sudden)
    assert [entry.notes for entry in session.queue.entries] == [("It may do little.",), ()]
    session.queue.resume()
    helper.answer(CheckRequest, CheckedJob(5, (), {}))
    assert session.queue.entries[0].notes == ()
    session, *_ = reopen(is_sudden=True)
    assert session.queue.entries[0].notes == ()


def test_a_clip_that_was_written_before_the_window_died_is_not_made_twice(reopen: Reopen, tmp_path: Path) -> None:
    from podium.helper.requests import ClipContents, ReadClip
    from podium.jobs import ClipFinished

    session, helper, _ = reopen()
    make_ready(session, helper, prompt="a fox")
    add(session, "one", "two")
    run_next(session, helper)
    request = session.queue.entries[0].request
    session, helper, _ = reopen(is_sudden=True)
    clip = ClipFinished(request.output_path, request.output_path.with_suffix(".json"), request.clip, 24_000, 9)
    asked = helper.answer(ReadClip, ClipContents(clip, request))
    assert asked.path == request.output_path
    assert titles(session) == ["two"]
    assert session.history.num_entries == 1


def test_what_cannot_be_kept_is_said_and_kept_as_soon_as_that_works(reopen: Reopen) -> None:
    session, helper, _ = reopen()
    make_ready(session, helper, prompt="a fox")
    database = session.library._database
    (used,) = database.read("PRAGMA page_count")[0]
    database.read(f"PRAGMA max_page_count = {used}")
    session.queue.pause()
    session.generate(num_seeds=100)
    assert len(session.queue.entries) == 100
    assert "the disk is full" in session.queue.problem
    database.read("PRAGMA max_page_count = 1000000")
    session.queue.move(session.queue.entries[99].key, 0)
    assert session.queue.problem == ""
    order = [entry.key for entry in session.queue.entries]
    session, *_ = reopen(is_sudden=True)
    assert [entry.key for entry in session.queue.entries] == order


def test_gpus_are_found_by_what_they_are_and_not_by_their_number(reopen: Reopen) -> None:
    from podium.helper.requests import DeviceReport, ListDevices

    def gpu(index: int, uuid: str) -> DeviceReport:
        return DeviceReport(index, uuid, "NVIDIA H200", "0", 10, 0)

    session, helper, _ = reopen()
    make_ready(session, helper, prompt="a fox")
    session.devices.use_gpus()
    session.devices.refresh()
    helper.answer(ListDevices, (gpu(0, "GPU-a"), gpu(1, "GPU-b")))
    session.devices.choose_uuids(["GPU-b"])
    add(session, "one")
    assert session.queue.entries[0].spec.choice.devices == (1,)
    session, helper, _ = reopen()
    session.queue.resume()
    # Nobody has looked yet which GPUs are here.
    assert session.queue.running is None
    session.devices.refresh()
    orders: list[JobOrder] = []
    session.job_ordered.connect(orders.append)
    helper.answer(ListDevices, (gpu(0, "GPU-b"),))
    helper.answer(CheckRequest, CheckedJob(5, (), {}))
    assert [order.spec.choice.devices for order in orders] == [(0,)]


def entry(key: int, spec: FleetSpec, status: EntryStatus = EntryStatus.PENDING) -> QueueEntry:
    from datetime import UTC, datetime

    return QueueEntry(key, make_request(seed=key), spec, status, datetime(2026, 1, 1, tzinfo=UTC))


_specs = st.sampled_from(
    [SPEC, replace(SPEC, dtype="bfloat16"), replace(SPEC, max_tokens=1), replace(SPEC, max_tokens=10**7)]
)
_queues = st.lists(
    st.tuples(_specs, st.sampled_from([EntryStatus.PENDING, EntryStatus.PAUSED, EntryStatus.FAILED]))
).map(lambda items: tuple(entry(key, spec, status) for key, (spec, status) in enumerate(items, 1)))


@given(_queues, st.integers(-2, 30), st.integers(1, 30))
def test_a_move_changes_nothing_but_the_order(entries: tuple[QueueEntry, ...], place: int, key: int) -> None:
    moved = with_moved(entries, key, place)
    assert sorted(e.key for e in moved) == [e.key for e in entries]
    others = [e.key for e in moved if e.key != key]
    assert others == sorted(others)
    if key <= len(entries):
        assert moved.index(entries[key - 1]) == min(len(entries) - 1, max(0, place))


@given(_queues, st.none() | _specs)
def test_grouping_switches_fleets_as_seldom_as_can_be(entries: tuple[QueueEntry, ...], fleet: FleetSpec | None) -> None:
    result = grouped(entries, fleet)
    assert sorted(e.key for e in result) == [e.key for e in entries]
    waiting = [e for e in result if e.status.is_waiting]
    kinds = [e.spec.dtype for e in waiting]
    runs = [kind for place, kind in enumerate(kinds) if place == 0 or kinds[place - 1] != kind]
    assert len(runs) == len(set(kinds))
    for kind in set(kinds):
        keys = [e.key for e in waiting if e.spec.dtype == kind]
        assert keys == sorted(keys)
    if fleet is not None and fleet.dtype in kinds:
        assert kinds[0] == fleet.dtype


@given(_queues, st.none() | _specs)
def test_what_is_said_of_fleets_is_what_a_run_would_see(
    entries: tuple[QueueEntry, ...], fleet: FleetSpec | None
) -> None:
    told = with_switches(entries, fleet, lambda spec: 7.0)
    current = fleet
    for e in told:
        if e.status is not EntryStatus.PENDING:
            continue
        is_switch = current is not None and not current.serves(e.spec)
        assert (e.needs_other_fleet, e.switch_s) == (is_switch, 7.0 if is_switch else None)
        if current is None or is_switch:
            current = e.spec


def test_reusing_takes_the_parts_that_are_wanted(ready: World) -> None:
    session, *_ = ready
    session.loras.add([Path("/loras/old.safetensors")])
    session.compose.set_prompt("mine")
    other = replace(make_request("theirs", seed=99), loras=())
    session.reuse(other, frozenset({ReusePart.SEED}))
    assert (session.compose.prompt, session.compose.seed, len(session.loras.items)) == ("mine", 99, 1)
    session.reuse(other, frozenset({ReusePart.PROMPT, ReusePart.LORAS, ReusePart.SIZE}))
    assert (session.compose.prompt, session.loras.items) == ("theirs", ())
    assert (session.compose.width, session.compose.height) == (256, 192)


def test_a_job_that_the_queue_knows_nothing_of_changes_nothing(ready: World) -> None:
    session, *_ = ready
    session.apply(JobStarted(77))
    session.apply(JobEnded(77, JobPhase.FAILED, message=ErrorMessage("No.")))
    assert session.queue.entries == ()


def test_phases_of_a_finished_clip_are_remembered(ready: World) -> None:
    session, helper, _ = ready
    add(session, "one")
    key = run_next(session, helper)
    spec, request = session.queue.entries[0].spec, session.queue.entries[0].request
    session.take_news(JobNews(key, (PhaseStarted(Phase.STAGE_1, 8), PhaseEnded(Phase.STAGE_1, 12.0))))
    finish(session, key)
    assert session.timings.estimate(spec, request.clip) == 12.0
    assert session.timings.start_s(spec) == 2.0


def test_a_fast_fleet_is_not_another_one_for_a_lora_that_it_does_not_read(
    world: World,
) -> None:
    session, helper, _ = world
    make_ready(session, helper, prompt="a fox")
    models = session.pack.models
    assert models is not None
    session.generate()
    session.pack._update(models=replace(models, distilled_lora_path=Path("/models/distilled.safetensors")))
    session.generate()
    first, second = session.queue.entries
    assert first.spec == second.spec
