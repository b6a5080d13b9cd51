"""Counts a prompt's tokens a moment after it was last written, with the text encoder that is chosen."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from podium.helper.requests import Answer, CountTokens, TokenCount
from podium.ui.state.ports import HelperPort

COUNT_DELAY_MS = 150


class TokenCounter(QObject):
    """Counts the tokens of one prompt.

    Args:
        helper: Has the tokenizer.
    """

    counted = Signal(object)
    """The `TokenCount` of the prompt as it stands."""

    def __init__(self, helper: HelperPort, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._helper = helper
        self._gemma_root: Path | None = None
        self._prompt = ""
        self._timer = QTimer(self, singleShot=True, interval=COUNT_DELAY_MS)
        self._timer.timeout.connect(self.count)

    def set_prompt(self, prompt: str) -> None:
        """Count this one soon."""
        self._prompt = prompt
        self._count_soon()

    def set_gemma_root(self, gemma_root: Path | None) -> bool:
        """Count with the tokenizer of this folder, and none without one; return whether it is another."""
        is_new = gemma_root != self._gemma_root
        if is_new:
            self._gemma_root = gemma_root
            self._count_soon()
        return is_new

    def count(self) -> None:
        """Count now."""
        self._timer.stop()
        if self._gemma_root is not None:
            asked = self._gemma_root, self._prompt
            self._helper.ask(CountTokens(*asked), partial(self._take, asked))

    def close(self) -> None:
        """Count no more."""
        self._timer.stop()

    def _count_soon(self) -> None:
        if self._gemma_root is not None:
            self._timer.start()

    def _take(self, asked: tuple[Path, str], answer: Answer[TokenCount]) -> None:
        # What was counted may have been written over meanwhile.
        if answer.value is not None and asked == (self._gemma_root, self._prompt):
            self.counted.emit(answer.value)
