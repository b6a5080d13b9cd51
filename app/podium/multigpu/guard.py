"""The guard: a process that kills a fleet's workers when the driver is gone. Standard library only.

A worker's own watchdog thread cannot run while the worker is stopped or something in it holds the interpreter lock; the
guard is outside. The driver starts one per fleet, by this file's path, and tells it every process group. When the
driver ends in whatever way, the guard kills the groups, removes the fleet's private folder and ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_MAX_MESSAGE_BYTES = 4096


class Guard:
    """The driver's side of a guard.

    Args:
        folder: A private folder to remove when the driver is gone.
        command: How to start the process, to which the descriptors are added; this file by default.
    """

    def __init__(self, folder: str, command: Sequence[str] | None = None) -> None:
        self._folder = folder
        self._command = list(command or [sys.executable, "-I", "-S", __file__])
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._groups: dict[int, int] = {}

    @property
    def pid(self) -> int | None:
        """Return the process's pid."""
        return None if self._process is None else self._process.pid

    @property
    def pids(self) -> frozenset[int]:
        """Return the process groups that it guards."""
        return frozenset(self._groups)

    def start(self) -> None:
        """Start the process; it need not be up for `add` to count.

        Ranks: driver.
        """
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        driver_fd = os.pidfd_open(os.getpid())
        try:
            fds = (theirs.fileno(), driver_fd)
            # A session of its own: no Ctrl-C, and no hang-up of the terminal, reaches it.
            self._process = subprocess.Popen(
                [*self._command, *map(str, fds)],
                pass_fds=fds,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
        finally:
            os.close(driver_fd)
            theirs.close()
        self._tell({"folder": self._folder})

    def fileno(self) -> int:
        """Return what becomes readable when the guard has died."""
        if self._socket is None:
            raise ValueError("the guard has not been started")
        return self._socket.fileno()

    def restart(self) -> None:
        """Start another process in place of one that died, with the same groups.

        Ranks: driver.
        """
        self._reap()
        self.start()
        for pid, pidfd in self._groups.items():
            self._tell({"add": pid}, pidfd)

    def add(self, pid: int, pidfd: int) -> None:
        """Have the process group `pid` killed when the driver is gone; `pidfd` stays the caller's."""
        # A descriptor of our own: a guard that is started anew gets the groups again, whatever was closed since.
        self._groups[pid] = os.dup(pidfd)
        self._tell({"add": pid}, pidfd)

    def drop(self, pid: int) -> None:
        """Forget a process group: it is gone, and its number may soon be another's."""
        held = self._groups.pop(pid, None)
        if held is not None:
            os.close(held)
            self._tell({"drop": pid})

    def stop(self) -> None:
        """End the guard and kill nothing.

        Ranks: driver.
        """
        self._tell({"end": True})
        self._reap()
        for pid in list(self._groups):
            self.drop(pid)

    def _reap(self) -> None:
        if self._socket is not None:
            self._socket.close()
        if self._process is not None:
            try:
                self._process.wait(timeout=2.0)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._socket = self._process = None

    def _tell(self, message: dict[str, object], fd: int | None = None) -> None:
        # A guard that died is noticed, and replaced, by whoever watches `fileno`.
        if self._socket is not None:
            with contextlib.suppress(OSError):
                socket.send_fds(self._socket, [json.dumps(message).encode()], [] if fd is None else [fd])


def main(argv: Sequence[str]) -> None:
    """Guard: `argv` holds the descriptors of the socket and of the driver's process."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    sock, driver_fd = socket.socket(fileno=int(argv[0])), int(argv[1])
    # Descriptors keep their numbers from the driver, which may be beyond what `select` takes.
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    poll.register(driver_fd, select.POLLIN)
    groups: dict[int, int] = {}
    folder: str | None = None
    while True:
        ready = {fd for fd, _ in poll.poll()}
        # What the driver still wrote counts, whatever became of it since.
        if sock.fileno() not in ready:
            break
        data, fds, _, _ = socket.recv_fds(sock, _MAX_MESSAGE_BYTES, 1)
        if not data:
            break
        message = json.loads(data)
        if message.get("end"):
            return
        folder = message.get("folder", folder)
        if "add" in message:
            groups[message["add"]] = fds[0]
        if "drop" in message and (dropped := groups.pop(message["drop"], None)) is not None:
            os.close(dropped)
    for pid, pidfd in groups.items():
        kill_group(pid, pidfd)
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


def kill_group(pid: int, pidfd: int) -> None:
    """Kill a process group, unless its leader is gone and its number is another process's by now."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        try:
            signal.pidfd_send_signal(pidfd, 0)
        except ProcessLookupError:
            # The leader is gone. What children it left keep the group's number, so that no process can have it.
            if Path(f"/proc/{pid}").exists():
                return
        os.killpg(pid, signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1:])
