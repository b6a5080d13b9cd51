"""The window: what is composed at the left, the Stage in the middle, queue, history, fleet and log below."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QDataStream, QIODevice, Qt, Signal, Slot
from PySide6.QtGui import QAction, QCloseEvent, QDragEnterEvent, QDropEvent, QKeySequence
from PySide6.QtWidgets import QMainWindow, QSplitter, QStackedWidget, QStatusBar, QTabWidget, QWidget

from podium.ui.state.numbers import share_in_words
from podium.ui.state.session import SessionState
from podium.ui.state.values import CancelPhase, ErrorMessage, JobPhase
from podium.ui.theme import METRICS
from podium.ui.views.actions import WindowActions
from podium.ui.views.compose_view import ComposeView
from podium.ui.views.dialogs import CloseDialog, keys_of
from podium.ui.views.fleet_view import FleetView
from podium.ui.views.header_view import HeaderView
from podium.ui.views.history_view import HistoryView
from podium.ui.views.log_view import LogView
from podium.ui.views.playback import Playback
from podium.ui.views.queue_view import QueueView
from podium.ui.views.stage_area import StageArea
from podium.ui.views.stage_view import StageView
from podium.ui.views.welcome_view import WelcomeView
from podium.ui.views.widgets.banner import Banner
from podium.ui.views.widgets.buttons import make_button
from podium.ui.views.widgets.drops import dropped_clip
from podium.ui.views.widgets.elided_label import ElidedLabel
from podium.ui.views.widgets.layouts import around, column
from podium.ui.views.window_dialogs import WindowDialogs


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
        self.setAcceptDrops(True)
        self.dialogs = WindowDialogs(session, self)
        self._make_views(is_motion_reduced=is_motion_reduced)
        self.menu_actions = WindowActions(
            self,
            clip=self.stage.desk.actions.menu(),
            history=self.history.actions_of_list.of_history(),
            queue=self.queue.actions_of_queue.menu(),
        )
        self.menu_actions.fill(self.menuBar())
        self.menu_actions.themes[theme_name].setChecked(True)
        self.menu_actions.reduce_motion.setChecked(is_motion_reduced)
        self._lay_out()
        self._connect_views()
        self._connect_actions()
        self._playback = Playback(self.menu_actions, self.stage, self.area, self)
        self.area.transport_changed.connect(self._show)
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

    @property
    def notice(self) -> Banner:
        """Return what says that something beside the clip at work did not go well."""
        return self._notice

    def show_workspace(self) -> None:
        """Leave the first-run page."""
        self._pages.setCurrentWidget(self._workspace)
        self.statusBar().show()
        self.compose.prompt.editor.setFocus()

    def save_layout(self) -> QByteArray:
        """Return where the splitters stand, and what of the panels is shown."""
        saved = QByteArray()
        stream = QDataStream(saved, QIODevice.OpenModeFlag.WriteOnly)
        stream << self._across.saveState() << self._down.saveState()
        stream.writeInt32(self._tabs.currentIndex())
        stream.writeBool(self._tabs.isVisibleTo(self._down))
        stream.writeBool(self.history.is_list_mode)
        stream.writeBool(self.menu_actions.reduce_motion.isChecked())
        return saved

    def restore_layout(self, saved: QByteArray) -> None:
        """Put all of it back as it was; what is no layout of ours changes nothing."""
        stream = QDataStream(saved, QIODevice.OpenModeFlag.ReadOnly)
        across, down = QByteArray(), QByteArray()
        stream >> across >> down
        if stream.status() is not QDataStream.Status.Ok:
            return
        self._across.restoreState(across)
        self._down.restoreState(down)
        tab, has_panels = stream.readInt32(), stream.readBool()
        is_list, is_motion_reduced = stream.readBool(), stream.readBool()
        if stream.status() is QDataStream.Status.Ok:
            self._tabs.setCurrentIndex(tab)
            self.menu_actions.show_panels.setChecked(has_panels)
            self.history.set_list_mode(is_list)
            self.menu_actions.reduce_motion.setChecked(is_motion_reduced)

    @property
    def may_close(self) -> bool:
        """Return whether it closes without a question, whatever is at work."""
        return self._may_close

    def allow_closing(self) -> None:
        """Have it close without a question from now on."""
        self._may_close = True

    def ask_about_closing(self) -> CloseDialog:
        """Ask what becomes of what is at work, and return what asks; no further clip is begun until the answer."""
        session = self._session
        dialog = CloseDialog(self, has_clip=session.is_making_clip, has_export=session.is_exporting)
        dialog.finish_chosen.connect(session.close_when_done)
        dialog.stop_chosen.connect(self._on_stop_chosen)
        dialog.rejected.connect(session.stay)
        session.stay_wanted.connect(dialog.reject)
        session.consider_closing()
        dialog.open()
        return dialog

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802 - Qt's name
        """Close, unless a clip is being made or exported: then ask."""
        if self._session.is_at_work and not self._may_close:
            event.ignore()
            self.ask_about_closing()
            return
        self.area.close_players()
        self.closing.emit()
        super().closeEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802 - Qt's name
        """Take clips, anywhere."""
        # A clip that is dragged out of this window is no news to it.
        if event.source() is None and dropped_clip(event.mimeData()) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802 - Qt's name
        """Read what a clip was made with."""
        path = dropped_clip(event.mimeData())
        if path is not None:
            event.acceptProposedAction()
            self._session.open_clip_file(path)

    def _make_views(self, *, is_motion_reduced: bool) -> None:
        session = self._session
        self.header = HeaderView(session)
        self.compose = ComposeView(session)
        self.stage = StageView(session.job, session.history, session.exports, is_motion_reduced=is_motion_reduced)
        self.area = StageArea(self.stage, session.history, is_motion_reduced=is_motion_reduced)
        self.queue = QueueView(session.queue)
        self.history = HistoryView(session.history, session.exports)
        self.fleet = FleetView(session.fleet)
        self.log = LogView(session.fleet)
        self.welcome = WelcomeView(session)
        self._notice = Banner("warning", has_buttons_beside=True)
        self._tabs = QTabWidget()
        self._status = ElidedLabel("", "status")
        self._folder = ElidedLabel("", "status", mode=Qt.TextElideMode.ElideMiddle)

    def _lay_out(self) -> None:
        self._tabs.setDocumentMode(True)
        self._tabs.tabBar().setDrawBase(False)
        self._tabs.addTab(self.queue, self.tr("Queue"))
        self._tabs.addTab(self.history, self.tr("History"))
        self._tabs.addTab(self.fleet, self.tr("Fleet"))
        self._tabs.addTab(self.log, self.tr("Log"))
        dismiss = make_button(self.tr("Dismiss"))
        dismiss.clicked.connect(self._on_dismiss)
        self._notice.add_button(dismiss)
        middle = QWidget()
        self._notice_room = QWidget()
        self._notice_room.setLayout(column(self._notice, margins=around(METRICS.space_m)))
        whole = column(self._notice_room, spacing=0)
        whole.addWidget(self.area, 1)
        middle.setLayout(whole)
        self._down = _splitter(Qt.Orientation.Vertical, middle, self._tabs)
        self._down.setSizes([METRICS.window_height - METRICS.bottom_height, METRICS.bottom_height])
        self._across = _splitter(Qt.Orientation.Horizontal, self.compose, self._down)
        self._across.setSizes([METRICS.compose_width, METRICS.window_width - METRICS.compose_width])
        for splitter, stretched in ((self._down, 0), (self._across, 1)):
            splitter.setStretchFactor(stretched, 1)
        self._workspace = QWidget()
        workspace = column(self.header, spacing=0)
        workspace.addWidget(self._across, 1)
        self._workspace.setLayout(workspace)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._workspace)
        self._pages.addWidget(self.welcome)
        self.setCentralWidget(self._pages)
        bar = QStatusBar()
        bar.setSizeGripEnabled(False)
        self._folder.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        bar.addWidget(self._status, 1)
        bar.addPermanentWidget(self._folder, 1)
        self.setStatusBar(bar)
        self._show_notice(None)

    def _connect_views(self) -> None:
        session, desk = self._session, self.stage.desk
        self.compose.generate_requested.connect(self._on_generate)
        self.compose.image.image_pasted.connect(self.image_pasted)
        self.compose.image.clip_brought.connect(session.open_clip_file)
        self.compose.model_requested.connect(self.dialogs.choose_model)
        self.header.model_requested.connect(self.dialogs.choose_model)
        self.header.devices_requested.connect(self.dialogs.choose_devices)
        self.header.fleet_requested.connect(self._on_show_fleet)
        self.welcome.left.connect(self.show_workspace)
        for handed_on in (desk, self.history):
            handed_on.folder_requested.connect(self.folder_requested)
            handed_on.export_requested.connect(self.dialogs.export)
            handed_on.reuse_requested.connect(self.dialogs.reuse)
        self.dialogs.folder_requested.connect(self.folder_requested)
        self.history.find_requested.connect(self._on_show_history)
        session.close_wanted.connect(self.close)
        session.clip_refused.connect(self._show_notice)
        session.exports.error_changed.connect(self._on_export_error)
        states = (session, session.job, session.fleet, session.history, session.compose, session.queue, session.exports)
        for state in states:
            state.changed.connect(self._show)
        self.compose.tell_shortcut(self.menu_actions.generate)

    def _connect_actions(self) -> None:
        session, actions = self._session, self.menu_actions
        for action, slot in (
            (actions.choose_model, self.dialogs.choose_model),
            (actions.choose_devices, self.dialogs.choose_devices),
            (actions.try_demo, session.try_demo),
            (actions.open_clip, self.dialogs.open_clip),
            (actions.clips_folder, self.dialogs.choose_clips_folder),
            (actions.quit, self.close),
            (actions.choose_image, self.compose.image.choose),
            (actions.paste_image, self.compose.image.paste),
            (actions.clear_image, session.compose.images.clear),
            (actions.add_loras, self.compose.loras.choose),
            (actions.roll_seed, session.compose.roll_seed),
            (actions.show_queue, self._on_show_queue),
            (actions.show_history, self._on_show_history),
            (actions.show_fleet, self._on_show_fleet),
            (actions.show_log, self._on_show_log),
            (actions.stop_comparing, session.history.stop_comparing),
            (actions.generate, self._on_generate),
            (actions.generate_in_front, self._on_generate_in_front),
            (actions.cancel, session.job.cancel),
            (actions.force_stop, session.job.force_stop),
            (actions.start_fleet, session.fleet.start),
            (actions.unload_fleet, session.fleet.unload),
            (actions.stop_fleet, session.fleet.stop),
            (actions.shortcuts, self._on_shortcuts),
            (actions.about, self.dialogs.show_about),
        ):
            action.triggered.connect(slot)
        actions.lock_seed.toggled.connect(session.compose.set_seed_locked)
        actions.full_screen.toggled.connect(self._on_full_screen)
        actions.show_panels.toggled.connect(self._tabs.setVisible)
        actions.reduce_motion.toggled.connect(self.area.set_motion_reduced)
        for action in actions.themes.values():
            action.triggered.connect(self._on_theme)

    def _on_generate(self) -> None:
        self._session.generate(num_seeds=self._session.compose.num_seeds)

    def _on_generate_in_front(self) -> None:
        self._session.generate(in_front=True, num_seeds=self._session.compose.num_seeds)

    def _on_stop_chosen(self) -> None:
        self._may_close = True
        self.close()

    def _on_show_queue(self) -> None:
        self._show_tab(self.queue, self.queue.entry_list)

    def _on_show_history(self) -> None:
        self._show_tab(self.history, self.history.clip_list)

    def _on_show_fleet(self) -> None:
        self._show_tab(self.fleet, None)

    def _on_show_log(self) -> None:
        self._show_tab(self.log, None)

    def _show_tab(self, tab: QWidget, focused: QWidget | None) -> None:
        self.menu_actions.show_panels.setChecked(True)
        self._tabs.setCurrentWidget(tab)
        if focused is not None:
            focused.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _on_full_screen(self, is_full: bool) -> None:  # noqa: FBT001 - Qt's signature
        self.setWindowState(Qt.WindowState.WindowFullScreen if is_full else Qt.WindowState.WindowNoState)

    def _on_theme(self) -> None:
        action = self.sender()
        assert isinstance(action, QAction)
        self.theme_requested.emit(action.data())

    def _on_shortcuts(self) -> None:
        groups = [(name, keys_of(actions)) for name, actions in self.menu_actions.groups()]
        of_history = self.history.actions_of_list
        listed = dict.fromkeys((*of_history.menu(), *of_history.of_history()))
        groups += [(self.tr("On the Stage"), self.stage.keys), (self.tr("In the History"), keys_of(listed))]
        self.dialogs.show_shortcuts(groups)

    def _on_export_error(self) -> None:
        if not self.dialogs.is_exporting:
            self._show_notice(self._session.exports.error)

    def _on_dismiss(self) -> None:
        self._show_notice(None)

    @Slot(object)
    def _show_notice(self, message: ErrorMessage | None) -> None:
        self._notice.show_message(message.sentence if message else "", message.details if message else "")
        self._notice_room.setVisible(message is not None)

    def _show(self) -> None:
        session, actions = self._session, self.menu_actions
        job, fleet = session.job, session.fleet
        actions.generate.setEnabled(session.can_generate)
        actions.generate_in_front.setEnabled(session.can_generate)
        actions.cancel.setEnabled(job.cancel_phase is CancelPhase.CAN_CANCEL)
        actions.force_stop.setEnabled(job.cancel_phase is CancelPhase.CAN_FORCE)
        actions.start_fleet.setEnabled(fleet.can_start)
        actions.unload_fleet.setEnabled(fleet.can_unload)
        actions.stop_fleet.setEnabled(fleet.can_stop)
        actions.clear_image.setEnabled(bool(session.compose.images.items))
        actions.lock_seed.setChecked(session.compose.is_seed_locked)
        actions.stop_comparing.setEnabled(self.area.is_comparing)
        self._playback.show()
        num_pending = session.queue.num_pending
        title = self.tr("Queue ({0})").format(num_pending) if num_pending else self.tr("Queue")
        self._tabs.setTabText(self._tabs.indexOf(self.queue), title)
        self._status.show_text(self._status_sentence())
        self._folder.show_text(self.tr("Clips go to {0}").format(session.clips_folder))

    def _status_sentence(self) -> str:
        """Return how things stand; what keeps Generate from being pressed stands beside it and is not said twice."""
        job, export = self._session.job, self._session.exports.job
        if export is not None:
            text = self.tr("Exporting “{0}”, {1}")
            sentence = text.format(export.target.name, share_in_words(export.share))
            closes = self.tr("{0}. Podium closes once this is done.").format(sentence)
            return closes if self._session.closes_when_done else sentence
        if self._session.queue.edited_key is not None:
            return self.tr("An entry of the queue is in the form: Generate puts it back in its place.")
        if job.phase.is_active and self._session.closes_when_done:
            return self.tr("{0}. Podium closes once this clip is finished.").format(self.stage.progress.title_text)
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
