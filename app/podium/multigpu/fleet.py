"""The fleet's state at the driver, which any thread may ask or change; its supervisor does the work. No torch.

Nothing here waits while it holds the lock, so that a shutdown from any thread comes through at once.
"""

from __future__ import annotations

import dataclasses
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from podium.jobs import Phase
from podium.multigpu.channel import Body, Kind, Packet, plain_body, send_packet
from podium.multigpu.errors import ControllerStoppedError
from podium.multigpu.forkserver import Launched
from podium.multigpu.guard import kill_group
from podium.multigpu.placement import FleetPlan, Placement
from podium.multigpu.ranklog import RankTail
from podium.multigpu.status import RankSample, RankState, RankStatus, StatusPage, judge
from podium.multigpu.stream import Failure, JobBox
from podium.multigpu.transport import JobOrder

# How long a killed worker may take to end before it is given up as stuck in its driver.
KILL_LIMIT_S = 5.0
# How long it may take from the first sign of a failure until it is known what failed.
SETTLE_S = 1.0
_KERNEL_STATES = {"T": RankState.STOPPED, "t": RankState.STOPPED, "Z": RankState.DEAD, "X": RankState.DEAD}

logger = logging.getLogger(__name__)


class FleetState(StrEnum):
    """Where a fleet is in its life; it only moves downwards."""

    STARTING = "starting"
    READY = "ready"
    STOPPING = "stopping"
    DEAD = "dead"
    GONE = "gone"


@dataclass(slots=True)
class RankHandle:
    """What the driver holds of a rank.

    Args:
        sock: The driver's end.
        launched: Its process; None before there is one.
        exit_status: `si_code` and `si_status` of its end; None while it runs, or if nobody can tell.
        crash: What it reported of a fatal error.
        refusal: How it refused the last job; None if it did not.
        is_deserter: The others went on with that job.
        is_cut: Its socket has broken.
        is_gone: Its process has ended and been let go of: neither its number nor its descriptor may be used again.
    """

    place: Placement
    sock: socket.socket
    page: StatusPage
    tail: RankTail
    launched: Launched | None = None
    exit_status: tuple[int, int] | None = None
    crash: Packet | None = None
    refusal: Packet | None = None
    is_deserter: bool = False
    is_cut: bool = False
    is_ready: bool = False
    has_ended: bool = False
    is_gone: bool = False


class Fleet:
    """The ranks of one controller, from start to end.

    Args:
        plan: Where the ranks stand.
    """

    def __init__(self, plan: FleetPlan) -> None:
        self.plan = plan
        self.handles: list[RankHandle] = []
        self.gone = threading.Event()
        self._changed = threading.Condition()
        # Held while one message goes to every rank: a stop must not overtake a job on some. `kill` never takes it.
        self._send_lock = threading.Lock()
        self._state = FleetState.STARTING
        self._is_poisoned = False
        self._failure: Failure | None = None
        self._job: JobBox | None = None
        self._counts_before: list[int] = []
        self._wake_fd = -1
        self._driver_pid = os.getpid()
        self._killed_at_s: float | None = None
        self._when_gone: list[Callable[[], None]] = []

    @property
    def state(self) -> FleetState:
        """Return where the fleet is in its life."""
        with self._changed:
            return self._state

    @property
    def is_alive(self) -> bool:
        """Return whether it can take a job."""
        with self._changed:
            return self._state is FleetState.READY and not self._is_poisoned

    @property
    def wake_fd(self) -> int:
        """Return what becomes readable when the supervisor has something to look at."""
        return self._wake_fd

    @property
    def killed_at_s(self) -> float | None:
        """Return when the workers were killed, in monotonic seconds."""
        return self._killed_at_s

    @property
    def job(self) -> JobBox | None:
        """Return the job that runs, or ran last."""
        with self._changed:
            return self._job

    @property
    def pids(self) -> frozenset[int]:
        """Return the workers' pids."""
        return frozenset(handle.launched.pid for handle in self.handles if handle.launched is not None)

    def open(self) -> None:
        """Open what the supervisor is woken with; `close` gives it back.

        Ranks: driver.
        """
        with self._changed:
            self._wake_fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)

    def wait_ready(self, timeout_s: float) -> bool:
        """Wait until the fleet is ready or has failed; False if neither happened in time.

        Ranks: driver.
        """
        with self._changed:
            return self._changed.wait_for(lambda: self._state is not FleetState.STARTING, timeout_s)

    def wait_gone(self, timeout_s: float) -> bool:
        """Wait until every worker has ended; False if one has not in time.

        Ranks: driver.
        """
        return self.gone.wait(timeout_s)

    def settle(self) -> None:
        """Wait, for a moment, until it is known why the fleet takes no job.

        Ranks: driver.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._state is not FleetState.READY or not self._is_poisoned, SETTLE_S)

    def failure(self) -> Exception | None:
        """Return why the fleet is no more, as a new error; None if it has not failed."""
        with self._changed:
            failure = self._failure
        return None if failure is None else failure()

    def statuses(self) -> tuple[RankStatus, ...]:
        """Return how every rank is. Waits for nobody.

        Ranks: driver.
        """
        with self._changed:
            samples = [self._sample(place, handle) for place, handle in self._places_and_handles()]
        return judge(samples, time.monotonic())

    def phases(self) -> tuple[Phase, ...]:
        """Return what every rank does, or did last."""
        return tuple(status.phase for status in self.statuses())

    def register(self, handle: RankHandle, launched: Launched) -> None:
        """Take a worker in that was just forked; if the fleet was killed meanwhile, it follows."""
        with self._changed:
            handle.launched = launched
            if self._state is FleetState.DEAD:
                kill_group(launched.pid, launched.pidfd)

    def note_ready(self, handle: RankHandle) -> None:
        """Take note that a rank is ready; with the last one the fleet is."""
        with self._changed:
            handle.is_ready = True
            if self._state is FleetState.STARTING and all(other.is_ready for other in self.handles):
                self._state = FleetState.READY
                self._changed.notify_all()

    def poison(self) -> None:
        """Take no job any more: something fatal was seen, though not yet understood."""
        with self._changed:
            self._is_poisoned = True

    def dispatch(self, box: JobBox, order: JobOrder) -> None:
        """Send a job to every rank.

        Ranks: driver.

        Raises:
            ControllerStoppedError: The fleet is no more.
        """
        with self._send_lock:
            self._take_job(box)
            for handle in self.handles:
                self._send(handle, Kind.JOB, box.job_id, order.job)
                if order.inputs is not None and handle.place.rank == 0:
                    self._send(handle, Kind.INPUTS, box.job_id, order.inputs)
        # The supervisor has a new deadline to keep.
        self.wake()

    def collectives_of_job(self) -> list[int]:
        """Return how many collectives each rank has begun since the last job was sent."""
        with self._changed:
            return [now - before for now, before in zip(self._counts(), self._counts_before, strict=True)]

    def request_cancel(self, job_id: int) -> None:
        """Ask the first rank to end a job at the next step."""
        if self.handles:
            self.handles[0].page.request_cancel(job_id)

    def stop(self) -> None:
        """Ask a ready fleet to end: the job that runs is cancelled, then every worker leaves."""
        with self._send_lock:
            with self._changed:
                if self._state is not FleetState.READY:
                    return
                self._state = FleetState.STOPPING
                job = self._job
            if job is not None and not job.has_ended:
                self.request_cancel(job.job_id)
            for handle in self.handles:
                self._send(handle, Kind.STOP, 0, plain_body(b""))
        self.wake()

    def kill(self, failure: Failure, *, drops_items: bool = False) -> None:
        """Kill every worker's process group and wake who waits; the supervisor reaps. Any thread may, at any moment."""
        if os.getpid() != self._driver_pid:
            # A process that was forked from the driver ends: the fleet is not its own.
            return
        with self._changed:
            if self._state is FleetState.GONE:
                return
            if self._state is not FleetState.DEAD:
                self._state = FleetState.DEAD
                self._killed_at_s = time.monotonic()
                self._failure = self._failure or failure
            for handle in self.handles:
                if handle.launched is not None and not handle.is_gone:
                    kill_group(handle.launched.pid, handle.launched.pidfd)
            job = self._job
            self._changed.notify_all()
        if job is not None:
            job.fail(failure, drops_items=drops_items)
        self.wake()

    def release(self, handle: RankHandle) -> None:
        """Kill what an ended worker left of its group, and let go of its number and descriptors."""
        with self._changed:
            if handle.launched is None or handle.is_gone:
                return
            kill_group(handle.launched.pid, handle.launched.pidfd)
            handle.is_gone = True
            handle.launched.status.close()
            os.close(handle.launched.pidfd)
            handle.sock.close()

    def close(self) -> None:
        """Be gone: every worker has ended, or is given up."""
        with self._changed:
            self._state = FleetState.GONE
            job = self._job
            os.close(self._wake_fd)
            self._wake_fd = -1
            self._changed.notify_all()
        if job is not None:
            job.fail(self.stopped_error)
        self.tell_gone()

    def tell_gone(self) -> None:
        """Tell who waits for it that every worker has ended, or that none will ever be."""
        with self._changed:
            when_gone, self._when_gone = self._when_gone, []
            self.gone.set()
        for callback in when_gone:
            callback()

    def when_gone(self, callback: Callable[[], None]) -> None:
        """Have something called once every worker has ended, in the supervisor's thread; at once if they have."""
        with self._changed:
            if not self.gone.is_set():
                self._when_gone.append(callback)
                return
        callback()

    def stopped_error(self) -> ControllerStoppedError:
        """Return the error of a controller that was shut down or has died."""
        error = ControllerStoppedError(
            "The fleet was stopped.", ranks=tuple(range(self.plan.num_ranks)), phases=self.phases()
        )
        failure = self.failure_unless_stopped()
        if failure is not None:
            error = ControllerStoppedError(
                f"The fleet is gone: {failure}",
                details=getattr(failure, "details", ""),
                ranks=error.ranks,
                phases=error.phases,
            )
            error.__cause__ = failure
        return error

    def failure_unless_stopped(self) -> Exception | None:
        """Return why the fleet failed by itself; None if it was shut down."""
        with self._changed:
            failure = self._failure
        return None if failure is None or failure == self.stopped_error else failure()

    @property
    def is_leaving(self) -> bool:
        """Return whether its ranks are ending, or have ended."""
        return self.state not in (FleetState.STARTING, FleetState.READY)

    @property
    def is_stopping(self) -> bool:
        """Return whether the ranks were asked to end by themselves."""
        return self.state is FleetState.STOPPING

    def stopping_error(self) -> ControllerStoppedError | None:
        """Return the error of a job that a shutdown cancelled; None if there was no shutdown."""
        return self.stopped_error() if self.state in (FleetState.STOPPING, FleetState.GONE) else None

    def wake(self) -> None:
        """Have the supervisor look."""
        with self._changed:
            if self._wake_fd >= 0:
                os.eventfd_write(self._wake_fd, 1)

    def _take_job(self, box: JobBox) -> None:
        with self._changed:
            if self._state is not FleetState.READY or self._is_poisoned:
                raise self.stopped_error()
            self._job = box
            # Everybody is idle: these stand still.
            self._counts_before = self._counts()

    def _counts(self) -> list[int]:
        return [handle.page.read().num_collectives for handle in self.handles]

    def _send(self, handle: RankHandle, kind: Kind, job_id: int, body: Body) -> None:
        try:
            send_packet(handle.sock, kind, job_id, body)
        except OSError as error:
            # A rank that died is noticed by its sentinel; one that reads nothing, by the job's timeout.
            logger.warning("Rank %d took no message: %s", handle.place.rank, error)

    def _places_and_handles(self) -> Sequence[tuple[Placement, RankHandle | None]]:
        handles: list[RankHandle | None] = [*self.handles]
        missing = self.plan.num_ranks - len(handles)
        return list(zip(self.plan.places, handles + [None] * missing, strict=True))

    def _sample(self, place: Placement, handle: RankHandle | None) -> RankSample:
        page = StatusPage(bytearray(4096)) if handle is None else handle.page
        launched = None if handle is None else handle.launched
        state = RankState.ALIVE
        if handle is not None and (handle.has_ended or handle.is_gone):
            state = RankState.DEAD
        elif launched is not None:
            state = kernel_state(launched.pid)
        elif self._state is FleetState.GONE:
            state = RankState.DEAD
        progress = page.read()
        if self._state is FleetState.STOPPING and state is RankState.ALIVE:
            progress = dataclasses.replace(progress, phase=Phase.STOPPING)
        return RankSample(place.rank, place.device, None if launched is None else launched.pid, state, progress)


def kernel_state(pid: int) -> RankState:
    """Return how the kernel says a process is: ALIVE, STOPPED or DEAD."""
    try:
        # The name, in brackets, may hold anything; the state is the first field after it.
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return RankState.DEAD
    return _KERNEL_STATES.get(text.rpartition(")")[2].split()[0], RankState.ALIVE)
