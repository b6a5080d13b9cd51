"""Whether this machine's memory holds a fleet, told from headers before a rank starts. No torch; no weight is read.

On GPUs the ranks read from one mapped file each tensor straight onto their device: its pages are shared by all, and the
system drops them when it needs the room. On the CPU every rank has weights of its own, and N ranks hold N copies.
"""

from __future__ import annotations

import contextlib
import os
from functools import cache
from pathlib import Path

import psutil

from podium.errors import JobRefusedError
from podium.jobs import Quantization
from podium.models.pack import Pack
from podium.models.residency import ModelPart
from podium.multigpu.memory_parts import ModelMemory, weigh_model

# What a rank holds for itself beside its weights, in bytes: 90 MB were measured on the CPU, and 1.3 GB on an H200.
RANK_BYTES = 100 * 10**6
GPU_RANK_BYTES = 1500 * 10**6
_CGROUP = Path("/sys/fs/cgroup")


def host_need_bytes(
    pack: Pack,
    *,
    num_ranks: int,
    dtype: str,
    is_on_cpu: bool,
    quantization: Quantization = Quantization.NONE,
) -> int:
    """Return what a fleet takes of this machine's memory at least: its weights, without what a clip needs besides.

    Args:
        pack: The model.
        num_ranks: Of the fleet.
        dtype: "bfloat16" or "float32".
        is_on_cpu: The ranks stand on the CPU.
        quantization: How the transformer's weights are held.

    Raises:
        CheckpointError: A header cannot be read.
    """
    if not is_on_cpu:
        return num_ranks * GPU_RANK_BYTES
    return _weights_bytes(weigh_model(pack, dtype=dtype, quantization=quantization), num_ranks)


def check_host_memory(
    pack: Pack,
    *,
    num_ranks: int,
    dtype: str,
    is_on_cpu: bool,
    quantization: Quantization = Quantization.NONE,
    available_bytes: int | None = None,
) -> None:
    """Check that this machine's memory holds a fleet.

    Args:
        pack, num_ranks, dtype, is_on_cpu, quantization: As for `host_need_bytes`.
        available_bytes: What there is; asked of the system by default.

    Raises:
        JobRefusedError: It cannot, with what it takes, what there is, and what would fit.
    """
    available = available_host_bytes() if available_bytes is None else available_bytes

    @cache
    def weighed(kind: str) -> ModelMemory:
        return weigh_model(pack, dtype=kind, quantization=quantization)

    def need(count: int, kind: str) -> int:
        return _weights_bytes(weighed(kind), count) if is_on_cpu else count * GPU_RANK_BYTES

    if need(num_ranks, dtype) <= available:
        return
    kinds = dict.fromkeys((dtype, "bfloat16")) if is_on_cpu else {dtype: None}
    fitting = [(count, kind) for kind in kinds for count in range(num_ranks, 0, -1) if need(count, kind) <= available]
    ranks, each = ("process", "it needs") if num_ranks == 1 else ("processes", "they need")
    where = " on the CPU, each with weights of its own" if is_on_cpu else ""
    raise JobRefusedError(
        f"This machine's memory does not hold {num_ranks} {ranks}{where}: {each} {_size(need(num_ranks, dtype))} "
        f"in {dtype}, and {_size(available)} are free. {_advice(fitting, dtype)}"
    )


def available_host_bytes() -> int:
    """Return how much memory processes can still take here, within the limits of a container too."""
    available = int(psutil.virtual_memory().available)
    # No such files, or no limit in them: the machine's own memory counts.
    with contextlib.suppress(OSError, ValueError):
        limit = int((_CGROUP / "memory.max").read_text(encoding="ascii"))
        used = int((_CGROUP / "memory.current").read_text(encoding="ascii"))
        available = min(available, max(0, limit - used + _reclaimable_bytes()))
    return available


def held_by_relatives_bytes() -> int:
    """Return the memory that would be free if every process but this one that its parent started ended.

    Asked in the window's helper process, those are the ranks of its fleet and what started them.
    """
    return sum(_own_bytes(process) for process in _relatives())


def pids_of_relatives() -> tuple[int, ...]:
    """Return the processes that this one's parent started, but for this one."""
    return tuple(process.pid for process in _relatives())


def _relatives() -> list[psutil.Process]:
    try:
        relatives = psutil.Process(os.getppid()).children(recursive=True)
    except psutil.Error:
        return []
    return [process for process in relatives if process.pid != os.getpid()]


def _own_bytes(process: psutil.Process) -> int:
    try:
        return int(process.memory_full_info().uss)
    except psutil.Error:
        # It ended in between, or is none of ours.
        return 0


def _reclaimable_bytes() -> int:
    fields = dict(line.split() for line in (_CGROUP / "memory.stat").read_text(encoding="ascii").splitlines())
    return int(fields.get("inactive_file", 0)) + int(fields.get("active_file", 0))


def _weights_bytes(model: ModelMemory, num_ranks: int) -> int:
    of_first = model.part_bytes[ModelPart.TEXT_ENCODER]
    of_all = model.working_bytes + sum(model.part_bytes.values()) - of_first
    # The clean weights that LoRAs are swapped against are kept once, shared out among the ranks.
    return num_ranks * (RANK_BYTES + of_all) + of_first + model.working_bytes


def _advice(fitting: list[tuple[int, str]], dtype: str) -> str:
    if not fitting:
        return "Close other programs, or use a machine with more memory."
    count, kind = fitting[0]
    of_kind = "" if kind == dtype else f" in {kind}"
    return f"{count} {'process' if count == 1 else 'processes'}{of_kind} would fit; or close other programs."


def _size(num_bytes: int) -> str:
    return f"{num_bytes / 10**9:.1f} GB"
