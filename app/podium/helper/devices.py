"""Which GPUs there are, and why one cannot be chosen: NVML's word and PyTorch's build facts. No CUDA context."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
import pynvml

from podium.helper.requests import DeviceReason, DeviceReport
from podium.helper.torch_build import TorchBuild, read_torch_build
from podium.multigpu.device_locks import DeviceLocks
from podium.multigpu.placement import Gpu, visible_gpus

# Less holds not even the smallest part of a model together with what CUDA itself takes.
MIN_MEMORY_BYTES = 7 * 2**30
_BF16_CAPABILITY = (8, 0)

_SENTENCES = {
    DeviceReason.CPU_BUILD: "The installed PyTorch was built without CUDA. Install a build with CUDA.",
    DeviceReason.OLD_DRIVER: "Its driver is made for CUDA {driver}, and the installed PyTorch needs {build}. "
    "Update the driver.",
    DeviceReason.ARCHITECTURE: "The installed PyTorch has no code for its architecture ({capability}).",
    DeviceReason.NO_BF16: "It cannot compute in bfloat16, which the models need.",
    DeviceReason.LITTLE_MEMORY: "Its memory of {memory} GB is too little; {needed} GB is the least.",
    DeviceReason.HELD: "Another process is using it ({holder}).",
    DeviceReason.MIG: "It is divided into MIG parts, which cannot work together on one clip.",
    DeviceReason.NO_ANSWER: "It gives no answer.",
}
_HELD_BY_PODIUM = "Another Podium is using it ({holder})."


@dataclass(frozen=True, slots=True)
class _Facts:
    """What NVML says of a GPU.

    Args:
        capability: Compute capability, such as (9, 0).
        driver_cuda: The newest CUDA that its driver runs.
        holder: A process of somebody else's that computes on it or has taken it, in words; empty without one.
        is_held_by_podium: That is another Podium.
    """

    bus_id: str
    total_bytes: int
    used_bytes: int
    capability: tuple[int, int]
    driver_cuda: tuple[int, int]
    is_mig: bool
    holder: str
    is_held_by_podium: bool = False


def list_devices(
    cache_folder: Path,
    *,
    environment: Mapping[str, str] = os.environ,
    read_build: Callable[[Path], TorchBuild | None] = read_torch_build,
) -> tuple[DeviceReport, ...]:
    """Return the GPUs that this process may use, in the order in which a fleet counts them; none without a driver.

    Args:
        cache_folder: Keeps what the installed PyTorch was built for.
        environment: Variables to go by.
        read_build: Says what the installed PyTorch was built for; asked only if there is a GPU.
    """
    try:
        gpus = visible_gpus(environment)
    except pynvml.NVMLError:
        return ()
    if not gpus:
        return ()
    build = read_build(cache_folder)
    pynvml.nvmlInit()
    try:
        return tuple(_report(index, gpu, build) for index, gpu in enumerate(gpus))
    finally:
        pynvml.nvmlShutdown()


def _report(index: int, gpu: Gpu, build: TorchBuild | None) -> DeviceReport:
    if gpu.uuid.startswith("MIG-"):
        sentence = _SENTENCES[DeviceReason.MIG]
        return DeviceReport(index, gpu.uuid, gpu.name, "", 0, 0, DeviceReason.MIG, sentence)
    try:
        facts = _with_podium(_read_facts(gpu.uuid), gpu.uuid)
    except pynvml.NVMLError:
        sentence = _SENTENCES[DeviceReason.NO_ANSWER]
        return DeviceReport(index, gpu.uuid, gpu.name, "", 0, 0, DeviceReason.NO_ANSWER, sentence)
    reason = _find_reason(facts, build)
    sentence = "" if reason is None else _sentence(reason, facts, build)
    return DeviceReport(index, gpu.uuid, gpu.name, facts.bus_id, facts.total_bytes, facts.used_bytes, reason, sentence)


def _read_facts(uuid: str) -> _Facts:
    handle = pynvml.nvmlDeviceGetHandleByUUID(uuid)
    memory = pynvml.nvmlDeviceGetMemoryInfo(handle)
    driver = pynvml.nvmlSystemGetCudaDriverVersion_v2()
    major, minor = pynvml.nvmlDeviceGetCudaComputeCapability(handle)
    return _Facts(
        str(pynvml.nvmlDeviceGetPciInfo(handle).busId),
        int(memory.total),
        int(memory.used),
        (major, minor),
        (driver // 1000, driver % 1000 // 10),
        is_mig=_is_mig(handle),
        holder=_holder(handle),
    )


def _with_podium(facts: _Facts, uuid: str) -> _Facts:
    """Return the facts of a GPU with the Podium that has taken it, if one has: it may not compute yet."""
    holder = DeviceLocks("helper").holder(uuid)
    if holder is None or (holder.pid is not None and _is_ours(holder.pid)):
        return facts
    return replace(facts, holder=holder.words or "podium", is_held_by_podium=True)


def _is_mig(handle: object) -> bool:
    try:
        return bool(pynvml.nvmlDeviceGetMigMode(handle)[0])
    except pynvml.NVMLError:
        # Cards that cannot be divided say that they do not know the question.
        return False


def _holder(handle: object) -> str:
    try:
        pids = [process.pid for process in pynvml.nvmlDeviceGetComputeRunningProcesses(handle)]
    except pynvml.NVMLError:
        return ""
    return next((_words(pid) for pid in pids if not _is_ours(pid)), "")


def _is_ours(pid: int) -> bool:
    """Return whether a process belongs to this window: it descends from the process that started this one."""
    window_pid = os.getppid()
    try:
        return pid == window_pid or any(parent.pid == window_pid for parent in psutil.Process(pid).parents())
    except psutil.Error:
        return False


def _words(pid: int) -> str:
    try:
        return f"{psutil.Process(pid).name()}, process {pid}"
    except psutil.Error:
        return f"process {pid}"


def _find_reason(facts: _Facts, build: TorchBuild | None) -> DeviceReason | None:
    checks = (
        (DeviceReason.MIG, facts.is_mig),
        (DeviceReason.CPU_BUILD, build is not None and build.cuda is None),
        # Within one major version a newer CUDA runs on an older driver.
        (DeviceReason.OLD_DRIVER, build is not None and bool(build.cuda) and facts.driver_cuda[0] < _major(build)),
        (DeviceReason.NO_BF16, facts.capability < _BF16_CAPABILITY),
        (DeviceReason.ARCHITECTURE, build is not None and not build.supports(*facts.capability)),
        (DeviceReason.LITTLE_MEMORY, facts.total_bytes < MIN_MEMORY_BYTES),
        (DeviceReason.HELD, bool(facts.holder)),
    )
    return next((reason for reason, holds in checks if holds), None)


def _major(build: TorchBuild) -> int:
    return build.cuda[0] if build.cuda else 0


def _sentence(reason: DeviceReason, facts: _Facts, build: TorchBuild | None) -> str:
    built_for = ".".join(map(str, build.cuda)) if build is not None and build.cuda else "none"
    is_podium = reason is DeviceReason.HELD and facts.is_held_by_podium
    return (_HELD_BY_PODIUM if is_podium else _SENTENCES[reason]).format(
        driver=".".join(map(str, facts.driver_cuda)),
        build=built_for,
        capability=".".join(map(str, facts.capability)),
        memory=f"{facts.total_bytes / 2**30:.0f}",
        needed=f"{MIN_MEMORY_BYTES / 2**30:.0f}",
        holder=facts.holder,
    )
