"""Where a measurement runs, on GPUs or tiny on the CPU: its fleets, its folder, what its devices hold. No torch."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pynvml

from podium.multigpu import MGPUController, RunnerRef, preload_forkserver
from podium.multigpu.placement import visible_gpus

from tests.gpu.figures import Figure, tell

# A fleet that loads random weights of true size is up long before.
_START_LIMIT_S = 240.0
_NUM_LOG_LINES = 60


@dataclass(frozen=True, slots=True)
class Bench:
    """One part's place.

    Args:
        folder: For files of any size; gone after the part.
        num_ranks: Of the fleets it starts.
        is_small: Everything is tiny, and ranks are on the CPU.
    """

    folder: Path
    num_ranks: int
    is_small: bool

    def placement(self, num_ranks: int | None = None, *, first: int = 0) -> dict[str, Any]:
        """Return a controller's arguments for so many ranks, each on a GPU of its own from `first` on."""
        num_ranks = num_ranks or self.num_ranks
        if self.is_small:
            return {"cpu_ranks": num_ranks}
        return {"devices": list(range(first, first + num_ranks))}

    @contextmanager
    def fleet(self, runner: str, placement: dict[str, Any] | None = None, **setup: object) -> Iterator[MGPUController]:
        """Start a fleet, and stop it; if its work fails, at once, and after saying what its ranks did."""
        preload_forkserver()
        fleet = MGPUController(
            RunnerRef(runner), log_folder=self.folder / "logs", **(self.placement() if placement is None else placement)
        )
        try:
            fleet.start(timeout=_START_LIMIT_S, is_small=self.is_small, **setup)
            yield fleet
        except BaseException:
            for status in fleet.rank_status():
                print(status.text, flush=True)
            fleet.shutdown(graceful_timeout=0)
            raise
        fleet.shutdown(graceful_timeout=10)

    def used_bytes(self, pids: Iterable[int] = ()) -> list[int]:
        """Return what is in use on each GPU by anyone, as NVML says; on the CPU what these processes have resident."""
        return [sum(map(_resident_bytes, pids))] if self.is_small else used_gpu_bytes()


def print_logs(folder: Path, *, naming: str = "") -> None:
    """Print the end of each rank's log and output in a folder, or only of those that say `naming`."""
    for path in sorted((*folder.rglob("rank-*.log"), *folder.rglob("rank-*.out"))):
        text = path.read_text(encoding="utf-8", errors="replace")
        if naming in text:
            lines = text.splitlines()[-_NUM_LOG_LINES:]
            print(f"--- the end of {path.relative_to(folder)}", *lines, sep="\n", flush=True)


def tell_all(figures: Iterable[object]) -> None:
    """Tell the figures that ranks yield, as they come."""
    for figure in figures:
        assert isinstance(figure, Figure), f"{figure!r} is no figure"
        tell(figure)


def seconds_until(condition: Callable[[], bool], limit_s: float) -> float:
    """Return how long a condition took to come true, infinite if it did not; NVML has nothing to wait on."""
    began_s = time.monotonic()
    while not condition():
        if time.monotonic() - began_s > limit_s:
            return float("inf")
        os.sched_yield()
    return time.monotonic() - began_s


def used_gpu_bytes() -> list[int]:
    """Return what NVML says is in use on each visible GPU, by anyone."""
    with _handles() as handles:
        return [int(pynvml.nvmlDeviceGetMemoryInfo(handle).used) for handle in handles]


def pids_on_gpus() -> list[dict[int, int]]:
    """Return which processes hold memory on each visible GPU, and how much of it, as NVML says; 0 where it does not."""
    with _handles() as handles:
        return [
            {process.pid: process.usedGpuMemory or 0 for process in pynvml.nvmlDeviceGetComputeRunningProcesses(handle)}
            for handle in handles
        ]


@contextmanager
def _handles() -> Iterator[list[Any]]:
    pynvml.nvmlInit()
    try:
        yield [pynvml.nvmlDeviceGetHandleByUUID(gpu.uuid) for gpu in visible_gpus(os.environ)]
    finally:
        pynvml.nvmlShutdown()


def _resident_bytes(pid: int) -> int:
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.NoSuchProcess:
        return 0
