"""The one thread that watches a fleet from its start to its end: reads every socket, sees every death, reaps. No torch.

It unpickles nothing: what a rank put is handed to whoever iterates. What a rank sent is read before its death is told.
"""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import selectors
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from podium.multigpu import verdict
from podium.multigpu.beginning import Beginning
from podium.multigpu.channel import Body, Kind, Packet, plain_body, receive_packet, send_packet, socket_pair
from podium.multigpu.child import child_command
from podium.multigpu.fleet import KILL_LIMIT_S, Fleet, FleetState, RankHandle
from podium.multigpu.forkserver import EXIT_STATUS, ForkServer, ForkserverError, SharedForkServer, wait_ready
from podium.multigpu.guard import Guard
from podium.multigpu.ledger import DeviceLedger, Tenant
from podium.multigpu.links import FleetLinks
from podium.multigpu.lockstep import find_deserter
from podium.multigpu.ranklog import FleetLogs, RankTail, Tees, replay_record
from podium.multigpu.status import PAGE_BYTES, StatusPage
from podium.multigpu.stream import JobBox

# After the first sign of a failure, how long to wait for the one that caused it.
CULPRIT_WINDOW_S = 0.15
TEE_S = 0.25
# How long a rank may live on whose socket has broken, and how long the word of a rank's end may take that is known.
_CUT_WINDOW_S = 0.6
_STATUS_LIMIT_S = 0.5
# How often ranks are looked after that go on with a job which another has refused.
_STEP_S = 0.1
# Packets of one rank read in a row before the others have their turn.
_BATCH = 32
_FOREVER_S = 3600.0

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FleetOrder:
    """What a fleet is started with.

    Args:
        setup: The runner and its setup arguments, packed.
        environment: Variables of the workers, before ours are added.
        links: Between the ranks.
    """

    setup: Body
    environment: dict[str, str]
    logs: FleetLogs
    forkserver: SharedForkServer
    ledger: DeviceLedger
    links: FleetLinks = field(default_factory=FleetLinks)


class Supervisor:
    """Start, watch and end a fleet.

    Args:
        fleet: Its state, shared with the driver's other threads.
        order: What to start it with.
    """

    def __init__(self, fleet: Fleet, order: FleetOrder) -> None:
        self._fleet = fleet
        self._order = order
        self._selector = selectors.DefaultSelector()
        self._folder = ""
        self._guard: Guard | None = None
        self._ended: list[RankHandle] = []
        self._verdict_at_s: float | None = None
        self._is_step_watched = False
        self._tees = Tees(order.logs.tees)
        self._driver_fd = -1
        self._preloaded: tuple[str, ...] = ()

    def start(self) -> None:
        """Start the thread, and so the fleet.

        Ranks: driver.
        """
        threading.Thread(target=self._run, name="podium-fleet", daemon=True).start()

    def _run(self) -> None:
        try:
            self._launch()
            while self._fleet.state is not FleetState.DEAD and not self._is_all_gone():
                self._turn()
        except Exception as error:
            # The border: whatever goes wrong here, nobody may wait for ever.
            if self._fleet.state is not FleetState.DEAD:
                logger.warning("The fleet failed: %s", error, exc_info=True)
            text = "The fleet could not be run."
            if isinstance(error, ForkserverError):
                text = "The process that starts the ranks has died, or does not answer. Start the fleet again."
            self._fail_whole(text, error)
        finally:
            self._reap()
            self._clean_up()

    # Starting

    def _launch(self) -> None:
        self._order.ledger.wait_free(self._fleet.plan.uuids)
        self._folder = tempfile.mkdtemp(prefix="podium-fleet-")
        self._driver_fd = os.pidfd_open(os.getpid())
        self._selector.register(self._fleet.wake_fd, selectors.EVENT_READ, self._on_wake)
        self._guard = Guard(self._folder, child_command("guard"))
        self._guard.start()
        self._selector.register(self._guard, selectors.EVENT_READ, self._on_guard_lost)
        if self._fleet.plan.uuids:
            fleet = self._fleet
            self._order.ledger.add(Tenant(fleet.plan.uuids, lambda: fleet.pids, fleet.gone, lambda: fleet.is_leaving))
        for place, files in zip(self._fleet.plan.places, self._order.logs.files, strict=True):
            if self._fleet.state is not FleetState.STARTING:
                return
            self._fork(place.rank, RankTail(files))

    def _fork(self, rank: int, tail: RankTail) -> None:
        ours, theirs = socket_pair()
        page_fd = os.memfd_create("podium-status", os.MFD_CLOEXEC)
        os.ftruncate(page_fd, PAGE_BYTES)
        handle = RankHandle(self._fleet.plan.places[rank], ours, StatusPage.map(page_fd), tail)
        self._fleet.handles.append(handle)
        ours.setblocking(False)
        try:
            server = self._order.forkserver.get()
            self._preloaded = server.preload
            self._guard_forkserver(server)
            while not wait_ready(server, self._fleet.wake_fd, time.monotonic() + _FOREVER_S):
                if self._fleet.state is not FleetState.STARTING:
                    return
            worker = server.fork(theirs, page_fd, lambda: self._fleet.state is FleetState.STARTING)
        finally:
            theirs.close()
            os.close(page_fd)
        if self._guard is not None:
            self._guard.add(worker.pid, worker.pidfd)
        self._fleet.register(handle, worker)
        self._selector.register(ours, selectors.EVENT_READ, lambda: self._on_packets(handle))
        self._selector.register(worker.status, selectors.EVENT_READ, lambda: self._on_status(handle))
        self._selector.register(worker.pidfd, selectors.EVENT_READ, lambda: self._on_exit(handle))

    def _guard_forkserver(self, server: ForkServer) -> None:
        # It sees the end of the driver by itself, but not while it loads modules.
        if self._guard is not None and server.pid not in self._guard.pids:
            self._guard.add(server.pid, server.pidfd)

    def _begin(self, handle: RankHandle) -> None:
        """Tell a rank who it is and what to set up; a second time if it had to begin anew."""
        order = self._order
        beginning = Beginning(
            self._fleet.plan, Path(self._folder), order.environment, order.links, preloaded=self._preloaded
        )
        message = beginning.of_rank(handle.place.rank, handle.tail.files)
        with contextlib.suppress(OSError):
            send_packet(handle.sock, Kind.BEGIN, 0, plain_body(pickle.dumps(message)), fd=self._driver_fd)
            send_packet(handle.sock, Kind.JOB, 0, self._order.setup)

    # Watching

    def _turn(self) -> None:
        for key, _ in self._selector.select(self._timeout_s()):
            # One event of this round may have ended what the next one is about.
            if self._selector.get_map().get(key.fd) == key:
                on_event: Callable[[], None] = key.data
                on_event()
        if self._tees:
            self._tees.show_new()
        self._keep_deadlines()

    def _timeout_s(self) -> float:
        now_s = time.monotonic()
        deadlines_s = [now_s + (TEE_S if self._tees else _FOREVER_S)]
        if self._verdict_at_s is not None:
            deadlines_s.append(self._verdict_at_s)
        if (job := self._fleet.job) is not None and job.deadline_s is not None and not job.has_ended:
            deadlines_s.append(job.deadline_s)
        if self._is_step_watched:
            deadlines_s.append(now_s + _STEP_S)
        return max(0.0, min(deadlines_s) - now_s)

    @property
    def _is_awaited(self) -> bool:
        job = self._fleet.job
        return self._fleet.state is FleetState.STARTING or (job is not None and not job.has_ended)

    def _keep_deadlines(self) -> None:
        now_s = time.monotonic()
        if self._fleet.state is FleetState.DEAD:
            return
        if self._verdict_at_s is not None and now_s >= self._verdict_at_s:
            culprit = verdict.find_culprit(self._fleet.handles, self._ended)
            if culprit is not None:
                failure = verdict.rank_failure(culprit)
                # Who waits for a start or a job is told by its error; where nobody does, this is the only word.
                logger.log(logging.INFO if self._is_awaited else logging.ERROR, "The fleet failed: %s", failure())
                self._fleet.kill(failure)
            return
        job = self._fleet.job
        if self._is_step_watched and job is not None:
            self._is_step_watched = not job.has_ended and not self._is_out_of_step(job, job.ends())
        if job is not None and job.deadline_s is not None and now_s >= job.deadline_s and not job.has_ended:
            self._fleet.kill(verdict.job_timeout(self._fleet.statuses(), job.job_id))

    def _on_wake(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.eventfd_read(self._fleet.wake_fd)

    def _on_guard_lost(self) -> None:
        if self._guard is not None:
            logger.warning("The guard of the fleet had died; it is started again.")
            self._selector.unregister(self._guard)
            self._guard.restart()
            self._selector.register(self._guard, selectors.EVENT_READ, self._on_guard_lost)

    def _on_packets(self, handle: RankHandle) -> None:
        for _ in range(_BATCH):
            if not self._read_one(handle):
                return

    def _read_one(self, handle: RankHandle) -> bool:
        try:
            packet = receive_packet(handle.sock)
        except BlockingIOError:
            return False
        if packet is None:
            self._selector.unregister(handle.sock)
            handle.is_cut = True
            if self._fleet.state in (FleetState.STARTING, FleetState.READY):
                self._expect_verdict(_CUT_WINDOW_S)
            return False
        self._take(handle, packet)
        return True

    def _take(self, handle: RankHandle, packet: Packet) -> None:
        match packet.kind:
            case Kind.HELLO:
                self._begin(handle)
            case Kind.READY:
                self._fleet.note_ready(handle)
            case Kind.LOG:
                self._replay(handle, packet)
            case Kind.CRASHED:
                handle.crash = packet
                self._expect_verdict()
            case _:
                job = self._fleet.job
                if job is not None and job.job_id == packet.job_id:
                    self._put(job, handle, packet)

    def _replay(self, handle: RankHandle, packet: Packet) -> None:
        try:
            replay_record(packet.pickled, handle.place.rank, handle.tail)
        except Exception:
            # Whoever listens to the application's log: his fault ends no fleet.
            logger.exception("A record of rank %d could not be logged.", handle.place.rank)

    def _put(self, job: JobBox, handle: RankHandle, packet: Packet) -> None:
        rank = handle.place.rank
        if packet.kind is not Kind.YIELDED:
            handle.refusal = packet if packet.kind is Kind.REFUSED else None
            self._is_step_watched = self._is_step_watched or packet.kind is Kind.REFUSED
            # Before the job is over for whoever iterates: he may send the next one at once.
            if self._is_out_of_step(job, job.ends() | {rank: packet.kind}):
                return
        job.put(rank, packet)

    def _is_out_of_step(self, job: JobBox, ends: Mapping[int, Kind]) -> bool:
        refused = [rank for rank, kind in ends.items() if kind is Kind.REFUSED]
        deserter = find_deserter(refused, ends, self._fleet.collectives_of_job()) if job is self._fleet.job else None
        if deserter is None:
            return False
        self._fleet.handles[deserter].is_deserter = True
        self._expect_verdict()
        return True

    def _expect_verdict(self, window_s: float = CULPRIT_WINDOW_S) -> None:
        self._fleet.poison()
        at_s = time.monotonic() + window_s
        self._verdict_at_s = at_s if self._verdict_at_s is None else min(at_s, self._verdict_at_s)

    def _on_exit(self, handle: RankHandle) -> None:
        """See a rank's end by itself: whoever would tell how it ended may be stopped."""
        with selectors.DefaultSelector() as selector:
            selector.register(_status_socket(handle), selectors.EVENT_READ)
            if selector.select(_STATUS_LIMIT_S):
                self._on_status(handle)
            else:
                self._note_end(handle)

    def _on_status(self, handle: RankHandle) -> None:
        """See a rank's end, or that of the forkserver, which would have told of it."""
        status = _status_socket(handle)
        data = status.recv(EXIT_STATUS.size)
        if not data:
            self._selector.unregister(status)
            self._fail_whole("The process that starts and watches the ranks has died. Start the fleet again.", None)
            return
        handle.exit_status = EXIT_STATUS.unpack(data)
        self._note_end(handle)

    def _note_end(self, handle: RankHandle) -> None:
        # Last words first.
        while handle.sock in _sources(self._selector) and self._read_one(handle):
            pass
        self._forget(handle)
        handle.has_ended = True
        self._ended.append(handle)
        pid = handle.launched.pid if handle.launched is not None else 0
        self._fleet.release(handle)
        if self._guard is not None:
            self._guard.drop(pid)
        if self._fleet.state in (FleetState.STARTING, FleetState.READY):
            self._expect_verdict()
        elif self._fleet.state is FleetState.STOPPING and verdict.exit_of(handle.exit_status) != (0, None):
            logger.warning("Rank %d did not end as it should while the fleet stopped.", handle.place.rank)

    def _forget(self, handle: RankHandle) -> None:
        launched = handle.launched
        for source in (handle.sock, *((launched.status, launched.pidfd) if launched is not None else ())):
            if source in _sources(self._selector):
                self._selector.unregister(source)

    def _is_all_gone(self) -> bool:
        launched = [handle for handle in self._fleet.handles if handle.launched is not None]
        return self._verdict_at_s is None and bool(launched) and all(handle.is_gone for handle in launched)

    def _fail_whole(self, text: str, error: Exception | None) -> None:
        self._fleet.poison()
        self._fleet.kill(verdict.fleet_failure(self._fleet.statuses(), text, error))

    # Ending

    def _reap(self) -> None:
        """Wait until every worker has ended; one that outlives its death is named and given up."""
        deadline_s = (self._fleet.killed_at_s or time.monotonic()) + KILL_LIMIT_S
        left = [handle for handle in self._fleet.handles if handle.launched is not None and not handle.is_gone]
        for handle in left:
            with contextlib.suppress(OSError):
                self._wait_end(handle, deadline_s)
        for handle in left:
            if not handle.is_gone and handle.launched is not None:
                pid, device = handle.launched.pid, handle.place.device
                logger.error(
                    "Process %d on %s does not end: it is stuck in its driver, and its GPU blocked.", pid, device
                )

    def _wait_end(self, handle: RankHandle, deadline_s: float) -> None:
        if handle.launched is None:
            return
        with selectors.DefaultSelector() as selector:
            selector.register(handle.launched.pidfd, selectors.EVENT_READ)
            if not selector.select(max(0.0, deadline_s - time.monotonic())):
                return
        handle.has_ended = True
        pid = handle.launched.pid
        self._fleet.release(handle)
        if self._guard is not None:
            self._guard.drop(pid)

    def _clean_up(self) -> None:
        if self._tees:
            self._tees.show_new()
        for handle in self._fleet.handles:
            handle.sock.close()
        self._order.setup.close()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._selector.close()
        if self._driver_fd >= 0:
            os.close(self._driver_fd)
        self._fleet.close()
        # Last: to end the guard takes a moment in which nobody has to wait.
        if self._guard is not None:
            self._guard.stop()


def _sources(selector: selectors.BaseSelector) -> set[object]:
    return {key.fileobj for key in selector.get_map().values()}


def _status_socket(handle: RankHandle) -> socket.socket:
    if handle.launched is None:
        raise ValueError("the rank has no process yet")
    return handle.launched.status
