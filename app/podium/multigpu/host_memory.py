"""Whether this machine's memory holds a fleet, told from headers before a rank starts. No torch; no weight is read.

On GPUs the ranks read from one mapped file each tensor straight onto their device: its pages are shared by all, and the
system drops them when it needs the room. On the CPU every rank has weights of its own, and N ranks hold N copies.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

import psutil

from podium.errors import JobRefusedError
from podium.jobs import Quantization
from podium.models.pack import Pack
from podium.models.probe import FileReport, Slot

# What a rank holds for itself beside its weights, in bytes: 90 MB were measured on the CPU, and 1.3 GB on an H200.
RANK_BYTES = 100 * 10**6
GPU_RANK_BYTES = 1500 * 10**6
_ITEM_BYTES = {"float32": 4, "bfloat16": 2}
_STORED_BYTES = {"F64": 8, "F32": 4, "BF16": 2, "F16": 2}
_SLOTS_OF_ALL = (
    Slot.CONNECTORS,
    Slot.TEXT_PROJECTION,
    Slot.VIDEO_ENCODER,
    Slot.AUDIO_DECODER,
)
_SLOTS_OF_FIRST = (Slot.TEXT_ENCODER, Slot.VIDEO_DECODER)
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
        pack: The model; what its file stores in fp8 stays so.
        num_ranks: Of the fleet.
        dtype: "bfloat16" or "float32".
        is_on_cpu: The ranks stand on the CPU.
        quantization: With fp8-cast the transformer's large layers, nearly all of it, take a byte a number.
    """
    if not is_on_cpu:
        return num_ranks * GPU_RANK_BYTES
    item_bytes = _ITEM_BYTES[dtype]
    shared_out = _bytes_of(pack.checkpoint, [Slot.TRANSFORMER], item_bytes)
    part = pack.checkpoint.component(Slot.TRANSFORMER)
    if quantization is Quantization.FP8_CAST and part is not None:
        shared_out = part.num_parameters
    of_all = shared_out + _bytes_of(pack.spatial_upsampler, None, item_bytes)
    # Each part is in one of the files: in the checkpoint of a monolith, in its own of a split pack.
    of_all += sum(_bytes_of(report, _SLOTS_OF_ALL, item_bytes) for report in pack.files)
    # In float32 whatever the rest is in.
    of_all += sum(_bytes_of(report, [Slot.VOCODER], _ITEM_BYTES["float32"]) for report in pack.files)
    of_first = sum(_bytes_of(report, _SLOTS_OF_FIRST, item_bytes) for report in pack.files)
    # The clean weights that LoRAs are swapped against are kept once, shared out among the ranks.
    return num_ranks * (RANK_BYTES + of_all) + of_first + shared_out


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

    def need(count: int, kind: str) -> int:
        return host_need_bytes(pack, num_ranks=count, dtype=kind, is_on_cpu=is_on_cpu, quantization=quantization)

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
    try:
        relatives = psutil.Process(os.getppid()).children(recursive=True)
    except psutil.Error:
        return 0
    return sum(_own_bytes(process) for process in relatives if process.pid != os.getpid())


def _own_bytes(process: psutil.Process) -> int:
    try:
        return int(process.memory_full_info().uss)
    except psutil.Error:
        # It ended in between, or is none of ours.
        return 0


def _reclaimable_bytes() -> int:
    fields = dict(line.split() for line in (_CGROUP / "memory.stat").read_text(encoding="ascii").splitlines())
    return int(fields.get("inactive_file", 0)) + int(fields.get("active_file", 0))


def _bytes_of(report: FileReport, slots: Iterable[Slot] | None, item_bytes: int) -> int:
    """Return the size in memory of a file's parts, all of them by default."""
    wanted = None if slots is None else set(slots)
    parts = [part for part in report.components if wanted is None or part.slot in wanted]
    if not parts and wanted is None:
        return report.file_bytes * item_bytes // _STORED_BYTES.get(report.stored_dtype or "", item_bytes)
    return sum(
        part.num_bytes * item_bytes // _STORED_BYTES.get(part.dtypes[0], item_bytes) for part in parts if part.dtypes
    )


def _advice(fitting: list[tuple[int, str]], dtype: str) -> str:
    if not fitting:
        return "Close other programs, or use a machine with more memory."
    count, kind = fitting[0]
    of_kind = "" if kind == dtype else f" in {kind}"
    return f"{count} {'process' if count == 1 else 'processes'}{of_kind} would fit; or close other programs."


def _size(num_bytes: int) -> str:
    return f"{num_bytes / 10**9:.1f} GB"
