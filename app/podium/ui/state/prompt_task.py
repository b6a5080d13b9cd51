"""Something small that the fleet is asked about the form's prompt: one answer at a time, waited for or left."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from podium.jobs import DurationPredicted, PromptEnhanced, StepDone
from podium.ui.state.compose import ComposeState
from podium.ui.state.force_timer import ForceTimer
from podium.ui.state.observable import ObservableState
from podium.ui.state.values import CancelPhase, RankRow


class PromptTaskState(ObservableState):
    """What is asked, whether it is waited for, how it can be ended, and why it was not answered.

    Whoever can have it answered says so by `set_available`, takes `ordered` and the requests to end it, and answers by
    `show_status`, `note_step`, and `take` or `refuse`.

    Args:
        compose: The form whose prompt it is about.
    """

    is_available_changed = Signal()
    is_busy_changed = Signal()
    status_changed = Signal()
    problem_changed = Signal()
    cancel_phase_changed = Signal()
    force_cost_changed = Signal()
    ordered = Signal(object)
    """An `EnhanceRequest` or a `DurationRequest`."""
    cancel_requested = Signal()
    """Nobody waits for the answer any more."""
    stop_requested = Signal()
    """The fleet shall end it softly; whoever waits for it is told when it has."""
    force_requested = Signal()
    """The fleet shall be killed under it."""

    def __init__(self, compose: ComposeState, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._compose = compose
        self._is_available = False
        self._is_busy = False
        self._status = ""
        self._problem = ""
        self._cancel_phase = CancelPhase.NONE
        self._force_cost = ""
        self._force_timer = ForceTimer(self)
        self._force_timer.timeout.connect(self._offer_force)
        self.is_busy_changed.connect(self._on_busy_changed)

    @property
    def is_available(self) -> bool:
        """Return whether the chosen model can answer."""
        return self._is_available

    @property
    def is_busy(self) -> bool:
        """Return whether the answer is waited for."""
        return self._is_busy

    @property
    def status(self) -> str:
        """Return a sentence on how far it is while it is waited for; else empty."""
        return self._status

    @property
    def problem(self) -> str:
        """Return a sentence on why there is no answer; empty if nothing went wrong."""
        return self._problem

    @property
    def cancel_phase(self) -> CancelPhase:
        """Return what the button is that ends it: as a clip's, softly first, and by force where that is not heard."""
        return self._cancel_phase

    @property
    def force_cost(self) -> str:
        """Return a sentence on what a force stop costs; empty while it is not offered."""
        return self._force_cost

    def set_available(self, is_available: bool) -> None:  # noqa: FBT001 - told by a signal
        """Say whether the chosen model can answer."""
        self._update(is_available=is_available)

    def show_status(self, status: str) -> None:
        """Say how far it is."""
        if self._is_busy:
            self._update(status=status)

    def note_step(self, step: StepDone) -> None:
        """Take in how far the fleet is with it."""

    def take(self, answer: PromptEnhanced | DurationPredicted) -> None:
        """Take in the answer; nobody waits for it any more after `leave`."""
        raise NotImplementedError

    def refuse(self, problem: str) -> None:
        """Take in why there is no answer."""
        if self._is_busy:
            self._update(is_busy=False, status="", problem=problem)

    def cancel(self) -> None:
        """Ask softly, and wait until it has ended. It never forces, however often it comes."""
        if self._cancel_phase is CancelPhase.CAN_CANCEL:
            self._update(cancel_phase=CancelPhase.CANCELLING)
            self._force_timer.begin()
            self.stop_requested.emit()

    def force_stop(self) -> None:
        """Kill the fleet under it; only where that is offered."""
        if self._cancel_phase is CancelPhase.CAN_FORCE:
            self._update(cancel_phase=CancelPhase.FORCING, force_cost="")
            self.force_requested.emit()

    def note_ranks(self, rows: tuple[RankRow, ...]) -> None:
        """Take in how the ranks are."""
        self._force_timer.note_ranks(rows)

    def note_start_duration(self, duration_s: float | None) -> None:
        """Take in how long a fleet's start takes: what a force stop costs."""
        self._force_timer.note_start_duration(duration_s)

    def close(self) -> None:
        """Wait for nothing any more: the window goes."""
        self._force_timer.stop()

    def leave(self) -> None:
        """Wait no more."""
        was_busy = self._is_busy
        self._update(is_busy=False, status="", problem="")
        if was_busy:
            self.cancel_requested.emit()

    def _on_busy_changed(self) -> None:
        self._force_timer.stop()
        phase = CancelPhase.CAN_CANCEL if self._is_busy else CancelPhase.NONE
        self._update(cancel_phase=phase, force_cost="")

    def _offer_force(self) -> None:
        if self._cancel_phase is CancelPhase.CANCELLING:
            self._update(cancel_phase=CancelPhase.CAN_FORCE, force_cost=self._force_timer.cost)

    def _can_ask(self) -> bool:
        return self._is_available and not self._is_busy and bool(self._compose.prompt.strip())
