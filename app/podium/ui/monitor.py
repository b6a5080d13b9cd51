"""Looks at GPUs and CPU ranks once a second, in plain threads: whatever hangs, the window does not.

The rule a caller must know: `taken` is emitted in the window's thread, and never after `close`. Every GPU is asked by
a thread of its own, so that one that hangs silences no other; the threads are daemons, and one that hangs in the driver
is left behind at exit.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable
from typing import Protocol

import psutil
from PySide6.QtCore import Signal

from podium.ui.state.readings import GpuReading, MachineReading, ProcessReading, ReadingState
from podium.ui.thread_crossing import ThreadCrossing

INTERVAL_S = 1.0
SILENCE_S = 3.0
JOIN_LIMIT_S = 0.5


class Reader(Protocol):
    """Reads GPUs, as `GpuReader` does."""

    def open(self) -> dict[str, object]:
        """Return a handle for each GPU by its UUID."""

    def close(self) -> None:
        """Let go of the driver."""

    def read(self, uuid: str, handle: object) -> GpuReading:
        """Return how a GPU is."""


class MonitorSignals(ThreadCrossing):
    """What the monitor emits; it lives in the window's thread."""

    taken = Signal(object)
    """A `MachineReading`."""


class Monitor:
    """Look at the machine until it is closed.

    Args:
        signals: Where readings go.
        make_reader: Makes what reads GPUs, in a thread of the monitor.
        interval_s: From one reading to the next.
        silence_s: A GPU that has not answered for so long is silent.
        now_s: A clock that never goes back.
    """

    def __init__(
        self,
        signals: MonitorSignals,
        make_reader: Callable[[], Reader] | None = None,
        *,
        interval_s: float = INTERVAL_S,
        silence_s: float = SILENCE_S,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._signals = signals
        self._make_reader = make_reader or _gpu_reader
        self._interval_s = interval_s
        self._silence_s = silence_s
        self._now_s = now_s
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._readings: dict[str, _Latest] = {}
        self._watched: frozenset[int] = frozenset()
        self._processes: dict[int, psutil.Process] = {}
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Begin to look."""
        self._spawn("monitor", self._run)
        self._spawn("monitor-gpus", self._find_gpus)

    def watch(self, pids: Iterable[int]) -> None:
        """Look at these processes too, and at no others: the ranks that stand on the CPU. From any thread."""
        self._watched = frozenset(pids)

    def close(self) -> None:
        """Look no more; a thread that hangs in the driver is left to the end of the process."""
        self._stop.set()
        self._signals.close()
        deadline_s = time.monotonic() + JOIN_LIMIT_S
        with self._lock:
            threads = list(self._threads)
        for thread in threads:
            thread.join(max(0.0, deadline_s - time.monotonic()))

    def _spawn(self, name: str, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, name=name, daemon=True)
        with self._lock:
            # After close nobody would wait for it.
            if self._stop.is_set():
                return
            self._threads.append(thread)
            thread.start()

    def _run(self) -> None:
        while not self._stop.wait(self._interval_s):
            self._signals.tell(self._signals.taken, self._take())

    def _take(self) -> MachineReading:
        now_s = self._now_s()
        with self._lock:
            latest = list(self._readings.values())
        memory = psutil.virtual_memory()
        return MachineReading(
            now_s,
            gpus=tuple(of_gpu.shown(now_s, self._silence_s) for of_gpu in latest),
            processes=tuple(self._read_processes(self._watched)),
            total_bytes=int(memory.total),
            used_bytes=int(memory.total - memory.available),
        )

    def _read_processes(self, pids: Collection[int]) -> Iterable[ProcessReading]:
        for pid in self._processes.keys() - set(pids):
            del self._processes[pid]
        for pid in sorted(pids):
            try:
                process = self._processes.setdefault(pid, psutil.Process(pid))
                # The same object each time: the share is that since it was last asked.
                share = process.cpu_percent() / 100
                yield ProcessReading(pid, int(process.memory_info().rss), share, process.num_threads())
            except psutil.Error:
                # It ended, or is not for us to look at.
                self._processes.pop(pid, None)

    def _find_gpus(self) -> None:
        """Find the GPUs, which may hang like all else, and give each a thread; close the driver after them."""
        reader = self._make_reader()
        handles = reader.open()
        now_s = self._now_s()
        with self._lock:
            self._readings = {uuid: _Latest(GpuReading(uuid), now_s) for uuid in handles}
        workers = [threading.Thread(target=self._look_at, args=(reader, uuid, h), name=f"monitor-{uuid}", daemon=True)
                   for uuid, h in handles.items()]  # fmt: skip
        for worker in workers:
            worker.start()
        for worker in workers:
            # One that hangs holds this thread, and the driver stays open for it.
            worker.join()
        reader.close()

    def _look_at(self, reader: Reader, uuid: str, handle: object) -> None:
        while not self._stop.is_set():
            reading = reader.read(uuid, handle)
            with self._lock:
                self._readings[uuid] = _Latest(reading, self._now_s())
            self._stop.wait(self._interval_s)


class _Latest:
    # A GPU's last answer, and when it came.

    def __init__(self, reading: GpuReading, taken_at_s: float) -> None:
        self._reading = reading
        self._taken_at_s = taken_at_s

    def shown(self, now_s: float, silence_s: float) -> GpuReading:
        if now_s - self._taken_at_s <= silence_s:
            return self._reading
        # What it held when it was last heard of is the best guess at what it holds.
        last = self._reading
        return GpuReading(last.uuid, ReadingState.SILENT, last.total_bytes, last.used_bytes, processes=last.processes)


def _gpu_reader() -> Reader:
    # The border to NVML: loading it costs 40 ms, which a thread has and the window's start has not.
    from podium.ui.gpu_reader import GpuReader  # noqa: PLC0415

    return GpuReader()
