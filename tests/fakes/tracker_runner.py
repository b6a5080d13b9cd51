"""A runner that does nothing but swap LoRAs, and tells what its weights are after that."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import torch

from podium.errors import PodiumError
from podium.jobs import LoraSpec
from podium.models.lora_keys import LoraError
from podium.models.registry import StateDictRegistry
from podium.models.transformer.builder import transformer_builder
from podium.multigpu import MGPURunner
from podium.multigpu.lora_cache import FactorReader
from podium.multigpu.weight_tracker import SwapStats, TransformerWeightTracker


@dataclass(frozen=True, slots=True)
class Swapped:
    """What one rank has after a swap.

    Args:
        digest: Of all weights, scales included.
        refusal: The message, if the swap was refused.
        own_bytes: Of this rank's clean shard.
        num_progress_calls: Boundaries that it came by.
    """

    rank: int
    digest: str
    refusal: str
    stats: SwapStats
    own_bytes: int
    num_progress_calls: int


class TrackerRunner(MGPURunner):
    """Keeps a tracker of one checkpoint for each quantisation."""

    def setup(self, *, checkpoints: Mapping[str, Path], cache_bytes: int) -> None:
        self.registry = StateDictRegistry()
        groups = self.groups
        self.builders = {
            quantization: transformer_builder(path, quantization=quantization)
            for quantization, path in checkpoints.items()
        }
        self.trackers = {
            quantization: TransformerWeightTracker(
                groups.transformer_group,
                bucket_mb=1,
                control_group=groups.control_group,
                factor_cache_bytes=cache_bytes,
            )
            for quantization in checkpoints
        }

    def __call__(
        self, *, quantization: str, loras: tuple[LoraSpec, ...], failing_rank: int = -1, failure: str = ""
    ) -> Iterator[Swapped]:
        tracker, calls, refusal = self.trackers[quantization], 0, ""
        stats = tracker.last_swap

        def on_progress(_done: int, _total: int) -> None:
            nonlocal calls
            calls += 1

        with self.injected(failure if failing_rank == self.rank else ""):
            try:
                tracker.build(
                    self.builders[quantization].with_loras(loras),
                    self.registry,
                    (self.device, torch.float32),
                    on_progress=on_progress,
                )
                stats = tracker.last_swap
            except PodiumError as error:
                refusal = error.message
        digest = hashlib.sha256()
        for key, tensor in tracker.broadcast_sd.items():
            digest.update(key.encode() + tensor.reshape(-1).view(torch.uint8).cpu().numpy().tobytes())
        yield Swapped(self.rank, digest.hexdigest(), refusal, stats, tracker.stored_sd.num_bytes, calls)

    @staticmethod
    def injected(failure: str) -> AbstractContextManager[object]:
        """Have this rank fail in its reading, or find no memory."""
        if failure == "memory":
            full = torch.OutOfMemoryError("injected")
            return mock.patch("podium.multigpu.factor_feed._taken", side_effect=full)
        if failure == "read":
            return mock.patch.object(FactorReader, "read", side_effect=LoraError("The injected drive is gone."))
        return nullcontext()
