"""Who records forwards: a GPU alone, and several where they are asked to."""

from __future__ import annotations

from unittest import mock

import pytest
import torch

from podium.models.transformer.replay_limits import RECORDS_EXCHANGES
from podium.multigpu import transformer_spread
from podium.multigpu.groups import NCCLGroups
from podium.multigpu.transformer_spread import make_replays


@pytest.mark.parametrize(
    ("device", "num_ranks", "asked", "records"),
    [
        ("cuda:0", 1, None, True),
        ("cuda:0", 2, None, False),
        ("cuda:0", 2, "0", False),
        ("cuda:0", 2, "1", True),
        ("cpu", 1, None, False),
        ("cpu", 2, "1", False),
    ],
)
def test_a_gpu_alone_records_and_several_only_where_they_are_asked_to(
    device: str, num_ranks: int, asked: str | None, records: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(RECORDS_EXCHANGES, raising=False)
    if asked is not None:
        monkeypatch.setenv(RECORDS_EXCHANGES, asked)
    group = mock.Mock()
    with mock.patch.object(transformer_spread.dist, "get_world_size", lambda of: num_ranks if of is group else 0):
        assert (make_replays(NCCLGroups(group, group, group, group), torch.device(device)) is not None) == records
