"""Weights that wait in host memory and come to a device as copies; builders of networks that do so when a plan says.

The rule a caller must know: what a `ResidentBuilder` built of waiting weights holds their only copies on the device.
They are there for as long as the network lives, so whoever is done with it lets go of it.
"""

from __future__ import annotations

import logging
from collections.abc import Hashable
from dataclasses import replace
from typing import Generic, TypeVar

import torch
from torch import Tensor, nn

from podium.models.builder import SingleGPUModelBuilder
from podium.models.registry import LoadedStateDict, Registry, StateDictKey, StateDictRegistry
from podium.models.residency import Place
from podium.models.weight_reader import OnProgress
from podium.pipelines.blocks.placement import Placement
from podium.pipelines.prompt_cache import weights_identity

logger = logging.getLogger(__name__)

M = TypeVar("M", bound=nn.Module)

WAITING = "waiting"
"""In place of a device, in the name under which a registry keeps weights that wait."""


def put_aside(tensor: Tensor, device: torch.device) -> Tensor:
    """Return a tensor in host memory, pinned where `device` is no CPU; the tensor itself where it lies there already.

    Ranks: one rank, local.
    """
    if device.type == "cpu" and tensor.device.type == "cpu":
        return tensor
    try:
        aside = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=device.type != "cpu")
    except RuntimeError as error:
        logger.warning("no pinned memory for weights that wait, so they will come more slowly: %s", error)
        aside = torch.empty(tensor.shape, dtype=tensor.dtype)
    return aside.copy_(tensor)


def bring(tensor: Tensor, device: torch.device) -> Tensor:
    """Return a copy of a waiting tensor on a device, on the CPU too; the host does not wait for it.

    Ranks: one rank, local.
    """
    return torch.empty_like(tensor, device=device).copy_(tensor, non_blocking=True)


class ResidentBuilder(Generic[M]):
    """Builds the network of `inner`, its weights staying on the device, or visiting it.

    Ranks: every rank; local.

    Args:
        inner: The network's own builder; its LoRA set is empty.
        registry: Where weights are kept, on the device or waiting.
        placement: Where the network runs.
    """

    def __init__(self, inner: SingleGPUModelBuilder[M], registry: Registry, placement: Placement) -> None:
        self._inner = inner.with_registry(registry)
        self._registry = registry
        self._placement = placement
        self._place = Place.DEVICE

    @property
    def place(self) -> Place:
        """Return where the weights are between two builds: DEVICE or VISITING."""
        return self._place

    def move(self, place: Place) -> None:
        """Have the weights stay on the device, or wait in host memory; what was read already goes there at once.

        Args:
            place: DEVICE or VISITING.
        """
        if place is self._place:
            return
        self._place = place
        device = self._placement.device
        held = self._registry.pop(self._waiting_key if place is Place.DEVICE else self._resident_key)
        if held is None:
            return
        carry, key = (bring, self._resident_key) if place is Place.DEVICE else (put_aside, self._waiting_key)
        with torch.inference_mode(mode=False):
            tensors = {name: carry(tensor, device) for name, tensor in held.tensors.items()}
        self._registry.add(key, replace(held, tensors=tensors))

    def preload(self, device: torch.device, dtype: torch.dtype, *, on_progress: OnProgress | None = None) -> None:
        """Read the weights to where they stay or wait; nothing visits the device.

        Raises:
            CheckpointError: A file cannot be read.
        """
        if self._place is Place.DEVICE:
            self._inner.load_weights(device, dtype, on_progress=on_progress)
        else:
            self._waiting(on_progress)

    def build(self, device: torch.device, dtype: torch.dtype, *, on_progress: OnProgress | None = None) -> M:
        """Return the network; weights that wait come to the device with it, and go with it.

        Raises:
            CheckpointError: A file cannot be read.
        """
        if self._place is Place.DEVICE:
            return self._inner.build(device, dtype, on_progress=on_progress)
        waiting = self._waiting(on_progress)
        with torch.inference_mode(mode=False):
            visitors = {name: bring(tensor, device) for name, tensor in waiting.tensors.items()}
        of_this_build = StateDictRegistry()
        of_this_build.add(self._inner.state_dict_key(device, dtype), replace(waiting, tensors=visitors))
        return self._inner.with_registry(of_this_build).build(device, dtype)

    def identity(self) -> Hashable:
        """Return which weights would be built; where they wait makes no difference."""
        return weights_identity(self._inner)

    @property
    def _resident_key(self) -> StateDictKey:
        return self._inner.state_dict_key(self._placement.device, self._placement.dtype)

    @property
    def _waiting_key(self) -> StateDictKey:
        return replace(self._resident_key, device=WAITING)

    def _waiting(self, on_progress: OnProgress | None) -> LoadedStateDict:
        key, placement = self._waiting_key, self._placement
        held = self._registry.get(key)
        if held is None:
            builder = self._inner.with_registry(None)
            read = builder.load_weights(torch.device("cpu"), placement.dtype, on_progress=on_progress)
            with torch.inference_mode(mode=False):
                tensors = {name: put_aside(tensor, placement.device) for name, tensor in read.tensors.items()}
            held = replace(read, tensors=tensors)
            self._registry.add(key, held)
        return held
