"""Two controllers side by side, each with one of two devices: the part `apart` of `tests.gpu.two_gpus`."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import torch

from podium.multigpu import ControllerStoppedError, MGPUController, MGPURunner

from tests.gpu.bench import Bench, pids_on_gpus
from tests.gpu.figures import Figure, tell
from tests.gpu.random_model import timed_s

RUNNER = "tests.gpu.measure_apart:ApartRunner"
# With nothing in common but the host, neither may hold the other up by more than a launch here and there.
ALLOWED_SLOWDOWN = 1.1
NUM_PRODUCTS, SIDE, SMALL_SIDE = 200, 8192, 256


class ApartRunner(MGPURunner):
    """Multiplies on its device."""

    def setup(self, *, is_small: bool) -> None:
        side = SMALL_SIDE if is_small else SIDE
        self._factor = torch.randn(side, side, device=self.device, dtype=torch.bfloat16) * side**-0.5

    def __call__(self, *, num_products: int) -> Iterator[tuple[str, int, float]]:
        """Yield the device, the process, and the seconds."""

        def work() -> None:
            for _ in range(num_products):
                torch.mm(self._factor, self._factor)

        yield str(self.device), os.getpid(), -1.0
        yield str(self.device), os.getpid(), timed_s(work, self.device)[1]


def run(fleet: MGPUController) -> tuple[str, int, float]:
    """Run one job to its end."""
    *_, last = fleet.stream(num_products=NUM_PRODUCTS)
    assert isinstance(last, tuple)
    return last


def apart(bench: Bench) -> None:
    """Measure and tell."""
    began_s = time.monotonic()
    with ThreadPoolExecutor(2) as pool, ExitStack() as open_fleets:
        # The later one first, as in `devices=[1]` beside `devices=[0]`, and both at once.
        opening = [bench.fleet(RUNNER, bench.placement(1, first=k)) for k in (1, 0)]
        second, first = pool.map(lambda fleet: fleet.__enter__(), opening)
        for fleet in opening:
            open_fleets.push(fleet)
        tell(Figure("both fleets ready after", time.monotonic() - began_s, "s"))
        run(first)
        alone = [run(fleet) for fleet in (first, second)]
        together = list(pool.map(run, (first, second)))
        for index, (before, now) in enumerate(zip(alone, together, strict=True)):
            tell(Figure(f"controller {index}: its device", before[0]))
            tell(Figure(f"controller {index}: a job alone", before[2], "s"))
            limit = None if bench.is_small else ALLOWED_SLOWDOWN
            tell(Figure(f"controller {index}: beside the other's, times as long", now[2] / before[2], limit=limit))
        if not bench.is_small:
            pids = [job[1] for job in alone]
            strangers = [
                pid for index, of_gpu in enumerate(pids_on_gpus()[:2]) for pid in of_gpu if pid == pids[1 - index]
            ]
            tell(Figure("processes with memory on the other's GPU", len(strangers), limit=0))
        tell_stop_beside(first, second)


def tell_stop_beside(first: MGPUController, second: MGPUController) -> None:
    """Stop one by force while both work: the other's job ends as if nothing had been."""
    ended: list[tuple[str, int, float]] = []
    stream = second.stream(num_products=100 * NUM_PRODUCTS)
    next(stream)
    other = threading.Thread(target=lambda: ended.append(run(first)))
    other.start()
    second.shutdown(graceful_timeout=0)
    try:
        list(stream)
    except ControllerStoppedError:
        tell(Figure("jobs that a force stop of the second controller ended", 1))
    else:
        raise AssertionError("the stopped job came to its end")
    other.join()
    tell(Figure("jobs of the first that it ended too", 1 - len(ended), limit=0))
    tell(Figure("the first takes its next job after", run(first)[2], "s"))
