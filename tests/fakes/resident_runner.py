"""The shipped distilled runner, which also tells what each rank holds on its device while a clip is made."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from podium.jobs import GenerationRequest, PhaseEnded
from podium.models.registry import LoadedStateDict, StateDictKey, StateDictRegistry
from podium.models.residency import Place, ResidencyPlan
from podium.multigpu.runners.distilled_mgpu import DistilledRunner
from podium.multigpu.waiting import WAITING
from podium.pipelines.report import call_of

from tests.fakes.traced_runner import digest


class ResidentRunner(DistilledRunner):
    """Takes the shipped runner's jobs and clips given as `measured`; when `asked`, names its text encoder's builder."""

    def __call__(self, **call: Any) -> Iterator[Any]:
        if "asked" in call:
            yield type(self._pipeline.prompt_encoder.text_encoder_builder).__name__
            return
        if "measured" not in call:
            yield from super().__call__(**call)
            return
        yield self._measure(call["measured"], call["residency"], call["weighed"])

    def _measure(self, request: GenerationRequest, residency: ResidencyPlan, weighed: str) -> dict[str, Any]:
        moves = list(self._move_parts(residency))
        tensors: dict[str, Tensor] = {}
        held = 0

        def note(name: str, tensor: Tensor) -> None:
            nonlocal held
            tensors[name] = tensor.cpu()
            if name == weighed:
                held = device_bytes(self)

        # Or the prompt would not be encoded, whatever becomes of the text encoder.
        self._pipeline.prompt_encoder.cache.clear()

        for _event in self._pipeline.stream(**call_of(request), trace=note):
            pass
        tracker = self._residence._tracker
        return {
            "rank": self.rank,
            "tensors": tensors,
            "held": held,
            "weights": digest(tracker),
            "clean_bytes": tracker.stored_sd.num_bytes,
            "is_clean_on_host": tracker.is_clean_on_host,
            "num_held_twice": len(names := [(key.paths, key.key_map) for key in self._entries]) - len(set(names)),
            "moves": [move for move in moves if isinstance(move, PhaseEnded)],
        }

    @property
    def _entries(self) -> Mapping[StateDictKey, LoadedStateDict]:
        registry = self._registry
        assert isinstance(registry, StateDictRegistry), "the runner makes it"
        return registry._entries


def device_bytes(runner: ResidentRunner) -> int:
    """Return what is alive on a rank's kind of device: every tensor but those that wait in host memory."""
    waiting = [
        tensor for key, entry in runner._entries.items() if key.device == WAITING for tensor in entry.tensors.values()
    ]
    if runner._residence.plan.clean is Place.HOST:
        waiting += runner._residence._tracker.stored_sd.values()
    gc.collect()
    storages: dict[int, int] = {}
    for found in gc.get_objects():
        # Some answer `isinstance` by doing things.
        if issubclass(type(found), torch.Tensor) and found.device.type == runner.device.type:
            storage = found.untyped_storage()
            storages[storage.data_ptr()] = storage.nbytes()
    for tensor in waiting:
        storages.pop(tensor.untyped_storage().data_ptr(), None)
    return sum(storages.values())
