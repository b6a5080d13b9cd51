"""Stage, progress, exports, fleet, log, model and devices: each works with its state and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QDrag, QGuiApplication, QMouseEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from podium.helper.requests import CancelExport, ExportClip, GetExportShare, ListDevices, SaveFrame
from podium.jobs import ClipFinished, Phase, PhaseStarted, PreviewClip, StepDone
from podium.media.errors import MediaError
from podium.media.export_kinds import ExportCancelledError, ExportKind
from podium.ui.state.events import FleetFailed, FleetReady, FleetStarting, FleetStopped, JobEnded, JobNews
from podium.ui.state.images import FramePlace
from podium.ui.state.values import (
    CancelPhase,
    ErrorMessage,
    FleetPhase,
    HistoryEntry,
    JobPhase,
    PackSlot,
)
from podium.ui.views.device_view import DeviceView
from podium.ui.views.error_view import ErrorView
from podium.ui.views.export_dialog import ExportDialog
from podium.ui.views.fleet_view import FleetView
from podium.ui.views.log_view import LogView
from podium.ui.views.pack_view import PackView
from podium.ui.views.progress_view import ProgressView
from podium.ui.views.shown_clip import ShownClip
from podium.ui.views.stage_view import StageView
from podium.ui.views.widgets.drops import local_paths

from tests.ui.views import scenes, work_scenes
from tests.ui.views.scenes import SPEC, World

LEFT = Qt.MouseButton.LeftButton


def shown(view: QWidget, qtbot: QtBot) -> None:
    qtbot.addWidget(view)
    view.resize(1000, 600)
    view.show()


def make_stage(world: World, *, is_motion_reduced: bool = False) -> StageView:
    session = world.session
    return StageView(session.job, session.history, session.exports, is_motion_reduced=is_motion_reduced)


@pytest.fixture
def stage(world: World, qtbot: QtBot) -> Iterator[StageView]:
    view = make_stage(world)
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
    view = make_stage(world, is_motion_reduced=True)
    shown(view, qtbot)
    scenes.run_to_stage_2(world)
    assert view.picture.image.width() == 304
    assert not view._motion.is_running
    view.set_motion_reduced(False)
    assert view._motion.is_running
    view.set_motion_reduced(True)
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
    entry = work_scenes.add_clip(world, 0, clip=small_clip)
    world.session.history.select(entry.key)
    qtbot.waitUntil(lambda: stage.picture.image.width() == small_clip.clip.width)
    world.session.history.select(None)
    assert stage.message.title_text == "Your clip will be here"
    assert not stage.transport.isVisible()


def test_the_first_stage_s_clip_plays_while_the_second_runs_and_then_the_finished_one(
    stage: StageView, world: World, small_clip: ClipFinished, tmp_path: Path, qtbot: QtBot
) -> None:
    key = scenes.run_to_stage_2(world)
    preview = tmp_path / "preview.mp4"
    preview.write_bytes(small_clip.path.read_bytes())
    world.session.take_news(JobNews(key, (PreviewClip(Phase.STAGE_1, preview),)))
    qtbot.waitUntil(lambda: stage.player is not None and stage.player.is_playing)
    assert stage.shown == ShownClip(preview, scenes.CLIP.halved(), is_preview=True)
    assert stage.progress.isVisible()
    assert stage.transport.isVisible()
    # What is gone in a moment is neither exported nor taken apart.
    assert not stage.desk.actions.export.isEnabled()
    assert not stage.desk.actions.use_first.isEnabled()
    world.session.apply(JobEnded(key, JobPhase.FINISHED, clip=small_clip))
    assert stage.shown == ShownClip(small_clip.path, small_clip.clip)
    assert stage.desk.actions.export.isEnabled()


@pytest.fixture
def shown_clip(stage: StageView, world: World, small_clip: ClipFinished, qtbot: QtBot) -> HistoryEntry:
    """Return the entry of a clip that stands on the Stage at its sixth frame."""
    entry = work_scenes.add_clip(world, 0, clip=small_clip)
    world.session.history.select(entry.key)
    qtbot.waitUntil(lambda: not stage.picture.image.isNull())
    stage.transport.go_to(5)
    qtbot.waitUntil(lambda: stage.player is not None and stage.player.frame == 5 and not stage.player.is_playing)
    return entry


@pytest.mark.parametrize("place", [FramePlace.FIRST, FramePlace.LAST])
def test_the_frame_that_is_seen_becomes_an_image_of_the_next_clip(
    stage: StageView, world: World, shown_clip: HistoryEntry, place: FramePlace
) -> None:
    actions = stage.desk.actions
    (actions.use_first if place is FramePlace.FIRST else actions.use_last).trigger()
    request = world.helper.requests(SaveFrame)[0]
    assert (request.source, request.number) == (shown_clip.clip.path, 5)
    assert request.target.name.startswith("small-00006-")
    world.helper.answer(SaveFrame, request.target)
    items = world.session.compose.images.items
    assert [(item.path, item.place) for item in items] == [(request.target, place)]


def test_the_frame_that_is_seen_is_saved_under_a_name_of_choice(
    stage: StageView, world: World, shown_clip: HistoryEntry, tmp_path: Path
) -> None:
    stage.desk.actions.save_frame.trigger()
    dialog = stage.findChild(QFileDialog)
    assert dialog.acceptMode() is QFileDialog.AcceptMode.AcceptSave
    dialog.fileSelected.emit(str(tmp_path / "mine.png"))
    dialog.close()
    request = world.helper.requests(SaveFrame)[0]
    assert (request.number, request.target) == (5, tmp_path / "mine.png")
    world.helper.answer(SaveFrame, error=MediaError("There is no room left."))
    assert world.session.exports.error == ErrorMessage("There is no room left.")


def test_frame_and_file_are_copied(stage: StageView, shown_clip: HistoryEntry) -> None:
    stage.desk.actions.copy_frame.trigger()
    assert QGuiApplication.clipboard().image().size() == stage.picture.image.size()
    stage.desk.actions.copy_file.trigger()
    assert local_paths(QGuiApplication.clipboard().mimeData()) == [shown_clip.clip.path]


def test_the_clip_is_handed_on_by_its_actions(
    stage: StageView, world: World, shown_clip: HistoryEntry, qtbot: QtBot
) -> None:
    desk, wanted = stage.desk, ShownClip(shown_clip.clip.path, shown_clip.clip.clip)
    with qtbot.waitSignal(desk.export_requested) as asked:
        desk.actions.export.trigger()
    assert asked.args == [wanted]
    with qtbot.waitSignal(desk.folder_requested) as asked:
        desk.actions.show_in_folder.trigger()
    assert asked.args == [wanted.path]
    for action, chooses in ((desk.actions.reuse_all, False), (desk.actions.reuse_parts, True)):
        with qtbot.waitSignal(desk.reuse_requested) as asked:
            action.trigger()
        assert (asked.args[0].key, asked.args[1]) == (shown_clip.key, chooses)
    desk.actions.star.trigger()
    assert world.session.history.model.entries[0].is_starred
    assert desk.actions.star.isChecked()
    desk.actions.trash.trigger()
    assert world.session.history.num_entries == 0
    assert not desk.actions.star.isEnabled()


def test_the_clip_is_dragged_out_as_a_file_and_a_press_alone_plays(
    stage: StageView, shown_clip: HistoryEntry, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    dragged: list[list[Path]] = []
    monkeypatch.setattr(QDrag, "exec", lambda drag, _action: dragged.append(local_paths(drag.mimeData())))
    picture = stage.picture
    qtbot.mousePress(picture, LEFT, pos=QPoint(50, 50))
    qtbot.mouseMove(picture, QPoint(52, 50))
    assert not dragged
    QApplication.sendEvent(picture, moved_to(QPoint(120, 90)))
    assert dragged == [[shown_clip.clip.path]]
    qtbot.mouseRelease(picture, LEFT, pos=QPoint(120, 90))
    assert stage.player is not None
    assert not stage.player.is_playing
    qtbot.mouseClick(picture, LEFT)
    qtbot.waitUntil(lambda: stage.player is not None and stage.player.is_playing)


def moved_to(point: QPoint) -> QMouseEvent:
    where = QPointF(point)
    return QMouseEvent(QEvent.Type.MouseMove, where, where, LEFT, LEFT, Qt.KeyboardModifier.NoModifier)


@pytest.mark.parametrize(
    ("key", "frame"),
    [
        *((Qt.Key.Key_Comma, 4), (Qt.Key.Key_Period, 6), (Qt.Key.Key_Left, 4), (Qt.Key.Key_Right, 6)),
        *((Qt.Key.Key_Home, 0), (Qt.Key.Key_End, 24)),
    ],
)
def test_frames_are_stepped_by_keys(
    stage: StageView, shown_clip: HistoryEntry, qtbot: QtBot, key: Qt.Key, frame: int
) -> None:
    stage.activateWindow()
    stage.picture.setFocus()
    qtbot.keyClick(stage.picture, key)
    qtbot.waitUntil(lambda: stage.player is not None and stage.player.frame == frame)


def test_speed_loop_and_sound_have_keys(stage: StageView, shown_clip: HistoryEntry, qtbot: QtBot) -> None:
    stage.activateWindow()
    stage.picture.setFocus()
    speed = stage.transport.speed_button
    qtbot.keyClick(stage.picture, Qt.Key.Key_BracketRight)
    assert (speed.speed, speed.text()) == (1.25, "1.25×")
    for _ in range(9):
        qtbot.keyClick(stage.picture, Qt.Key.Key_BracketLeft)
    assert speed.speed == 0.25
    assert speed.accessibleName() == "Speed: 0.25×"
    qtbot.keyClick(stage.picture, Qt.Key.Key_L)
    assert not stage.transport.loop_button.isChecked()
    qtbot.keyClick(stage.picture, Qt.Key.Key_M)
    assert stage.transport.mute_button.isChecked()


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


@pytest.fixture
def export(world: World, small_clip: ClipFinished, qtbot: QtBot) -> Iterator[ExportDialog]:
    parent = QWidget()
    qtbot.addWidget(parent)
    parent.show()
    dialog = ExportDialog(world.session.exports, ShownClip(small_clip.path, small_clip.clip), parent)
    dialog.open()
    yield dialog
    parent.close()


def test_a_clip_is_exported_as_what_is_chosen(export: ExportDialog, world: World, qtbot: QtBot) -> None:
    export.kind_radio(ExportKind.WEBP).click()
    assert export.side_choice.isVisible()
    export.side_choice.setCurrentIndex(2)
    qtbot.mouseClick(export.export_button, LEFT)
    request = world.helper.requests(ExportClip)[0]
    assert (request.kind, request.target.name, request.max_side_px) == (ExportKind.WEBP, "small.webp", 720)
    assert not request.overwrite
    export.close()


def test_a_master_keeps_its_size_and_gets_a_name_of_its_own(export: ExportDialog, world: World, qtbot: QtBot) -> None:
    assert not export.side_choice.isVisible()
    qtbot.mouseClick(export.export_button, LEFT)
    request = world.helper.requests(ExportClip)[0]
    assert (request.kind, request.target.name) == (ExportKind.PRORES_422_HQ, "small-prores.mov")
    assert request.max_side_px is None
    export.close()


def test_dnxhr_is_not_offered_for_a_picture_it_cannot_hold(export: ExportDialog) -> None:
    radio = export.kind_radio(ExportKind.DNXHR_HQX)
    assert not radio.isEnabled()
    assert "256 × 120" in radio.toolTip()
    export.close()


def test_where_an_export_goes_is_chosen_and_what_was_agreed_to_is_replaced(
    export: ExportDialog, world: World, tmp_path: Path, qtbot: QtBot
) -> None:
    qtbot.mouseClick(export.choose_button, LEFT)
    dialog = export.findChild(QFileDialog)
    dialog.fileSelected.emit(str(tmp_path / "master.mov"))
    dialog.close()
    qtbot.mouseClick(export.export_button, LEFT)
    request = world.helper.requests(ExportClip)[0]
    assert (request.target, request.overwrite) == (tmp_path / "master.mov", True)
    export.close()


def test_an_export_is_watched_cancelled_and_done(export: ExportDialog, world: World, qtbot: QtBot) -> None:
    exports = world.session.exports
    qtbot.mouseClick(export.export_button, LEFT)
    assert not export.export_button.isVisible()
    exports._poll()
    world.helper.answer(GetExportShare, 0.4)
    assert export.progress_text == "Being written, 40%"
    qtbot.mouseClick(export.cancel_button, LEFT)
    assert not export.cancel_button.isEnabled()
    assert len(world.helper.requests(CancelExport)) == 1
    world.helper.answer(ExportClip, error=ExportCancelledError("It was cancelled."))
    # What was asked for is no failure.
    assert export.banner.sentence == ""
    qtbot.mouseClick(export.export_button, LEFT)
    target = world.helper.requests(ExportClip)[0].target
    world.helper.answer(ExportClip, target)
    assert export.progress_text == "“small-prores.mov” was written."
    with qtbot.waitSignal(export.folder_requested) as asked:
        qtbot.mouseClick(export.folder_button, LEFT)
    assert asked.args == [target]
    export.close()


def test_the_export_dialog_is_as_high_as_what_it_shows_and_keeps_what_height_was_added(
    export: ExportDialog, world: World, qtbot: QtBot
) -> None:
    layout = export.layout()
    assert layout is not None

    def spare_px() -> int:
        QApplication.processEvents()
        return export.height() - layout.totalHeightForWidth(export.width())

    assert spare_px() == 0
    least_px = export.height()
    export.kind_radio(ExportKind.GIF).click()
    assert spare_px() == 0
    assert export.height() > least_px
    qtbot.mouseClick(export.export_button, LEFT)
    assert spare_px() == 0
    world.helper.answer(ExportClip, error=MediaError("There is no room left. " * 9, details="ENOSPC"))
    assert spare_px() == 0
    export.kind_radio(ExportKind.PRORES_422_HQ).click()
    assert (spare_px(), export.height()) == (0, least_px)
    export.resize(export.width(), least_px + 60)
    assert spare_px() == 60
    export.kind_radio(ExportKind.GIF).click()
    assert spare_px() == 60
    export.close()


def test_an_export_that_fails_says_why(export: ExportDialog, world: World, qtbot: QtBot) -> None:
    qtbot.mouseClick(export.export_button, LEFT)
    world.helper.answer(ExportClip, error=MediaError("There is no room left.", details="ENOSPC"))
    assert export.banner.sentence == "There is no room left."
    assert export.export_button.isVisible()
    export.close()


def test_an_export_goes_on_when_its_dialog_is_closed(export: ExportDialog, world: World, qtbot: QtBot) -> None:
    qtbot.mouseClick(export.export_button, LEFT)
    export.close()
    assert world.session.exports.job is not None
    assert not world.helper.requests(CancelExport)
    world.session.exports.close()


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
