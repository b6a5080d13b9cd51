"""What NVML says of a GPU. It opens no CUDA context, and each call may hang for as long as the driver likes."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Protocol, TypeVar

import psutil
import pynvml

from podium.ui.state.readings import GpuReading, ProcessMemory, ReadingState

ValueT = TypeVar("ValueT")

_LOST = (pynvml.NVMLError_GpuIsLost, pynvml.NVMLError_NotFound)


class Nvml(Protocol):
    """What is used of NVML; handles are its own, and errors are `pynvml.NVMLError`."""

    NVML_TEMPERATURE_GPU: int

    def nvmlInit(self) -> None: ...  # noqa: D102, N802 - NVML's names
    def nvmlShutdown(self) -> None: ...  # noqa: D102, N802
    def nvmlDeviceGetCount(self) -> int: ...  # noqa: D102, N802
    def nvmlDeviceGetHandleByIndex(self, index: int, /) -> object: ...  # noqa: D102, N802
    def nvmlDeviceGetUUID(self, handle: object, /) -> str: ...  # noqa: D102, N802
    def nvmlDeviceGetMemoryInfo(self, handle: object, /) -> _Memory: ...  # noqa: D102, N802
    def nvmlDeviceGetUtilizationRates(self, handle: object, /) -> _Rates: ...  # noqa: D102, N802
    def nvmlDeviceGetTemperature(self, handle: object, sensor: int, /) -> int: ...  # noqa: D102, N802
    def nvmlDeviceGetPowerUsage(self, handle: object, /) -> int: ...  # noqa: D102, N802
    def nvmlDeviceGetEnforcedPowerLimit(self, handle: object, /) -> int: ...  # noqa: D102, N802
    def nvmlDeviceGetComputeRunningProcesses(self, handle: object, /) -> list[_Process]: ...  # noqa: D102, N802
    def nvmlDeviceGetGraphicsRunningProcesses(self, handle: object, /) -> list[_Process]: ...  # noqa: D102, N802


class _Memory(Protocol):
    total: int
    used: int


class _Rates(Protocol):
    gpu: int


class _Process(Protocol):
    pid: int
    usedGpuMemory: int | None


class GpuReader:
    """Reads GPUs; each method may be called from any thread, and may hang.

    Args:
        nvml: NVML itself by default.
        own_pid: The process whose memory, and whose children's, is ours; this one by default.
    """

    def __init__(self, nvml: Nvml = pynvml, own_pid: int | None = None) -> None:
        self._nvml = nvml
        self._own_pid = os.getpid() if own_pid is None else own_pid

    def open(self) -> dict[str, object]:
        """Return a handle for each GPU by its UUID, in the driver's order; none without a driver."""
        try:
            self._nvml.nvmlInit()
            handles = [self._nvml.nvmlDeviceGetHandleByIndex(k) for k in range(self._nvml.nvmlDeviceGetCount())]
            return {str(self._nvml.nvmlDeviceGetUUID(handle)): handle for handle in handles}
        except pynvml.NVMLError:
            return {}

    def close(self) -> None:
        """Let go of NVML; no method may be at work."""
        try:
            self._nvml.nvmlShutdown()
        except pynvml.NVMLError:
            # It was never there.
            return

    def read(self, uuid: str, handle: object) -> GpuReading:
        """Return how a GPU is; what it does not tell is left out."""
        nvml = self._nvml
        try:
            memory = nvml.nvmlDeviceGetMemoryInfo(handle)
        except _LOST:
            return GpuReading(uuid, ReadingState.LOST)
        except pynvml.NVMLError:
            # MIG parts and missing rights: there is a GPU, and that is all one is told.
            memory = None
        rates = _told(lambda: nvml.nvmlDeviceGetUtilizationRates(handle))
        power_mw = _told(lambda: nvml.nvmlDeviceGetPowerUsage(handle))
        limit_mw = _told(lambda: nvml.nvmlDeviceGetEnforcedPowerLimit(handle))
        return GpuReading(
            uuid,
            total_bytes=0 if memory is None else int(memory.total),
            used_bytes=0 if memory is None else int(memory.used),
            processes=self._processes(handle),
            utilisation=None if rates is None else rates.gpu / 100,
            temperature_c=_told(lambda: nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU)),
            power_w=None if power_mw is None else power_mw / 1000,
            power_limit_w=None if limit_mw is None else limit_mw / 1000,
        )

    def _processes(self, handle: object) -> tuple[ProcessMemory, ...]:
        """Return who holds memory, each once: a process that draws and computes is in both of NVML's lists."""
        found: dict[int, int | None] = {}
        for ask in (self._nvml.nvmlDeviceGetComputeRunningProcesses, self._nvml.nvmlDeviceGetGraphicsRunningProcesses):
            for process in _told(lambda ask=ask: ask(handle)) or []:  # type: ignore[misc] # mypy does not see the default
                found.setdefault(int(process.pid), process.usedGpuMemory)
        return tuple(
            ProcessMemory(pid, _name(pid), num_bytes, self._is_ours(pid)) for pid, num_bytes in sorted(found.items())
        )

    def _is_ours(self, pid: int) -> bool:
        try:
            return pid == self._own_pid or any(p.pid == self._own_pid for p in psutil.Process(pid).parents())
        except psutil.Error:
            return False


def _told(ask: Callable[[], ValueT]) -> ValueT | None:
    try:
        return ask()
    except pynvml.NVMLError:
        return None


def _name(pid: int) -> str:
    try:
        return str(psutil.Process(pid).name())
    except psutil.Error:
        return f"process {pid}"
