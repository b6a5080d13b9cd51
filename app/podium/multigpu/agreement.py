"""Verdicts that all ranks share: local work first, then one agreed outcome, then tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import torch
import torch.distributed as dist

from podium.errors import PodiumError

T = TypeVar("T")


def agree_all(attempt: Callable[[], T], group: dist.ProcessGroup | None) -> list[T]:
    """Do something that may fail on each rank, and learn how it went on all of them.

    Ranks: every rank of `group`. Collectives: one all-gather of small values.

    Args:
        attempt: Local work whose value is small and picklable.
        group: On the CPU, such as the control group; None for a single process.

    Returns:
        The ranks' values, in rank order.

    Raises:
        PodiumError: Alike on all ranks: the first rank's that failed, if any did.
    """
    outcome: T | PodiumError
    try:
        outcome = attempt()
    except PodiumError as error:
        outcome = error
    outcomes: list[T | PodiumError | None] = [outcome]
    if group is not None and dist.get_world_size(group) > 1:
        outcomes = [None] * dist.get_world_size(group)
        dist.all_gather_object(outcomes, outcome, group=group)
    for of_rank in outcomes:
        if isinstance(of_rank, PodiumError):
            raise of_rank
    return outcomes  # type: ignore[return-value] # no errors are left


def agree_every(flag: bool, group: dist.ProcessGroup | None) -> bool:  # noqa: FBT001 - it is the question
    """Return whether a flag is set on every rank.

    Ranks: every rank of `group`. Collectives: one all-reduce of a number; none without a group.

    Args:
        flag: This rank's.
        group: On the CPU, such as the control group; None for a single process.
    """
    if group is None:
        return flag
    verdict = torch.tensor([int(flag)])
    dist.all_reduce(verdict, op=dist.ReduceOp.MIN, group=group)
    return bool(verdict.item())
