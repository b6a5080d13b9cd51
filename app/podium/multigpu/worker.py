"""One rank: from its first breath to its exit. In workers only."""

from __future__ import annotations

import faulthandler
import functools
import logging
import os
import pickle
import socket
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import torch
from torch import distributed

from podium.errors import JobRefusedError
from podium.jobs import Phase
from podium.multigpu import rendezvous, transport
from podium.multigpu.channel import Body, Kind, Packet, plain_body
from podium.multigpu.child import child_command
from podium.multigpu.errors import RunnerError
from podium.multigpu.groups import NCCLGroups, collective_counter
from podium.multigpu.job import JobContext
from podium.multigpu.link import Link
from podium.multigpu.messages import BeginMessage
from podium.multigpu.ranklog import ForwardHandler, configure_worker_logging, redirect_output
from podium.multigpu.runner import MGPURunner, RunnerRef, checked_runner
from podium.multigpu.status import StatusPage

LEAVE_LIMIT_S = 5.0
CPU_NICENESS = 5
EXIT_CRASHED = 1

logger = logging.getLogger(__name__)


def main(argv: Sequence[str]) -> None:
    """Be a worker in an interpreter of its own; `argv` holds the descriptors of the socket and the page."""
    run(int(argv[0]), int(argv[1]), is_forked=False)


def run(socket_fd: int, page_fd: int, *, is_forked: bool) -> NoReturn:
    """Be a worker to the end of the process.

    Ranks: one rank, until the driver has said which; then every rank.
    """
    page = StatusPage.map(page_fd)
    link = Link(socket.socket(fileno=socket_fd), page)
    first = link.greet()
    begin: BeginMessage = pickle.loads(first.pickled)
    _settle(begin)
    if is_forked and rendezvous.is_device_spoilt(begin):
        _begin_anew(socket_fd, page_fd)
    os.close(page_fd)
    for fd in (socket_fd, first.fd):
        if fd is not None:
            os.set_inheritable(fd, False)
    link.start_reading(first.fd if first.fd is not None else socket_fd)
    Worker(link, page, begin).run()


class Worker:
    """A rank with its runner.

    Args:
        link: The way to the driver.
        page: Where progress is written.
        begin: Who and where this rank is.
    """

    def __init__(self, link: Link, page: StatusPage, begin: BeginMessage) -> None:
        self._link = link
        self._begin = begin
        self._device = torch.device(begin.device)
        self._groups: NCCLGroups | None = None
        self._count: Callable[[], int] = int
        new_event = rendezvous.event_maker(self._device)
        self._job = JobContext(page, self._agree, new_event, count_collectives=self._num_collectives)

    def run(self) -> NoReturn:
        """Set up, then serve jobs until the driver says stop; a fatal error is reported, and then waited on.

        Ranks: every rank, all groups.
        """
        try:
            self._configure_logging()
            runner = self._set_up()
            self._link.send(Kind.READY, 0, plain_body(b""))
            self._serve(runner)
        except BaseException as error:  # noqa: BLE001 - the border: whatever it is, the driver has to hear of it
            self._report_crash(error)
            # The driver kills the fleet. To exit here would raise secondary errors on the other ranks.
            threading.Event().wait()
        _leave(runner)

    def _configure_logging(self) -> None:
        def job_id() -> int:
            return self._job.job_id

        forward = ForwardHandler(lambda data: self._link.send(Kind.LOG, job_id(), plain_body(data)), job_id)
        configure_worker_logging(self._begin.logs, self._begin.rank, forward, job_id)
        if missing := [name for name in self._begin.preloaded if name not in sys.modules]:
            logger.warning("These were not loaded ahead, which makes the start slow: %s.", ", ".join(missing))

    def _set_up(self) -> MGPURunner:
        self._job.begin_job(0, Phase.RENDEZVOUS)
        device = rendezvous.take_device(self._begin)
        self._groups = rendezvous.make_groups(self._begin, device)
        self._count = collective_counter(self._groups)
        self._link.beat_with(lambda: self._job.collective_begun(0))
        self._job.begin_phase(Phase.LOADING)
        packet = self._link.next_packet()
        source, kwargs = transport.unpack(packet.pickled, packet.blob)
        runner = _runner_class(source)()
        runner.groups, runner.device, runner.job = self._groups, device, self._job
        runner.rank, runner.world_size = self._begin.rank, self._begin.world_size
        runner.setup(**kwargs)
        self._job.begin_job(0, Phase.IDLE)
        return runner

    def _serve(self, runner: MGPURunner) -> None:
        while (packet := self._link.next_packet()).kind is not Kind.STOP:
            self._job.begin_job(packet.job_id, Phase.STARTING)
            kind, body = self._run_job(runner, packet)
            # Idle before the driver hears of the end, so that nobody sees an ended job at work.
            self._job.begin_job(packet.job_id, Phase.IDLE)
            self._link.send(kind, packet.job_id, body)
        self._job.begin_phase(Phase.STOPPING)

    def _run_job(self, runner: MGPURunner, packet: Packet) -> tuple[Kind, Body]:
        kwargs = self._receive_inputs(packet)
        del packet
        try:
            items = runner(**kwargs)
            if not isinstance(items, Iterator):
                raise TypeError(f"{type(runner).__name__}.__call__ returned {items!r}; it has to be a generator")
            result = yield_all(items, functools.partial(self._send_item, self._job.job_id))
        except (RunnerError, ValueError, JobRefusedError) as error:
            return Kind.REFUSED, _refusal(error)
        return Kind.FINISHED, transport.pack(result)

    def _send_item(self, job_id: int, item: object) -> None:
        try:
            body = transport.pack(item)
        except Exception as error:
            # Not a refusal, whatever type it has: the other ranks know nothing of it.
            raise RuntimeError(f"rank {self._begin.rank} yielded what cannot be sent: {error}") from error
        self._link.send(Kind.YIELDED, job_id, body)

    def _receive_inputs(self, packet: Packet) -> dict[str, Any]:
        """Return the job's arguments, its tensors on this rank's device.

        Ranks: every rank. Collectives: one broadcast, if there are tensors.
        """
        kwargs, slots, num_bytes = transport.unpack(packet.pickled, packet.blob)
        if not slots:
            return dict(kwargs)
        flat = torch.empty(num_bytes, dtype=torch.uint8, device=self._device)
        if self._begin.rank == 0:
            inputs = self._link.next_packet()
            flat.copy_(transport.flat_from(inputs.blob))
        if num_bytes:
            self._job.collective_begun()
            distributed.broadcast(flat, src=0)
        return {**kwargs, **{name: transport.tensor_from(flat, slot) for name, slot in slots.items()}}

    def _num_collectives(self) -> int:
        return self._count()

    def _agree(self, flag: bool) -> bool:  # noqa: FBT001 - the one value that it takes
        if self._groups is None:
            return False
        verdict = torch.tensor([int(flag)], dtype=torch.int64)
        distributed.broadcast(verdict, src=0, group=self._groups.control_group)
        return bool(verdict.item())

    def _report_crash(self, error: BaseException) -> None:
        lines = "".join(traceback.format_exception(error))
        sys.stderr.write(lines)
        sys.stderr.flush()
        report = (type(error).__name__, str(error), lines)
        try:
            body = transport.pack((*report, error))
        except Exception:  # noqa: BLE001 - an error that cannot be sent is told in words
            body = transport.pack((*report, None))
        self._link.send(Kind.CRASHED, self._job.job_id, body)


def yield_all(items: Iterator[object], send: Any) -> object:
    """Send every item of a runner, and return what it returned."""
    while True:
        try:
            item = next(items)
        except StopIteration as end:
            return end.value
        send(item)
        del item


def _settle(begin: BeginMessage) -> None:
    """Take over the driver's environment, before any device is touched."""
    os.environ.clear()
    os.environ.update(begin.environment)
    sys.path[:] = begin.search_path
    try:
        os.chdir(begin.folder)
    except OSError:
        logger.warning("The folder %s is gone.", begin.folder)
    redirect_output(begin.logs)
    faulthandler.enable()
    torch.set_num_threads(num_threads(begin.world_size))
    if torch.device(begin.device).type == "cpu":
        os.nice(CPU_NICENESS)


def num_threads(world_size: int) -> int:
    """Return how many threads this rank computes with: its share of the processors, unless the user asked for fewer."""
    share = max(1, len(os.sched_getaffinity(0)) // world_size)
    asked = os.environ.get("OMP_NUM_THREADS", "")
    # On processors that others keep busy, threads that wait for each other at every step are slower than one by far.
    return min(share, int(asked)) if asked.isdigit() and int(asked) > 0 else share


def _begin_anew(socket_fd: int, page_fd: int) -> NoReturn:
    """Turn this process into a fresh interpreter: same pid, same socket, nothing inherited."""
    sys.stderr.write("podium: the preloaded process had touched a device; this rank loads everything by itself\n")
    for fd in (socket_fd, page_fd):
        os.set_inheritable(fd, True)
    command = [*child_command("worker"), str(socket_fd), str(page_fd)]
    os.execv(command[0], command)


def _runner_class(source: object) -> type[MGPURunner]:
    if isinstance(source, RunnerRef):
        return source.resolve()
    return checked_runner(source)


def _refusal(error: Exception) -> Body:
    """Return a refusal with its cause; a cause that cannot be sent is told in words."""
    refused, cause = error, error.__cause__
    if not isinstance(error, RunnerError):
        refused, cause = RunnerError(str(error), details="".join(traceback.format_exception(error))), error
    try:
        return transport.pack((refused, cause))
    except Exception:  # noqa: BLE001 - the refusal has to arrive, if only in words
        return transport.pack((RunnerError(str(error), details="".join(traceback.format_exception(error))), None))


def _leave(runner: MGPURunner) -> NoReturn:
    """End the process: the groups under a limit, since destroying them may wait for a rank that does not come."""
    timer = threading.Timer(LEAVE_LIMIT_S, os._exit, args=(0,))
    timer.daemon = True
    timer.start()
    for close in (runner.close, distributed.destroy_process_group):
        try:
            close()
        except Exception:
            # The process ends anyway, and its log says that it did so badly.
            logger.warning("The runner or the process groups could not be closed.", exc_info=True)
    logging.shutdown()
    sys.stdout.flush()
    os._exit(0)
