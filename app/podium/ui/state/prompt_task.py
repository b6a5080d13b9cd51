"""Something small that the fleet is asked about the form's prompt: one answer at a time, waited for or left."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from podium.jobs import DurationPredicted, PromptEnhanced, StepDone
from podium.ui.state.compose import ComposeState
from podium.ui.state.observable import ObservableState


class PromptTaskState(ObservableState):
    """What is asked, whether it is waited for, and why it was not answered.

    Whoever can have it answered says so by `set_available`, takes `ordered` and `cancel_requested`, and answers by
    `show_status`, `note_step`, and `take` or `refuse`.

    Args:
        compose: The form whose prompt it is about.
    """

    is_available_changed = Signal()
    is_busy_changed = Signal()
    status_changed = Signal()
    problem_changed = Signal()
    ordered = Signal(object)
    """An `EnhanceRequest` or a `DurationRequest`."""
    cancel_requested = Signal()
    """Nobody waits for the answer any more."""

    def __init__(self, compose: ComposeState, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._compose = compose
        self._is_available = False
        self._is_busy = False
        self._status = ""
        self._problem = ""

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

    def leave(self) -> None:
        """Wait no more."""
        was_busy = self._is_busy
        self._update(is_busy=False, status="", problem="")
        if was_busy:
            self.cancel_requested.emit()

    def _can_ask(self) -> bool:
        return self._is_available and not self._is_busy and bool(self._compose.prompt.strip())
