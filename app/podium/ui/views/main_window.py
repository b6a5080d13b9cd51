"""The window: what is composed at the left, the Stage in the middle, fleet and history below."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QByteArray, QDataStream, QIODevice, Qt, Signal, Slot
from PySide6.QtGui import QAction, QCloseEvent, QKeySequence
from PySide6.QtWidgets import QMainWindow, QSplitter, QStackedWidget, QStatusBar, QTabWidget, QWidget

from podium import __version__
from podium.ui.state.session import SessionState
from podium.ui.state.values import CancelPhase, JobPhase
from podium.ui.theme import METRICS
from podium.ui.views.actions import WindowActions
from podium.ui.views.compose_view import ComposeView
from podium.ui.views.device_view import DeviceView
from podium.ui.views.dialogs import AboutDialog, CloseDialog, PanelDialog, ShortcutsDialog
from podium.ui.views.fleet_view import FleetView
from podium.ui.views.header_view import HeaderView
from podium.ui.views.history_view import HistoryView
from podium.ui.views.log_view import LogView
from podium.ui.views.pack_view import PackView
from podium.ui.views.stage_view import StageView
from podium.ui.views.welcome_view import WelcomeView
from podium.ui.views.widgets.buttons import make_button
from podium.ui.views.widgets.elided_label import ElidedLabel
from podium.ui.views.widgets.file_dialogs import open_file_dialog
from podium.ui.views.widgets.layouts import column


class MainWindow(QMainWindow):
    """The window over a `SessionState`.

    Args:
        session: What it shows.
        theme_name: "system", "light" or "dark": which one the menu marks.
        is_motion_reduced: Nothing moves unless it is asked to.
    """

    theme_requested = Signal(str)
    """The artist chose "system", "light" or "dark"."""
    image_pasted = Signal(object)
    """A picture without a file: a QImage that somebody has to keep in one."""
    folder_requested = Signal(object)
    """A `Path` to be shown in the file manager."""
    closing = Signal()
    """The window goes."""

    def __init__(
        self,
        session: SessionState,
        *,
        theme_name: str = "system",
        is_motion_reduced: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._may_close = False
        self.setWindowTitle("Podium")
        self.setMinimumSize(METRICS.window_min_width, METRICS.window_min_height)
        self.resize(METRICS.window_width, METRICS.window_height)
        self.menu_actions = WindowActions(self)
        self.menu_actions.fill(self.menuBar())
        self.menu_actions.themes[theme_name].setChecked(True)
        self.header = HeaderView(session)
        self.compose = ComposeView(session)
        self.stage = StageView(session.job, session.history, is_motion_reduced=is_motion_reduced)
        self.fleet = FleetView(session.fleet)
        self.history = HistoryView(session.history)
        self.log = LogView(session.fleet)
        self.welcome = WelcomeView(session)
        self._lay_out()
        self._connect_views()
        self._connect_actions()
        is_first_run = not any(file.path for file in session.pack.files) and not session.pack.is_demo
        if is_first_run:
            # The page says itself what is missing.
            self.statusBar().hide()
            self._pages.setCurrentWidget(self.welcome)
        else:
            self.show_workspace()
        self._show()

    @property
    def is_welcoming(self) -> bool:
        """Return whether the first-run page is shown."""
        return self._pages.currentWidget() is self.welcome

    @property
    def tabs(self) -> QTabWidget:
        """Return the tabs below the Stage."""
        return self._tabs

    def show_workspace(self) -> None:
        """Leave the first-run page."""
        self._pages.setCurrentWidget(self._workspace)
        self.statusBar().show()
        self.compose.prompt.editor.setFocus()

    def save_layout(self) -> QByteArray:
        """Return where the splitters stand."""
        saved = QByteArray()
        stream = QDataStream(saved, QIODevice.OpenModeFlag.WriteOnly)
        stream << self._across.saveState() << self._down.saveState()
        return saved

    def restore_layout(self, saved: QByteArray) -> None:
        """Put the splitters where they stood; what is no layout of ours changes nothing."""
        stream = QDataStream(saved, QIODevice.OpenModeFlag.ReadOnly)
        across, down = QByteArray(), QByteArray()
        stream >> across >> down
        if stream.status() is QDataStream.Status.Ok:
            self._across.restoreState(across)
            self._down.restoreState(down)

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802 - Qt's name
        """Close, unless a clip is being made: then ask."""
        if self._session.job.phase.is_active and not self._may_close:
            event.ignore()
            self._ask_about_closing()
            return
        self.stage.close_player()
        self.closing.emit()
        super().closeEvent(event)

    def _lay_out(self) -> None:
        self._tabs = QTabWidget()
        self._tabs.setDocumentMode(True)
        self._tabs.tabBar().setDrawBase(False)
        self._tabs.addTab(self.fleet, self.tr("Fleet"))
        self._tabs.addTab(self.history, self.tr("History"))
        self._tabs.addTab(self.log, self.tr("Log"))
        self._down = _splitter(Qt.Orientation.Vertical, self.stage, self._tabs)
        self._down.setSizes([METRICS.window_height - METRICS.bottom_height, METRICS.bottom_height])
        self._across = _splitter(Qt.Orientation.Horizontal, self.compose, self._down)
        self._across.setSizes([METRICS.compose_width, METRICS.window_width - METRICS.compose_width])
        for splitter, stretched in ((self._down, 0), (self._across, 1)):
            splitter.setStretchFactor(stretched, 1)
        self._workspace = QWidget()
        whole = column(self.header, spacing=0)
        whole.addWidget(self._across, 1)
        self._workspace.setLayout(whole)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._workspace)
        self._pages.addWidget(self.welcome)
        self.setCentralWidget(self._pages)
        self._status = ElidedLabel("", "status")
        bar = QStatusBar()
        bar.setSizeGripEnabled(False)
        self._folder = ElidedLabel("", "status", mode=Qt.TextElideMode.ElideMiddle)
        self._folder.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        bar.addWidget(self._status, 1)
        bar.addPermanentWidget(self._folder, 1)
        self.setStatusBar(bar)

    def _connect_views(self) -> None:
        session = self._session
        self.compose.generate_requested.connect(session.generate)
        self.compose.image.image_pasted.connect(self.image_pasted)
        self.header.model_requested.connect(self.choose_model)
        self.header.devices_requested.connect(self.choose_devices)
        self.header.fleet_requested.connect(self._on_show_fleet)
        self.welcome.left.connect(self.show_workspace)
        session.close_wanted.connect(self.close)
        for state in (session, session.job, session.fleet, session.history, session.compose):
            state.changed.connect(self._show)
        self.compose.tell_shortcut(self.menu_actions.generate)

    def _connect_actions(self) -> None:
        session, actions, transport = self._session, self.menu_actions, self.stage.transport
        for action, slot in (
            (actions.choose_model, self.choose_model),
            (actions.choose_devices, self.choose_devices),
            (actions.try_demo, session.try_demo),
            (actions.clips_folder, self._on_clips_folder),
            (actions.show_clip, self._on_show_clip),
            (actions.quit, self.close),
            (actions.choose_image, self.compose.image.choose),
            (actions.paste_image, self.compose.image.paste),
            (actions.clear_image, session.compose.clear_image),
            (actions.add_loras, self.compose.loras.choose),
            (actions.roll_seed, session.compose.roll_seed),
            (actions.show_fleet, self._on_show_fleet),
            (actions.show_history, self._on_show_history),
            (actions.show_log, self._on_show_log),
            (actions.play, transport.toggle_play),
            (actions.frame_back, self.stage.step_back),
            (actions.frame_forward, self.stage.step_forward),
            (actions.generate, session.generate),
            (actions.cancel, session.job.cancel),
            (actions.force_stop, session.job.force_stop),
            (actions.start_fleet, session.fleet.start),
            (actions.unload_fleet, session.fleet.unload),
            (actions.stop_fleet, session.fleet.stop),
            (actions.shortcuts, self._on_shortcuts),
            (actions.about, self._on_about),
        ):
            action.triggered.connect(slot)
        actions.lock_seed.toggled.connect(session.compose.set_seed_locked)
        actions.full_screen.toggled.connect(self._on_full_screen)
        for action, button in ((actions.loop, transport.loop_button), (actions.mute, transport.mute_button)):
            action.setChecked(button.isChecked())
            action.toggled.connect(button.setChecked)
            button.toggled.connect(action.setChecked)
        for action in actions.themes.values():
            action.triggered.connect(self._on_theme)

    def choose_model(self) -> None:
        """Open the dialog of the model's files."""
        demo = make_button(self.tr("Try the demo model"), icon="demo")
        demo.clicked.connect(self._session.try_demo)
        PanelDialog(self.tr("Model"), PackView(self._session.pack), extra=demo, parent=self).open()

    def choose_devices(self) -> None:
        """Open the dialog of the devices."""
        PanelDialog(self.tr("Devices"), DeviceView(self._session.devices), parent=self).open()

    def _ask_about_closing(self) -> None:
        dialog = CloseDialog(self)
        dialog.finish_chosen.connect(self._session.close_after_clip)
        dialog.stop_chosen.connect(self._on_stop_chosen)
        dialog.open()

    def _on_stop_chosen(self) -> None:
        self._may_close = True
        self.close()

    def _on_clips_folder(self) -> None:
        dialog = open_file_dialog(self, self.tr("Where finished clips go"), takes_folder=True)
        dialog.filesSelected.connect(self._on_folder)

    @Slot(list)
    def _on_folder(self, names: list[str]) -> None:
        self._session.set_clips_folder(Path(names[0]))

    def _on_show_clip(self) -> None:
        selected = self._session.history.selected
        clip = selected.clip if selected else self._session.job.clip
        if clip is not None:
            self.folder_requested.emit(clip.path)

    def _on_show_fleet(self) -> None:
        self._tabs.setCurrentWidget(self.fleet)

    def _on_show_history(self) -> None:
        self._tabs.setCurrentWidget(self.history)

    def _on_show_log(self) -> None:
        self._tabs.setCurrentWidget(self.log)

    def _on_full_screen(self, is_full: bool) -> None:  # noqa: FBT001 - Qt's signature
        self.setWindowState(Qt.WindowState.WindowFullScreen if is_full else Qt.WindowState.WindowNoState)

    def _on_theme(self) -> None:
        action = self.sender()
        assert isinstance(action, QAction)
        self.theme_requested.emit(action.data())

    def _on_shortcuts(self) -> None:
        ShortcutsDialog(self.menu_actions.all(), self).open()

    def _on_about(self) -> None:
        AboutDialog(__version__, self).open()

    def _show(self) -> None:
        session, actions = self._session, self.menu_actions
        job, fleet = session.job, session.fleet
        clip = session.history.selected or job.clip
        actions.generate.setEnabled(session.can_generate)
        actions.cancel.setEnabled(job.cancel_phase is CancelPhase.CAN_CANCEL)
        actions.force_stop.setEnabled(job.cancel_phase is CancelPhase.CAN_FORCE)
        actions.start_fleet.setEnabled(fleet.can_start)
        actions.unload_fleet.setEnabled(fleet.can_unload)
        actions.stop_fleet.setEnabled(fleet.can_stop)
        actions.clear_image.setEnabled(session.compose.image_path is not None)
        actions.lock_seed.setChecked(session.compose.is_seed_locked)
        for action in (actions.show_clip, actions.play, actions.frame_back, actions.frame_forward):
            action.setEnabled(clip is not None)
        self._status.show_text(self._status_sentence())
        self._folder.show_text(self.tr("Clips go to {0}").format(session.clips_folder))

    def _status_sentence(self) -> str:
        """Return how things stand; what keeps Generate from being pressed stands beside it and is not said twice."""
        job = self._session.job
        if job.phase.is_active:
            return self.stage.progress.title_text
        if job.phase is JobPhase.FINISHED and job.clip is not None:
            return self.tr("Finished: {0}").format(job.clip.path.name)
        words = {
            JobPhase.STOPPED: self.tr("Stopped. No file was written."),
            JobPhase.FAILED: self.tr("The clip was not made."),
            JobPhase.REFUSED: self.tr("The clip was not begun."),
        }
        ready = "" if self._session.problem else self.tr("Ready. {0} makes the clip.").format(self._generate_keys())
        return words.get(job.phase, ready)

    def _generate_keys(self) -> str:
        return self.menu_actions.generate.shortcut().toString(QKeySequence.SequenceFormat.NativeText)


def _splitter(orientation: Qt.Orientation, *parts: QWidget) -> QSplitter:
    splitter = QSplitter(orientation)
    splitter.setChildrenCollapsible(False)
    splitter.setHandleWidth(METRICS.hairline)
    for part in parts:
        splitter.addWidget(part)
    return splitter
