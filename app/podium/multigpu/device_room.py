"""What memory a fleet may take of its GPUs and of the machine, asked of NVML, and what is planned in it. No torch.

The rule a caller must know: a plan is for one clip. It goes to the ranks with their setup, and with each order.
"""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Collection, Mapping

import psutil
import pynvml

from podium.models.residency import ResidencyPlan
from podium.multigpu.host_memory import available_host_bytes
from podium.multigpu.memory_activations import PlannedJob
from podium.multigpu.memory_parts import weigh_model
from podium.multigpu.memory_plan import Room, check_memory, plan_memory, table_lines
from podium.multigpu.placement import FleetPlan, visible_gpus
from podium.pipelines.checks import CheckedRequest

logger = logging.getLogger(__name__)


def plan_residency(
    checked: CheckedRequest,
    fleet: FleetPlan,
    dtype: str,
    *,
    own_pids: Collection[int] = (),
    host_bytes: int | None = None,
) -> ResidencyPlan | None:
    """Return where the parts of the model shall live for a clip; None on the CPU, and where NVML does not tell.

    Ranks: driver.

    Args:
        checked: The clip and its model.
        fleet: Which rank stands where.
        dtype: "bfloat16" or "float32".
        own_pids, host_bytes: As for `find_room`.

    Raises:
        JobRefusedError: The clip does not fit; what would is named.
    """
    room = find_room(fleet, own_pids, host_bytes=host_bytes)
    if room is None:
        return None
    model = weigh_model(checked.pack, dtype=dtype, quantization=checked.quantization)
    plan = plan_memory(model, PlannedJob.of(checked.resolved, fleet.num_ranks, checked.num_prompt_tokens), room)
    for line in table_lines(plan):
        logger.debug("Planned: %s", line)
    residency = check_memory(plan)
    logger.info("Residency of the clip: %s.", residency.describe())
    return residency


def find_room(
    fleet: FleetPlan,
    own_pids: Collection[int] = (),
    *,
    host_bytes: int | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Room | None:
    """Return the memory that a fleet may take; None on the CPU, and where NVML does not tell.

    Ranks: driver.

    Args:
        fleet: Which rank stands where.
        own_pids: Processes that will be gone or hold what is planned: their memory counts as free.
        host_bytes: What there is of the machine's memory; asked of the system by default.
        environment: Variables to go by.
    """
    uuids = [place.uuid for place in fleet.places]
    if None in uuids:
        return None
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return None
    try:
        free = {uuid: _free_bytes(uuid, own_pids) for uuid in fleet.uuids}
    except pynvml.NVMLError:
        return None
    finally:
        pynvml.nvmlShutdown()
    known = {uuid: num_bytes for uuid, num_bytes in free.items() if num_bytes is not None}
    if len(known) < len(free):
        return None
    num_ranks_on = Counter(uuids)
    return Room(
        tuple(known[uuid] // num_ranks_on[uuid] for uuid in uuids if uuid is not None),
        available_host_bytes() if host_bytes is None else host_bytes,
        tuple(f"GPU {place.index}" for place in fleet.places),
        len(visible_gpus(environment)) - len(known),
    )


def _free_bytes(uuid: str, own_pids: Collection[int]) -> int | None:
    handle = pynvml.nvmlDeviceGetHandleByUUID(uuid)
    memory = pynvml.nvmlDeviceGetMemoryInfo(handle)
    free = int(memory.total) - int(memory.used)
    for process in pynvml.nvmlDeviceGetComputeRunningProcesses(handle) if own_pids else ():
        # In a container NVML may name processes by numbers of another world: they cannot be told from ours.
        if process.pid not in own_pids and psutil.pid_exists(process.pid):
            continue
        if process.usedGpuMemory is None:
            return None
        free += int(process.usedGpuMemory)
    return free


__all__ = ["find_room", "plan_residency"]
