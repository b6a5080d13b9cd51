"""Recordings on GPUs: NCCL's exchanges within them do with each replay what they would do by themselves."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from podium.multigpu import MGPUController, RunnerRef

from tests.fakes.replay_jobs import SIZE, VALUES
from tests.gpu.places import Place, is_on_gpus, num_ranks_of

pytestmark = pytest.mark.gpu

RUNNER = RunnerRef("tests.fakes.full_precision_runner:FullPrecisionRunner")


def test_exchanges_that_were_recorded_carry_what_is_there_at_each_replay(
    make_fleet: Callable[..., MGPUController], place: Place
) -> None:
    if place.get("share_devices") or not is_on_gpus(place):
        # What gloo does between devices, the host does: nothing is recorded there.
        return
    num_ranks = num_ranks_of(place)
    fleet = make_fleet(RUNNER, place)
    seen = list(fleet.stream(action="call", function="tests.fakes.replay_jobs:exchange_job"))
    assert sorted((rank, value) for rank, value, *_ in seen) == [(r, v) for r in range(num_ranks) for v in VALUES]
    for _rank, value, sent, gathered in seen:
        of_ranks = torch.arange(1, num_ranks + 1).repeat_interleave(SIZE) * value
        assert torch.equal(sent, of_ranks * 2 + 1)
        assert torch.equal(gathered, of_ranks * 3 - 1)
