"""The length that the model itself would give a prompt's clip."""

from __future__ import annotations

from PySide6.QtCore import QObject

from podium.jobs import DurationPredicted, DurationRequest, PromptEnhanced
from podium.ui.state.compose import ComposeState
from podium.ui.state.prompt_task import PromptTaskState


class LengthState(PromptTaskState):
    """One suggested length at a time; it goes into the form as soon as it is there.

    Args:
        compose: The form whose prompt it is.
    """

    def __init__(self, compose: ComposeState, parent: QObject | None = None) -> None:
        super().__init__(compose, parent)
        # The one that was asked for.
        self._fps = compose.fps

    def suggest(self) -> None:
        """Ask how long the prompt's clip should be."""
        if not self._can_ask():
            return
        compose = self._compose
        self._update(problem=compose.prompt_problem)
        if not self._problem:
            self._fps = compose.fps
            self._update(is_busy=True)
            self.ordered.emit(DurationRequest(compose.prompt, compose.fps))

    def take(self, answer: PromptEnhanced | DurationPredicted) -> None:
        """Put the length into the form."""
        if self._is_busy and isinstance(answer, DurationPredicted):
            self._update(is_busy=False, status="")
            # In seconds: another frame rate may have been chosen meanwhile.
            self._compose.set_duration_s(float(answer.num_frames / self._fps))
