"""Adaptive layer norm: from noise levels to scales, shifts and gates, once per distinct noise level."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

NUM_SINUSOIDS = 256


class TimestepEmbedding(nn.Module):
    """Embed scaled noise levels: sinusoids, then a two-layer perceptron."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.linear_1 = nn.Linear(NUM_SINUSOIDS, dim)
        self.linear_2 = nn.Linear(dim, dim)

    def forward(self, timesteps: Tensor) -> Tensor:
        """Return [..., dim] for scaled noise levels [...]; sinusoids are computed in float32."""
        half = NUM_SINUSOIDS // 2
        steps = torch.arange(half, dtype=torch.float32, device=timesteps.device)
        angles = timesteps.float()[..., None] * torch.exp(steps * (-math.log(10000.0) / half))
        sinusoids = torch.cat((angles.cos(), angles.sin()), dim=-1).to(self.linear_1.weight.dtype)
        out: Tensor = self.linear_2(functional.silu(self.linear_1(sinusoids)))
        return out


class _Embedder(nn.Module):
    # Exists for the official names `<adaln>.emb.timestep_embedder.*` alone.
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.timestep_embedder = TimestepEmbedding(dim)


class AdaLNSingle(nn.Module):
    """Turn noise levels into `num_rows` modulation rows.

    Args:
        dim: Width of the stream.
        num_rows: Scales, shifts and gates to make.
    """

    def __init__(self, dim: int, num_rows: int) -> None:
        super().__init__()
        self.num_rows = num_rows
        self.emb = _Embedder(dim)
        self.linear = nn.Linear(dim, num_rows * dim)

    def forward(self, timesteps: Tensor) -> tuple[Tensor, Tensor]:
        """Return rows [B, U, num_rows, dim] and the embedding [B, U, dim] of scaled noise levels [B, U]."""
        embedded = self.emb.timestep_embedder(timesteps)
        rows = self.linear(functional.silu(embedded)).unflatten(-1, (self.num_rows, -1))
        return rows, embedded


def modulate(x: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
    """Return `x * (1 + scale) + shift`."""
    return x * (1 + scale) + shift


def rms_norm(x: Tensor, eps: float) -> Tensor:
    """Norm the last dimension without weights."""
    return functional.rms_norm(x, (x.shape[-1],), eps=eps)
