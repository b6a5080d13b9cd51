"""Attention over tokens that are spread over ranks, by torch.distributed collectives alone.

Self-attention swaps tokens for heads: each rank attends over all tokens with its share of the heads. Attention from a
replicated stream to a spread one (video to audio) runs on each rank over its own tokens and is merged by log-sum-exp.

Shapes: B samples, T tokens of all ranks, L tokens of a rank (padded), H heads, G heads of a rank, D head width.
"""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch import Tensor

from podium.errors import JobRefusedError
from podium.models.transformer.attention import dense_attention
from podium.multigpu.sequence_layout import TokenLayout, split_heads, too_many_tokens

# The name since torch 2.13; the older one is deprecated there.
_all_gather = getattr(dist, "all_gather_single", None) or dist.all_gather_into_tensor


class AttentionManager:
    """Exchanges and merges attention between the ranks of a group.

    Ranks: every rank of `group`, which all call the same methods in the same order.

    Args:
        max_tokens: Most video tokens a job may have.
        num_heads, head_dim: Of the video stream.
        tensor_dtype: Of the exchanged heads.
        group: The transformer's group; None for a single process.
        copy_out_: Return copies instead of views of the exchange buffers, for callers that keep what they get beyond
            the next attention.

    Raises:
        JobRefusedError: The group has more ranks than heads.
    """

    def __init__(
        self,
        max_tokens: int,
        num_heads: int,
        head_dim: int,
        tensor_dtype: torch.dtype,
        group: dist.ProcessGroup | None,
        copy_out_: bool = False,  # noqa: FBT001, FBT002 - the published signature
    ) -> None:
        self.group = group
        self.num_ranks = dist.get_world_size(group) if group is not None else 1
        self.rank = dist.get_rank(group) if group is not None else 0
        self.max_tokens = max_tokens
        self.num_collectives = 0
        self._heads = split_heads(num_heads, self.num_ranks)
        self._head_dim = head_dim
        self._dtype = tensor_dtype
        self._copy_out = copy_out_
        self._layout = TokenLayout(0, self.num_ranks, self.rank)
        # The same two objects for ever, or compiled blocks would take each new one for a reason to compile again. The
        # exchange itself stays out of what is compiled.
        self.spread_kernel = torch.compiler.disable(self.attend_spread)
        self.to_spread_kernel = torch.compiler.disable(self.attend_to_spread)

    @property
    def layout(self) -> TokenLayout:
        """Return where the tokens of the current forward lie."""
        return self._layout

    def begin(self, num_tokens: int) -> TokenLayout:
        """Lay out the tokens of a forward; local, and to be called before it.

        Raises:
            JobRefusedError: More than `max_tokens`.
        """
        if num_tokens > self.max_tokens:
            raise JobRefusedError(too_many_tokens(num_tokens, self.max_tokens))
        self._layout = TokenLayout(num_tokens, self.num_ranks, self.rank)
        return self._layout

    def gather_tokens(self, x_BLC: Tensor) -> Tensor:
        """Return all tokens [B, T, C] of every rank's share, without padding.

        Ranks: every rank of the group. Collectives: one all-gather.
        """
        if self.num_ranks == 1:
            return x_BLC
        gathered = x_BLC.new_empty((self.num_ranks * x_BLC.shape[0], *x_BLC.shape[1:]))
        self._count()
        _all_gather(gathered, x_BLC.contiguous(), group=self.group)
        by_rank = gathered.view(self.num_ranks, *x_BLC.shape)
        return by_rank.transpose(0, 1).flatten(1, 2)[:, : self._layout.num_tokens]

    def broadcast_replicated(self, x: Tensor) -> Tensor:
        """Return the first rank's copy of what every rank computed, so that unlike devices cannot drift apart.

        Ranks: every rank of the group. Collectives: one broadcast.
        """
        if self.num_ranks == 1:
            return x
        x = x.contiguous()
        self._count()
        dist.broadcast(x, group=self.group, group_src=0)
        return x

    def attend_spread(self, query_BLHD: Tensor, key_BLHD: Tensor, value_BLHD: Tensor, bias: Tensor | None) -> Tensor:
        """Attend from every rank's tokens to all tokens.

        Ranks: every rank of the group. Collectives: two all-to-alls, of q, k, v and of the output.

        Args:
            query_BLHD, key_BLHD, value_BLHD: This rank's tokens, padded, with all heads.
            bias: [B, 1, T, T] over all tokens, or None.

        Returns:
            [B, L, H, D]; padding is zero.
        """
        if self.num_ranks == 1:
            return dense_attention(query_BLHD, key_BLHD, value_BLHD, bias)
        qkv = torch.stack((query_BLHD, key_BLHD, value_BLHD), dim=2)
        query, key, value = self._tokens_from_heads(qkv)[:, : self._layout.num_tokens].unbind(dim=2)
        out_BTGD = dense_attention(query, key, value, bias)
        padding = self._layout.num_padded - self._layout.num_tokens
        out_BTGD = torch.nn.functional.pad(out_BTGD, (0, 0, 0, 0, 0, padding))
        return self._heads_from_tokens(out_BTGD)

    def attend_to_spread(self, query_BAHD: Tensor, key_BLHD: Tensor, value_BLHD: Tensor, bias: Tensor | None) -> Tensor:
        """Attend from tokens that every rank has to all ranks' tokens.

        Ranks: every rank of the group. Collectives: one all-gather of outputs with their log-sum-exps.

        Args:
            query_BAHD: The same on all ranks.
            key_BLHD, value_BLHD: This rank's tokens, padded.
            bias: Must be None.

        Returns:
            [B, A, H, D], the same bits on all ranks.
        """
        assert bias is None, "no mask between the streams"
        if self.num_ranks == 1:
            return dense_attention(query_BAHD, key_BLHD, value_BLHD, None)
        own = self._layout.num_own
        out, lse = attend_with_lse(query_BAHD, key_BLHD[:, :own], value_BLHD[:, :own])
        outs, lses = self._gather_pairs(out, lse)
        return merge_by_lse(outs, lses)

    def _tokens_from_heads(self, qkv_BL3HD: Tensor) -> Tensor:
        # From this rank's tokens with all heads to all tokens [B, T', 3, G, D] with this rank's heads.
        batch, share = qkv_BL3HD.shape[:2]
        send = torch.cat([part.reshape(-1) for part in qkv_BL3HD.split(self._heads, dim=3)])
        own_heads = self._heads[self.rank]
        per_head = batch * share * 3 * self._head_dim
        received = send.new_empty(self.num_ranks * per_head * own_heads)
        self._count()
        dist.all_to_all_single(
            received,
            send,
            [per_head * own_heads] * self.num_ranks,
            [per_head * heads for heads in self._heads],
            group=self.group,
        )
        by_rank = received.view(self.num_ranks, batch, share, 3, own_heads, self._head_dim)
        return by_rank.transpose(0, 1).flatten(1, 2)

    def _heads_from_tokens(self, out_BTGD: Tensor) -> Tensor:
        # Back: from all tokens with this rank's heads to this rank's tokens with all heads.
        batch, share = out_BTGD.shape[0], self._layout.share
        own_heads = self._heads[self.rank]
        send = out_BTGD.unflatten(1, (self.num_ranks, share)).transpose(0, 1).contiguous()
        per_head = batch * share * self._head_dim
        received = send.new_empty(per_head * sum(self._heads))
        self._count()
        dist.all_to_all_single(
            received,
            send.flatten(),
            [per_head * heads for heads in self._heads],
            [per_head * own_heads] * self.num_ranks,
            group=self.group,
        )
        parts = received.split([per_head * heads for heads in self._heads])
        return torch.cat(
            [part.view(batch, share, heads, self._head_dim) for part, heads in zip(parts, self._heads, strict=True)],
            dim=2,
        )

    def _gather_pairs(self, out: Tensor, lse: Tensor) -> tuple[Tensor, Tensor]:
        # Outputs keep their dtype and log-sum-exps their precision: both travel as bytes in one message.
        packed = torch.cat((out.flatten().view(torch.uint8), lse.flatten().view(torch.uint8)))
        gathered = packed.new_empty(self.num_ranks * packed.numel())
        self._count()
        _all_gather(gathered, packed, group=self.group)
        outs, lses = gathered.view(self.num_ranks, -1).split((out.nbytes, lse.nbytes), dim=1)
        return (
            outs.contiguous().view(out.dtype).view(self.num_ranks, *out.shape),
            lses.contiguous().view(lse.dtype).view(self.num_ranks, *lse.shape),
        )

    def _count(self) -> None:
        self.num_collectives += 1


def attend_with_lse(query_BAHD: Tensor, key_BLHD: Tensor, value_BLHD: Tensor) -> tuple[Tensor, Tensor]:
    """Attend, and return the log-sum-exp of the scores as well.

    Returns:
        [B, A, H, D] in the queries' dtype, contiguous, and [B, H, A] float32; zero and minus infinity where there is
        no key at all.
    """
    batch, num_queries, num_heads, _ = query_BAHD.shape
    if key_BLHD.shape[1] == 0:
        # torch's CPU kernel crashes on zero keys.
        empty = query_BAHD.new_full((batch, num_heads, num_queries), -torch.inf, dtype=torch.float32)
        return torch.zeros_like(query_BAHD, memory_format=torch.contiguous_format), empty
    heads_first = [x.transpose(1, 2) for x in (query_BAHD, key_BLHD, value_BLHD)]
    out, lse = _kernel_with_lse(*heads_first)
    return out.transpose(1, 2).contiguous(), lse[..., :num_queries].float().contiguous()


def _kernel_with_lse(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    # torch's public call hides the log-sum-exp that its kernels compute.
    aten = torch.ops.aten
    if query.is_cpu:
        out, lse = aten._scaled_dot_product_flash_attention_for_cpu(query, key, value)  # noqa: SLF001
    elif query.dtype == torch.float32:
        out, lse, *_ = aten._scaled_dot_product_efficient_attention(query, key, value, None, True)  # noqa: SLF001
    else:
        out, lse, *_ = aten._scaled_dot_product_flash_attention(query, key, value)  # noqa: SLF001
    return out, lse


def merge_by_lse(outs_NBAHD: Tensor, lses_NBHA: Tensor) -> Tensor:
    """Merge attention over disjoint keys, in float32 and in the order of the first dimension.

    Args:
        outs_NBAHD: Outputs over each part of the keys.
        lses_NBHA: Their log-sum-exps, float32; minus infinity where a part was empty.

    Returns:
        [B, A, H, D] in the outputs' dtype: attention over all keys.
    """
    weights = torch.softmax(lses_NBHA, dim=0).transpose(2, 3).unsqueeze(-1)
    return (outs_NBAHD.float() * weights).sum(dim=0).to(outs_NBAHD.dtype)
