"""Stage, progress, fleet, log, history, model and devices: each works with its state and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from podium.helper.requests import ListDevices
from podium.jobs import ClipFinished, Phase, PhaseStarted, StepDone
from podium.ui.state.events import FleetFailed, FleetReady, FleetStarting, FleetStopped, JobEnded, JobNews
from podium.ui.state.values import CancelPhase, ErrorMessage, FleetPhase, JobPhase, PackSlot, RankRow
from podium.ui.views.device_view import DeviceView
from podium.ui.views.error_view import ErrorView
from podium.ui.views.fleet_view import FleetView
from podium.ui.views.history_view import HistoryView
from podium.ui.views.log_view import LogView
from podium.ui.views.pack_view import PackView
from podium.ui.views.progress_view import ProgressView
from podium.ui.views.stage_view import StageView

from tests.ui.views import scenes
from tests.ui.views.scenes import SPEC, World

LEFT = Qt.MouseButton.LeftButton


def shown(view: QWidget, qtbot: QtBot) -> None:
    qtbot.addWidget(view)
    view.resize(1000, 600)
    view.show()


@pytest.fixture
def stage(world: World, qtbot: QtBot) -> Iterator[StageView]:
    view = StageView(world.session.job, world.session.history)
    shown(view, qtbot)
    yield view
    view.close_player()


def test_an_empty_stage_invites(stage: StageView) -> None:
    assert stage.message.title_text == "Your clip will be here"
    assert not stage.progress.isVisible()
    assert not stage.transport.isVisible()


def test_the_live_picture_comes_and_then_motion_that_loops(stage: StageView, world: World, qtbot: QtBot) -> None:
    scenes.starting(world)
    assert stage.picture.image.width() == 152
    assert stage.progress.isVisible()
    assert not stage._motion.is_running
    pictures = [scenes.evening(32, 16, time=k / 3) for k in range(3)]
    key = world.session.job.key
    assert key is not None
    motion = scenes.MotionPreview(Phase.STAGE_1, 2, 32, 16, 3, 0.01, b"".join(p.tobytes() for p in pictures))
    world.session.job.take_preview(key, motion)
    assert stage._motion.is_running
    seen = set()
    stage._motion._timer.timeout.connect(lambda: seen.add(stage.picture.image.constBits().tobytes()))
    qtbot.waitUntil(lambda: len(seen) == 3)


def test_where_motion_is_unwelcome_only_a_picture_is_shown(world: World, qtbot: QtBot) -> None:
    view = StageView(world.session.job, world.session.history, is_motion_reduced=True)
    shown(view, qtbot)
    scenes.run_to_stage_2(world)
    assert view.picture.image.width() == 304
    assert not view._motion.is_running


def test_the_finished_clip_plays_in_a_loop(
    stage: StageView, world: World, small_clip: ClipFinished, qtbot: QtBot
) -> None:
    scenes.finish(world, small_clip)
    qtbot.waitUntil(lambda: stage.player is not None and stage.player.is_playing)
    assert stage.transport.isVisible()
    assert not stage.progress.isVisible()
    qtbot.waitUntil(lambda: stage.picture.image.width() == small_clip.clip.width)
    qtbot.mouseClick(stage.picture, LEFT)
    qtbot.waitUntil(lambda: not stage.player.is_playing)
    before = stage.player.frame
    qtbot.keyClick(stage.picture, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: stage.player.frame == (before + 1) % 25 or before == 24)


def test_an_older_clip_can_be_looked_at_and_the_live_one_again(
    stage: StageView, world: World, small_clip: ClipFinished, qtbot: QtBot
) -> None:
    request = world.session.compose.to_request(small_clip.path)
    world.session.history.add(small_clip, request)
    world.session.history.select(small_clip.path)
    qtbot.waitUntil(lambda: stage.picture.image.width() == small_clip.clip.width)
    world.session.history.select(None)
    assert stage.message.title_text == "Your clip will be here"
    assert not stage.transport.isVisible()


def test_a_failure_stands_on_the_stage_with_its_details(stage: StageView, world: World, qtbot: QtBot) -> None:
    scenes.failed(world)
    assert stage.error.heading_text == "The clip was not made"
    assert "killed by the system" in stage.error.banner.sentence
    qtbot.mouseClick(stage.error.banner.fold._copy, LEFT)
    copied = QGuiApplication.clipboard().text()
    assert "killed by the system" in copied
    assert "signal 9" in copied


def test_a_clip_that_was_stopped_is_no_failure(stage: StageView, world: World) -> None:
    key = scenes.run_to_stage_2(world)
    world.session.apply(JobEnded(key, JobPhase.STOPPED))
    assert stage.message.title_text == "Stopped"


def test_a_fold_without_details_shows_no_switch(qtbot: QtBot) -> None:
    view = ErrorView()
    shown(view, qtbot)
    view.show_error(ErrorMessage("It is so."), "Oh")
    assert view.banner.isVisible()
    assert not view.banner.fold.isVisible()
    view.show_error(None)
    assert not view.banner.isVisible()


CANCEL_WORDS = {
    CancelPhase.NONE: ("Cancel", False),
    CancelPhase.CAN_CANCEL: ("Cancel", True),
    CancelPhase.CANCELLING: ("Cancelling…", False),
    CancelPhase.CAN_FORCE: ("Force stop", True),
    CancelPhase.FORCING: ("Stopping…", False),
}


@pytest.mark.parametrize("phase", CancelPhase)
def test_the_cancel_button_says_what_it_does_now(world: World, qtbot: QtBot, phase: CancelPhase) -> None:
    view = ProgressView(world.session.job)
    shown(view, qtbot)
    world.session.job._update(cancel_phase=phase, force_cost="It costs." if phase is CancelPhase.CAN_FORCE else "")
    assert (view.cancel_button.text(), view.cancel_button.isEnabled()) == CANCEL_WORDS[phase]
    assert (view.cancel_button.property("kind") == "danger") is (phase is CancelPhase.CAN_FORCE)
    assert view.cost_text == ("It costs." if phase is CancelPhase.CAN_FORCE else "")


def test_a_press_asks_softly_and_a_double_click_never_forces(world: World, qtbot: QtBot) -> None:
    view = ProgressView(world.session.job)
    shown(view, qtbot)
    key = scenes.run_to_stage_2(world)
    qtbot.mouseClick(view.cancel_button, LEFT)
    qtbot.mouseDClick(view.cancel_button, LEFT)
    assert world.controls.calls == [f"cancel {key}"]
    world.session.job._force_timer.stop()
    world.session.job._offer_force()
    qtbot.mouseClick(view.cancel_button, LEFT)
    assert world.controls.calls == [f"cancel {key}", "force_stop"]
    assert view.cancel_button.text() == "Stopping…"


def test_progress_is_told_in_words_and_by_phase(world: World, qtbot: QtBot) -> None:
    view = ProgressView(world.session.job)
    shown(view, qtbot)
    key = scenes.run_to_stage_2(world)
    assert view.title_text == "Stage 2, step 2 of 3"
    assert view.left_text.startswith("about ")
    assert view._segments[Phase.STAGE_1]._label.property("progress") == "done"
    assert view._segments[Phase.STAGE_2]._label.property("progress") == "running"
    assert view._segments[Phase.WRITING]._label.property("progress") == "ahead"
    world.session.take_news(JobNews(key, (StepDone(Phase.STAGE_2, 3, 3, 9.0), PhaseStarted(Phase.UPSAMPLING))))
    assert view._segments[Phase.STAGE_2]._meter.value() == 1000


def test_a_rank_that_does_not_respond_is_unmistakable(world: World, qtbot: QtBot) -> None:
    view = FleetView(world.session.fleet)
    shown(view, qtbot)
    scenes.stuck(world)
    waiting, culprit = view.row_views
    qtbot.waitUntil(culprit.isVisible)
    assert culprit.property("tone") == "danger"
    assert culprit._state.text() == "NOT RESPONDING"
    assert culprit._state.isVisible()
    assert "NOT RESPONDING" in culprit.accessibleName()
    assert "41.7 s ago" in culprit.texts
    assert (waiting.property("tone") or "") == ""
    assert waiting._state.text() == "waiting for rank 1"
    assert view.headline_text == "Rank 1 does not respond"


def test_a_rank_s_line_tells_device_phase_step_and_memory(world: World, qtbot: QtBot) -> None:
    view = FleetView(world.session.fleet)
    shown(view, qtbot)
    scenes.running(world)
    assert view.row_views[0].texts == (
        *("Rank 0", "GPU 0", "Stage 2", "step 2 of 3", "41 GB", "0.2 s ago", "alive"),
    )  # fmt: skip
    loading = RankRow(0, "cpu", "alive", True, Phase.LOADING, bytes_done=3 * 2**30, bytes_total=46 * 2**30)
    world.session.fleet._update(rows=(loading,))
    assert view.row_views[0].texts[1:4] == ("CPU", "Loading the model", "3.0 GB of 46 GB")
    assert len(view.row_views) == 1


def test_the_fleet_is_started_unloaded_and_stopped(world: World, qtbot: QtBot) -> None:
    view, fleet = FleetView(world.session.fleet), world.session.fleet
    shown(view, qtbot)
    with qtbot.waitSignal(fleet.start_requested):
        qtbot.mouseClick(view.start_button, LEFT)
    fleet.apply(FleetStarting(SPEC))
    assert (view.start_button.isVisible(), view.stop_button.isVisible()) == (False, True)
    fleet.apply(FleetReady(SPEC, 2.0))
    with qtbot.waitSignal(fleet.stop_requested):
        qtbot.mouseClick(view.unload_button, LEFT)
    fleet.apply(FleetStopped())
    assert fleet.phase is FleetPhase.STOPPED
    assert view.headline_text == "No fleet"


def test_a_fleet_that_failed_says_why_and_what_comes_next(world: World, qtbot: QtBot) -> None:
    view = FleetView(world.session.fleet)
    shown(view, qtbot)
    world.session.fleet.apply(FleetFailed(ErrorMessage("Rank 0 died.", "signal 9"), will_restart=True))
    assert view.banner.sentence == "Rank 0 died."
    assert view._note.text() == "A new fleet is started."


def test_a_log_is_read_while_it_is_seen(world: World, qtbot: QtBot) -> None:
    view = LogView(world.session.fleet)
    world.controls.logs = {0: ("first",), 1: ("second rank",)}
    shown(view, qtbot)
    assert view.text == "first"
    world.controls.logs[0] = ("first", "next")
    qtbot.waitUntil(lambda: view.text == "first\nnext")
    world.session.fleet._update(rows=scenes.rank_rows())
    qtbot.mouseClick(view.choice.buttons[1], LEFT)
    assert view.text == "second rank"
    view.hide()
    assert not view._timer.isActive()


def test_a_clip_of_the_history_is_chosen_by_mouse_and_keys(world: World, qtbot: QtBot) -> None:
    view, history = HistoryView(world.session.history), world.session.history
    shown(view, qtbot)
    scenes.history(world)
    model = view.list.model()
    assert model.rowCount() == 3
    rect = view.list.visualRect(model.index(1, 0))
    qtbot.mouseClick(view.list.viewport(), LEFT, pos=rect.center())
    assert history.selected is history.entries[1]
    view.list.setCurrentIndex(model.index(2, 0))
    qtbot.keyClick(view.list, Qt.Key.Key_Return)
    assert history.selected is history.entries[2]
    qtbot.mouseClick(view.live_button, LEFT)
    assert history.selected is None
    assert not view.live_button.isVisible()


def test_the_model_s_files_are_chosen_without_stopping_the_window(world: World, qtbot: QtBot) -> None:
    view = PackView(world.session.pack)
    shown(view, qtbot)
    qtbot.mouseClick(view.file_view(PackSlot.CHECKPOINT).choose_button, LEFT)
    dialog = view.findChild(QFileDialog)
    assert dialog.isVisible()
    dialog.filesSelected.emit([str(scenes.MODELS.checkpoint_path)])
    dialog.close()
    assert world.session.pack.file(PackSlot.CHECKPOINT).path == scenes.MODELS.checkpoint_path


def test_what_was_found_in_a_file_is_told_beside_it(world: World, qtbot: QtBot) -> None:
    view = PackView(world.session.pack)
    shown(view, qtbot)
    scenes.welcomed(world)
    assert view.file_view(PackSlot.CHECKPOINT).status_text == "LTX-2.3 · distilled · full precision · 43 GB"
    assert "has no tokenizer.json" in view.file_view(PackSlot.TEXT_ENCODER).status_text
    assert view.file_view(PackSlot.UPSCALER).status_text == ""


def test_gpus_are_chosen_and_those_that_cannot_be_say_why(world: World, qtbot: QtBot) -> None:
    view, devices = DeviceView(world.session.devices), world.session.devices
    shown(view, qtbot)
    scenes.empty(world)
    first, _, old = view.row_views
    qtbot.waitUntil(first.isVisible)
    assert not old.check.isEnabled()
    assert "bfloat16" in old.reason_text
    qtbot.mouseClick(first.check, LEFT)
    assert [row.is_chosen for row in devices.devices] == [False, True, False]


def test_the_cpu_is_chosen_and_said_to_be_slow(world: World, qtbot: QtBot) -> None:
    view, devices = DeviceView(world.session.devices), world.session.devices
    shown(view, qtbot)
    scenes.empty(world)
    assert devices.cpu_ranks is None
    assert not view.rank_field.isEnabled()
    view.cpu_button.click()
    view.rank_field.setValue(2)
    assert devices.cpu_ranks == 2
    assert "slow" in view.note_text
    view.gpu_button.click()
    assert devices.cpu_ranks is None


def test_a_machine_without_a_gpu_says_what_can_be_done(world: World, qtbot: QtBot) -> None:
    view = DeviceView(world.session.devices)
    shown(view, qtbot)
    world.session.devices.refresh()
    assert view.status_text == "Being looked for…"
    world.helper.answer(ListDevices, ())
    assert "CPU" in view.status_text
