"""What a runner knows of the job it runs: phase and progress for the driver, and the check for a cancel. No torch.

Reporting is local and costs microseconds; `check_cancelled` and `checkpoint` are collectives, so every rank calls them
at the same points, decided by what every rank knows and never by a clock.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable
from typing import Protocol

from podium.jobs import Phase
from podium.multigpu.errors import JobCancelled
from podium.multigpu.status import PAGE_BYTES, Progress, StatusPage, StepClock


class DeviceEvent(Protocol):
    """A mark in a device's queue of work."""

    def record(self) -> None:
        """Put the mark behind the work queued so far."""

    def synchronize(self) -> None:
        """Wait until the device has come to the mark."""


class JobContext:
    """The runner's side of a job.

    Args:
        page: Where progress is written.
        agree: Give the first rank's flag to every rank; a collective of the control group.
        new_event: Make a mark in the device's queue; None where the host does the work itself.
        count_collectives: Tell how many collectives the groups have begun; None where nobody but the runner counts.
    """

    def __init__(
        self,
        page: StatusPage,
        agree: Callable[[bool], bool],
        new_event: Callable[[], DeviceEvent] | None = None,
        *,
        count_collectives: Callable[[], int] | None = None,
    ) -> None:
        self._page = page
        self._agree = agree
        self._new_event = new_event
        self._count_collectives = count_collectives
        self._event: DeviceEvent | None = None
        self._progress = Progress()
        self._num_collectives = 0
        self._count_lock = threading.Lock()
        self._steps = StepClock()

    @classmethod
    def detached(cls) -> JobContext:
        """Make one for a single process without a fleet: it reports to nobody and is never cancelled."""
        return cls(StatusPage(bytearray(PAGE_BYTES)), agree=lambda flag: flag)

    @property
    def job_id(self) -> int:
        """Return the number of the job, from 1; 0 in setup."""
        return self._progress.job_id

    @property
    def phase(self) -> Phase:
        """Return the phase that runs."""
        return self._progress.phase

    def begin_job(self, job_id: int, phase: Phase) -> None:
        """Begin a job, or go back to idle after it; the worker calls this, not the runner.

        Ranks: one rank, local.
        """
        self._progress = Progress(job_id=job_id)
        self._event = None
        self.begin_phase(phase)
        # What is told of a job's end has to find the count that it ended with.
        self.collective_begun(0)

    def begin_phase(self, phase: Phase, num_steps: int | None = None, *, bytes_total: int = 0) -> None:
        """Say that a phase began.

        Ranks: one rank, local.

        Args:
            num_steps: How many steps it has; None where it has none.
            bytes_total: How many bytes it will read or move; 0 where that says nothing.
        """
        self._steps.restart()
        self._publish(
            phase=phase,
            step=None if num_steps is None else 0,
            num_steps=num_steps,
            bytes_done=0,
            bytes_total=bytes_total,
            step_median_s=0.0,
        )

    def report_progress(self, *, step: int | None = None, bytes_done: int | None = None) -> None:
        """Say that a piece of work is done; without arguments, that there was progress at all.

        Ranks: one rank, local.

        Args:
            step: The step that ended, from 1.
            bytes_done: Bytes of the phase's `bytes_total` done so far.
        """
        changes: dict[str, int | float] = {}
        if step is not None and step != self._progress.step:
            changes = {"step": step, "step_median_s": self._steps.tick(time.monotonic())}
        if bytes_done is not None:
            changes["bytes_done"] = bytes_done
        self._publish(**changes)

    def collective_begun(self, count: int = 1) -> None:
        """Say that collectives are about to begin: the rank that began the fewest holds the others up.

        A fleet's groups count for themselves, whoever calls them: there this only publishes their number.

        Ranks: one rank, local.
        """
        # With the watchdog's thread at the same, or an old number might follow a new one.
        with self._count_lock:
            if self._count_collectives is None:
                self._num_collectives += count
            else:
                self._num_collectives = self._count_collectives()
            self._page.write_collectives(self._num_collectives)

    def check_cancelled(self) -> None:
        """Ask whether the job is to end, and end it on every rank alike.

        Ranks: every rank of the control group. Collectives: one value broadcast; none in setup.

        Raises:
            JobCancelled: Alike on all ranks.
        """
        if self.job_id == 0:
            return
        self.collective_begun()
        if self._agree(self._page.is_cancel_requested(self.job_id)):
            raise JobCancelled("The job was cancelled.")

    def sync_host_with_device(self) -> None:
        """Wait until the device has come to where the last call was: the host runs one step ahead at most.

        Ranks: one rank, local.
        """
        if self._new_event is None:
            return
        event = self._new_event()
        event.record()
        if self._event is not None:
            self._event.synchronize()
        self._event = event

    def checkpoint(self, phase: Phase, step: int, num_steps: int) -> None:
        """Pass a step boundary: report the step, hold the host back, and check for a cancel.

        Ranks: every rank of the control group. Collectives: one value broadcast.

        Args:
            step: The step that ended, from 1; 0 before the first.

        Raises:
            JobCancelled: Alike on all ranks.
        """
        if phase is not self.phase or num_steps != self._progress.num_steps:
            self.begin_phase(phase, num_steps)
        self.report_progress(step=step)
        self.sync_host_with_device()
        self.check_cancelled()

    def _publish(self, **changes: object) -> None:
        # `replace` checks the names; the values come from the typed methods above.
        self._progress = dataclasses.replace(self._progress, progress_time_s=time.monotonic(), **changes)  # type: ignore[arg-type]
        self._page.write(self._progress)
