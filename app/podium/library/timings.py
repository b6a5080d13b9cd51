"""What clips took on this machine, and from that what the next one may take."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from podium.jobs import Phase, PipelineKind, Quantization
from podium.library.database import Database
from podium.library.request_json import to_text

NUM_KEPT = 9
"""Of each phase and size; older ones tell of another driver, and of a warmer or cooler day."""

MAX_GROWTH = 4.0
"""A clip of more than so many times the tokens of the largest one known is not guessed at: attention is quadratic."""

_FIXED_PHASES = frozenset({Phase.ENCODING, Phase.SWAPPING, Phase.LOADING, Phase.STARTING})
# Compiling happens at the first clip of a size, and starting is no part of a clip.
_LEFT_OUT = frozenset({Phase.COMPILING, Phase.STARTING, Phase.RENDEZVOUS, Phase.IDLE, Phase.STOPPING})


@dataclass(frozen=True, slots=True)
class TimedFleet:
    """All that decides how fast clips are, but their size.

    Args:
        model: Names the checkpoint.
        devices: The names of the devices, such as "NVIDIA H200", in rank order; ("cpu",) for the CPU.
    """

    pipeline: PipelineKind
    model: str
    devices: tuple[str, ...]
    num_ranks: int
    quantization: Quantization = Quantization.NONE

    @property
    def text(self) -> str:
        """Return it as the file holds it."""
        parts = (self.pipeline.value, self.model, list(self.devices), self.num_ranks, self.quantization.value)
        return to_text(parts)


@dataclass(frozen=True, slots=True)
class PhaseTiming:
    """What a phase took.

    Args:
        num_steps: Its steps; None where it has none.
    """

    phase: Phase
    duration_s: float
    num_steps: int | None = None


class TimingStore:
    """What clips took on this machine."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, fleet: TimedFleet, num_tokens: int, timings: Sequence[PhaseTiming]) -> None:
        """Note what the phases of a finished clip took.

        Args:
            num_tokens: Video tokens of the whole clip.

        Raises:
            LibraryError: Nothing was written.
        """
        rows = [(fleet.text, num_tokens, timing.phase.value, timing.num_steps, timing.duration_s) for timing in timings]
        with self._database.writing() as connection:
            connection.executemany(
                "INSERT INTO timing (fleet, num_tokens, phase, num_steps, duration_s) VALUES (?, ?, ?, ?, ?)", rows
            )
            connection.executemany(
                "DELETE FROM timing WHERE fleet = ?1 AND phase = ?3 AND num_tokens = ?2 AND id NOT IN (SELECT id FROM "
                "timing WHERE fleet = ?1 AND phase = ?3 AND num_tokens = ?2 ORDER BY id DESC LIMIT ?4)",
                [(*row[:3], NUM_KEPT) for row in rows],
            )

    def add_start(self, fleet: TimedFleet, duration_s: float) -> None:
        """Note what the start of a fleet took, weights included.

        Raises:
            LibraryError: Nothing was written.
        """
        self.add(fleet, 0, [PhaseTiming(Phase.STARTING, duration_s)])

    def start_s(self, fleet: TimedFleet) -> float | None:
        """Return what the last start of such a fleet took; None before the first.

        Raises:
            LibraryError: The file cannot be read.
        """
        found = self._database.read(
            "SELECT duration_s FROM timing WHERE fleet = ? AND phase = ? ORDER BY id DESC LIMIT 1",
            (fleet.text, Phase.STARTING.value),
        )
        return float(found[0][0] or 0) if found else None

    def estimate(self, fleet: TimedFleet, num_tokens: int, *, num_steps: int | None = None) -> float | None:
        """Return about how many seconds a clip will take on a fleet that is up; None while that is not known.

        Args:
            num_tokens: Video tokens of the whole clip.
            num_steps: Of the first stage, where the artist chooses them; None for those of the clips before.

        Raises:
            LibraryError: The file cannot be read.
        """
        known = self.phases_s(fleet, num_tokens, num_steps=num_steps)
        return sum(known.values()) if known else None

    def phases_s(self, fleet: TimedFleet, num_tokens: int, *, num_steps: int | None = None) -> dict[Phase, float]:
        """Return about how many seconds each phase of a clip will take; empty while that is not known.

        Raises:
            LibraryError: The file cannot be read.
        """
        found = self._database.read(
            "SELECT phase, num_tokens, num_steps, duration_s FROM timing WHERE fleet = ? ORDER BY id DESC",
            (fleet.text,),
        )
        points: dict[Phase, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
        for name, tokens, steps, duration_s in found:
            phase = Phase(str(name))
            if phase in _LEFT_OUT:
                continue
            factor = num_steps / int(steps) if num_steps and steps and phase is Phase.STAGE_1 else 1.0
            points[phase][int(tokens or 0)].append(float(duration_s or 0) * factor)
        estimates = {phase: _at(phase, num_tokens, by_tokens) for phase, by_tokens in points.items()}
        known = {phase: seconds for phase, seconds in estimates.items() if seconds is not None}
        return known if len(known) == len(estimates) else {}


def _at(phase: Phase, num_tokens: int, by_tokens: dict[int, list[float]]) -> float | None:
    """Return a phase's seconds at a size: between the nearest known sizes, or from the nearest one by proportion."""
    medians = {tokens: statistics.median(seconds) for tokens, seconds in by_tokens.items()}
    if num_tokens in medians:
        return medians[num_tokens]
    below = max((tokens for tokens in medians if tokens < num_tokens), default=None)
    above = min((tokens for tokens in medians if tokens > num_tokens), default=None)
    if phase in _FIXED_PHASES:
        return medians[below if below is not None else above or 0]
    if below is not None and above is not None:
        share = (num_tokens - below) / (above - below)
        return medians[below] + share * (medians[above] - medians[below])
    if above is not None:
        return medians[above] * num_tokens / above
    assert below is not None, "a phase that was timed was timed at some size"
    return medians[below] * num_tokens / below if num_tokens <= MAX_GROWTH * below else None
