"""How a text encoder's weights come to the devices while it works: all of them at once, or layer by layer.

The rule a caller must know: outside a stay the module's weights are those that wait in host memory, and it runs on no
other device; inside they are copies, which are gone with the stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from podium.multigpu.waiting import bring

Stay = Callable[[], AbstractContextManager[None]]
"""Opens a stay of the weights."""


@contextmanager
def visit(module: nn.Module, waiting: Mapping[str, Tensor], devices: Mapping[str, torch.device]) -> Iterator[None]:
    """Have weights on their devices, all at once.

    Ranks: one rank, local.

    Args:
        module: Uses `waiting` so far, and again afterwards.
        waiting: Weights and computed buffers by the module's names, in host memory.
        devices: Where each goes.
    """
    try:
        with torch.inference_mode(mode=False):
            for name, tensor in waiting.items():
                put_weight(module, name, bring(tensor, devices[name]))
        yield
    finally:
        put_weights(module, waiting)
        if any(device.type != "cpu" for device in devices.values()):
            # Other processes use these devices, too.
            torch.accelerator.empty_cache()


@contextmanager
def stream(
    module: nn.Module, waiting: Mapping[str, Tensor], layers: Mapping[str, nn.Module], device: torch.device
) -> Iterator[None]:
    """Have each layer's weights on the device while it runs and those of the next on their way; all others all along.

    Ranks: one rank, local.

    Args:
        module: Uses `waiting` so far, and again afterwards.
        waiting: Weights and computed buffers by the module's names, in host memory.
        layers: By the module's names, in the order they run.
        device: Where it runs.
    """
    of_layers = {name: weights_of(waiting, name) for name in layers}
    streamed = {name for weights in of_layers.values() for name in weights}
    others = {name: tensor for name, tensor in waiting.items() if name not in streamed}
    with visit(module, others, dict.fromkeys(others, device)), ExitStack() as hooks:
        _LayerStream(module, tuple(of_layers.values()), device).attach(layers.values(), hooks)
        yield


def weights_of(tensors: Mapping[str, Tensor], block: str) -> dict[str, Tensor]:
    """Return the tensors of a block by their whole names."""
    return {name: tensor for name, tensor in tensors.items() if name.startswith(f"{block}.")}


def put_weights(module: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Make a module use tensors in place of its own; their names are the module's."""
    for name, tensor in tensors.items():
        put_weight(module, name, tensor)


def put_weight(module: nn.Module, name: str, tensor: Tensor) -> None:
    """Make a module use a tensor in place of its own parameter or buffer `name`."""
    path, _, leaf = name.rpartition(".")
    owner = module.get_submodule(path)
    is_parameter = isinstance(getattr(owner, leaf), nn.Parameter)
    setattr(owner, leaf, nn.Parameter(tensor, requires_grad=False) if is_parameter else tensor)


@dataclass(frozen=True, slots=True)
class _Arriving:
    # Weights of a layer on their way; `event` tells when they are there, None where the host waited.
    tensors: Mapping[str, Tensor]
    event: torch.Event | None


class _LayerStream:
    # Brings layer after layer, one ahead of the one at work.

    def __init__(self, module: nn.Module, weights: tuple[Mapping[str, Tensor], ...], device: torch.device) -> None:
        self._module = module
        self._weights = weights
        self._device = device
        self._copying = None if device.type == "cpu" else torch.Stream(device=device)
        self._arriving: dict[int, _Arriving] = {}

    def attach(self, layers: Iterable[nn.Module], hooks: ExitStack) -> None:
        """Follow the layers as they run, until the hooks are taken off."""
        hooks.callback(self._let_all_go)
        for index, layer in enumerate(layers):
            hooks.callback(layer.register_forward_pre_hook(partial(self._before, index)).remove)
            hooks.callback(layer.register_forward_hook(partial(self._after, index)).remove)

    def _before(self, index: int, *_of_hook: Any) -> None:  # noqa: ANN401 - whatever torch hands to a hook
        if index not in self._arriving:
            self._send_for(index)
        arriving = self._arriving.pop(index)
        if arriving.event is not None:
            torch.accelerator.current_stream(self._device).wait_event(arriving.event)
        put_weights(self._module, arriving.tensors)
        if index + 1 < len(self._weights):
            self._send_for(index + 1)

    def _after(self, index: int, *_of_hook: Any) -> None:  # noqa: ANN401 - whatever torch hands to a hook
        put_weights(self._module, self._weights[index])

    def _send_for(self, index: int) -> None:
        with torch.inference_mode(mode=False):
            if self._copying is None:
                tensors = {name: bring(tensor, self._device) for name, tensor in self._weights[index].items()}
                self._arriving[index] = _Arriving(tensors, None)
                return
            # Memory is the computing stream's: what lay there before is done with once the copies begin, and it may
            # be given away again behind the layer's own work.
            tensors = {name: torch.empty_like(t, device=self._device) for name, t in self._weights[index].items()}
            self._copying.wait_stream(torch.accelerator.current_stream(self._device))
            with self._copying:
                for name, tensor in tensors.items():
                    tensor.copy_(self._weights[index][name], non_blocking=True)
            self._arriving[index] = _Arriving(tensors, self._copying.record_event())

    def _let_all_go(self) -> None:
        if self._copying is not None:
            # A layer that was sent for and never ran may still be on its way into memory that is given back now.
            torch.accelerator.current_stream(self._device).wait_stream(self._copying)
        self._arriving.clear()
        for weights in self._weights:
            put_weights(self._module, weights)
