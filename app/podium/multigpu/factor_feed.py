"""Brings LoRA factors from host memory to the device while the weights before them are fused.

All memory that a fuse needs is taken when the feed is made, so that a fuse that would not fit is known before the first
weight is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from podium.errors import JobRefusedError
from podium.models.lora import LoraDelta
from podium.multigpu.lora_cache import HostFactors

# Enough weights ahead that neither copies nor products wait for each other.
_MAX_SLOTS = 8
_SLOTS_BYTES = 256 << 20


@dataclass(frozen=True, slots=True)
class ActiveLora:
    """A LoRA that is being fused.

    Args:
        factors: Of this rank's weights.
        strengths: Factor on B @ A by weight; a weight that is not there stays clean.
    """

    factors: HostFactors
    strengths: Mapping[str, float]


class FactorFeed:
    """The memory of one fuse, and the way of factors into it.

    Ranks: one rank, local.

    Args:
        device: Of the weights.
        weights: The weights that will be fused, in their order, with their count of elements.
        loras: Applied to each weight in their order.
        spare_bytes: What a fuse takes beside this at most; it is tried and given back.

    Raises:
        JobRefusedError: The device has no memory for it.
    """

    def __init__(
        self, device: torch.device, weights: Mapping[str, int], loras: Sequence[ActiveLora], *, spare_bytes: int
    ) -> None:
        self._device = device
        self._weights = weights
        self._loras = loras
        # On the CPU the host's memory is the device's own, and factors are used where they lie.
        slot_bytes = 0 if device.type == "cpu" else max((self._num_bytes(key) for key in weights), default=0)
        self._num_slots = min(_MAX_SLOTS, max(2, _SLOTS_BYTES // max(slot_bytes, 1)))
        ring_bytes = self._num_slots * slot_bytes
        workspace_bytes = 4 * max(weights.values(), default=0)
        try:
            self.workspace = _taken(workspace_bytes, device).view(torch.float32)
            self._slots = _taken(ring_bytes, device).view(self._num_slots, slot_bytes)
            _taken(spare_bytes, device)
        except torch.OutOfMemoryError as error:
            needed_gb = (workspace_bytes + ring_bytes + spare_bytes) / 1e9
            raise JobRefusedError(
                f"The LoRAs cannot be applied: one of the devices lacks the {needed_gb:.1f} GB of memory that this "
                "takes for a moment. Close other programs that use it, or use fewer LoRAs at a time.",
                details=f"{device}: {error}",
            ) from error

    def deltas(self) -> Iterator[tuple[str, list[LoraDelta]]]:
        """Yield each weight's key and addends; they are good until the next is asked for."""
        if self._device.type == "cpu":
            for key in self._weights:
                yield key, [self._delta(key, lora, lora.factors.bytes_of(key)) for lora in self._of(key)]
        else:
            yield from self._ahead()

    def _ahead(self) -> Iterator[tuple[str, list[LoraDelta]]]:
        # The host only queues work: the copying stream runs ahead of the fuse as far as there are slots.
        fusing, copying = torch.accelerator.current_stream(self._device), torch.Stream(device=self._device)
        copying.wait_stream(fusing)
        is_free: list[torch.Event] = []
        for index, key in enumerate(self._weights):
            if index >= self._num_slots:
                copying.wait_event(is_free[index - self._num_slots])
            with copying:
                deltas = self._copied(key, self._slots[index % self._num_slots])
            fusing.wait_event(copying.record_event())
            yield key, deltas
            is_free.append(fusing.record_event())

    def _copied(self, key: str, slot: Tensor) -> list[LoraDelta]:
        deltas, start = [], 0
        for lora in self._of(key):
            data = lora.factors.bytes_of(key)
            copy = slot[start : start + data.numel()]
            copy.copy_(data, non_blocking=True)
            deltas.append(self._delta(key, lora, copy))
            start += data.numel()
        return deltas

    def _of(self, key: str) -> list[ActiveLora]:
        return [lora for lora in self._loras if key in lora.strengths]

    def _num_bytes(self, key: str) -> int:
        return sum(lora.factors.num_bytes_of(key) for lora in self._of(key))

    @staticmethod
    def _delta(key: str, lora: ActiveLora, data: Tensor) -> LoraDelta:
        a, b = lora.factors.factors_in(key, data)
        return LoraDelta(a, b, lora.strengths[key])


def _taken(num_bytes: int, device: torch.device) -> Tensor:
    try:
        return torch.empty(num_bytes, dtype=torch.uint8, device=device)
    except torch.OutOfMemoryError:
        # What other work has left behind in pieces comes together again.
        torch.accelerator.empty_cache()
        return torch.empty(num_bytes, dtype=torch.uint8, device=device)
