"""Rotary position embedding of the two streams: "split" layout, one frequency table over all heads."""

from __future__ import annotations

import torch
from torch import Tensor

from podium.models.transformer.inputs import RotaryTables


def rotary_frequencies(*, dim: int, num_axes: int, theta: float, is_float64: bool) -> Tensor:
    """Return the float32 frequencies that each position axis uses.

    Args:
        dim: Width over all heads.
        num_axes: Position axes (3 for video, 1 for audio and between the streams).
        theta: Base.
        is_float64: Compute in float64 before rounding.

    Returns:
        [dim // (2 * num_axes)] float32, pi/2 * theta ** linspace(0, 1).
    """
    dtype = torch.float64 if is_float64 else torch.float32
    exponents = torch.linspace(0.0, 1.0, dim // (2 * num_axes), dtype=dtype)
    return (theta**exponents * (torch.pi / 2)).to(torch.float32)


def rotary_tables(
    positions: Tensor, frequencies: Tensor, *, max_position: tuple[float, ...], num_heads: int, dim: int
) -> RotaryTables:
    """Return cosines and sines for token positions.

    Args:
        positions: [B, axes, T, 2] float32, [start, end) of each token.
        frequencies: From `rotary_frequencies`, on the device to compute on.
        max_position: Position that maps to 1, by axis.
        num_heads: Heads the width is split into.
        dim: Width over all heads.

    Returns:
        Float32 tables [B, T, num_heads, dim / num_heads / 2]; the front is padded with the identity where the
        frequencies do not fill the width.
    """
    middle = positions.to(frequencies.device).mean(dim=-1).transpose(1, 2)
    fraction = middle / torch.tensor(max_position, dtype=torch.float32, device=middle.device)
    angles = (fraction[..., None, :] * 2 - 1) * frequencies[:, None]
    angles = torch.nn.functional.pad(angles.flatten(2), (dim // 2 - angles.shape[-1] * angles.shape[-2], 0))
    angles = angles.unflatten(2, (num_heads, -1))
    return RotaryTables(angles.cos(), angles.sin())
