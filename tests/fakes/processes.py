"""Looking at processes from tests: drivers of their own, what they leave behind, and waiting with a limit."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

MARK = "PODIUM_TEST_MARK"


@dataclass(frozen=True)
class Script:
    """A driver in a process of its own."""

    process: subprocess.Popen[str]
    mark: str

    def wait_for(self, word: str) -> str:
        """Return the line that it prints with this word in it."""
        stdout = self.process.stdout
        assert stdout is not None
        for line in stdout:
            if word in line:
                return line
        raise AssertionError(f"the script ended without saying {word!r}")

    def relatives(self) -> list[int]:
        """Return the processes that it started and that still are, itself left out."""
        return [pid for pid in processes_with(self.mark) if pid != self.process.pid]


def processes_with(mark: str) -> list[int]:
    """Return the processes, zombies left out, that were started with this mark in their environment."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
            except OSError:
                continue
    return found


def wait_until(condition: Callable[[], object], timeout_s: float = 10.0) -> bool:
    """Return whether the condition came true in time."""
    deadline_s = time.monotonic() + timeout_s
    while time.monotonic() < deadline_s:
        if condition():
            return True
        time.sleep(0.01)
    return bool(condition())


def is_running(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def num_descriptors() -> int:
    """Return how many files this process holds open."""
    return sum(1 for _ in Path("/proc/self/fd").iterdir())
