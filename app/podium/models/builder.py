"""Builders: from checkpoint files to a network on its device, read from disk once per process.

The rule a caller must know: a builder is a value. `with_*` returns another one, `build` changes nothing in it, and two
modules built through one registry share their weights. What is wrong with the files (missing, unexpected or mis-shaped
parameters) is said before a single weight is read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Generic, Self, TypeVar

import torch
from torch import nn

from podium.jobs import LoraSpec
from podium.models.errors import CheckpointError, CheckpointReason
from podium.models.header import SafetensorsHeader, read_header
from podium.models.key_maps import KeyMap
from podium.models.lora import fuse_loras
from podium.models.lora_keys import LoraReport
from podium.models.module_weights import assign_weights, check_shapes, without_weights
from podium.models.registry import LoadedStateDict, Registry, StateDictKey
from podium.models.weight_reader import (
    CAST,
    OnProgress,
    WeightPolicy,
    WeightSource,
    find_sources,
    read_weights,
    stamp_of,
)

M = TypeVar("M", bound=nn.Module)
M_co = TypeVar("M_co", covariant=True)

Headers = tuple[SafetensorsHeader, ...]


@dataclass(frozen=True, slots=True)
class BuiltModel(Generic[M_co]):
    """A module, and what each LoRA of the builder's set did to it, in the order of the set."""

    module: M_co
    lora_reports: tuple[LoraReport, ...]


@dataclass(frozen=True, slots=True)
class SingleGPUModelBuilder(Generic[M]):
    """Makes one module on one device from safetensors files.

    Args:
        paths: The files; keys of all of them together must fill the module.
        key_map: From their keys to the module's.
        make_module: Makes the module from the files' headers, without weights (see `without_weights`).
        registry: Where loaded weights are kept for the next build; None keeps nothing.
        loras: Fused at build; their names are the module's own keys.
        dtype: Overrides the type that `build` is asked for.
        policy: What becomes of a tensor as it is read.
    """

    paths: tuple[Path, ...]
    key_map: KeyMap
    make_module: Callable[[Headers], M] = field(repr=False)
    registry: Registry | None = field(default=None, repr=False, compare=False)
    loras: tuple[LoraSpec, ...] = ()
    dtype: torch.dtype | None = None
    policy: WeightPolicy = CAST

    def with_registry(self, registry: Registry | None) -> Self:
        """Return a builder that keeps weights in another registry."""
        return replace(self, registry=registry)

    def with_loras(self, loras: tuple[LoraSpec, ...]) -> Self:
        """Return a builder that fuses another LoRA set; an empty one leaves the weights clean."""
        return replace(self, loras=loras)

    def with_key_map(self, key_map: KeyMap) -> Self:
        """Return a builder that reads the files' keys by another map."""
        return replace(self, key_map=key_map)

    def with_policy(self, policy: WeightPolicy) -> Self:
        """Return a builder that treats tensors otherwise as they are read."""
        return replace(self, policy=policy)

    def with_module(self, make_module: Callable[[Headers], M]) -> Self:
        """Return a builder that puts the same weights into another module."""
        return replace(self, make_module=make_module)

    def build(self, device: torch.device, dtype: torch.dtype, *, on_progress: OnProgress | None = None) -> M:
        """Return the module on `device`, in eval mode, without gradients.

        Args:
            device: Where weights and buffers go.
            dtype: Type of the weights; `self.dtype` overrides it.
            on_progress: Called between tensors with (bytes read, bytes to read) of the files; what it raises ends the
                load, and then nothing of it is kept.

        Raises:
            CheckpointError: A file cannot be read, describes no such network, or does not fill it.
            LoraError: A LoRA of the set cannot be applied.
        """
        return self.build_with_report(device, dtype, on_progress=on_progress).module

    def build_with_report(
        self, device: torch.device, dtype: torch.dtype, *, on_progress: OnProgress | None = None
    ) -> BuiltModel[M]:
        """Do what `build` does, and say what each LoRA did."""
        with torch.inference_mode(mode=False):
            loaded, module = self._load(device, dtype, on_progress)
            fused = fuse_loras(loaded.tensors, self.loras)
            assign_weights(module, {**loaded.tensors, **fused.tensors}, device)
        return BuiltModel(module, fused.reports)

    def load_weights(
        self, device: torch.device, dtype: torch.dtype, *, on_progress: OnProgress | None = None
    ) -> LoadedStateDict:
        """Return the clean weights, from the registry or from disk; shared, so never write into them.

        Raises:
            CheckpointError: As `build`.
        """
        with torch.inference_mode(mode=False):
            return self._load(device, dtype, on_progress)[0]

    def state_dict_key(self, device: torch.device, dtype: torch.dtype) -> StateDictKey:
        """Return the name under which a registry keeps the weights that `build` reads."""
        return StateDictKey.of(
            self.paths, self.key_map.name, device=device, dtype=self.dtype or dtype, policy=self.policy.name
        )

    def make_empty_module(self) -> M:
        """Return the module without weights, checked against the files; reads headers only.

        Raises:
            CheckpointError: A file cannot be read, describes no such network, or does not fill it.
        """
        headers = tuple(read_header(path) for path in self.paths)
        module = self._make(headers)
        self._sources(headers, module)
        return module

    def _load(
        self, device: torch.device, dtype: torch.dtype, on_progress: OnProgress | None
    ) -> tuple[LoadedStateDict, M]:
        dtype = self.dtype or dtype
        key = self.state_dict_key(device, dtype)
        held = self.registry.get(key) if self.registry is not None else None
        if held is not None:
            module = self._make(held.headers)
            check_shapes(module, {name: tuple(tensor.shape) for name, tensor in held.tensors.items()}, self.paths)
            return held, module
        stamps = tuple(stamp_of(path) for path in key.paths)
        headers = tuple(read_header(path) for path in self.paths)
        module = self._make(headers)
        sources = self._sources(headers, module)
        tensors = read_weights(sources, device=device, dtype=dtype, policy=self.policy, on_progress=on_progress)
        loaded = LoadedStateDict(headers, tensors, stamps)
        _refuse_if_replaced(loaded)
        if self.registry is not None:
            self.registry.add(key, loaded)
        return loaded, module

    def _make(self, headers: Headers) -> M:
        with without_weights():
            module = self.make_module(headers)
        return module.eval().requires_grad_(requires_grad=False)

    def _sources(self, headers: Headers, module: nn.Module) -> list[WeightSource]:
        wanted = {name: tuple(tensor.shape) for name, tensor in module.state_dict().items()}
        sources = self.policy.arrange(find_sources(headers, self.key_map), wanted)
        check_shapes(module, {source.module_key: source.shape for source in sources}, self.paths)
        return sources


def _refuse_if_replaced(loaded: LoadedStateDict) -> None:
    for stamp in loaded.stamps:
        if not stamp.is_current():
            raise CheckpointError(
                f"“{stamp.path.name}” was replaced while it was read, so old and new weights may be mixed. "
                "Try again when the new file is whole.",
                path=stamp.path,
                reason=CheckpointReason.UNREADABLE,
            )
