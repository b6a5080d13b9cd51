"""Faults, and where they strike: named by the test, carried out inside the real process that is to have them.

A file holds the fault of the day; its path is in the environment of the forkserver. `tests.fakes.fault_hooks`, which
that forkserver loads ahead, asks here at every site.
"""

from __future__ import annotations

import ctypes
import dataclasses
import json
import os
import signal
import socket
import subprocess
import time
import uuid
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from podium.multigpu import RunnerError

FILE_VARIABLE = "PODIUM_TEST_FAULT_FILE"


class Site(StrEnum):
    """Where a fault strikes."""

    FORKSERVER = "forkserver"
    FORK = "fork"
    RENDEZVOUS = "rendezvous"
    SETUP = "setup"
    BETWEEN_JOBS = "between jobs"
    INPUTS = "broadcast of inputs"
    STEP = "step"
    COLLECTIVE = "collective"
    DECODE = "decode"
    YIELD = "yield"
    SHUTDOWN = "shutdown"


class Fault(StrEnum):
    """What strikes."""

    SIGKILL = "SIGKILL"
    SIGSTOP = "SIGSTOP"
    EXCEPTION = "exception"
    VALUE_ERROR = "`ValueError` on all"
    RUNNER_ERROR = "`RunnerError` on some"
    EXIT = "exit 0"
    SEGFAULT = "segfault"
    UNPICKLABLE = "unpicklable yield"
    CLOSED_PIPE = "closed pipe"


@dataclass(frozen=True)
class FaultSpec:
    """One fault.

    Args:
        rank: Whom it strikes; `ValueError on all` strikes the others too.
        key: Tells one fleet's fault from the next one's.
    """

    site: Site
    fault: Fault
    rank: int
    key: str = dataclasses.field(default_factory=lambda: uuid.uuid4().hex)

    def write(self, path: Path) -> None:
        """Make it the fault of the day."""
        path.write_text(json.dumps(dataclasses.asdict(self)), encoding="utf-8")

    @classmethod
    def read(cls) -> FaultSpec | None:
        """Return the fault of the day; None if there is none."""
        try:
            fields = json.loads(Path(os.environ[FILE_VARIABLE]).read_text(encoding="utf-8"))
        except (KeyError, FileNotFoundError):
            return None
        return cls(Site(fields["site"]), Fault(fields["fault"]), fields["rank"], fields["key"])

    def meets(self, rank: int) -> bool:
        """Return whether it strikes this rank."""
        return rank == self.rank or self.fault is Fault.VALUE_ERROR

    def note_strike(self) -> None:
        """Write down when it struck, for the driver to measure from."""
        path = Path(os.environ[FILE_VARIABLE]).with_suffix(".struck")
        path.write_text(str(time.monotonic()), encoding="utf-8")


def struck_at_s(path: Path) -> float:
    """Return when the fault of this file struck, in monotonic seconds."""
    return float(path.with_suffix(".struck").read_text(encoding="utf-8"))


def strike(fault: Fault, sock: socket.socket | None) -> None:
    """Have the fault in this process.

    Args:
        sock: The way to the driver.
    """
    match fault:
        case Fault.SIGKILL:
            os.kill(os.getpid(), signal.SIGKILL)
        case Fault.SIGSTOP:
            os.kill(os.getpid(), signal.SIGSTOP)
        case Fault.EXCEPTION:
            raise RuntimeError("this fault was asked for")
        case Fault.VALUE_ERROR:
            raise ValueError("this value was asked for")
        case Fault.RUNNER_ERROR:
            raise RunnerError("This refusal was asked for.")
        case Fault.EXIT:
            os._exit(0)
        case Fault.SEGFAULT:
            ctypes.string_at(0)
        case Fault.CLOSED_PIPE:
            assert sock is not None
            sock.shutdown(socket.SHUT_RDWR)


def start_compiler() -> None:
    """Leave a process of this rank's behind, as a compiler does."""
    subprocess.Popen(["sleep", "3600"], stdin=subprocess.DEVNULL)
