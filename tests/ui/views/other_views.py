"""What a window shows beside its key views: dialogs, menus, the log, and what the Stage says where there is no clip."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QDialog, QWidget

from podium.geometry import ClipFormat
from podium.helper.requests import CheckedJob, CheckRequest, GetExportShare
from podium.jobs import GuidanceMode, Phase, PhaseEnded, PhaseStarted, PromptEnhanced, StepDone
from podium.media.export_kinds import ExportKind
from podium.ui.state.events import FleetReady, FleetStarting, JobNews, JobStarted
from podium.ui.state.values import ALL_PARTS, ErrorMessage
from podium.ui.views.dialogs import AboutDialog, CloseDialog
from podium.ui.views.export_dialog import ExportDialog
from podium.ui.views.fault_dialog import FaultDialog
from podium.ui.views.main_window import MainWindow
from podium.ui.views.preset_view import ManagePresetsDialog, SavePresetDialog
from podium.ui.views.shown_clip import ShownClip

from tests.ui.views import scenes, work_scenes
from tests.ui.views.scenes import World

Opener = Callable[[World, MainWindow], QWidget]
ENHANCED = (
    "A wide, slowly advancing shot over rolling hills at dusk: the sun, large and amber, sinks behind the furthest "
    "ridge, and long violet shadows fill the valleys, where mist begins to gather. A handful of swallows cross the "
    "frame from left to right. Distant church bells, a soft wind in dry grass, nothing else."
)
LOG_LINES = tuple(
    f"18:2{number}:07 INFO podium.multigpu.worker: stage_2 step {number + 1} done in 9.0{number} s"
    for number in range(6)
)


def stage_waiting(world: World, window: MainWindow) -> QWidget:
    scenes.composed(world)
    world.session.generate()
    world.helper.answer(CheckRequest, CheckedJob(57, (), {}))
    world.session.apply(FleetStarting(scenes.SPEC))
    return window.stage


def stage_refused(world: World, window: MainWindow) -> QWidget:
    scenes.refused(world)
    return window.stage


def stage_stopped(world: World, window: MainWindow) -> QWidget:
    scenes.composed(world)
    world.session.generate()
    world.session.job.cancel()
    return window.stage


def log(world: World, window: MainWindow) -> QWidget:
    world.controls.logs[0] = LOG_LINES
    scenes.running(world)
    window.tabs.setCurrentWidget(window.log)
    window.log.refresh()
    return window.log


def model(world: World, window: MainWindow) -> QWidget:
    scenes.guided(world)
    window.dialogs.choose_model()
    return _dialog(window)


def devices(world: World, window: MainWindow) -> QWidget:
    scenes.composed(world)
    window.dialogs.choose_devices()
    return _dialog(window)


def shortcuts(world: World, window: MainWindow) -> QWidget:
    window._on_shortcuts()
    return _dialog(window)


def about(world: World, window: MainWindow) -> QWidget:
    # Not the version of today.
    AboutDialog("1.0.0", window).open()
    return _dialog(window)


def closing(world: World, window: MainWindow) -> QWidget:
    CloseDialog(window, has_clip=True, has_export=False).open()
    return _dialog(window)


def closing_export(world: World, window: MainWindow) -> QWidget:
    CloseDialog(window, has_clip=False, has_export=True).open()
    return _dialog(window)


def closing_both(world: World, window: MainWindow) -> QWidget:
    CloseDialog(window, has_clip=True, has_export=True).open()
    return _dialog(window)


def exporting(world: World, window: MainWindow) -> QWidget:
    clip = ClipFormat(704, 1216, 121, Fraction(24))
    window.dialogs.export(ShownClip(Path("/clips/evening.mp4"), clip))
    dialog = _dialog(window)
    assert isinstance(dialog, ExportDialog)
    dialog.kind_radio(ExportKind.GIF).click()
    dialog.export_button.click()
    exports = world.session.exports
    exports._poll()
    world.helper.answer(GetExportShare, 0.4)
    exports.close()
    return dialog


def guidance_refused(world: World, window: MainWindow) -> QWidget:
    scenes.guided(world)
    world.session.devices.use_cpu(1)
    world.session.compose.guidance.set_mode(GuidanceMode.MESH)
    view = window.compose.guidance
    view.fold.set_open(True)
    return view


def confirmation(world: World, window: MainWindow) -> QWidget:
    work_scenes.queued(world)
    window.queue.actions_of_queue.clear_and_restart.trigger()
    return _dialog(window)


def fault(world: World, window: MainWindow) -> QWidget:
    details = "Traceback (most recent call last):\n  File “views/main_window.py”, line 7, in _show\nKeyError: 'evening'"
    sentence = "Something in Podium went wrong. What is being made goes on; please send the details to its makers."
    FaultDialog(ErrorMessage(sentence, details), window).open()
    return _dialog(window)


def enhancement(world: World, window: MainWindow) -> QWidget:
    scenes.composed(world)
    world.session.enhance.set_available(True)
    window.compose.prompt._on_enhance()
    world.session.enhance.take(PromptEnhanced(ENHANCED, "Your picture was left aside: this model reads words alone."))
    return _dialog(window)


def enhancement_stuck(world: World, window: MainWindow) -> QWidget:
    scenes.composed(world)
    enhance = world.session.enhance
    enhance.set_available(True)
    window.compose.prompt._on_enhance()
    world.session.apply(FleetStarting(scenes.SPEC))
    world.session.apply(FleetReady(scenes.SPEC, 31.0))
    world.session.apply(JobStarted(-1))
    enhance.note_step(StepDone(Phase.ENCODING, 40, 512, 0.1))
    enhance.cancel()
    enhance._force_timer.stop()
    enhance._offer_force()
    return _dialog(window)


def stage_noted(world: World, window: MainWindow) -> QWidget:
    scenes.composed(world)
    world.session.generate()
    work_scenes.start_next(world, notes=(work_scenes.NOTE,))
    news = (PhaseStarted(Phase.ENCODING), PhaseEnded(Phase.ENCODING, 1.8), PhaseStarted(Phase.STAGE_1, 8))
    world.session.take_news(JobNews(world.session.job.key or 0, news))
    return window.stage


def prompts(world: World, window: MainWindow) -> QWidget:
    scenes.composed(world)
    for words in work_scenes.PROMPTS:
        world.session.library.prompts.add(words, "")
    popup = window.compose.prompt.popup
    world.session.prompts.look()
    popup.open_at(window.mapToGlobal(QPoint(16, 300)), window.compose.prompt.width())
    return popup


def preset_saving(world: World, window: MainWindow) -> QWidget:
    scenes.composed(world)
    SavePresetDialog(world.session.presets, window).open()
    return _dialog(window)


def presets(world: World, window: MainWindow) -> QWidget:
    _save_presets(world)
    ManagePresetsDialog(world.session.presets, window).open()
    return _dialog(window)


def preset_menu(world: World, window: MainWindow) -> QWidget:
    _save_presets(world)
    menu = window.compose.presets.menu
    menu.popup(window.mapToGlobal(QPoint(200, 140)))
    return menu


def clip_menu(world: World, window: MainWindow) -> QWidget:
    work_scenes.day(world, 3)
    window.tabs.setCurrentWidget(window.history)
    view = window.history
    view.clip_list.setCurrentIndex(world.session.history.model.index(0, 0))
    view._on_menu(view.clip_list.visualRect(view.clip_list.currentIndex()).center())
    menu = window.window().findChildren(QWidget)
    return next(one for one in menu if type(one).__name__ == "QMenu" and one.isVisible())


def _save_presets(world: World) -> None:
    scenes.composed(world)
    for name in ("Evening light, slow camera", "Drafts, 512 × 288", "Client: Nordwind"):
        world.session.presets.save(name, ALL_PARTS)


def _dialog(window: MainWindow) -> QDialog:
    """Return the dialog that was opened last."""
    return [dialog for dialog in window.findChildren(QDialog) if dialog.isVisible()][-1]


OTHER_VIEWS: dict[str, Opener] = {
    opener.__name__: opener
    for opener in (
        *(stage_waiting, stage_refused, stage_stopped, stage_noted, log, model, devices, shortcuts, about, closing),
        *(closing_export, closing_both, exporting, guidance_refused),
        *(confirmation, fault, enhancement, enhancement_stuck, prompts, preset_saving, presets, preset_menu, clip_menu),
    )
}
