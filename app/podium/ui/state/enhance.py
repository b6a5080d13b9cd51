"""A prompt that the text encoder's language model writes out, shown before anybody uses it."""

from __future__ import annotations

import secrets

from PySide6.QtCore import QObject, Signal

from podium.jobs import DurationPredicted, EnhanceRequest, PromptEnhanced, StepDone
from podium.ui.state.compose import ComposeState
from podium.ui.state.images import FramePlace
from podium.ui.state.prompt_task import PromptTaskState


class EnhanceState(PromptTaskState):
    """One written-out prompt at a time: asked for, shown beside the original, used or discarded.

    Args:
        compose: The form whose prompt it is.
    """

    original_changed = Signal()
    enhanced_changed = Signal()
    note_changed = Signal()

    def __init__(self, compose: ComposeState, parent: QObject | None = None) -> None:
        super().__init__(compose, parent)
        self._original = ""
        self._enhanced = ""
        self._note = ""

    @property
    def original(self) -> str:
        """Return the prompt that it is made of; empty while none is asked for."""
        return self._original

    @property
    def enhanced(self) -> str:
        """Return the prompt written out; empty until it is."""
        return self._enhanced

    @property
    def note(self) -> str:
        """Return a sentence on what was left aside in writing, such as a picture; empty if nothing was."""
        return self._note

    def enhance(self) -> None:
        """Ask for the form's prompt written out; asked again, it comes in other words."""
        if not self._can_ask():
            return
        compose = self._compose
        self._update(original=compose.prompt, enhanced="", note="", problem=compose.prompt_problem)
        if not self._problem:
            start = (item.path for item in compose.images.items if item.place is FramePlace.FIRST)
            self._update(is_busy=True)
            self.ordered.emit(EnhanceRequest(compose.prompt, secrets.randbelow(10**9), next(start, None)))

    def note_step(self, step: StepDone) -> None:
        """Take in how much is written."""
        text = self.tr("Being written: {0} of at most {1} tokens.")
        self.show_status(text.format(step.step, step.num_steps))

    def take(self, answer: PromptEnhanced | DurationPredicted) -> None:
        """Take in what was written; nobody waits for it any more after `discard`."""
        if self._is_busy and isinstance(answer, PromptEnhanced):
            self._update(is_busy=False, status="", enhanced=answer.prompt, note=answer.note)

    def use(self) -> None:
        """Put what was written in the prompt's place."""
        if self._enhanced:
            self._compose.set_prompt(self._enhanced)
        self.discard()

    def discard(self) -> None:
        """Leave the prompt as it is, and write no more."""
        self._update(original="", enhanced="", note="")
        self.leave()
