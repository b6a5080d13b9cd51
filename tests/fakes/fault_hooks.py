"""Faults at the seams of the fleet. A forkserver that loads this module ahead has them, and so have its workers.

Every site is a function of the product with a question in front of it: is the fault of the day meant for here?
"""

from __future__ import annotations

import functools
import socket
from collections.abc import Callable
from typing import Any

import torch.distributed

from podium.jobs import Phase
from podium.multigpu import attention, launcher, rendezvous, worker
from podium.multigpu.job import JobContext
from podium.multigpu.link import Link
from podium.multigpu.messages import BeginMessage

from tests.fakes.faults import Fault, FaultSpec, Site, start_compiler, strike

STRUCK_STEP = 3
STRUCK_EXCHANGE = 5
STRUCK_ITEM = 4


class Here:
    """What the hooks know of the process they are in."""

    def __init__(self) -> None:
        self.rank = -1
        self.socket: socket.socket | None = None
        self.receives_inputs = False
        self.num_jobs = 0
        self.num_exchanges = 0
        self.num_items = 0
        self.spoils_items = False
        self._spec: FaultSpec | None = None
        self._has_struck = False

    @property
    def spec(self) -> FaultSpec | None:
        """Return the fault of the day, as this rank found it when it began."""
        return self._spec

    def begin_rank(self, rank: int) -> None:
        """Learn which rank this process is."""
        self.rank, self._spec = rank, FaultSpec.read()

    def reach(self, site: Site) -> None:
        """Come to a site; the fault, if it is meant for here, strikes once."""
        spec = self._spec
        if spec is None or spec.site is not site or self._has_struck or not spec.meets(self.rank):
            return
        self._has_struck = True
        spec.note_strike()
        if spec.fault is Fault.UNPICKLABLE:
            self.spoils_items = True
        else:
            strike(spec.fault, self.socket)

    def begin_fork(self) -> None:
        """Count a rank: one forkserver starts many fleets, the ranks of each in order."""
        spec = FaultSpec.read()
        is_same_fleet = spec is not None and self._spec is not None and spec.key == self._spec.key
        self.rank = self.rank + 1 if is_same_fleet else 0
        self._spec = spec


HERE = Here()


def before(owner: Any, name: str, question: Callable[..., None]) -> None:
    """Have `question` asked, with the same arguments, before every call of a function."""
    original = getattr(owner, name)

    @functools.wraps(original)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        question(*args, **kwargs)
        return original(*args, **kwargs)

    setattr(owner, name, wrapped)


def on_request(server: launcher.Launcher) -> None:
    HERE.socket = server._requests
    HERE.begin_fork()
    HERE.reach(Site.FORKSERVER)


def on_birth(socket_fd: int, _page_fd: int, **_: Any) -> None:
    HERE.socket = socket.socket(fileno=socket.dup(socket_fd)) if HERE.spec is not None else None
    HERE.reach(Site.FORK)


def on_link(_link: Link, sock: socket.socket, _page: object) -> None:
    HERE.socket = sock


def on_groups(begin: BeginMessage, _device: object) -> None:
    HERE.begin_rank(begin.rank)
    if HERE.spec is not None:
        start_compiler()
    HERE.reach(Site.RENDEZVOUS)


def on_wait(_link: Link) -> None:
    # The first packet is the setup's, the second the first job's.
    HERE.num_jobs += 1
    if HERE.num_jobs > 2:
        HERE.reach(Site.BETWEEN_JOBS)


def on_broadcast(*_: Any, **kwargs: Any) -> None:
    if HERE.receives_inputs and kwargs.get("group") is None:
        HERE.reach(Site.INPUTS)


def on_checkpoint(_job: JobContext, phase: Phase, step: int, _num_steps: int) -> None:
    if phase is Phase.STAGE_1 and step == STRUCK_STEP:
        HERE.reach(Site.STEP)


def on_exchange(*_: Any, **__: Any) -> None:
    HERE.num_exchanges += 1
    if HERE.num_exchanges == STRUCK_EXCHANGE:
        HERE.reach(Site.COLLECTIVE)


def on_leave(*_: Any) -> None:
    HERE.reach(Site.SHUTDOWN)


def install() -> None:
    """Put the questions in front of the product's functions."""
    before(launcher.Launcher, "_serve_request", on_request)
    before(worker, "run", on_birth)
    before(Link, "__init__", on_link)
    before(rendezvous, "make_groups", on_groups)
    before(Link, "next_packet", on_wait)
    before(torch.distributed, "broadcast", on_broadcast)
    before(JobContext, "checkpoint", on_checkpoint)
    before(attention, "all_to_all", on_exchange)
    before(torch.distributed, "destroy_process_group", on_leave)
    receive, send = worker.Worker._receive_inputs, worker.Worker._send_item

    def receive_inputs(self: worker.Worker, packet: Any) -> dict[str, Any]:
        HERE.receives_inputs = True
        try:
            return receive(self, packet)
        finally:
            HERE.receives_inputs = False

    def send_item(self: worker.Worker, job_id: int, item: object) -> None:
        HERE.num_items += 1
        if HERE.num_items == STRUCK_ITEM:
            HERE.reach(Site.YIELD)
        send(self, job_id, (x for x in ()) if HERE.spoils_items else item)

    worker.Worker._receive_inputs = receive_inputs  # type: ignore[method-assign]  # that is what this module is for
    worker.Worker._send_item = send_item  # type: ignore[method-assign]  # the same


install()
