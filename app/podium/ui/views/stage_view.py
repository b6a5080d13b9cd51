"""The Stage: the clip as it is being made, and then the clip."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QImage, QKeySequence, QMouseEvent, QShortcut
from PySide6.QtWidgets import QStackedWidget, QWidget

from podium.geometry import ClipFormat
from podium.jobs import ClipFinished
from podium.ui.state.history import HistoryState
from podium.ui.state.job import JobState
from podium.ui.state.values import ErrorMessage, JobPhase
from podium.ui.theme import METRICS, Tint
from podium.ui.views.error_view import ErrorView
from podium.ui.views.images import image_of_rgb, images_of_rgb
from podium.ui.views.picture import MotionLoop, PictureView
from podium.ui.views.player.clip_player import ClipPlayer, make_clip_player
from podium.ui.views.player.transport_view import TransportView
from podium.ui.views.progress_view import ProgressView
from podium.ui.views.widgets.icon_label import IconLabel
from podium.ui.views.widgets.layouts import column, row
from podium.ui.views.widgets.roles import give_surface, make_label


class StageView(QWidget):
    """Show what a `JobState` makes, or the clip that is selected in a `HistoryState`.

    Args:
        job: The job at work, or the last one.
        history: The clips that were made.
        is_motion_reduced: Nothing moves unless it is asked to.
    """

    playing_changed = Signal()

    def __init__(
        self,
        job: JobState,
        history: HistoryState,
        *,
        is_motion_reduced: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._job = job
        self._history = history
        self._is_motion_reduced = is_motion_reduced
        self._player: ClipPlayer | None = None
        self._shown_clip: Path | None = None
        self._empty = StageMessage()
        self._error = ErrorView()
        self._picture = StagePicture()
        self._motion = MotionLoop(self._picture, is_still=is_motion_reduced)
        self._progress = ProgressView(job)
        self._transport = TransportView()
        self._pages = QStackedWidget()
        for page in (self._empty, self._picture, self._make_error_page()):
            self._pages.addWidget(page)
        frame = give_surface(QWidget(), "stage")
        margin = METRICS.space_l
        frame.setLayout(column(self._pages, margins=(margin, margin, margin, margin)))
        whole = column(spacing=0)
        whole.addWidget(frame, 1)
        whole.addWidget(self._progress)
        whole.addWidget(self._transport)
        self.setLayout(whole)
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
        for signal in (self._job.phase_changed, self._job.clip_changed, self._history.selected_changed):
            signal.connect(self._show)
        self._job.picture_changed.connect(self._show_live)
        self._job.motion_changed.connect(self._show_live)
        self._picture.pressed.connect(self._transport.toggle_play)
        for keys, slot in (
            (Qt.Key.Key_Space, self._transport.toggle_play),
            (Qt.Key.Key_Left, self.step_back),
            (Qt.Key.Key_Right, self.step_forward),
        ):
            shortcut = QShortcut(QKeySequence(keys), self._picture)
            shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
            shortcut.activated.connect(slot)

    def _show(self) -> None:
        selected = self._history.selected
        clip = selected.clip if selected else self._job.clip
        self._progress.setVisible(self._job.phase.is_active)
        self._show_clip(clip)
        self._transport.setVisible(clip is not None)
        if clip is not None:
            self._motion.stop()
            self._pages.setCurrentWidget(self._picture)
        elif self._job.error is not None and not self._job.phase.is_active:
            self._show_error(self._job.error)
        elif self._job.phase is JobPhase.STOPPED:
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
        if self._shown_clip is not None or not self._job.phase.is_active:
            if self._shown_clip is None and self._job.phase is JobPhase.NONE:
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

    def _show_clip(self, clip: ClipFinished | None) -> None:
        path = clip.path if clip else None
        if path == self._shown_clip:
            return
        self._shown_clip = path
        if clip is None:
            if self._player is not None:
                self._player.close()
            return
        self._open(clip.path, clip.clip)

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


class StagePicture(PictureView):
    """A picture that the keyboard reaches, and that says when it is pressed."""

    pressed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Say so, for the left button."""
        super().mousePressEvent(event)
        if event.button() is Qt.MouseButton.LeftButton:
            self.pressed.emit()


class StageMessage(QWidget):
    """Words in the middle of the Stage where there is no picture."""

    def __init__(self) -> None:
        super().__init__()
        self._icon = IconLabel("film", Tint.MUTED, size=METRICS.icon_large)
        self._title = make_label("", "headline")
        self._text = make_label("", "muted")
        for label in (self._title, self._text):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        middle = column(spacing=METRICS.space_s)
        middle.addStretch(1)
        middle.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignHCenter)
        middle.addSpacing(METRICS.space_s)
        middle.addWidget(self._title)
        middle.addWidget(self._text)
        middle.addStretch(1)
        self.setLayout(middle)

    @property
    def title_text(self) -> str:
        """Return the words in large."""
        return self._title.text()

    def show_words(self, title: str, text: str, icon: str) -> None:
        """Say something else."""
        self._title.setText(title)
        self._text.setText(text)
        self._icon.show_icon(icon, Tint.MUTED)
