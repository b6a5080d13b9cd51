"""Who failed first, and of what, in words. No torch.

Each function takes its facts at once and returns how to make the error: whoever has to raise it makes one of his own.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence

from podium.errors import PodiumError
from podium.jobs import Phase
from podium.multigpu.channel import Packet
from podium.multigpu.errors import (
    FleetError,
    JobTimeoutError,
    RunnerCrashedError,
    StartTimeoutError,
    WorkerDiedError,
)
from podium.multigpu.fleet import RankHandle
from podium.multigpu.messages import EXIT_LINK_BROKEN
from podium.multigpu.status import RankStatus
from podium.multigpu.stream import Failure, refusal_in
from podium.multigpu.transport import unpack

_ACTIVITIES = {
    Phase.STARTING: "starting",
    Phase.RENDEZVOUS: "looking for the other ranks",
    Phase.LOADING: "loading",
    Phase.IDLE: "idle",
    Phase.SWAPPING: "swapping weights",
    Phase.STAGE_1: "in stage 1",
    Phase.STAGE_2: "in stage 2",
}


def find_culprit(handles: Sequence[RankHandle], ended: Sequence[RankHandle]) -> RankHandle | None:
    """Return the rank that failed first.

    A process that ended without a word comes first, since its end is what the others complain of; then the earliest
    report, by the sender's clock; then who refused a job that others went on with; then who was cut off.

    Args:
        ended: Those whose process ended, in that order.
    """
    silent = [handle for handle in ended if handle.crash is None]
    if silent:
        return silent[0]
    crashed = [(handle.crash.time_s, handle) for handle in handles if handle.crash is not None]
    if crashed:
        return min(crashed, key=lambda pair: pair[0])[1]
    left = [handle for handle in handles if handle.is_deserter] or [handle for handle in handles if handle.is_cut]
    return left[0] if left else None


def rank_failure(handle: RankHandle) -> Failure:
    """Return how to make the error of a rank that failed."""
    rank, device, phase = handle.place.rank, handle.place.device, handle.page.read().phase
    lines, crash = handle.tail.lines(), handle.crash
    if crash is not None:
        return lambda: _crash_error(crash, rank, device, phase, lines)
    refusal = handle.refusal
    if handle.is_deserter and not handle.has_ended:
        return lambda: _desertion_error(refusal, rank, device, phase, lines)
    exitcode, number = exit_of(handle.exit_status)
    manner = "lost its connection to Podium" if _is_cut_off(handle, exitcode) else _manner(exitcode, number)
    cause = ": probably out of memory" if number == signal.SIGKILL else ""
    message = f"Rank {rank} ({device}) {manner} while it was {_activity(phase)}{cause}."
    return lambda: WorkerDiedError(message, rank=rank, phase=phase, exitcode=exitcode, signal=number, log_lines=lines)


def exit_of(status: tuple[int, int] | None) -> tuple[int | None, int | None]:
    """Return exit code and signal number of an end, of which one is None; both if nobody could tell."""
    if status is None:
        return None, None
    code, value = status
    return (value, None) if code == os.CLD_EXITED else (None, value)


def start_timeout(statuses: Sequence[RankStatus], timeout_s: float) -> Failure:
    """Return how to make the error of a fleet that was not ready in time."""
    text = f"The fleet was not ready after {timeout_s:g} seconds. {describe(statuses)}"
    return lambda: StartTimeoutError(text, ranks=_ranks(statuses), phases=_phases(statuses))


def job_timeout(statuses: Sequence[RankStatus], job_id: int) -> Failure:
    """Return how to make the error of a job that took too long."""
    text = f"Job {job_id} took longer than it was given. {describe(statuses)}"
    return lambda: JobTimeoutError(text, ranks=_ranks(statuses), phases=_phases(statuses))


def fleet_failure(statuses: Sequence[RankStatus], text: str, cause: Exception | None = None) -> Failure:
    """Return how to make the error of a fleet that failed as a whole; an error for the artist stays as it is."""

    def make() -> Exception:
        if isinstance(cause, PodiumError):
            return cause
        error = FleetError(
            text, details="" if cause is None else repr(cause), ranks=_ranks(statuses), phases=_phases(statuses)
        )
        error.__cause__ = cause
        return error

    return make


def describe(statuses: Sequence[RankStatus]) -> str:
    """Return in one sentence what every rank does."""
    parts = [f"rank {s.rank} ({s.device}) is {s.text}, {_activity(s.phase)}{_step(s)}" for s in statuses]
    return ("; ".join(parts) + ".").capitalize() if parts else ""


def _crash_error(crash: Packet, rank: int, device: str, phase: Phase, lines: tuple[str, ...]) -> Exception:
    error: object = None
    try:
        name, text, details, error = unpack(crash.pickled, crash.blob)
    except Exception as fault:  # noqa: BLE001 - an error class that cannot be rebuilt here is still the rank's failure
        name, text, details = "an error", "that cannot be read here", repr(fault)
    if crash.job_id == 0 and isinstance(error, PodiumError):
        # From setup it is an answer to the artist, as it would be without a fleet.
        error.details = error.details or details
        return error
    died = RunnerCrashedError(
        f"Rank {rank} ({device}) failed while it was {_activity(phase)}: {name}: {text}",
        rank=rank,
        phase=phase,
        log_lines=lines,
        details=details,
    )
    died.__cause__ = error if isinstance(error, BaseException) else None
    return died


def _desertion_error(refusal: Packet | None, rank: int, device: str, phase: Phase, lines: tuple[str, ...]) -> Exception:
    error = None if refusal is None else refusal_in(refusal)
    ended, reason = ("ended", ".") if error is None else ("refused", f": {error.message}")
    died = RunnerCrashedError(
        f"Rank {rank} ({device}) {ended} the job while other ranks went on with it and waited for this one{reason}",
        rank=rank,
        phase=phase,
        log_lines=lines,
        details="" if error is None else error.details,
    )
    died.__cause__ = error
    return died


def _is_cut_off(handle: RankHandle, exitcode: int | None) -> bool:
    return exitcode == EXIT_LINK_BROKEN or (handle.is_cut and not handle.has_ended)


def _manner(exitcode: int | None, number: int | None) -> str:
    if number == signal.SIGKILL:
        return "was killed by the system"
    if number is not None:
        return f"was ended by {signal_name(number)}"
    return "ended" if exitcode is None else f"exited with code {exitcode}, which nobody asked of it,"


def signal_name(number: int) -> str:
    """Return a signal's name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _activity(phase: Phase) -> str:
    return _ACTIVITIES.get(phase, str(phase))


def _step(status: RankStatus) -> str:
    return "" if status.step is None else f", step {status.step} of {status.num_steps}"


def _ranks(statuses: Sequence[RankStatus]) -> tuple[int, ...]:
    return tuple(status.rank for status in statuses)


def _phases(statuses: Sequence[RankStatus]) -> tuple[Phase, ...]:
    return tuple(status.phase for status in statuses)
