"""One job as the driver sees it: what its ranks sent, and the iterator over it. No torch unless a tensor crosses."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from podium.multigpu.channel import Kind, Packet
from podium.multigpu.errors import AsymmetricRunnerError, FleetError, JobCancelled, RunnerError, SymmetricRunnerError
from podium.multigpu.transport import unpack

logger = logging.getLogger(__name__)

Failure = Callable[[], Exception]


class JobBox:
    """What has arrived of one job: filled by the supervisor, emptied by whoever iterates. Reads no packet.

    Args:
        deadline_s: Monotonic seconds by which it has to end; None for never.
    """

    def __init__(self, job_id: int, num_ranks: int, deadline_s: float | None) -> None:
        self.job_id = job_id
        self.deadline_s = deadline_s
        self._num_ranks = num_ranks
        self._changed = threading.Condition()
        self._packets: deque[Packet] = deque()
        self._ends: dict[int, Packet] = {}
        self._failure: Failure | None = None

    @property
    def has_ended(self) -> bool:
        """Return whether every rank has ended, or the fleet is gone."""
        with self._changed:
            return self._failure is not None or len(self._ends) == self._num_ranks

    def ends(self) -> dict[int, Kind]:
        """Return how the ranks ended that have."""
        with self._changed:
            return {rank: packet.kind for rank, packet in self._ends.items()}

    def put(self, rank: int, packet: Packet) -> None:
        """Take in a packet of a rank: an item, or its end."""
        with self._changed:
            if packet.kind is Kind.YIELDED:
                self._packets.append(packet)
            else:
                self._ends[rank] = packet
            self._changed.notify_all()

    def fail(self, failure: Failure, *, drops_items: bool = False) -> None:
        """End the job because its fleet is gone; what was sent before is delivered first unless it is dropped."""
        with self._changed:
            if len(self._ends) == self._num_ranks:
                return
            self._failure = self._failure or failure
            if drops_items:
                self._failure = failure
                self._packets.clear()
            self._changed.notify_all()

    def next_packet(self) -> Packet | None:
        """Wait for the next item; None once every rank has ended.

        Raises:
            Exception: The failure of the fleet.
        """
        with self._changed:
            while True:
                if self._packets:
                    return self._packets.popleft()
                if len(self._ends) == self._num_ranks:
                    return None
                if self._failure is not None:
                    raise self._failure()
                self._changed.wait()

    def take_ends(self) -> list[Packet]:
        """Return how each rank ended, by rank."""
        with self._changed:
            return [self._ends[rank] for rank in range(self._num_ranks)]


class Stream(Iterator[Any]):
    """Iterate over what the ranks of one job yield, one item at a time as it arrives.

    Only the thread that dispatched the job may iterate or drain. At the end `StopIteration.value`, which is also the
    value of `yield from`, holds what each rank's generator returned, by rank. Tensors that a rank yields from a GPU are
    valid while that rank lives; all others belong to the receiver.

    Args:
        box: Where the items arrive.
        request_cancel: Ask the ranks to end this job.
        stopped: The error to raise where a shutdown cancelled the job; None if there was no shutdown.
    """

    def __init__(
        self, box: JobBox, request_cancel: Callable[[int], None], stopped: Callable[[], FleetError | None]
    ) -> None:
        self._box = box
        self._request_cancel = request_cancel
        self._stopped = stopped
        self._owner = threading.current_thread()
        self._is_over = False
        self._returned: tuple[Any, ...] | None = None

    @property
    def job_id(self) -> int:
        """Return the number of the job, from 1."""
        return self._box.job_id

    @property
    def is_over(self) -> bool:
        """Return whether it was read or drained to its end, so that the next job may come."""
        return self._is_over

    def __next__(self) -> Any:
        """Return the next item.

        Raises:
            StopIteration: Every rank has ended; `value` holds their returns.
            SymmetricRunnerError: Every rank refused the job alike; the fleet is ready.
            AsymmetricRunnerError: Only some did; the fleet lives.
            WorkerDiedError: A rank died; the fleet is gone.
            JobTimeoutError: The job took too long; the fleet is gone.
            ControllerStoppedError: The controller was shut down.
            RuntimeError: Another thread owns this stream.
        """
        self._check_owner()
        if self._is_over:
            raise StopIteration(self._returned)
        try:
            packet = self._box.next_packet()
        except Exception:
            self._is_over = True
            raise
        if packet is not None:
            return unpack(packet.pickled, packet.blob)
        self._is_over = True
        self._returned = self._collect_ends()
        raise StopIteration(self._returned)

    def drain(self) -> None:
        """Read the job to its end and drop what comes, errors too (they are logged): the controller is free after.

        Raises:
            RuntimeError: Another thread owns this stream.
        """
        self._check_owner()
        while not self._is_over:
            try:
                packet = self._box.next_packet()
                if packet is None:
                    self._collect_ends()
                    self._is_over = True
                elif packet.has_device_memory:
                    # Its sender keeps the memory until somebody has taken it and let it go.
                    unpack(packet.pickled, packet.blob)
            except Exception as error:  # noqa: BLE001 - the border: to drain is to be done with the job, however it ended
                self._is_over = True
                logger.warning("Job %d, which was drained, had ended in an error: %s", self.job_id, error)

    def cancel(self) -> None:
        """Ask the ranks to end this job at their next step; any thread may. After the end it does nothing.

        The iterating thread then gets a `SymmetricRunnerError` that holds `JobCancelled`, and the fleet lives.
        """
        if not self._box.has_ended:
            self._request_cancel(self.job_id)

    def _check_owner(self) -> None:
        if threading.current_thread() is not self._owner:
            raise RuntimeError(
                f"this stream belongs to the thread {self._owner.name!r}, which dispatched job {self.job_id}; "
                f"{threading.current_thread().name!r} can neither iterate nor drain it"
            )

    def _collect_ends(self) -> tuple[Any, ...]:
        ends = self._box.take_ends()
        errors = tuple(refusal_in(packet) for packet in ends)
        raised = [error for error in errors if error is not None]
        if not raised:
            return tuple(unpack(packet.pickled, packet.blob) for packet in ends)
        if len(raised) < len(ends) or len({type(error) for error in raised}) > 1:
            raise AsymmetricRunnerError(errors)
        stopped = self._stopped()
        if stopped is not None and isinstance(raised[0], JobCancelled):
            raise stopped
        raise SymmetricRunnerError(tuple(raised))


def refusal_in(packet: Packet) -> RunnerError | None:
    """Return the error by which a rank refused a job; None if it did not."""
    if packet.kind is not Kind.REFUSED:
        return None
    try:
        error, cause = unpack(packet.pickled, packet.blob)
    except Exception as fault:  # noqa: BLE001 - an error class of the runner's that cannot be rebuilt here
        return RunnerError("The job was refused, for a reason that could not be read here.", details=str(fault))
    if not isinstance(error, RunnerError):
        return RunnerError(str(error))
    error.__cause__ = cause
    return error
