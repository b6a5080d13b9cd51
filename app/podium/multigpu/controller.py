"""The driver's handle on a fleet: start it, give it one job at a time, stop it. No torch.

Any thread may ask for `rank_status` or call `shutdown` at any moment; a job belongs to the thread that dispatched it.
"""

from __future__ import annotations

import contextlib
import datetime
import itertools
import os
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from podium.multigpu.errors import ControllerBusyError, ControllerStoppedError
from podium.multigpu.fleet import KILL_LIMIT_S, Fleet
from podium.multigpu.forkserver import SHARED, SharedForkServer
from podium.multigpu.ledger import SHARED_LEDGER
from podium.multigpu.links import FleetLinks, look_at_links
from podium.multigpu.placement import FleetPlan, plan_fleet
from podium.multigpu.ranklog import LogsSpecs, default_log_folder, make_log_folder, plan_logs
from podium.multigpu.runner import MGPURunner, RunnerRef, checked_runner
from podium.multigpu.status import RankStatus
from podium.multigpu.stream import JobBox, Stream
from podium.multigpu.supervisor import FleetOrder, Supervisor
from podium.multigpu.transport import JobOrder, by_value, pack, pack_job
from podium.multigpu.verdict import start_timeout

START_TIMEOUT = datetime.timedelta(minutes=30)


class MGPUController:
    """Drive one fleet: a process per GPU, all on one job.

    A controller lives once: after `shutdown`, or after a fatal failure, build another.

    Args:
        runner_cls: What runs on every rank, sent by value; or its name, which only the ranks import.
        num_gpus: Take GPUs 0 to `num_gpus` - 1; all visible ones by default.
        devices: Take these GPUs instead, counted in PCI order within CUDA_VISIBLE_DEVICES.
        cpu_ranks: Put so many ranks on the CPU instead.
        share_devices: Let `devices` name a GPU twice.
        logs_specs: Torch's rules for what ranks print.
        log_folder: Where logs go; the user's log folder by default.
        forkserver: Where ranks are forked from; this process's own by default.

    Raises:
        ValueError: The arguments contradict each other.
        TypeError: `runner_cls` is no runner.
        PlacementError: This machine has no such devices.
    """

    def __init__(
        self,
        runner_cls: type[MGPURunner] | RunnerRef,
        *,
        num_gpus: int | None = None,
        devices: Sequence[int] | None = None,
        cpu_ranks: int | None = None,
        share_devices: bool = False,
        logs_specs: LogsSpecs | None = None,
        log_folder: Path | None = None,
        forkserver: SharedForkServer = SHARED,
    ) -> None:
        self._runner = runner_cls if isinstance(runner_cls, RunnerRef) else checked_runner(runner_cls)
        self._plan = plan_fleet(num_gpus=num_gpus, devices=devices, cpu_ranks=cpu_ranks, share_devices=share_devices)
        self._logs_specs = logs_specs
        self._log_folder = log_folder
        self._forkserver = forkserver
        self._links = FleetLinks()
        self._fleet = Fleet(self._plan)
        self._lock = threading.Lock()
        self._is_started = False
        self._is_shut = False
        self._stream: Stream | None = None
        self._is_dispatching = False
        self._job_ids = itertools.count(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shutdown()

    @property
    def plan(self) -> FleetPlan:
        """Return where the ranks stand, or will."""
        return self._plan

    @property
    def links(self) -> FleetLinks:
        """Return how the fleet's GPUs reach each other, as `start` finds it: empty before, and on the CPU."""
        return self._links

    @property
    def is_alive(self) -> bool:
        """Return whether the fleet is up and can take a job."""
        return self._fleet.is_alive

    def start(
        self,
        *,
        timeout: datetime.timedelta | float = START_TIMEOUT,
        **setup_kwargs: Any,  # noqa: ANN401 - the pickle border
    ) -> None:
        """Start the ranks, run `setup(**setup_kwargs)` on each, and wait until all are ready.

        Ranks: driver.

        Args:
            timeout: For all of it, the load of the model too: a timedelta or seconds.

        Raises:
            StartTimeoutError: They were not ready in time.
            ControllerStoppedError: `shutdown` was called, before or meanwhile.
            RuntimeError: It was started before.
            PodiumError: A rank's own, raised in its setup.
            WorkerDiedError: A rank died, or its setup raised anything else. Every rank is gone by then, in each case.
        """
        timeout_s = timeout.total_seconds() if isinstance(timeout, datetime.timedelta) else float(timeout)
        deadline_s = time.monotonic() + timeout_s
        order = self._order(setup_kwargs)
        with self._lock:
            if self._is_shut:
                order.setup.close()
                raise self._fleet.stopped_error()
            if self._is_started:
                order.setup.close()
                raise RuntimeError("this controller was started before; build another")
            self._is_started = True
            # A controller that is forgotten takes its fleet along.
            weakref.finalize(self, self._fleet.kill, self._fleet.stopped_error)
            self._fleet.open()
            Supervisor(self._fleet, order).start()
        if not self._fleet.wait_ready(deadline_s - time.monotonic()):
            self._fleet.kill(start_timeout(self._fleet.statuses(), timeout_s))
        failure = self._fleet.failure()
        if failure is None and not self._fleet.is_alive:
            failure = self._fleet.stopped_error()
        if failure is not None:
            if not isinstance(failure, ControllerStoppedError):
                self._fleet.wait_gone(2 * KILL_LIMIT_S)
            raise failure

    def stream(self, *, timeout: float | None = None, **kwargs: Any) -> Stream:  # noqa: ANN401 - the pickle border
        """Dispatch one job and return at once; iterate the stream to collect what it yields.

        Tensors among `kwargs` are sent to rank 0 and broadcast; they arrive on every rank's device. Deeper ones are
        sent to each rank and arrive on the CPU.

        Ranks: driver.

        Args:
            timeout: Seconds from now by which the job has to end; None for no limit.

        Raises:
            ControllerBusyError: The last job was not read to its end.
            ControllerStoppedError: The fleet is not up.
            Exception: `kwargs` cannot be pickled; nothing was sent.
        """
        deadline_s = None if timeout is None else time.monotonic() + timeout
        fleet = self._fleet
        if not self._is_started:
            raise ControllerStoppedError("The fleet was not started yet.")
        # Not under the lock: a shutdown never waits for anything.
        fleet.settle()
        with self._lock:
            if not fleet.is_alive:
                raise fleet.stopped_error()
            if self._is_dispatching or (self._stream is not None and not self._stream.is_over):
                raise ControllerBusyError(
                    "The last job has not been read to its end: iterate its stream to the end, or drain it."
                )
            self._is_dispatching = True
        try:
            box = JobBox(next(self._job_ids), self._plan.num_ranks, deadline_s)
            with contextlib.closing(self._pack_job(kwargs)) as order:
                fleet.dispatch(box, order)
            self._stream = Stream(box, fleet.request_cancel, self._stopping_error)
        finally:
            self._is_dispatching = False
        return self._stream

    def shutdown(self, *, graceful_timeout: float = 60.0) -> None:
        """Stop the fleet; any thread may, at any moment, and again.

        Ranks: driver.

        Args:
            graceful_timeout: Seconds in which the ranks may end by themselves: a job that runs is cancelled at its next
                step. With 0 they are killed, and the call returns without waiting for that.
        """
        with self._lock:
            self._is_shut = True
            is_started = self._is_started
        if not is_started:
            # It never will be.
            self._fleet.tell_gone()
            return
        if graceful_timeout > 0:
            self._fleet.stop()
            if self._fleet.is_stopping and self._fleet.wait_gone(graceful_timeout):
                return
        self._fleet.kill(self._fleet.stopped_error, drops_items=True)
        if graceful_timeout > 0:
            self._fleet.wait_gone(2 * KILL_LIMIT_S)

    def when_gone(self, callback: Callable[[], None]) -> None:
        """Have something called once every rank has ended, from whichever thread; at once if they have.

        A fleet that is shut down before it is started is gone, too. What is called must not raise, and not wait.

        Ranks: driver.
        """
        self._fleet.when_gone(callback)

    def rank_status(self) -> tuple[RankStatus, ...]:
        """Return how every rank is and what it does; any thread may ask, at any moment, `start` included."""
        return self._fleet.statuses()

    def _pack_job(self, kwargs: dict[str, Any]) -> JobOrder:
        with self._by_value():
            return pack_job(kwargs)

    def _by_value(self) -> contextlib.AbstractContextManager[None]:
        """Pickle what is defined beside the runner as the runner is pickled, or the ranks would know two of each."""
        return contextlib.nullcontext() if isinstance(self._runner, RunnerRef) else by_value(self._runner)

    def _stopping_error(self) -> ControllerStoppedError | None:
        # Bound to the controller, so that a stream in use keeps its fleet.
        return self._fleet.stopping_error()

    def _order(self, setup_kwargs: dict[str, Any]) -> FleetOrder:
        logs = plan_logs(
            make_log_folder(self._log_folder or default_log_folder()), self._plan.num_ranks, self._logs_specs
        )
        with self._by_value():
            setup = pack((self._runner, setup_kwargs))
        self._links = links = look_at_links(self._plan, os.environ)
        environment = {**os.environ, **links.settings}
        return FleetOrder(setup, environment, logs, self._forkserver, SHARED_LEDGER, links)
