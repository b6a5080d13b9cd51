"""How far a job is, and how long it may still take. No Qt."""

from __future__ import annotations

import statistics
from dataclasses import replace

from podium.jobs import PHASE_WORDS, JobEvent, Phase, PhaseEnded, PhaseStarted, StepDone
from podium.ui.state.values import PhaseRow

PHASE_ORDER = (
    Phase.ENCODING,
    Phase.SWAPPING,
    Phase.STAGE_1,
    Phase.UPSAMPLING,
    Phase.STAGE_2,
    Phase.DECODING,
    Phase.WRITING,
)


class JobProgress:
    """What one job has done, and what jobs like it took.

    Args:
        known_s: Seconds by phase of an earlier job of the same size, or none.
    """

    def __init__(self, known_s: dict[Phase, float] | None = None) -> None:
        self._known_s = known_s or {}
        self._rows: dict[Phase, PhaseRow] = {}
        self._steps_s: dict[Phase, list[float]] = {}

    @property
    def rows(self) -> tuple[PhaseRow, ...]:
        """Return the phases in the order they began."""
        return tuple(self._rows.values())

    @property
    def durations_s(self) -> dict[Phase, float]:
        """Return the seconds of the phases that ended."""
        return {row.phase: row.duration_s for row in self._rows.values() if row.duration_s is not None}

    @property
    def step_median_s(self) -> float:
        """Return the median length of the steps of the phase at work; 0 before the first."""
        current = self._current()
        steps_s = self._steps_s.get(current.phase, []) if current else []
        return statistics.median(steps_s) if steps_s else 0.0

    @property
    def time_left_s(self) -> float | None:
        """Return about how many seconds are left; None while nobody can tell."""
        current = self._current()
        if current is None:
            return None
        ahead = [phase for phase in self._phases_ahead(current.phase) if phase in self._known_s]
        here_s = self._left_here_s(current)
        if here_s is None:
            return None
        return here_s + sum(self._known_s[phase] for phase in ahead)

    @property
    def fraction(self) -> float | None:
        """Return how far the whole job is, 0 to 1; None while nobody can tell."""
        left_s = self.time_left_s
        if left_s is None or not self._known_s:
            return None
        done_s = sum(self.durations_s.values())
        current = self._current()
        if current is not None:
            done_s += sum(self._steps_s.get(current.phase, []))
        return done_s / (done_s + left_s) if done_s + left_s > 0 else None

    def note(self, event: JobEvent) -> None:
        """Take in what an event says about progress."""
        match event:
            case PhaseStarted(phase, num_steps):
                step = None if num_steps is None else 0
                fraction = None if num_steps is None else 0.0
                self._rows[phase] = PhaseRow(
                    phase, PHASE_WORDS[phase], step=step, num_steps=num_steps, fraction=fraction
                )
                self._steps_s[phase] = []
            case StepDone(phase, step, num_steps, duration_s):
                row = self._rows.get(phase, PhaseRow(phase, PHASE_WORDS[phase]))
                self._rows[phase] = replace(row, step=step, num_steps=num_steps, fraction=step / max(1, num_steps))
                self._steps_s.setdefault(phase, []).append(duration_s)
            case PhaseEnded(phase, duration_s):
                row = self._rows.get(phase, PhaseRow(phase, PHASE_WORDS[phase]))
                duration_s += row.duration_s or 0.0
                self._rows[phase] = replace(row, is_done=True, fraction=1.0, duration_s=duration_s)

    def _current(self) -> PhaseRow | None:
        return next((row for row in reversed(self._rows.values()) if not row.is_done), None)

    def _phases_ahead(self, phase: Phase) -> tuple[Phase, ...]:
        if phase not in PHASE_ORDER:
            return PHASE_ORDER
        return PHASE_ORDER[PHASE_ORDER.index(phase) + 1 :]

    def _left_here_s(self, row: PhaseRow) -> float | None:
        steps_s = self._steps_s.get(row.phase, [])
        known_s = self._known_s.get(row.phase)
        if steps_s and row.num_steps:
            # What was done in coalesced steps counts too: the mean, not the median.
            return sum(steps_s) / (row.step or 1) * (row.num_steps - (row.step or 0))
        return known_s
