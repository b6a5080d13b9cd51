"""A runner that tells how often it was made, set up and called, and in which of torch's modes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import torch

from podium.multigpu import MGPURunner

_made = itertools.count(1)


class PersistentRunner(MGPURunner):
    """Notes what happens to it; nothing of it is decorated."""

    def __init__(self) -> None:
        self.seen: dict[str, Any] = {"made": next(_made), "setups": 0, "calls": 0}

    def setup(self) -> None:
        self.seen["setups"] += 1
        self.seen["groups in setup"] = self.groups.transformer_group is not None
        self.seen["inference in setup"] = torch.is_inference_mode_enabled()

    def __call__(self) -> Iterator[dict[str, Any]]:
        self.seen["calls"] += 1
        yield {**self.seen, "rank": self.rank, "inference": torch.is_inference_mode_enabled()}
