"""The errors of a fleet: what a driver can catch, and what each carries. No torch.

A `RunnerError` means that the fleet survived; a `FleetError` means that it is gone and a new controller is needed.
"""

from __future__ import annotations

from podium.errors import PodiumError
from podium.jobs import Phase


class RunnerError(PodiumError):
    """Refuse a job from inside a runner: raise it alike on every rank, with no collective pending."""


class JobCancelled(RunnerError):
    """End a job because the artist asked for it; raised alike on every rank."""


class SymmetricRunnerError(RunnerError):
    """Report that every rank refused the job alike; the fleet is ready for the next one.

    Args:
        errors: The runner's own errors, by rank. The first is also the `__cause__`.
    """

    def __init__(self, errors: tuple[RunnerError, ...]) -> None:
        super().__init__(errors[0].message, details=errors[0].details)
        self.errors = errors
        self.__cause__ = errors[0]


class AsymmetricRunnerError(RunnerError):
    """Report that the ranks did not agree on refusing a job; the fleet survives, but the runner has a fault.

    Args:
        errors: The runner's own errors by rank, None where a rank finished. The first error is the `__cause__`.
    """

    def __init__(self, errors: tuple[RunnerError | None, ...]) -> None:
        raised = {rank: error for rank, error in enumerate(errors) if error is not None}
        first_rank, first = next(iter(raised.items()))
        super().__init__(
            f"Only some of the ranks refused this job ({_ranks(tuple(raised))} of {len(errors)}), or not all of them "
            f"for the same reason. Rank {first_rank} said: {first.message} The fleet may hang if this is repeated.",
            details=first.details,
        )
        self.errors = errors
        self.__cause__ = first


class ControllerBusyError(PodiumError):
    """Refuse a job because the last one was not read to its end: drain its stream first."""


class PlacementError(PodiumError):
    """Refuse a fleet because this machine has no such devices."""


class FleetError(PodiumError):
    """Report that a fleet is gone.

    Args:
        ranks: The ranks it had.
        phases: The phase of each when it went, in the same order.
    """

    def __init__(
        self, message: str, *, details: str = "", ranks: tuple[int, ...] = (), phases: tuple[Phase, ...] = ()
    ) -> None:
        super().__init__(message, details=details)
        self.ranks = ranks
        self.phases = phases


class ControllerStoppedError(FleetError):
    """Report that the controller was shut down, or had died before."""


class StartTimeoutError(FleetError):
    """Report that a fleet was not ready in time."""


class JobTimeoutError(FleetError):
    """Report that a job took longer than it was given."""


class WorkerDiedError(FleetError):
    """Report that a rank ended although nobody asked it to.

    Args:
        rank: Who died first.
        exitcode: Its exit code, None if a signal killed it or nobody could tell.
        signal: The number of the signal that killed it, None if it exited.
        phase: What it was doing.
        log_lines: The last lines it logged or printed, oldest first.
    """

    def __init__(
        self,
        message: str,
        *,
        rank: int,
        phase: Phase,
        exitcode: int | None = None,
        signal: int | None = None,
        log_lines: tuple[str, ...] = (),
        details: str = "",
    ) -> None:
        super().__init__(message, details=details or "\n".join(log_lines), ranks=(rank,), phases=(phase,))
        self.rank = rank
        self.phase = phase
        self.exitcode = exitcode
        self.signal = signal
        self.log_lines = log_lines


class RunnerCrashedError(WorkerDiedError):
    """Report that a runner raised what it did not mean to; `details` holds the traceback, `__cause__` the error."""


def _ranks(ranks: tuple[int, ...]) -> str:
    return ("rank " if len(ranks) == 1 else "ranks ") + ", ".join(map(str, ranks))
