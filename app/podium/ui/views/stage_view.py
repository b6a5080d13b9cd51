"""The Stage: the clip as it is being made, and then the clip."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QImage, QKeySequence, QShortcut
from PySide6.QtWidgets import QStackedWidget, QWidget

from podium.geometry import ClipFormat
from podium.ui.state.exports import ExportsState
from podium.ui.state.history import HistoryState
from podium.ui.state.job import JobState
from podium.ui.state.values import ErrorMessage, JobPhase
from podium.ui.theme import METRICS
from podium.ui.views.clip_desk import ClipDesk
from podium.ui.views.error_view import ErrorView
from podium.ui.views.images import image_of_rgb, images_of_rgb
from podium.ui.views.picture import MotionLoop, PictureView
from podium.ui.views.player.clip_player import ClipPlayer, make_clip_player
from podium.ui.views.player.transport_view import TransportView
from podium.ui.views.progress_view import ProgressView
from podium.ui.views.shown_clip import ShownClip, shown_clip
from podium.ui.views.stage_picture import StageMessage, StagePicture
from podium.ui.views.widgets.actions import make_action_button, make_menu_button
from podium.ui.views.widgets.layouts import column, row
from podium.ui.views.widgets.roles import give_surface


class StageView(QWidget):
    """Show what a `JobState` makes, or the clip that is selected in a `HistoryState`.

    Args:
        job: The job at work, or the last one.
        history: The clips that were made.
        exports: Takes pictures out of clips.
        is_motion_reduced: Nothing moves unless it is asked to.
    """

    playing_changed = Signal()

    def __init__(
        self,
        job: JobState,
        history: HistoryState,
        exports: ExportsState,
        *,
        is_motion_reduced: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._job = job
        self._history = history
        self._is_motion_reduced = is_motion_reduced
        self._player: ClipPlayer | None = None
        self._shown: ShownClip | None = None
        self._empty = StageMessage()
        self._error = ErrorView()
        self._picture = StagePicture()
        self.desk = ClipDesk(self, history, exports)
        """What can be done with the clip that is shown."""
        self._motion = MotionLoop(self._picture, is_still=is_motion_reduced)
        self._progress = ProgressView(job)
        self._transport = TransportView()
        self._pages = QStackedWidget()
        self._lay_out()
        self._connect()
        self._show()

    @property
    def picture(self) -> PictureView:
        """Return where the picture is painted."""
        return self._picture

    @property
    def progress(self) -> ProgressView:
        """Return the phases and the cancel button."""
        return self._progress

    @property
    def transport(self) -> TransportView:
        """Return the player's controls."""
        return self._transport

    @property
    def player(self) -> ClipPlayer | None:
        """Return the player; None before the first clip."""
        return self._player

    @property
    def error(self) -> ErrorView:
        """Return what shows a failure."""
        return self._error

    @property
    def message(self) -> StageMessage:
        """Return what is said where there is no picture."""
        return self._empty

    @property
    def shown(self) -> ShownClip | None:
        """Return the clip that is played; None while none is."""
        return self._shown

    @property
    def keys(self) -> tuple[tuple[str, str], ...]:
        """Return the keys that work on the Stage, and what they do."""
        return (
            (self.tr("Space"), self.tr("Play or Pause")),
            ("← →   , .", self.tr("One Frame Back or On")),
            (self.tr("Home   End"), self.tr("First or Last Frame")),
            ("[   ]", self.tr("Slower or Faster")),
            ("L", self.tr("Loop")),
            ("M", self.tr("Mute")),
        )

    def set_motion_reduced(self, is_reduced: bool) -> None:  # noqa: FBT001 - the slot of a toggle
        """Choose whether nothing moves unless it is asked to."""
        self._is_motion_reduced = is_reduced
        self._motion.set_still(is_reduced)
        self._show_live()

    def step_back(self) -> None:
        """Stand still, one frame back."""
        self._transport.step(-1)

    def step_forward(self) -> None:
        """Stand still, one frame on."""
        self._transport.step(1)

    def close_player(self) -> None:
        """Let the clip go: the window does."""
        self._motion.stop()
        if self._player is not None:
            self._player.close()

    def _lay_out(self) -> None:
        for page in (self._empty, self._picture, self._make_error_page()):
            self._pages.addWidget(page)
        frame = give_surface(QWidget(), "stage")
        margin = METRICS.space_l
        frame.setLayout(column(self._pages, margins=(margin, margin, margin, margin)))
        actions = self.desk.actions
        use_frame = make_menu_button("image", self.tr("Use this frame"), (actions.use_first, actions.use_last))
        more = make_menu_button("more", self.tr("More for this clip"), actions.menu())
        self._clip_buttons = (use_frame, make_action_button(actions.export, "export"), more)
        self._transport.add_buttons(*self._clip_buttons)
        whole = column(spacing=0)
        whole.addWidget(frame, 1)
        whole.addWidget(self._progress)
        whole.addWidget(self._transport)
        self.setLayout(whole)

    def _make_error_page(self) -> QWidget:
        page = QWidget()
        self._error.setMaximumWidth(METRICS.dialog_width)
        middle = row(spacing=0)
        middle.addStretch(1)
        middle.addWidget(self._error, 8)
        middle.addStretch(1)
        page.setLayout(column(None, middle, None))
        self._error_page = page
        return page

    def _connect(self) -> None:
        job, history = self._job, self._history
        for signal in (job.phase_changed, job.clip_changed, job.preview_clip_changed, history.selected_changed):
            signal.connect(self._show)
        job.picture_changed.connect(self._show_live)
        job.motion_changed.connect(self._show_live)
        self._picture.pressed.connect(self._transport.toggle_play)
        transport = self._transport
        on_picture, anywhere = Qt.ShortcutContext.WidgetShortcut, Qt.ShortcutContext.WidgetWithChildrenShortcut
        for keys, slot in (
            (Qt.Key.Key_Space, transport.toggle_play),
            (Qt.Key.Key_Left, self.step_back),
            (Qt.Key.Key_Right, self.step_forward),
            (Qt.Key.Key_Home, self._on_home),
            (Qt.Key.Key_End, self._on_end),
        ):
            _add_keys(self._picture, keys, slot, on_picture)
        for keys, slot in (
            (Qt.Key.Key_Comma, self.step_back),
            (Qt.Key.Key_Period, self.step_forward),
            (Qt.Key.Key_BracketLeft, self._on_slower),
            (Qt.Key.Key_BracketRight, self._on_faster),
            (Qt.Key.Key_L, transport.loop_button.click),
            (Qt.Key.Key_M, transport.mute_button.click),
        ):
            _add_keys(self, keys, slot, anywhere)

    def _show(self) -> None:
        job = self._job
        shown = shown_clip(job, self._history)
        self._progress.setVisible(job.phase.is_active)
        self._show_clip(shown)
        self._transport.setVisible(shown is not None)
        self._transport.show_badge(self.tr("Stage 1, half size") if shown is not None and shown.is_preview else "")
        for button in self._clip_buttons:
            button.setVisible(shown is not None and not shown.is_preview)
        if shown is not None:
            self._motion.stop()
            self._pages.setCurrentWidget(self._picture)
        elif job.error is not None and not job.phase.is_active:
            self._show_error(job.error)
        elif job.phase is JobPhase.STOPPED:
            self._motion.stop()
            self._empty.show_words(self.tr("Stopped"), self.tr("The clip was stopped; no file was written."), "stop")
            self._pages.setCurrentWidget(self._empty)
        else:
            self._show_live()

    def _show_error(self, error: ErrorMessage) -> None:
        self._motion.stop()
        is_refused = self._job.phase is JobPhase.REFUSED
        heading = self.tr("This clip cannot be made as it is") if is_refused else self.tr("The clip was not made")
        self._error.show_error(error, heading)
        self._pages.setCurrentWidget(self._error_page)

    def _show_live(self) -> None:
        """Show the clip as it stands: in motion as soon as there is motion, since that is what is judged by."""
        if self._shown is not None or not self._job.phase.is_active:
            if self._shown is None and self._job.phase is JobPhase.NONE:
                self._show_invitation()
            return
        motion, picture = self._job.motion, self._job.picture
        if motion is not None:
            images = images_of_rgb(motion.rgb, motion.width, motion.height, motion.num_frames)
            self._motion.start(images, motion.frame_s)
        elif picture is not None:
            self._motion.stop()
            self._picture.show_image(image_of_rgb(picture.rgb, picture.width, picture.height))
        else:
            self._motion.stop()
            title = self.tr("On its way")
            self._empty.show_words(title, self.tr("The first picture comes with the first step."), "film")
            self._pages.setCurrentWidget(self._empty)
            return
        self._pages.setCurrentWidget(self._picture)

    def _show_invitation(self) -> None:
        text = self.tr("Write a prompt and press Generate. You will watch the clip appear here.")
        self._empty.show_words(self.tr("Your clip will be here"), text, "film")
        self._pages.setCurrentWidget(self._empty)

    def _show_clip(self, shown: ShownClip | None) -> None:
        if shown == self._shown:
            return
        self._shown = shown
        self._picture.set_file(None if shown is None or shown.is_preview else shown.path)
        if shown is not None:
            self._open(shown.path, shown.clip)
        elif self._player is not None:
            self._player.close()
        self.desk.show_clip(shown, self._player, self._picture)

    def _open(self, path: Path, clip: ClipFormat) -> None:
        if self._player is None:
            self._player = make_clip_player(self)
            self._player.frame_shown.connect(self._on_frame)
            self._player.failed.connect(self._on_failed)
            self._player.playing_changed.connect(self.playing_changed)
            self._transport.set_player(self._player)
        self._picture.clear()
        self._player.open(path, clip)
        if not self._is_motion_reduced:
            self._player.play()

    def _on_frame(self, image: QImage, _frame: int) -> None:
        self._picture.show_image(image)

    def _on_failed(self, sentence: str, details: str) -> None:
        self._error.show_error(ErrorMessage(sentence, details), self.tr("The clip cannot be played"))
        self._pages.setCurrentWidget(self._error_page)

    def _on_home(self) -> None:
        self._transport.go_to(0)

    def _on_end(self) -> None:
        if self._player is not None:
            self._transport.go_to(self._player.num_frames - 1)

    def _on_slower(self) -> None:
        self._transport.speed_button.step(-1)

    def _on_faster(self) -> None:
        self._transport.speed_button.step(1)


def _add_keys(owner: QWidget, keys: Qt.Key, slot: Callable[[], object], context: Qt.ShortcutContext) -> None:
    shortcut = QShortcut(QKeySequence(keys), owner)
    shortcut.setContext(context)
    shortcut.activated.connect(slot)
