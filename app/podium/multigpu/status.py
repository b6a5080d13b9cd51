"""What each rank is doing, readable at any time: a page of memory that a worker shares with the driver.

The worker writes its page without asking anybody and the driver reads it without waiting for anybody, so a status can
be had of a rank that is stopped, wedged or dead. Times are `time.monotonic()`, one clock for all processes.
"""

from __future__ import annotations

import statistics
import struct
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from podium.jobs import Phase
from podium.multigpu.mapping import map_shared

PAGE_BYTES = 4096
PHASES = tuple(Phase)

# Native alignment and sizes: both sides are the same interpreter on the same machine.
_SEQUENCE, _SEQUENCE_AT = struct.Struct("@Q"), 0
_PROGRESS, _PROGRESS_AT = struct.Struct("@QIIIIQQdd"), 64
_COLLECTIVES, _COLLECTIVES_AT = struct.Struct("@Q"), 512
_HEARTBEAT, _HEARTBEAT_AT = struct.Struct("@d"), 1024
_CANCEL, _CANCEL_AT = struct.Struct("@Q"), 2048
_READ_TRIES = 50

# How long a rank may show no progress before it stands still, in seconds. The phases named have no steps to measure by.
STILL_S = 30.0
MEDIAN_FACTOR = 5.0
FIRST_STEP_S = 600.0
PHASE_LIMITS_S = {
    Phase.STARTING: 60.0,
    Phase.RENDEZVOUS: 120.0,
    Phase.LOADING: 600.0,
    Phase.SWAPPING: 120.0,
    Phase.COMPILING: 1800.0,
}
# A rank that waits shows it after this long, once the kernel says that another is stopped or dead.
WAITING_S = 1.0
_STEP_PHASES = (Phase.STAGE_1, Phase.STAGE_2)


class RankState(StrEnum):
    """How a rank is."""

    ALIVE = "alive"
    STOPPED = "stopped"
    DEAD = "dead"
    NOT_RESPONDING = "not responding"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class Progress:
    """What a rank wrote on its page; times in monotonic seconds, zero before the first."""

    job_id: int = 0
    phase: Phase = Phase.STARTING
    step: int | None = None
    num_steps: int | None = None
    bytes_done: int = 0
    bytes_total: int = 0
    progress_time_s: float = 0.0
    step_median_s: float = 0.0
    num_collectives: int = 0
    sign_time_s: float = 0.0


@dataclass(frozen=True, slots=True)
class RankStatus:
    """How a rank is and what it does.

    Args:
        device: "cpu" or "cuda:<index>".
        pid: Of its process; None before it has one.
        waiting_for: The rank it waits for if `state` is WAITING.
        step: The last step that ended, from 1; None where the phase has none.
        num_collectives: How many collectives it has begun.
        progress_age_s: Seconds since its last progress.
        sign_age_s: Seconds since its last sign of life.
        job_id: Of its last job; 0 in setup.
    """

    rank: int
    device: str
    pid: int | None
    state: RankState
    waiting_for: int | None
    phase: Phase
    step: int | None
    num_steps: int | None
    bytes_done: int
    bytes_total: int
    num_collectives: int
    progress_age_s: float
    sign_age_s: float
    job_id: int

    @property
    def text(self) -> str:
        """Return the state in words."""
        return str(self.state) if self.waiting_for is None else f"waiting for rank {self.waiting_for}"


@dataclass(frozen=True, slots=True)
class RankSample:
    """What is known of a rank before judging: its page, and its process state as the kernel has it.

    Args:
        kernel_state: ALIVE, STOPPED or DEAD.
    """

    rank: int
    device: str
    pid: int | None
    kernel_state: RankState
    progress: Progress


class StatusPage:
    """One rank's page.

    Ranks: `write`, `beat`, `begin_collectives` and `cancel_requested_for` one rank, local; the rest driver.

    Args:
        buffer: `PAGE_BYTES` of memory, shared or not.
    """

    def __init__(self, buffer: memoryview | bytearray) -> None:
        self._buffer = buffer
        self._sequence = 0

    @classmethod
    def map(cls, fd: int) -> StatusPage:
        """Map the page behind a file descriptor; the descriptor may be closed after."""
        return cls(map_shared(fd, PAGE_BYTES))

    def write(self, progress: Progress) -> None:
        """Publish a rank's progress; only one thread may."""
        # An odd sequence number tells the reader that a write is under way.
        self._sequence += 2
        _SEQUENCE.pack_into(self._buffer, _SEQUENCE_AT, self._sequence - 1)
        _PROGRESS.pack_into(
            self._buffer,
            _PROGRESS_AT,
            progress.job_id,
            PHASES.index(progress.phase),
            _from_count(progress.step),
            _from_count(progress.num_steps),
            0,
            progress.bytes_done,
            progress.bytes_total,
            progress.progress_time_s,
            progress.step_median_s,
        )
        _SEQUENCE.pack_into(self._buffer, _SEQUENCE_AT, self._sequence)

    def write_collectives(self, num_collectives: int) -> None:
        """Publish how many collectives the rank has begun."""
        _COLLECTIVES.pack_into(self._buffer, _COLLECTIVES_AT, num_collectives)

    def beat(self) -> None:
        """Publish a sign of life."""
        _HEARTBEAT.pack_into(self._buffer, _HEARTBEAT_AT, time.monotonic())

    def request_cancel(self, job_id: int) -> None:
        """Ask the rank to end a job."""
        _CANCEL.pack_into(self._buffer, _CANCEL_AT, job_id)

    def is_cancel_requested(self, job_id: int) -> bool:
        """Return whether the driver asked to end this job."""
        return bool(_CANCEL.unpack_from(self._buffer, _CANCEL_AT)[0] == job_id)

    def read(self) -> Progress:
        """Return what the rank last wrote."""
        fields = _PROGRESS.unpack_from(self._buffer, _PROGRESS_AT)
        for _ in range(_READ_TRIES):
            before = _SEQUENCE.unpack_from(self._buffer, _SEQUENCE_AT)[0]
            fields = _PROGRESS.unpack_from(self._buffer, _PROGRESS_AT)
            if before % 2 == 0 and before == _SEQUENCE.unpack_from(self._buffer, _SEQUENCE_AT)[0]:
                break
        job_id, phase, step, num_steps, _, bytes_done, bytes_total, progress_time_s, step_median_s = fields
        return Progress(
            job_id=job_id,
            phase=PHASES[min(phase, len(PHASES) - 1)],
            step=_to_count(step),
            num_steps=_to_count(num_steps),
            bytes_done=bytes_done,
            bytes_total=bytes_total,
            progress_time_s=progress_time_s,
            step_median_s=step_median_s,
            num_collectives=_COLLECTIVES.unpack_from(self._buffer, _COLLECTIVES_AT)[0],
            sign_time_s=_HEARTBEAT.unpack_from(self._buffer, _HEARTBEAT_AT)[0],
        )


class StepClock:
    """Median length of the last steps of a phase, in seconds."""

    def __init__(self) -> None:
        self._durations_s: deque[float] = deque(maxlen=9)
        self._last_s: float | None = None

    def restart(self) -> None:
        """Forget the steps: a phase began."""
        self._durations_s.clear()
        self._last_s = None

    def tick(self, now_s: float) -> float:
        """Count a step that ended now, and return the median; zero before the second."""
        if self._last_s is not None:
            self._durations_s.append(now_s - self._last_s)
        self._last_s = now_s
        return statistics.median(self._durations_s) if self._durations_s else 0.0


def judge(samples: Sequence[RankSample], now_s: float) -> tuple[RankStatus, ...]:
    """Say of each rank how it is, and name who holds the others up.

    A rank that the kernel calls stopped or dead is the culprit; otherwise, if nobody has made progress for too long,
    the one that began the fewest collectives is.
    """
    fallen = [s for s in samples if s.kernel_state is not RankState.ALIVE]
    culprits = fallen or _stragglers(samples, now_s)
    limit_s = WAITING_S if fallen else 0.0
    return tuple(_status(sample, culprits, now_s, limit_s) for sample in samples)


def limit_s(progress: Progress) -> float | None:
    """Return after how many seconds without progress a rank stands still; None if it has nothing to do."""
    if progress.phase is Phase.IDLE:
        return None
    if progress.phase in PHASE_LIMITS_S:
        return PHASE_LIMITS_S[progress.phase]
    if progress.phase in _STEP_PHASES and not progress.step:
        return FIRST_STEP_S
    return max(STILL_S, MEDIAN_FACTOR * progress.step_median_s)


def _stragglers(samples: Sequence[RankSample], now_s: float) -> list[RankSample]:
    limits = [(sample, limit_s(sample.progress)) for sample in samples]
    busy = [(sample, limit) for sample, limit in limits if limit is not None]
    if not busy or any(_age_s(sample.progress.progress_time_s, now_s) <= limit for sample, limit in busy):
        return []
    fewest = min(sample.progress.num_collectives for sample in samples)
    return [sample for sample in samples if sample.progress.num_collectives == fewest]


def _age_s(time_s: float, now_s: float) -> float:
    """Return how long ago a time was; before the first sign that is nothing."""
    return max(0.0, now_s - time_s) if time_s else 0.0


def _from_count(count: int | None) -> int:
    # A page that nobody wrote is all zeros, and has to read as "none".
    return 0 if count is None else count + 1


def _to_count(stored: int) -> int | None:
    return stored - 1 if stored else None


def _status(sample: RankSample, culprits: Sequence[RankSample], now_s: float, waiting_limit_s: float) -> RankStatus:
    progress = sample.progress
    age_s = _age_s(progress.progress_time_s, now_s)
    state, waiting_for = sample.kernel_state, None
    if state is RankState.ALIVE and culprits and progress.phase is not Phase.IDLE:
        if sample in culprits:
            state = RankState.NOT_RESPONDING
        elif age_s > waiting_limit_s:
            state, waiting_for = RankState.WAITING, culprits[0].rank
    return RankStatus(
        rank=sample.rank,
        device=sample.device,
        pid=sample.pid,
        state=state,
        waiting_for=waiting_for,
        phase=progress.phase,
        step=progress.step,
        num_steps=progress.num_steps,
        bytes_done=progress.bytes_done,
        bytes_total=progress.bytes_total,
        num_collectives=progress.num_collectives,
        progress_age_s=age_s,
        sign_age_s=_age_s(progress.sign_time_s, now_s),
        job_id=progress.job_id,
    )
