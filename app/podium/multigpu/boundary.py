"""A job's boundary on a fleet: where all ranks report, agree and may be stopped."""

from __future__ import annotations

import resource
from collections.abc import Callable

import psutil
import torch
import torch.distributed as dist

from podium.errors import PodiumError
from podium.jobs import Phase, RankMemory
from podium.multigpu.errors import RunnerError
from podium.multigpu.groups import NCCLGroups
from podium.multigpu.job import JobContext

# Tensors between two checks for a cancel while weights are read: a check costs a message, a tensor less than that.
_TENSORS_PER_CHECK = 64


class FleetBoundary:
    """Passes a pipeline's boundaries to the fleet.

    Ranks: every rank, with the same calls in the same order.

    Args:
        job: This rank's side of the job.
        groups: The fleet's groups.
        device: This rank's device.
    """

    def __init__(self, job: JobContext, groups: NCCLGroups, device: torch.device) -> None:
        self._job = job
        self._device = device
        self._groups = groups
        self._num_tensors = 0

    def begin_phase(self, phase: Phase, num_steps: int | None = None) -> tuple[RankMemory, ...]:
        """Say that a phase began. Collectives: one all-gather of two numbers.

        Returns:
            What every rank holds on its device by then, and the most it held in the phase before.
        """
        self._job.begin_phase(phase, num_steps)
        mine = torch.tensor(device_memory_bytes(self._device), dtype=torch.int64)
        of_ranks = [torch.empty_like(mine) for _ in range(dist.get_world_size(self._groups.control_group))]
        self._job.collective_begun()
        dist.all_gather(of_ranks, mine, group=self._groups.control_group)
        return tuple(RankMemory(rank, *(int(n) for n in memory)) for rank, memory in enumerate(of_ranks))

    def checkpoint(self, phase: Phase, step: int, num_steps: int) -> None:
        """Say that a step ended. Collectives: one value broadcast.

        Raises:
            JobCancelled: Alike on all ranks.
        """
        self._job.checkpoint(phase, step, num_steps)

    def attempt(self, action: Callable[[], None] | None) -> None:
        """Run what only the first rank does. Collectives: one value broadcast.

        Args:
            action: On the first rank; None elsewhere.

        Raises:
            RunnerError: Alike on all ranks, in the words of what the first rank could not do.
        """
        error: PodiumError | None = None
        if action is not None:
            try:
                action()
            except PodiumError as refusal:
                error = refusal
        outcome = [error]
        self._job.collective_begun()
        dist.broadcast_object_list(outcome, group=self._groups.control_group, group_src=0)
        if outcome[0] is not None:
            raise RunnerError(outcome[0].message, details=outcome[0].details) from outcome[0]

    def on_progress(self, done: int, total: int) -> None:
        """Say how far a load or a swap has come, and now and then check for a cancel, equally often on all ranks.

        Raises:
            JobCancelled: Alike on all ranks.
        """
        del total
        self._job.report_progress(bytes_done=done)
        self._num_tensors += 1
        if self._num_tensors % _TENSORS_PER_CHECK == 0:
            self._job.check_cancelled()


def device_memory_bytes(device: torch.device) -> tuple[int, int]:
    """Return the bytes this process holds on `device`, and the most it held since the last call there.

    On the CPU that is the process's resident memory, and the most since it began.
    """
    if device.type == "cpu":
        return psutil.Process().memory_info().rss, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    used, peak = torch.accelerator.memory_allocated(device), torch.accelerator.max_memory_allocated(device)
    torch.accelerator.reset_peak_memory_stats(device)
    return used, peak
