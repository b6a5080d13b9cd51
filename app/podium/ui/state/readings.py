"""What devices hold and do, as a monitor saw it: frozen values, without Qt."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ReadingState(StrEnum):
    """How a GPU answers: a closed set.

    SILENT: it does not, for longer than an answer takes. LOST: the driver reaches it no more.
    """

    WELL = "well"
    SILENT = "silent"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class ProcessMemory:
    """A process that holds memory of a GPU.

    Args:
        name: Of its program; "process 41" where that cannot be told.
        num_bytes: None where the driver does not tell.
        is_ours: It is this window's, or was started by it.
    """

    pid: int
    name: str
    num_bytes: int | None
    is_ours: bool


@dataclass(frozen=True, slots=True)
class GpuReading:
    """A GPU at one moment; what it does not tell is None.

    Args:
        total_bytes, used_bytes: Of its memory; 0 where it tells nothing.
        processes: Who holds it, as far as that can be told.
        utilisation: 0 to 1.
        power_limit_w: What it may draw.
    """

    uuid: str
    state: ReadingState = ReadingState.WELL
    total_bytes: int = 0
    used_bytes: int = 0
    processes: tuple[ProcessMemory, ...] = ()
    utilisation: float | None = None
    temperature_c: int | None = None
    power_w: float | None = None
    power_limit_w: float | None = None

    @property
    def ours_bytes(self) -> int:
        """Return what this window's processes hold."""
        return sum(process.num_bytes or 0 for process in self.processes if process.is_ours)

    @property
    def others_bytes(self) -> int:
        """Return what is used beside; the driver's own share is in it."""
        return max(0, self.used_bytes - self.ours_bytes)


@dataclass(frozen=True, slots=True)
class ProcessReading:
    """A process on the CPU at one moment.

    Args:
        resident_bytes: What it holds of the machine's memory.
        cpu_share: 1 for one core, all the time.
    """

    pid: int
    resident_bytes: int
    cpu_share: float
    num_threads: int


@dataclass(frozen=True, slots=True)
class MachineReading:
    """Everything at one moment.

    Args:
        taken_at_s: Monotonic.
        gpus: In the driver's order.
        processes: The CPU ranks that were asked for and are there.
        total_bytes, used_bytes: Of the machine's memory.
    """

    taken_at_s: float
    gpus: tuple[GpuReading, ...] = ()
    processes: tuple[ProcessReading, ...] = ()
    total_bytes: int = 0
    used_bytes: int = 0

    def gpu(self, uuid: str) -> GpuReading | None:
        """Return what is known of a GPU."""
        return next((gpu for gpu in self.gpus if gpu.uuid == uuid), None)

    def process(self, pid: int | None) -> ProcessReading | None:
        """Return what is known of a process."""
        return next((process for process in self.processes if process.pid == pid), None)
