"""The forkserver as the driver sees it: a process with torch loaded, from which workers are forked. No torch here.

It is ours rather than Python's own, because Python's imports the caller's `__main__` in every child, and because the
exit status of a worker, its process descriptor and its socket have to change hands in one step.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import select
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from podium.multigpu.channel import socket_pair
from podium.multigpu.child import child_command

PRELOAD = ("torch", "diffusers", "transformers")
OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "DIFFUSERS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
}
EXIT_STATUS = struct.Struct("@ii")
# How long a fork may take; and how long it is still waited for once nobody wants it.
_REPLY_LIMIT_S = 10.0
_UNWANTED_LIMIT_S = 0.5
_EXIT_LIMIT_S = 2.0
_POLL_S = 0.05
_MAX_MESSAGE_BYTES = 65536

logger = logging.getLogger(__name__)


class ForkserverError(OSError):
    """Report that the forkserver is gone; another one may do."""


@dataclass(frozen=True, slots=True)
class Launched:
    """A worker that was forked.

    Args:
        pid: Of the worker, and of its process group.
        pidfd: Readable once it has ended.
        status: Readable once it has ended, with its exit status; at its end if the forkserver died. While it is open
            the worker's number is not given to another process.
    """

    pid: int
    pidfd: int
    status: socket.socket


class ForkServer:
    """One forkserver process.

    Args:
        preload: Modules to import before the first fork.
    """

    def __init__(self, preload: Sequence[str] = PRELOAD) -> None:
        self._preload = tuple(preload)
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._requests: socket.socket | None = None
        self._ready: socket.socket | None = None
        self._pidfd = -1

    @property
    def preload(self) -> tuple[str, ...]:
        """Return the modules that it loads before the first fork."""
        return self._preload

    @property
    def pid(self) -> int:
        """Return the process's pid."""
        return self._started().pid

    @property
    def pidfd(self) -> int:
        """Return a descriptor of the process."""
        return self._pidfd

    @property
    def is_alive(self) -> bool:
        """Return whether the process runs."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start the process and return at once; it loads its modules meanwhile.

        Ranks: driver.
        """
        self._requests, their_requests = socket_pair()
        self._ready, their_ready = socket_pair()
        driver_fd = os.pidfd_open(os.getpid())
        fds = (their_requests.fileno(), their_ready.fileno(), driver_fd)
        try:
            self._process = subprocess.Popen(
                [*child_command("launcher"), *map(str, fds), *self._preload],
                pass_fds=fds,
                stdin=subprocess.DEVNULL,
                env=_environment(os.environ),
                start_new_session=True,
            )
            self._pidfd = os.pidfd_open(self._process.pid)
        finally:
            os.close(driver_fd)
            their_requests.close()
            their_ready.close()

    def ready_fileno(self) -> int:
        """Return what becomes readable, for everybody and for good, when the process is ready or gone."""
        if self._ready is None:
            raise ForkserverError("the forkserver is closed")
        return self._ready.fileno()

    def check_ready(self) -> None:
        """Check that the process is ready, once `ready_fileno` is readable.

        Raises:
            ForkserverError: It died while it loaded its modules.
        """
        if self._ready is None or not self._ready.recv(_MAX_MESSAGE_BYTES, socket.MSG_PEEK):
            raise ForkserverError("the forkserver died before it was ready")

    def fork(self, worker_socket: socket.socket, page_fd: int, is_wanted: Callable[[], bool]) -> Launched:
        """Fork a worker, which gets the socket and the status page; both stay open here.

        A process that does not answer as it should is killed, and so replaced by who shares it: it may be stopped, or
        ending, and an answer that comes late would be taken for that to the next request.

        Ranks: driver.

        Args:
            is_wanted: Asked while the answer is waited for.

        Raises:
            ForkserverError: The process is gone or does not answer.
        """
        status, their_status = socket_pair()
        try:
            with self._lock, their_status:
                self._send_request([worker_socket.fileno(), page_fd, their_status.fileno()])
                self._wait_answer(is_wanted)
                pid, pidfd = self._take_answer()
        except (OSError, ValueError, IndexError) as error:
            status.close()
            self._kill()
            if isinstance(error, ForkserverError):
                raise
            raise ForkserverError(f"the forkserver does not answer: {error}") from error
        return Launched(pid, pidfd, status)

    def close(self) -> None:
        """End the process; workers that it forked live on.

        Ranks: driver.
        """
        for sock in (self._requests, self._ready):
            if sock is not None:
                sock.close()
        self._requests = self._ready = None
        if self._process is not None:
            try:
                self._process.wait(timeout=_EXIT_LIMIT_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1

    def abandon(self) -> None:
        """Close this process's ends after a fork of the driver: the process is the parent's, not ours."""
        for sock in (self._requests, self._ready):
            if sock is not None:
                sock.close()
        self._requests = self._ready = None

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise ForkserverError("the forkserver has not been started")
        return self._process

    def _send_request(self, fds: list[int]) -> None:
        requests = self._open_requests()
        requests.settimeout(_REPLY_LIMIT_S)
        socket.send_fds(requests, [b"fork"], fds)

    def _wait_answer(self, is_wanted: Callable[[], bool]) -> None:
        poll = select.poll()
        poll.register(self._open_requests(), select.POLLIN)
        deadline_s = time.monotonic() + _REPLY_LIMIT_S
        was_wanted = True
        while not poll.poll(_POLL_S * 1000):
            if was_wanted and not is_wanted():
                was_wanted = False
                deadline_s = min(deadline_s, time.monotonic() + _UNWANTED_LIMIT_S)
            if time.monotonic() >= deadline_s:
                raise ForkserverError("the forkserver does not answer")

    def _open_requests(self) -> socket.socket:
        if self._requests is None:
            raise ForkserverError("the forkserver is closed")
        return self._requests

    def _take_answer(self) -> tuple[int, int]:
        data, received, _, _ = socket.recv_fds(self._open_requests(), _MAX_MESSAGE_BYTES, 1)
        answer: dict[str, Any] = json.loads(data) if data else {"error": "it is gone"}
        if "error" in answer:
            raise ForkserverError(answer["error"])
        os.set_inheritable(received[0], False)
        pid: int = answer["pid"]
        return pid, received[0]


class SharedForkServer:
    """The forkserver of this process, whatever controllers it builds: started once, replaced when it has died."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._server: ForkServer | None = None
        self._preload: tuple[str, ...] = PRELOAD

    def get(self, preload: Sequence[str] | None = None) -> ForkServer:
        """Return the running forkserver; start it if there is none. It may not be ready yet.

        Ranks: driver.

        Args:
            preload: What one that is started loads; None takes what was last asked for.
        """
        with self._lock:
            self._preload = self._preload if preload is None else tuple(preload)
            if self._server is not None and not self._server.is_alive:
                logger.warning("The process that starts workers had died; it is started again.")
                self._server.close()
                self._server = None
            if self._server is None:
                self._server = ForkServer(self._preload)
                self._server.start()
            return self._server

    def close(self) -> None:
        """End the forkserver; the next `get` starts another."""
        with self._lock:
            if self._server is not None:
                self._server.close()
                self._server = None

    def forget_after_fork(self) -> None:
        """Leave the parent's forkserver alone in a process that was forked from it."""
        self._lock = threading.Lock()
        if self._server is not None:
            self._server.abandon()
            self._server = None


# One for the process, as the processes it starts are: the constructor of a controller has no room for it. Tests and
# programs that want their own pass it to the controller.
SHARED = SharedForkServer()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=SHARED.forget_after_fork)


def preload_forkserver(modules: Sequence[str] = PRELOAD) -> None:
    """Begin to load what workers need, and return at once: the first fleet then starts in a moment.

    Ranks: driver.
    """
    # Where no fleet can run there is nothing to preload.
    if hasattr(os, "pidfd_open"):
        SHARED.get(modules)


def _environment(environment: Mapping[str, str]) -> dict[str, str]:
    # Threads that have nothing to do sleep, which is read once, with torch: by default they spin until the others come,
    # and on processors that are busy otherwise a rank of two threads took ten times as long.
    waiting = {"OMP_WAIT_POLICY": "PASSIVE"}
    # One thread: a pool made before a fork would hang the child. Workers set their own number.
    return {**waiting, **environment, **OFFLINE, "OPENBLAS_NUM_THREADS": "1"}


def wait_ready(server: ForkServer, wake_fd: int, deadline_s: float) -> bool:
    """Wait until the forkserver is ready (True), or until `wake_fd` is readable or the deadline passed (False).

    Ranks: driver.

    Raises:
        ForkserverError: It died meanwhile.
    """
    left_s = max(0.0, deadline_s - time.monotonic())
    with contextlib.closing(select.epoll()) as poll:
        poll.register(server.ready_fileno(), select.EPOLLIN)
        poll.register(wake_fd, select.EPOLLIN)
        ready = {fd for fd, _ in poll.poll(left_s)}
    if server.ready_fileno() in ready:
        server.check_ready()
        return True
    return False
