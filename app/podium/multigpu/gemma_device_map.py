"""Which block of a language model lies on which device: whole blocks, in order, evenly.

Accelerate's own maps count every GPU that the process sees, also another fleet's, and go on in host memory where those
are full. Here the devices are named, and what does not fit is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import nn

from podium.errors import JobRefusedError

RESERVED_BYTES = 1 << 30
"""Left free on each device for what a forward makes: hidden states of 1024 tokens, masks, what writing remembers."""

_GB = 1e9


def block_sizes(language_model: nn.Module, prefix: str, dtype: torch.dtype) -> dict[str, int]:
    """Return the bytes of every block of a language model in the order they run; its weights may be on meta.

    Args:
        language_model: With its blocks in `layers`.
        prefix: Of the language model in what is dispatched, such as "model.".
        dtype: That its floating weights will have.
    """
    sizes: dict[str, int] = {}
    for name, child in language_model.named_children():
        blocks = {f"{name}.{index}": block for index, block in child.named_children()} if name == "layers" else {}
        for block_name, block in (blocks or {name: child}).items():
            sizes[prefix + block_name] = sum(_num_bytes(tensor, dtype) for tensor in _tensors(block))
    return sizes


def plan_device_map(sizes: Mapping[str, int], free_bytes: Mapping[str, int]) -> dict[str, str]:
    """Return the device of each block.

    Every device but the last takes its even share, and one block more rather than less; blocks keep their order.

    Args:
        sizes: Bytes of each block, in the order they run.
        free_bytes: What each device has, the first one first.

    Raises:
        JobRefusedError: They do not fit.
    """
    room = {device: num_bytes - RESERVED_BYTES for device, num_bytes in free_bytes.items()}
    # What of the memory is split unevenly, and whether a share is a block too small, shows only by trying.
    share = sum(sizes.values()) / len(room)
    for slack in range(len(sizes) + 1):
        limits = {device: min(num_bytes, share + slack * max(sizes.values())) for device, num_bytes in room.items()}
        planned = _fill(sizes, limits)
        if planned is not None:
            return planned
    spare = _listed([f"{device} has {max(num_bytes, 0) / _GB:.1f} GB" for device, num_bytes in room.items()])
    raise JobRefusedError(
        f"The text encoder needs {sum(sizes.values()) / _GB:.1f} GB of device memory, and {spare} to spare. "
        "Close what else uses the devices, or start on more of them.",
    )


def _fill(sizes: Mapping[str, int], limits: Mapping[str, float]) -> dict[str, str] | None:
    devices = iter(limits.items())
    device, left = next(devices)
    planned = {}
    for name, num_bytes in sizes.items():
        while num_bytes > left:
            following = next(devices, None)
            if following is None:
                return None
            device, left = following
        planned[name] = device
        left -= num_bytes
    return planned


def _tensors(module: nn.Module) -> Sequence[torch.Tensor]:
    return (*module.parameters(), *module.buffers())


def _num_bytes(tensor: torch.Tensor, dtype: torch.dtype) -> int:
    return tensor.numel() * (dtype.itemsize if tensor.is_floating_point() else tensor.itemsize)


def _listed(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
