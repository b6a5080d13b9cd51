"""From the type of an error to what the artist is told: the one table. Imported with the fleet, not before."""

from __future__ import annotations

import signal
import traceback
from dataclasses import dataclass

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from podium.errors import PodiumError
from podium.jobs import Phase
from podium.multigpu.errors import (
    AsymmetricRunnerError,
    ControllerStoppedError,
    FleetError,
    JobTimeoutError,
    PlacementError,
    RunnerCrashedError,
    StartTimeoutError,
    SymmetricRunnerError,
    WorkerDiedError,
)
from podium.ui.state.sentences import said
from podium.ui.state.values import ErrorMessage

_MEMORY_MARKS = ("out of memory", "OutOfMemory", "MemoryError")
_MEMORY_ADVICE = QT_TRANSLATE_NOOP(
    "Messages",
    "The memory of a device did not suffice. Fewer frames, a smaller size, or more GPUs may do; so may closing what "
    "else uses them.",
)
# The first that fits, so the narrower type stands before the wider. None: the error's own words are for the artist.
_SENTENCES: tuple[tuple[type[Exception], object], ...] = (
    (
        RunnerCrashedError,
        QT_TRANSLATE_NOOP("Messages", "A rank failed on a fault in Podium or beneath it. The details tell where."),
    ),
    (WorkerDiedError, None),
    (
        JobTimeoutError,
        QT_TRANSLATE_NOOP("Messages", "The clip took longer than it was given, and the fleet was stopped."),
    ),
    (
        StartTimeoutError,
        QT_TRANSLATE_NOOP(
            "Messages", "The fleet was not ready in time and was stopped. The details tell what each device was at."
        ),
    ),
    (PlacementError, None),
    (SymmetricRunnerError, None),
    (
        AsymmetricRunnerError,
        QT_TRANSLATE_NOOP(
            "Messages", "The devices did not agree on what is wrong with this clip. Start the fleet anew."
        ),
    ),
    (ControllerStoppedError, None),
    (FleetError, None),
    (PodiumError, None),
    (MemoryError, _MEMORY_ADVICE),
)
_FAULT = QT_TRANSLATE_NOOP("Messages", "Podium failed on a fault of its own ({0}). The details tell where.")
_KILLED = QT_TRANSLATE_NOOP(
    "Messages", "{0} Fewer devices on the CPU, a smaller clip, or more memory in the machine may do."
)


def message_of(error: BaseException) -> ErrorMessage:
    """Return what the artist is told of an error."""
    details = _details(error)
    if isinstance(error, RunnerCrashedError) and any(mark in f"{error} {details}" for mark in _MEMORY_MARKS):
        return ErrorMessage(_translated(_MEMORY_ADVICE), details)
    if isinstance(error, WorkerDiedError) and error.signal == signal.SIGKILL:
        return ErrorMessage(_translated(_KILLED).format(_own_words(error)), details)
    for kind, sentence in _SENTENCES:
        if isinstance(error, kind):
            return ErrorMessage(_translated(sentence) if sentence else _own_words(error), details)
    return ErrorMessage(_translated(_FAULT).format(type(error).__name__), details)


@dataclass(frozen=True, slots=True)
class FailurePlace:
    """Where a job failed, as far as its error tells.

    Args:
        rank: None if it was no rank, or not one alone.
        log_lines: The last lines of that rank, oldest first.
    """

    rank: int | None = None
    phase: Phase | None = None
    log_lines: tuple[str, ...] = ()


def place_of(error: BaseException) -> FailurePlace:
    """Return where a job failed."""
    if isinstance(error, WorkerDiedError):
        return FailurePlace(error.rank, error.phase, tuple(error.log_lines))
    if isinstance(error, (JobTimeoutError, StartTimeoutError)) and len(error.ranks) == 1:
        return FailurePlace(error.ranks[0], error.phases[0])
    return FailurePlace()


def _translated(source: object) -> str:
    return QCoreApplication.translate("Messages", str(source))


def _own_words(error: BaseException) -> str:
    return said(error.message if isinstance(error, PodiumError) else str(error))


def _details(error: BaseException) -> str:
    if not isinstance(error, PodiumError):
        return "".join(traceback.format_exception(error))
    lines = [error.details] if error.details else []
    if error.message not in lines:
        lines.insert(0, _own_words(error))
    return "\n".join(lines)
