"""The forkserver process: loads torch once, then forks a worker per request. Runs in a process of its own only.

It has one thread, touches no device and computes nothing: a thread pool or a device context made here would break
every child. It ends when the driver does.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import gc
import importlib
import json
import logging
import os
import select
import selectors
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from podium.multigpu.forkserver import EXIT_STATUS
from podium.multigpu.messages import EXIT_NOT_BORN

# Where the libraries keep what they found out about devices while these were hidden.
_CACHING_MODULES = (
    "accelerate.utils.imports",
    "diffusers.utils.import_utils",
    "diffusers.utils.torch_utils",
    "transformers.utils.import_utils",
    "torch.utils._triton",
)
_HIDDEN = {
    "torch.cuda": {"is_available": False, "device_count": 0},
    "torch.accelerator": {"is_available": False, "device_count": 0},
    "torch._C": {"_cuda_getDeviceCount": 0},
}

logger = logging.getLogger(__name__)


def main(argv: Sequence[str]) -> None:
    """Serve: `argv` holds the descriptors of the request socket, the ready socket and the driver, then the modules."""
    # The thread that started this process may have had its signals blocked.
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    requests, ready = socket.socket(fileno=int(argv[0])), socket.socket(fileno=int(argv[1]))
    for fd in map(int, argv[:3]):
        os.set_inheritable(fd, False)
    driver = select.poll()
    driver.register(int(argv[2]), select.POLLIN)
    with _ending_with(ready):
        failed = preload(argv[3:], is_wanted=lambda: not driver.poll(0))
    gc.collect()
    # What is loaded stays for ever: the collector must not touch, and so copy, its pages in every child.
    gc.freeze()
    with contextlib.suppress(OSError):
        ready.send(json.dumps({"failed": failed}).encode())
        Launcher(requests, ready, int(argv[2])).serve()


def preload(modules: Sequence[str], *, is_wanted: Callable[[], bool] = lambda: True) -> dict[str, str]:
    """Import modules with every device hidden; return what went wrong, by module.

    Ranks: one rank, local.

    Args:
        is_wanted: Asked before each module: an import takes seconds, and the driver may be gone.
    """
    failed: dict[str, str] = {}
    for module in ("torch", "podium.multigpu.worker", *modules):
        if not is_wanted():
            break
        with _hidden_devices() if "torch" in sys.modules else contextlib.nullcontext():
            try:
                importlib.import_module(module)
            except Exception as error:  # noqa: BLE001 - a worker that needs the module reports its absence itself
                failed[module] = f"{type(error).__name__}: {error}"
                sys.stderr.write(f"podium: {module} could not be loaded ahead: {failed[module]}\n")
    _forget_devices()
    return failed


@contextlib.contextmanager
def _ending_with(driver: socket.socket) -> Iterator[None]:
    """Have the kernel end this process when the driver lets go of its end of a socket on which it says nothing.

    An import takes seconds, on a busy machine half a minute, in which nobody looks whether the driver is gone.
    """
    flags = fcntl.fcntl(driver, fcntl.F_GETFL)
    fcntl.fcntl(driver, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(driver, fcntl.F_SETFL, flags | os.O_ASYNC)
    try:
        yield
    finally:
        fcntl.fcntl(driver, fcntl.F_SETFL, flags)


class Launcher:
    """Fork workers, and tell the driver how they ended.

    Args:
        requests: One message a worker to fork.
        ready: Only to be closed in the children.
        driver_fd: Readable once the driver is gone.
    """

    def __init__(self, requests: socket.socket, ready: socket.socket, driver_fd: int) -> None:
        self._requests = requests
        self._ready = ready
        self._driver_fd = driver_fd
        self._selector = selectors.DefaultSelector()
        self._woken, self._wake = socket.socketpair()
        self._status: dict[int, socket.socket] = {}
        self._ended: set[int] = set()
        self._released: set[int] = set()

    def serve(self) -> None:
        """Serve until the driver is gone.

        Ranks: one rank, local.
        """
        self._wake.setblocking(False)
        self._woken.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wake.fileno(), warn_on_full_buffer=False)
        for source in (self._requests, self._woken, self._driver_fd):
            self._selector.register(source, selectors.EVENT_READ)
        while True:
            ready = [key for key, _ in self._selector.select()]
            for key in ready:
                if key.fileobj == self._driver_fd or (key.fileobj is self._requests and not self._serve_request()):
                    return
                if key.fileobj is self._woken:
                    self._woken.recv(4096)
                if key.data is not None:
                    self._release(key.data)
            self._report_ended()

    def _serve_request(self) -> bool:
        data, fds, _, _ = socket.recv_fds(self._requests, 4096, 4)
        if not data:
            return False
        worker_fd, page_fd, status_fd = fds
        status = socket.socket(fileno=status_fd)
        try:
            pid = os.fork()
        except OSError as error:
            status.close()
            self._requests.send(json.dumps({"error": str(error)}).encode())
        else:
            if pid == 0:
                self._be_worker(worker_fd, page_fd, status)
            self._answer(pid, status)
        os.close(worker_fd)
        os.close(page_fd)
        return True

    def _answer(self, pid: int, status: socket.socket) -> None:
        # Both sides set the group, so that it exists before either goes on.
        with contextlib.suppress(OSError):
            os.setpgid(pid, pid)
        self._status[pid] = status
        self._selector.register(status, selectors.EVENT_READ, pid)
        pidfd = os.pidfd_open(pid)
        socket.send_fds(self._requests, [json.dumps({"pid": pid}).encode()], [pidfd])
        os.close(pidfd)

    def _report_ended(self) -> None:
        for pid in set(self._status) - self._ended:
            # The child stays a zombie, and its number taken, until the driver has killed what is left of its group.
            result = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if result is not None:
                self._ended.add(pid)
                with contextlib.suppress(OSError):
                    self._status[pid].send(EXIT_STATUS.pack(result.si_code, result.si_status))
        for pid in self._released & self._ended:
            os.waitpid(pid, 0)
            self._ended.discard(pid)
            self._released.discard(pid)
            self._status.pop(pid).close()

    def _release(self, pid: int) -> None:
        """Reap a child whose driver has closed its end as soon as it has ended; one that still runs is killed."""
        self._selector.unregister(self._status[pid])
        self._released.add(pid)
        if pid not in self._ended:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)

    def _be_worker(self, worker_fd: int, page_fd: int, status: socket.socket) -> NoReturn:
        try:
            os.setpgid(0, 0)
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGHUP, signal.SIG_DFL)
            self._selector.close()
            for item in (self._requests, self._ready, self._woken, self._wake, status, *self._status.values()):
                item.close()
            os.close(self._driver_fd)
            importlib.import_module("podium.multigpu.worker").run(worker_fd, page_fd, is_forked=True)
        except BaseException:  # noqa: BLE001 - the border: nobody but this line could still tell of it
            traceback.print_exc()
        finally:
            # Nothing of the forkserver may run on in a child, whatever went wrong.
            os._exit(EXIT_NOT_BORN)


@contextlib.contextmanager
def _hidden_devices() -> Iterator[None]:
    """Answer every question for devices with "none", without asking the driver library."""
    saved: list[tuple[Any, str, Any]] = []
    hiding = [True]
    for module_name, answers in _HIDDEN.items():
        module = sys.modules.get(module_name)
        for name, answer in answers.items():
            if module is not None and hasattr(module, name):
                saved.append((module, name, getattr(module, name)))
                setattr(module, name, _stand_in(saved[-1][2], answer, hiding))
    try:
        yield
    finally:
        hiding.clear()
        for module, name, value in saved:
            setattr(module, name, value)


def _stand_in(function: Callable[..., Any], answer: object, hiding: list[bool]) -> Callable[..., Any]:
    # Modules keep functions that they find at their import (torch's compiler does): what they keep here has to tell the
    # truth once nothing is hidden any more.
    @functools.wraps(function)
    def ask(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - whatever the function takes and returns
        return answer if hiding else function(*args, **kwargs)

    return ask


def _forget_devices() -> None:
    """Clear what the libraries remember of "no device", in every child at once."""
    for module_name in _CACHING_MODULES:
        for value in list(vars(sys.modules[module_name]).values()) if module_name in sys.modules else []:
            owners = [value, *vars(value).values()] if isinstance(value, type) else [value]
            for owner in owners:
                function = getattr(owner, "__func__", owner)
                if callable(getattr(function, "cache_clear", None)):
                    function.cache_clear()
