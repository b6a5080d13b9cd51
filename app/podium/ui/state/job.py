"""The job at work: how far it is, what it looks like, and how it can be ended."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from podium.jobs import (
    ClipFinished,
    ClipFormat,
    JobEvent,
    LorasApplied,
    MotionPreview,
    Phase,
    PreviewClip,
    PreviewPicture,
)
from podium.ui.state.events import JobEnded, JobNews
from podium.ui.state.force_timer import ForceTimer
from podium.ui.state.observable import ObservableState
from podium.ui.state.ports import FleetControls
from podium.ui.state.progress import JobProgress
from podium.ui.state.values import CancelPhase, ErrorMessage, JobPhase, PhaseRow, RankRow


class JobState(ObservableState):
    """The job at work, or the last one.

    Args:
        controls: Cancels and kills.
        now_s: A clock, in seconds.
    """

    phase_changed = Signal()
    phases_changed = Signal()
    fraction_changed = Signal()
    time_left_s_changed = Signal()
    picture_changed = Signal()
    motion_changed = Signal()
    preview_clip_changed = Signal()
    clip_changed = Signal()
    error_changed = Signal()
    lora_summaries_changed = Signal()
    notes_changed = Signal()
    cancel_phase_changed = Signal()
    force_cost_changed = Signal()
    ended = Signal(object)
    """The job is over, however that came: a `JobEnded`."""

    def __init__(
        self, controls: FleetControls, parent: QObject | None = None, *, now_s: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(parent)
        self._controls = controls
        self._key: int | None = None
        self._format: ClipFormat | None = None
        self._progress = JobProgress()
        self._phase = JobPhase.NONE
        self._phases: tuple[PhaseRow, ...] = ()
        self._fraction: float | None = None
        self._time_left_s: float | None = None
        self._picture: PreviewPicture | None = None
        self._motion: MotionPreview | None = None
        self._preview_clip: Path | None = None
        self._clip: ClipFinished | None = None
        self._error: ErrorMessage | None = None
        self._lora_summaries: tuple[str, ...] = ()
        self._cancel_phase = CancelPhase.NONE
        self._force_cost = ""
        self._notes: tuple[str, ...] = ()
        self._is_cancel_due = False
        self._force_timer = ForceTimer(self, now_s=now_s)
        self._force_timer.timeout.connect(self._offer_force)

    @property
    def key(self) -> int | None:
        """Return the job's number; None before the first."""
        return self._key

    @property
    def format(self) -> ClipFormat | None:
        """Return the format of the job's clip; it changes with `key`, at the job's begin. None before the first."""
        return self._format

    @property
    def phase(self) -> JobPhase:
        """Return how the job is."""
        return self._phase

    @property
    def phases(self) -> tuple[PhaseRow, ...]:
        """Return its phases in the order they began, done ones included."""
        return self._phases

    @property
    def fraction(self) -> float | None:
        """Return how far it is, 0 to 1; None while nobody can tell (a busy bar)."""
        return self._fraction

    @property
    def time_left_s(self) -> float | None:
        """Return about how many seconds are left; None while nobody can tell."""
        return self._time_left_s

    @property
    def picture(self) -> PreviewPicture | None:
        """Return the clip as it stands: bytes and size."""
        return self._picture

    @property
    def motion(self) -> MotionPreview | None:
        """Return all frames as they stand, to be looped: bytes and sizes."""
        return self._motion

    @property
    def preview_clip(self) -> Path | None:
        """Return the playable clip of the first stage; None until it is there."""
        return self._preview_clip

    @property
    def clip(self) -> ClipFinished | None:
        """Return the finished clip; None until it is there."""
        return self._clip

    @property
    def error(self) -> ErrorMessage | None:
        """Return why it failed or was refused."""
        return self._error

    @property
    def lora_summaries(self) -> tuple[str, ...]:
        """Return what each LoRA did, a sentence each."""
        return self._lora_summaries

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what its check had to say without refusing it, a sentence each."""
        return self._notes

    @property
    def cancel_phase(self) -> CancelPhase:
        """Return what the cancel button is."""
        return self._cancel_phase

    @property
    def current_phase(self) -> Phase | None:
        """Return the phase at work; None before the first and after the last. It changes with `phases`."""
        return next((row.phase for row in reversed(self._phases) if not row.is_done), None)

    @property
    def force_cost(self) -> str:
        """Return a sentence on what a force stop costs; empty while it is not offered."""
        return self._force_cost

    def log_lines(self, rank: int) -> tuple[str, ...]:
        """Return the last lines that a rank logged, oldest first, also of a fleet that is gone."""
        return self._controls.log_lines(rank)

    def cancel(self) -> None:
        """Ask softly: the job ends at its next step and the weights stay. It never forces, however often it comes."""
        if self._cancel_phase is not CancelPhase.CAN_CANCEL:
            return
        if self._phase is JobPhase.CHECKING:
            # No rank knows of it yet.
            self._end(JobPhase.STOPPED)
            return
        assert self._key is not None, "a job that can be cancelled has a number"
        self._update(cancel_phase=CancelPhase.CANCELLING)
        self._controls.cancel(self._key)
        self._force_timer.begin(self._progress.step_median_s)

    def cancel_soon(self) -> None:
        """Ask softly, also while the fleet starts: the job ends before its first step then."""
        if self._phase is JobPhase.WAITING and self._key is not None:
            self._is_cancel_due = True
            self._controls.cancel(self._key)
        else:
            self.cancel()

    def force_stop(self) -> None:
        """Kill the fleet under the job; only where that is offered."""
        if self._cancel_phase is CancelPhase.CAN_FORCE:
            self.kill()

    def kill(self) -> None:
        """Kill the fleet under the job, whether or not that was offered: the artist said so elsewhere."""
        if self._phase is JobPhase.CHECKING:
            self._end(JobPhase.STOPPED)
        elif self._phase.is_active and self._cancel_phase is not CancelPhase.FORCING:
            self._force_timer.stop()
            self._update(cancel_phase=CancelPhase.FORCING, force_cost="")
            self._controls.force_stop()

    def begin(self, key: int, clip: ClipFormat, known_s: Mapping[Phase, float] | None = None) -> None:
        """Show a new job; it is being checked.

        Args:
            clip: What it will make.
            known_s: About how many seconds each of its phases takes, as far as that is known.
        """
        self._key, self._format = key, clip
        self._progress = JobProgress(dict(known_s or {}))
        self._is_cancel_due = False
        self._update(
            phase=JobPhase.CHECKING,
            picture=None,
            motion=None,
            preview_clip=None,
            clip=None,
            error=None,
            lora_summaries=(),
            notes=(),
            cancel_phase=CancelPhase.CAN_CANCEL,
            force_cost="",
        )
        self._show_progress()

    def refuse(self, message: ErrorMessage) -> None:
        """Show that the job cannot be made as it was asked for."""
        self._end(JobPhase.REFUSED, error=message)

    def wait_for_fleet(self, notes: tuple[str, ...] = ()) -> None:
        """Show that the job waits for its fleet: there is no stream to ask, so only force is left.

        Args:
            notes: What its check had to say without refusing it.
        """
        cost = self._force_timer.cost
        self._update(phase=JobPhase.WAITING, notes=notes, cancel_phase=CancelPhase.CAN_FORCE, force_cost=cost)

    def start(self, key: int) -> None:
        """Show that the ranks have the job."""
        if key != self._key or not self._phase.is_active:
            return
        self._update(phase=JobPhase.RUNNING, cancel_phase=CancelPhase.CAN_CANCEL, force_cost="")
        if self._is_cancel_due:
            self.cancel()

    def take_news(self, news: JobNews) -> None:
        """Take in what the ranks said."""
        if news.key != self._key or not self._phase.is_active:
            return
        for event in news.events:
            self._progress.note(event)
            self._take_event(event)
        self._show_progress()

    def take_preview(self, key: int, preview: PreviewPicture | MotionPreview) -> None:
        """Take in the clip as it stands."""
        if key != self._key or not self._phase.is_active:
            return
        if isinstance(preview, MotionPreview):
            self._update(motion=preview)
        else:
            self._update(picture=preview)

    def note_ranks(self, rows: tuple[RankRow, ...]) -> None:
        """Take in how the ranks are: one that does not respond will not answer a soft cancel either."""
        self._force_timer.note_ranks(rows)

    def note_start_duration(self, duration_s: float | None) -> None:
        """Take in how long a fleet's start takes: what a force stop costs."""
        self._force_timer.note_start_duration(duration_s)

    def end(self, event: JobEnded) -> None:
        """Show how the job ended."""
        if event.key != self._key or not self._phase.is_active:
            return
        self._take_end(event)

    def close(self) -> None:
        """Wait for nothing any more: the window goes."""
        self._force_timer.stop()

    def _end(self, phase: JobPhase, *, error: ErrorMessage | None = None) -> None:
        assert self._key is not None, "a job that ends has a number"
        self._take_end(JobEnded(self._key, phase, message=error))

    def _take_end(self, event: JobEnded) -> None:
        self._force_timer.stop()
        self._update(
            phase=event.outcome,
            clip=event.clip,
            error=event.message,
            cancel_phase=CancelPhase.NONE,
            force_cost="",
            time_left_s=None,
            fraction=1.0 if event.outcome is JobPhase.FINISHED else self._fraction,
        )
        self.ended.emit(event)

    def _take_event(self, event: JobEvent) -> None:
        if isinstance(event, LorasApplied):
            self._update(lora_summaries=event.summaries)
        elif isinstance(event, PreviewClip):
            self._update(preview_clip=event.path)

    def _show_progress(self) -> None:
        progress = self._progress
        self._update(phases=progress.rows, fraction=progress.fraction, time_left_s=progress.time_left_s)

    def _offer_force(self) -> None:
        if self._cancel_phase is CancelPhase.CANCELLING:
            self._update(cancel_phase=CancelPhase.CAN_FORCE, force_cost=self._force_timer.cost)
