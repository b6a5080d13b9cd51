"""Force stop of a fleet in the middle of a collective: the part `stop` of `tests.gpu.two_gpus`.

Once while sums over all ranks follow each other, once while all ranks but the last wait for it in one; then a new
fleet, and its next job.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pynvml
import torch
import torch.distributed as dist

from podium.multigpu import ControllerStoppedError, MGPUController, MGPURunner

from tests.fakes.processes import is_running
from tests.gpu.bench import Bench, seconds_until
from tests.gpu.figures import Figure, tell
from tests.gpu.random_model import synchronise

RUNNER = "tests.gpu.measure_stop:StoppedRunner"
# The contract's: the call returns, who iterates knows, memory is free, a new fleet is ready.
RETURNS_S, KNOWN_S, FREE_S, READY_S = 0.1, 0.5, 2.0, 4.0
HELD_BYTES, SMALL_HELD_BYTES = 20 << 30, 32 << 20
# What a driver may count otherwise between two looks.
SLACK_BYTES = 16 << 20
_LIMIT_S = 15.0


class StoppedRunner(MGPURunner):
    """Holds memory, and sums over all ranks until it is stopped."""

    def setup(self, *, is_small: bool) -> None:
        self._num_bytes = SMALL_HELD_BYTES if is_small else HELD_BYTES
        self._held = torch.ones(self._num_bytes, dtype=torch.uint8, device=self.device)
        self._sum(torch.ones(1, device=self.device))

    def __call__(self, *, waits: str = "") -> Iterator[float]:
        if not waits:
            yield self._sum(torch.ones(1, device=self.device))
            return
        addends = torch.zeros(self._num_bytes // 16, device=self.device)
        synchronise(self.device)
        if self.rank == 0:
            yield 0.0
        while waits == "running" or self.rank < self.world_size - 1:
            self._sum(addends)
        threading.Event().wait()

    def _sum(self, addends: torch.Tensor) -> float:
        dist.all_reduce(addends, group=self.groups.transformer_group)
        synchronise(self.device)
        return float(addends[0])


def stop(bench: Bench) -> None:
    """Measure and tell."""
    if not bench.is_small:
        # For as long as this process is: a driver that nobody has open may go to sleep between two looks.
        pynvml.nvmlInit()
    for waits, title in (("running", "sums running"), ("last", "waiting for the last rank")):
        before = bench.used_bytes()
        with bench.fleet(RUNNER) as fleet:
            began_s = tell_stop(bench, fleet, before, (waits, title))
        with bench.fleet(RUNNER) as fleet:
            tell(Figure(f"{title}: a new fleet ready after", time.monotonic() - began_s, "s", limit(bench, READY_S)))
            job_began_s = time.monotonic()
            (rank_sum, *_) = fleet.stream()
            tell(Figure(f"{title}: the next job", time.monotonic() - job_began_s, "s"))
            tell(Figure(f"{title}: ranks that the next job's sum lacks", bench.num_ranks - rank_sum, limit=0))


def tell_stop(bench: Bench, fleet: MGPUController, before: list[int], way: tuple[str, str]) -> float:
    """Stop a fleet at work, and return when that was."""
    waits, title = way
    pids = [status.pid for status in fleet.rank_status() if status.pid is not None]
    (rank_sum, *_) = fleet.stream()
    assert rank_sum == bench.num_ranks, rank_sum
    stream = fleet.stream(waits=waits)
    next(stream)
    # Into the collective: it has no sign of its own.
    time.sleep(0.5)
    tell(Figure(f"{title}: held before the stop", _in_gb(bench, before, pids), "GB"))
    began_s = time.monotonic()
    with ThreadPoolExecutor(1) as pool:
        stopped = pool.submit(timed_stop, fleet)
        try:
            list(stream)
        except ControllerStoppedError:
            known_s = time.monotonic() - began_s
        else:
            raise AssertionError("the job came to its end")
        tell(Figure(f"{title}: the call returned after", stopped.result(), "s", limit(bench, RETURNS_S)))
    tell(Figure(f"{title}: who iterates knew after", known_s, "s", limit(bench, KNOWN_S)))
    seconds_until(lambda: _is_free(bench, before, pids), _LIMIT_S)
    free_s = time.monotonic() - began_s
    tell(Figure(f"{title}: memory free on every device after", free_s, "s", limit(bench, FREE_S)))
    tell(Figure(f"{title}: held after that", _in_gb(bench, before, pids), "GB"))
    return began_s


def timed_stop(fleet: MGPUController) -> float:
    """Stop a fleet by force; return the seconds that the call took."""
    began_s = time.monotonic()
    fleet.shutdown(graceful_timeout=0)
    return time.monotonic() - began_s


def limit(bench: Bench, seconds: float) -> float | None:
    """Return what is promised on GPUs; a busy CPU promises nothing."""
    return None if bench.is_small else seconds


def _in_gb(bench: Bench, before: list[int], pids: list[int]) -> str:
    held = (used - free for used, free in zip(bench.used_bytes(pids), before, strict=True))
    return ", ".join(f"{num_bytes / 1e9:.2f}" for num_bytes in held)


def _is_free(bench: Bench, before: list[int], pids: list[int]) -> bool:
    if bench.is_small:
        return not any(map(is_running, pids))
    return all(used <= free + SLACK_BYTES for used, free in zip(bench.used_bytes(), before, strict=True))
