# ruff: noqa: N802 - NVML has the names
"""NVML as a test wants it: GPUs that answer, hang, get lost, are divided, or tell nothing to this user."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pynvml


@dataclass
class FakeProcess:
    pid: int
    usedGpuMemory: int | None


@dataclass
class FakeGpu:
    """A GPU; `errors` holds what its calls raise, by their name without `nvmlDeviceGet`."""

    uuid: str
    total: int = 48 << 30
    used: int = 1 << 30
    compute: list[FakeProcess] = field(default_factory=list)
    graphics: list[FakeProcess] = field(default_factory=list)
    errors: dict[str, type[Exception]] = field(default_factory=dict)
    hangs: threading.Event | None = None
    num_reads: int = 0


@dataclass
class FakeNvml:
    """What `podium.ui.gpu_reader` uses of NVML; a handle is the GPU itself."""

    gpus: list[FakeGpu] = field(default_factory=list)
    has_driver: bool = True
    num_open: int = 0
    NVML_TEMPERATURE_GPU: int = 0

    def nvmlInit(self) -> None:
        if not self.has_driver:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)
        self.num_open += 1

    def nvmlShutdown(self) -> None:
        if self.num_open == 0:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_UNINITIALIZED)
        self.num_open -= 1

    def nvmlDeviceGetCount(self) -> int:
        return len(self.gpus)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> FakeGpu:
        return self.gpus[index]

    def nvmlDeviceGetUUID(self, gpu: FakeGpu) -> str:
        return gpu.uuid

    def nvmlDeviceGetMemoryInfo(self, gpu: FakeGpu) -> Any:
        gpu.num_reads += 1
        if gpu.hangs is not None:
            gpu.hangs.wait()
        return self._told(gpu, "MemoryInfo", lambda: _Values(total=gpu.total, used=gpu.used))

    def nvmlDeviceGetUtilizationRates(self, gpu: FakeGpu) -> Any:
        return self._told(gpu, "UtilizationRates", lambda: _Values(gpu=98))

    def nvmlDeviceGetTemperature(self, gpu: FakeGpu, sensor: int) -> int:
        return self._told(gpu, "Temperature", lambda: 71)

    def nvmlDeviceGetPowerUsage(self, gpu: FakeGpu) -> int:
        return self._told(gpu, "PowerUsage", lambda: 287_400)

    def nvmlDeviceGetEnforcedPowerLimit(self, gpu: FakeGpu) -> int:
        return self._told(gpu, "EnforcedPowerLimit", lambda: 300_000)

    def nvmlDeviceGetComputeRunningProcesses(self, gpu: FakeGpu) -> list[FakeProcess]:
        return self._told(gpu, "ComputeRunningProcesses", lambda: gpu.compute)

    def nvmlDeviceGetGraphicsRunningProcesses(self, gpu: FakeGpu) -> list[FakeProcess]:
        return self._told(gpu, "GraphicsRunningProcesses", lambda: gpu.graphics)

    @staticmethod
    def _told(gpu: FakeGpu, name: str, value: Callable[[], Any]) -> Any:
        if name in gpu.errors:
            raise gpu.errors[name]
        return value()


class _Values:
    def __init__(self, **values: int) -> None:
        self.__dict__.update(values)


def denied() -> type[Exception]:
    """Return what NVML raises for what this user may not see."""
    return pynvml.NVMLError_NoPermission  # type: ignore[no-any-return] # made as the module is loaded


def unsupported() -> type[Exception]:
    """Return what NVML raises for what this GPU does not know."""
    return pynvml.NVMLError_NotSupported  # type: ignore[no-any-return] # the same


def lost() -> type[Exception]:
    """Return what NVML raises for a GPU that fell off its bus."""
    return pynvml.NVMLError_GpuIsLost  # type: ignore[no-any-return] # the same
