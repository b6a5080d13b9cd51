"""A module before and after it has weights: made without them, checked against them, filled with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from podium.models.errors import CheckpointError, CheckpointReason

Shape = tuple[int, ...]

_NUM_NAMED_KEYS = 5


@contextmanager
def without_weights() -> Iterator[None]:
    """Let modules made inside have no memory for their weights, but real values in the buffers they compute.

    Only `torch.empty` gives meta tensors, which is how layers make their weights. A whole module on the meta device
    would lose what constructors compute and no checkpoint holds (rotary frequencies, resampling filters, scales).
    """
    with _EmptyOnMeta():
        yield


def check_shapes(module: nn.Module, found: Mapping[str, Shape], paths: Sequence[Path]) -> None:
    """Check that weights fill a module exactly.

    Args:
        module: With or without weights.
        found: Shape by module key of the weights there are.
        paths: The files they come from, for the words of the refusal.

    Raises:
        CheckpointError: A parameter is missing, unexpected or of another shape; it names the first ones.
    """
    wanted = {name: tuple(tensor.shape) for name, tensor in module.state_dict().items()}
    problems = [
        *((f"missing: {name}", f" {list(shape)}") for name, shape in wanted.items() if name not in found),
        *((f"unexpected: {name}", f" {list(shape)}") for name, shape in found.items() if name not in wanted),
        *(
            (f"wrong shape: {name}", f" is {list(found[name])}, {list(shape)} is expected")
            for name, shape in wanted.items()
            if name in found and found[name] != shape
        ),
    ]
    if not problems:
        return
    names = "”, “".join(path.name for path in paths)
    first, _shape = problems[0]
    lines = [f"{what}{shape}" for what, shape in problems[:_NUM_NAMED_KEYS]]
    raise CheckpointError(
        f"“{names}” does not hold the network it describes: {len(problems)} of its weights do not fit ({first}). "
        "A complete file of one model generation is needed.",
        path=paths[0],
        reason=CheckpointReason.MISMATCHED,
        details="\n".join([*lines, *_and_more(len(problems))]),
    )


def assign_weights(module: nn.Module, tensors: Mapping[str, torch.Tensor], device: torch.device) -> None:
    """Make a module use `tensors` themselves, without a copy, and bring the buffers it computed to `device`.

    Args:
        module: Checked by `check_shapes`.
        tensors: Every parameter and persistent buffer by module key, on `device`.
        device: Where the module will run.
    """
    module.load_state_dict(dict(tensors), strict=True, assign=True)
    unfilled = [name for name, tensor in (*module.named_parameters(), *module.named_buffers()) if tensor.is_meta]
    assert not unfilled, f"buffers that no checkpoint holds were made with torch.empty: {unfilled}"
    module.to(device)


class _EmptyOnMeta(TorchFunctionMode):
    """Sends `torch.empty` to the meta device and leaves every other call alone."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - whatever torch's function returns
        arguments = dict(kwargs or {})
        if func is torch.empty:
            arguments["device"] = "meta"
        return func(*args, **arguments)


def _and_more(num_problems: int) -> list[str]:
    return [f"and {num_problems - _NUM_NAMED_KEYS} more"] if num_problems > _NUM_NAMED_KEYS else []
