"""How a rank takes its device and finds the others. In workers only: here device and backend get their names."""

from __future__ import annotations

import datetime
from collections.abc import Callable

import torch
from torch import distributed

from podium.multigpu.errors import PlacementError
from podium.multigpu.groups import NCCLGroups
from podium.multigpu.job import DeviceEvent
from podium.multigpu.links import LinkKind
from podium.multigpu.messages import BeginMessage

# Only the driver decides that a job is stuck.
COLLECTIVE_TIMEOUT = datetime.timedelta(hours=24)


def take_device(begin: BeginMessage) -> torch.device:
    """Make the rank's device the current one.

    Ranks: one rank, local.

    Raises:
        PlacementError: It is another card than the driver meant.
    """
    device = torch.device(begin.device)
    if device.type == "cpu":
        return device
    torch.cuda.set_device(device)
    found = str(torch.cuda.get_device_properties(device).uuid)
    if begin.uuid is not None and begin.uuid.startswith("GPU-") and not begin.uuid.endswith(found):
        raise PlacementError(
            f"Rank {begin.rank} was to use the GPU {begin.uuid}, but {begin.device} is the GPU {found} there. "
            f"Remove CUDA_DEVICE_ORDER and CUDA_VISIBLE_DEVICES from the environment, and choose the GPUs by number."
        )
    return device


def is_device_spoilt(begin: BeginMessage) -> bool:
    """Tell whether the process this one was forked from has spoilt the device for its children.

    Ranks: one rank, local.
    """
    if torch.device(begin.device).type == "cpu":
        return False
    if torch.cuda._is_in_bad_fork():  # noqa: SLF001 - torch has no public question for it
        return True
    try:
        torch.zeros(1, device=begin.device)
    except RuntimeError:
        return True
    return False


def event_maker(device: torch.device) -> Callable[[], DeviceEvent] | None:
    """Return how to mark a place in the device's queue; None where the host does the work.

    Ranks: one rank, local.
    """
    return None if device.type == "cpu" else torch.cuda.Event


def make_groups(begin: BeginMessage, device: torch.device) -> NCCLGroups:
    """Meet the other ranks.

    Ranks: every rank. Collectives: those that make the groups.
    """
    distributed.init_process_group(
        begin.backend,
        store=distributed.FileStore(begin.store_path, begin.world_size),  # type: ignore[attr-defined]  # it is there
        rank=begin.rank,
        world_size=begin.world_size,
        timeout=COLLECTIVE_TIMEOUT,
        # Known beforehand, the device is connected here and not in the first collective of a job.
        device_id=device if begin.backend == "nccl" else None,
    )
    # One group for all three: each group of its own would cost buffers on every device.
    world = distributed.group.WORLD
    if world is None:
        raise RuntimeError("torch made no process group")
    control = distributed.new_group(backend="gloo", timeout=COLLECTIVE_TIMEOUT)
    links = {size: LinkKind(kind) for size, kind in begin.links.items()}
    return NCCLGroups(gemma_group=world, transformer_group=world, vae_group=world, control_group=control, links=links)
