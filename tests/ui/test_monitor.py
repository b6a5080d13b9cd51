"""The machine is looked at, whatever the driver does: nothing that hangs there hangs anything else."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import psutil
import pytest
from PySide6.QtCore import QCoreApplication, QObject, QThread, Slot
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from podium.ui.gpu_reader import GpuReader
from podium.ui.monitor import Monitor, MonitorSignals
from podium.ui.state.readings import GpuReading, MachineReading, ReadingState

from tests.fakes.nvml import FakeGpu, FakeNvml, FakeProcess, denied, lost, unsupported
from tests.fakes.processes import wait_until

GB = 1 << 30
QUICK_S = 0.01
LONG_MS = 20_000


class Taker(QObject):
    """Takes readings as the window does, and notes in which thread."""

    def __init__(self) -> None:
        super().__init__()
        self.readings: list[MachineReading] = []
        self.threads: set[bool] = set()

    @Slot(object)
    def take(self, reading: MachineReading) -> None:
        self.readings.append(reading)
        self.threads.add(QThread.currentThread() is self.thread())

    def states(self) -> list[ReadingState]:
        return [gpu.state for gpu in self.readings[-1].gpus] if self.readings else []

    def last(self, uuid: str) -> GpuReading | None:
        return self.readings[-1].gpu(uuid) if self.readings else None


@pytest.fixture
def watched(qapp: QApplication) -> Iterator[Callable[..., tuple[Monitor, Taker]]]:
    """Return a function that looks at fake GPUs; it ends with the test."""
    made: list[Monitor] = []

    def start(nvml: FakeNvml, **options: Any) -> tuple[Monitor, Taker]:
        signals, taker = MonitorSignals(), Taker()
        signals.taken.connect(taker.take)
        taker.signals = signals  # type: ignore[attr-defined] # it lives as long
        monitor = Monitor(signals, lambda: GpuReader(nvml), interval_s=QUICK_S, **options)
        made.append(monitor)
        monitor.start()
        return monitor, taker

    yield start
    for monitor in made:
        monitor.close()


def read(gpu: FakeGpu, **options: Any) -> GpuReading:
    reader = GpuReader(FakeNvml([gpu]), **options)
    handles = reader.open()
    reading = reader.read(gpu.uuid, handles[gpu.uuid])
    reader.close()
    return reading


def thread_names() -> list[str]:
    return [thread.name for thread in threading.enumerate()]


def test_a_gpu_tells_memory_load_heat_and_power() -> None:
    reading = read(FakeGpu("GPU-a", used=3 * GB))
    assert (reading.total_bytes, reading.used_bytes) == (48 * GB, 3 * GB)
    assert (reading.utilisation, reading.temperature_c) == (0.98, 71)
    assert (reading.power_w, reading.power_limit_w) == (287.4, 300.0)
    assert reading.state is ReadingState.WELL


def test_memory_is_parted_into_ours_and_others() -> None:
    gpu = FakeGpu("GPU-a", used=10 * GB)
    gpu.compute = [FakeProcess(os.getpid(), 6 * GB), FakeProcess(1, 3 * GB)]
    reading = read(gpu)
    assert (reading.ours_bytes, reading.others_bytes) == (6 * GB, 4 * GB)
    names = {process.pid: process.name for process in reading.processes}
    assert names[os.getpid()] == psutil.Process().name()


def test_a_child_s_memory_is_ours_and_a_stranger_s_is_not() -> None:
    gpu = FakeGpu("GPU-a")
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        gpu.compute = [FakeProcess(child.pid, GB), FakeProcess(os.getppid(), GB)]
        reading = read(gpu)
    # Whose child this process is: another's, be it the first of all.
    assert {process.pid: process.is_ours for process in reading.processes} == {child.pid: True, os.getppid(): False}


def test_a_process_in_both_of_the_driver_s_lists_counts_once() -> None:
    gpu = FakeGpu("GPU-a")
    gpu.compute, gpu.graphics = [FakeProcess(os.getpid(), GB)], [FakeProcess(os.getpid(), GB), FakeProcess(1, None)]
    reading = read(gpu)
    assert len(reading.processes) == 2
    assert reading.ours_bytes == GB
    assert reading.processes[0].num_bytes is None


def test_a_process_that_is_gone_is_named_by_its_number() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    gpu = FakeGpu("GPU-a", compute=[FakeProcess(ended.pid, GB)])
    (process,) = read(gpu).processes
    assert (process.name, process.is_ours) == (f"process {ended.pid}", False)


def test_a_lost_gpu_is_said_to_be_lost() -> None:
    assert read(FakeGpu("GPU-a", errors={"MemoryInfo": lost()})).state is ReadingState.LOST


@pytest.mark.parametrize("error", [denied(), unsupported()])
def test_what_a_user_may_not_see_is_left_out(error: type[Exception]) -> None:
    names = ("MemoryInfo", "UtilizationRates", "PowerUsage", "EnforcedPowerLimit", "ComputeRunningProcesses")
    reading = read(FakeGpu("GPU-a", errors=dict.fromkeys(names, error)))
    assert reading.state is ReadingState.WELL
    assert (reading.total_bytes, reading.utilisation, reading.power_w, reading.processes) == (0, None, None, ())
    assert reading.temperature_c == 71


def test_a_gpu_in_mig_parts_tells_its_memory_and_no_load() -> None:
    errors = dict.fromkeys(("UtilizationRates", "ComputeRunningProcesses", "GraphicsRunningProcesses"), unsupported())
    reading = read(FakeGpu("GPU-a", errors=errors))
    assert (reading.total_bytes, reading.utilisation) == (48 * GB, None)


def test_without_a_driver_there_are_no_gpus_and_nothing_is_closed() -> None:
    reader = GpuReader(FakeNvml(has_driver=False))
    assert reader.open() == {}
    reader.close()


def test_readings_come_in_the_window_s_thread_in_the_driver_s_order(
    watched: Callable[..., tuple[Monitor, Taker]], qtbot: QtBot
) -> None:
    nvml = FakeNvml([FakeGpu("GPU-b"), FakeGpu("GPU-a")])
    monitor, taker = watched(nvml)
    qtbot.waitUntil(
        lambda: bool(taker.readings) and all(g.temperature_c for g in taker.readings[-1].gpus), timeout=LONG_MS
    )
    qtbot.waitUntil(lambda: len(taker.readings[-1].gpus) == 2, timeout=LONG_MS)
    assert [gpu.uuid for gpu in taker.readings[-1].gpus] == ["GPU-b", "GPU-a"]
    assert taker.threads == {True}
    assert taker.readings[-1].total_bytes == psutil.virtual_memory().total
    monitor.close()
    assert wait_until(lambda: nvml.num_open == 0)


def test_a_gpu_that_hangs_is_silent_and_silences_no_other(
    watched: Callable[..., tuple[Monitor, Taker]], qtbot: QtBot
) -> None:
    mute, well = FakeGpu("GPU-a", used=5 * GB), FakeGpu("GPU-b")
    _, taker = watched(FakeNvml([mute, well]), silence_s=0.2)
    qtbot.waitUntil(lambda: (seen := taker.last("GPU-a")) is not None and seen.used_bytes == 5 * GB, timeout=LONG_MS)
    mute.hangs = threading.Event()
    try:
        # The other, too, may not have come to its turn for so long: but it does again.
        qtbot.waitUntil(lambda: taker.states() == [ReadingState.SILENT, ReadingState.WELL], timeout=LONG_MS)
        silent, before = taker.last("GPU-a"), well.num_reads
        assert silent is not None
        assert (silent.used_bytes, silent.utilisation) == (5 * GB, None)
        qtbot.waitUntil(lambda: well.num_reads > before + 5, timeout=LONG_MS)
    finally:
        mute.hangs.set()
        mute.hangs = None
    qtbot.waitUntil(
        lambda: (seen := taker.last("GPU-a")) is not None and seen.state is ReadingState.WELL, timeout=LONG_MS
    )


def test_a_gpu_that_never_answered_is_silent(watched: Callable[..., tuple[Monitor, Taker]], qtbot: QtBot) -> None:
    hangs = threading.Event()
    _, taker = watched(FakeNvml([FakeGpu("GPU-a", hangs=hangs)]), silence_s=0.05)
    qtbot.waitUntil(
        lambda: (seen := taker.last("GPU-a")) is not None and seen.state is ReadingState.SILENT, timeout=LONG_MS
    )
    hangs.set()


def test_closing_waits_for_no_gpu_that_hangs(watched: Callable[..., tuple[Monitor, Taker]], qtbot: QtBot) -> None:
    hangs = threading.Event()
    gpu = FakeGpu("GPU-a", hangs=hangs)
    monitor, _ = watched(FakeNvml([gpu]))
    qtbot.waitUntil(lambda: gpu.num_reads > 0, timeout=LONG_MS)
    monitor.close()
    assert wait_until(lambda: "monitor" not in thread_names())
    assert "monitor-GPU-a" in thread_names()
    hangs.set()


def test_a_process_ends_by_itself_while_a_gpu_hangs() -> None:
    script = (
        "import sys, threading\n"
        "from PySide6.QtCore import QCoreApplication, QTimer\n"
        "from podium.ui.gpu_reader import GpuReader\n"
        "from podium.ui.monitor import Monitor, MonitorSignals\n"
        "from tests.fakes.nvml import FakeGpu, FakeNvml\n"
        "application, signals = QCoreApplication([]), MonitorSignals()\n"
        "gpu = FakeGpu('GPU-a', hangs=threading.Event())\n"
        "monitor = Monitor(signals, lambda: GpuReader(FakeNvml([gpu])), interval_s=0.01)\n"
        "signals.taken.connect(lambda reading: gpu.num_reads and application.quit())\n"
        "monitor.start()\n"
        "code = application.exec()\n"
        "monitor.close()\n"
        "sys.exit(code)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_ranks_on_the_cpu_are_looked_at_while_they_are_there(
    watched: Callable[..., tuple[Monitor, Taker]], qtbot: QtBot
) -> None:
    monitor, taker = watched(FakeNvml())
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as rank:
        monitor.watch([rank.pid])
        qtbot.waitUntil(
            lambda: bool(taker.readings) and taker.readings[-1].process(rank.pid) is not None, timeout=LONG_MS
        )
        reading = taker.readings[-1].process(rank.pid)
        assert reading is not None
        assert reading.resident_bytes > 0
        assert reading.num_threads >= 1
        assert reading.cpu_share >= 0
    qtbot.waitUntil(lambda: taker.readings[-1].process(rank.pid) is None, timeout=LONG_MS)
    monitor.watch([])


def test_what_was_on_its_way_when_it_closed_is_not_taken(
    watched: Callable[..., tuple[Monitor, Taker]], qtbot: QtBot
) -> None:
    num_begun, is_second_begun = 0, threading.Event()

    def now_s() -> float:
        nonlocal num_begun
        num_begun += threading.current_thread().name == "monitor"
        if num_begun == 2:
            # So the first was told.
            is_second_begun.set()
        return time.monotonic()

    monitor, taker = watched(FakeNvml(), now_s=now_s)
    assert is_second_begun.wait(LONG_MS / 1000)
    monitor.close()
    QCoreApplication.sendPostedEvents()
    assert taker.readings == []


def test_nothing_is_spawned_after_the_end(qapp: QApplication) -> None:
    monitor = Monitor(MonitorSignals(), lambda: GpuReader(FakeNvml([FakeGpu("GPU-a")])))
    monitor.close()
    monitor.start()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("monitor")]
