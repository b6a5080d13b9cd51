"""Exchanges between ranks inside of a recording, for fleets on GPUs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from podium.models.transformer.replay import GraphCapture
from podium.multigpu.attention import all_gather, all_to_all

SIZE = 1000
VALUES = (1.0, 2.0, 3.0)


def exchange_job(runner: Any) -> Iterator[Any]:
    """Yield (rank, value, what an all-to-all and an all-gather of a replay gave) for each of `VALUES`."""
    group, num_ranks = runner.groups.transformer_group.group_name, runner.world_size
    x = torch.zeros(num_ranks * SIZE, device=runner.device)

    def work() -> tuple[Tensor, Tensor]:
        sizes = [SIZE] * num_ranks
        sent = torch.ops._c10d_functional.wait_tensor(all_to_all(x * 2, sizes, sizes, group))
        return sent + 1, all_gather(x[:SIZE] * 3, num_ranks, group) - 1

    work()
    (sent, gathered), replay = GraphCapture()(work)
    for value in VALUES:
        x.fill_(value * (runner.rank + 1))
        replay()
        yield runner.rank, value, sent.cpu(), gathered.cpu()
