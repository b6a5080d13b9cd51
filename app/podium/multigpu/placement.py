"""Which rank stands on which device. No torch: GPUs are counted and named by NVML, which opens no CUDA context."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pynvml

from podium.multigpu.errors import PlacementError

PCI_ORDER = "PCI_BUS_ID"
_POLL_S = 0.02


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU that this process may use: its UUID as NVML writes it, and its name."""

    uuid: str
    name: str


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a rank stands.

    Args:
        index: Number of the GPU among the visible ones, in PCI order; None on the CPU.
        uuid: Of the GPU; None on the CPU, or where the order of the GPUs is not ours.
    """

    rank: int
    index: int | None
    uuid: str | None = None

    @property
    def device(self) -> str:
        """Return the device as torch writes it."""
        return "cpu" if self.index is None else f"cuda:{self.index}"


@dataclass(frozen=True, slots=True)
class FleetPlan:
    """Every rank's place, and the backend that serves them all."""

    places: tuple[Placement, ...]
    backend: str

    @property
    def num_ranks(self) -> int:
        """Return how many ranks there are."""
        return len(self.places)

    @property
    def uuids(self) -> frozenset[str]:
        """Return the GPUs of the fleet."""
        return frozenset(place.uuid for place in self.places if place.uuid is not None)


def plan_fleet(
    *,
    num_gpus: int | None = None,
    devices: Sequence[int] | None = None,
    cpu_ranks: int | None = None,
    share_devices: bool = False,
    environment: Mapping[str, str] | None = None,
) -> FleetPlan:
    """Place the ranks.

    Ranks: driver.

    Args:
        num_gpus: Take GPUs 0 to `num_gpus` - 1.
        devices: Take these, by number in PCI order within CUDA_VISIBLE_DEVICES.
        cpu_ranks: Put so many ranks on the CPU. Of these three at most one; without any, take all GPUs.
        share_devices: Let `devices` name a GPU twice.
        environment: Variables to go by; this process's own by default.

    Raises:
        ValueError: The arguments contradict each other.
        PlacementError: This machine has no such devices, or cannot run a fleet at all.
    """
    if sum(value is not None for value in (num_gpus, devices, cpu_ranks)) > 1:
        raise ValueError("num_gpus, devices and cpu_ranks exclude each other; give one of them")
    if sys.platform != "linux":
        raise PlacementError("Podium can generate on Linux only: this system cannot run the processes that it needs.")
    if cpu_ranks is not None:
        _check_count("cpu_ranks", cpu_ranks)
        return FleetPlan(tuple(Placement(rank, None) for rank in range(cpu_ranks)), "gloo")
    if num_gpus is not None:
        _check_count("num_gpus", num_gpus)
        devices = range(num_gpus)
    return _plan_gpus(
        devices, share_devices=share_devices, environment=os.environ if environment is None else environment
    )


def visible_gpus(environment: Mapping[str, str]) -> tuple[Gpu, ...]:
    """Return the GPUs that CUDA_VISIBLE_DEVICES lets through, in its order; all in PCI order without it.

    Ranks: driver.
    """
    gpus = _all_gpus()
    wanted = environment.get("CUDA_VISIBLE_DEVICES")
    if wanted is None:
        return gpus
    chosen: list[Gpu] = []
    for entry in filter(None, (part.strip() for part in wanted.split(","))):
        found = _find_gpu(gpus, entry)
        # CUDA stops at the first entry that it does not know.
        if found is None:
            break
        chosen.append(found)
    return tuple(chosen)


def wait_until_released(uuids: frozenset[str], pids: frozenset[int], timeout_s: float) -> frozenset[int]:
    """Wait until none of these processes holds memory on these GPUs, and return those that still do.

    Ranks: driver.
    """
    deadline_s = time.monotonic() + timeout_s
    while (holders := _holders(uuids) & pids) and time.monotonic() < deadline_s:
        # NVML has nothing to wait on.
        time.sleep(_POLL_S)
    return holders


def _plan_gpus(devices: Sequence[int] | None, *, share_devices: bool, environment: Mapping[str, str]) -> FleetPlan:
    if devices is not None and not devices:
        raise ValueError("devices is empty; name at least one")
    is_shared = devices is not None and len(set(devices)) < len(devices)
    if is_shared and not share_devices:
        raise ValueError(f"devices={list(devices or ())} names a GPU twice; that takes share_devices=True")
    gpus = visible_gpus(environment)
    if not gpus:
        raise PlacementError(
            "There is no NVIDIA GPU that Podium can use on this machine. Ask for CPU ranks instead (cpu_ranks=2)."
        )
    chosen = range(len(gpus)) if devices is None else devices
    if missing := sorted({index for index in chosen if not 0 <= index < len(gpus)}):
        raise PlacementError(
            f"GPU {', '.join(map(str, missing))} was asked for, but there are {len(gpus)} here, counted from 0. "
            f"Choose from 0 to {len(gpus) - 1}."
        )
    # With another order of CUDA's, a number here and a number there may mean different cards.
    is_ordered = environment.get("CUDA_DEVICE_ORDER", PCI_ORDER) == PCI_ORDER
    places = [Placement(rank, index, gpus[index].uuid if is_ordered else None) for rank, index in enumerate(chosen)]
    return FleetPlan(tuple(places), "gloo" if is_shared else "nccl")


def _check_count(name: str, value: int) -> None:
    if value < 1:
        raise ValueError(f"{name} is {value}; it must be 1 or more")


def _find_gpu(gpus: Sequence[Gpu], entry: str) -> Gpu | None:
    if entry.isdigit():
        return gpus[int(entry)] if int(entry) < len(gpus) else None
    if entry.startswith("MIG-"):
        return Gpu(entry, "MIG")
    matches = [gpu for gpu in gpus if gpu.uuid.startswith(entry)]
    return matches[0] if len(matches) == 1 else None


@contextlib.contextmanager
def _nvml() -> Iterator[bool]:
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        yield False
        return
    try:
        yield True
    finally:
        pynvml.nvmlShutdown()


def _all_gpus() -> tuple[Gpu, ...]:
    with _nvml() as is_there:
        if not is_there:
            return ()
        handles = [pynvml.nvmlDeviceGetHandleByIndex(k) for k in range(pynvml.nvmlDeviceGetCount())]
        return tuple(Gpu(pynvml.nvmlDeviceGetUUID(h), pynvml.nvmlDeviceGetName(h)) for h in handles)


def _holders(uuids: frozenset[str]) -> frozenset[int]:
    pids: set[int] = set()
    with _nvml() as is_there:
        for uuid in uuids if is_there else ():
            # A GPU may vanish between two looks, and MIG parts answer no process list.
            with contextlib.suppress(pynvml.NVMLError):
                handle = pynvml.nvmlDeviceGetHandleByUUID(uuid)
                pids.update(process.pid for process in pynvml.nvmlDeviceGetComputeRunningProcesses(handle))
    return frozenset(pids)
