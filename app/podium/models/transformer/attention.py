"""Attention with a slot: projections are ours, the kernel between them can be replaced.

Shapes: B samples, T query tokens, S key tokens, H heads, D head width.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from podium.models.transformer.inputs import RotaryTables


class AttentionKernel(Protocol):
    """Attend with projected, normed and rotated heads; what sequence parallelism puts its exchange into."""

    def __call__(self, query_BTHD: Tensor, key_BSHD: Tensor, value_BSHD: Tensor, bias: Tensor | None, /) -> Tensor:
        """Return [B, T, H, D]; `bias` [B, 1, T, S] is added to the scores."""
        ...


def dense_attention(query_BTHD: Tensor, key_BSHD: Tensor, value_BSHD: Tensor, bias: Tensor | None) -> Tensor:
    """Attend over all keys by torch's scaled dot product."""
    out_BHTD = functional.scaled_dot_product_attention(
        query_BTHD.transpose(1, 2), key_BSHD.transpose(1, 2), value_BSHD.transpose(1, 2), attn_mask=bias
    )
    return out_BHTD.transpose(1, 2)


class Attention(nn.Module):
    """Multi-head attention with query and key norms over all heads, and an optional gate per head.

    Args:
        query_dim: Width of the queries' stream, and of the output.
        context_dim: Width of the keys' stream.
        num_heads: Heads.
        head_dim: Width of a head.
        is_gated: Multiply each head's output by 2 * sigmoid of a logit of the query.
        norm_eps: Epsilon of the norms.
    """

    def __init__(
        self, query_dim: int, context_dim: int, *, num_heads: int, head_dim: int, is_gated: bool, norm_eps: float
    ) -> None:
        super().__init__()
        inner = num_heads * head_dim
        self.num_heads = num_heads
        self.q_norm = nn.RMSNorm(inner, eps=norm_eps)
        self.k_norm = nn.RMSNorm(inner, eps=norm_eps)
        self.to_q = nn.Linear(query_dim, inner)
        self.to_k = nn.Linear(context_dim, inner)
        self.to_v = nn.Linear(context_dim, inner)
        self.to_gate_logits = nn.Linear(query_dim, num_heads) if is_gated else None
        # The official name of the output projection is `to_out.0`.
        self.to_out = nn.ModuleList([nn.Linear(inner, query_dim)])
        self.kernel: AttentionKernel = dense_attention
        # What takes the values on their way before queries and keys are made; the kernel gets what it returns.
        self.send_values: Callable[[Tensor], Tensor] | None = None

    def forward(
        self,
        query: Tensor,
        context: Tensor,
        *,
        query_rope: RotaryTables | None = None,
        key_rope: RotaryTables | None = None,
        bias: Tensor | None = None,
        keep: Tensor | bool = True,
    ) -> Tensor:
        """Attend from `query` [B, T, query_dim] to `context` [B, S, context_dim].

        Args:
            query_rope, key_rope: Positions; None for attention without.
            bias: [B, 1, T, S] added to the scores.
            keep: False, or 0 in a [B, 1, 1] mask, replaces the attention by its values (T = S).
        """
        value = self.to_v(context)
        if keep is False:
            heads = value.unflatten(-1, (self.num_heads, -1))
        else:
            heads = self._attend(query, context, value, ropes=(query_rope, key_rope), bias=bias)
            if isinstance(keep, Tensor):
                heads = torch.lerp(value.unflatten(-1, (self.num_heads, -1)), heads, keep[..., None])
        if self.to_gate_logits is not None:
            heads = heads * (2.0 * torch.sigmoid(self.to_gate_logits(query))).unsqueeze(-1)
        out: Tensor = self.to_out[0](heads.flatten(2))
        return out

    def _attend(
        self,
        query: Tensor,
        context: Tensor,
        value: Tensor,
        *,
        ropes: tuple[RotaryTables | None, RotaryTables | None],
        bias: Tensor | None,
    ) -> Tensor:
        v = value.unflatten(-1, (self.num_heads, -1))
        if self.send_values is not None:
            v = self.send_values(v)
        q = self.q_norm(self.to_q(query)).unflatten(-1, (self.num_heads, -1))
        k = self.k_norm(self.to_k(context)).unflatten(-1, (self.num_heads, -1))
        query_rope, key_rope = ropes
        if query_rope is not None:
            q = rotate(q, query_rope)
        if key_rope is not None:
            k = rotate(k, key_rope)
        return self.kernel(q, k, v, bias)


def rotate(x_BTHD: Tensor, tables: RotaryTables) -> Tensor:
    """Rotate the two halves of each head against each other."""
    first, second = x_BTHD.chunk(2, dim=-1)
    return torch.cat((first * tables.cos - second * tables.sin, second * tables.cos + first * tables.sin), dim=-1)
