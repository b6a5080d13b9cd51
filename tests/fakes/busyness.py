"""How busy the machine is: what is promised in seconds is promised for one that has nothing else to do."""

from __future__ import annotations

import time

SAMPLE_S = 0.02


class Patience:
    """Stretches limits by how much longer work takes here than on a machine of one's own.

    It looks when it is made and whenever it is asked, and the worst that it saw counts.
    """

    def __init__(self) -> None:
        self._slowdown = 1.0
        self._look()

    def __call__(self, limit_s: float) -> float:
        """Return a limit, in seconds, as it is fair now; the same one on a machine that is idle."""
        self._look()
        return limit_s * self._slowdown

    def _look(self) -> None:
        begun_s, used_s = time.monotonic(), time.thread_time()
        while time.thread_time() - used_s < SAMPLE_S:
            pass
        self._slowdown = max(self._slowdown, (time.monotonic() - begun_s) / (time.thread_time() - used_s))
