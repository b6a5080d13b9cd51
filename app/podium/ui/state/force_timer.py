"""How long a soft cancel is waited for until force is offered in its place."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QTimer

from podium.ui.state.values import RankRow

FORCE_AFTER_S = 5.0
FORCE_AFTER_STEPS = 3.0
MIN_CANCELLING_S = 1.0
"""A second press so soon after the first is a double click, and never forces."""
_DEAD = "dead"


class ForceTimer(QTimer):
    """Ends when force is to be offered: after some steps, or at once where a rank does not answer.

    Args:
        now_s: A clock, in seconds.
    """

    def __init__(self, parent: QObject | None = None, *, now_s: Callable[[], float] = time.monotonic) -> None:
        super().__init__(parent)
        self.setSingleShot(True)
        self._now_s = now_s
        self._step_s = 0.0
        self._asked_at_s = 0.0
        self._is_silent = False
        self._start_duration_s: float | None = None

    @property
    def cost(self) -> str:
        """Return a sentence on what a force stop costs."""
        if self._start_duration_s is None:
            return self.tr("Force stop ends the fleet at once; the weights load again.")
        text = self.tr("Force stop ends the fleet at once; the weights load again, about {0} s.")
        return text.format(max(1, round(self._start_duration_s)))

    def begin(self, step_s: float = 0.0) -> None:
        """Wait from now on.

        Args:
            step_s: What a step takes, since a soft cancel is heard after one; 0 while that is not known.
        """
        self._step_s, self._asked_at_s = step_s, self._now_s()
        self._schedule()

    def note_ranks(self, rows: Sequence[RankRow]) -> None:
        """Take in how the ranks are: one that does not respond will not answer a soft cancel either."""
        # One that is dead is past answering, and its end is on its way already.
        self._is_silent = any(not row.is_responding and row.text != _DEAD for row in rows)
        if self._is_silent and self.isActive():
            self._schedule()

    def note_start_duration(self, duration_s: float | None) -> None:
        """Take in how long a fleet's start takes; None while that is not known."""
        self._start_duration_s = duration_s

    def _schedule(self) -> None:
        patience_s = max(FORCE_AFTER_S, FORCE_AFTER_STEPS * self._step_s)
        if self._is_silent:
            patience_s = MIN_CANCELLING_S
        left_s = self._asked_at_s + patience_s - self._now_s()
        self.start(max(0, round(left_s * 1000)))
