"""Attention over tokens that are spread over ranks, by torch.distributed collectives alone.

Self-attention swaps tokens for heads: each rank attends over all tokens with its share of the heads. Attention from a
replicated stream to a spread one (video to audio) runs on each rank over its own tokens and is merged by log-sum-exp.

The collectives are torch's functional ones, called as operators. A compiler takes them into its graph as they are, so
that a block of the transformer stays one graph, and what lies between two exchanges is fused with the copies around
them. Each receives into a new buffer, which torch's allocator, or the compiler's plan, takes from the last one: there
is none to keep here.

Shapes: B samples, T tokens of all ranks, L tokens of a rank (padded), N ranks, P parts of a message, H heads, G heads
of a rank, D head width.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
import torch.distributed as dist
from torch import Tensor

from podium.errors import JobRefusedError
from podium.models.transformer.attention import dense_attention
from podium.multigpu.sequence_layout import TokenLayout, split_heads, too_many_tokens

_ops = torch.ops._c10d_functional  # noqa: SLF001 - what torch's own tensor parallelism is built of; no public name


class AttentionManager:
    """Exchanges and merges attention between the ranks of a group.

    Ranks: every rank of `group`, which all call the same methods in the same order.

    Args:
        max_tokens: Most video tokens a job may have.
        num_heads, head_dim: Of the video stream.
        tensor_dtype: Of the exchanged heads.
        group: The transformer's group; None for a single process.
        copy_out_: Return compact copies instead of views of what was received, for callers that keep what they get.
        sends_values_ahead: Send the values in a message of their own, while queries and keys are still made. Between
            devices without a fast link that hides a quarter of the traffic; between others one message fewer is better.

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
        *,
        sends_values_ahead: bool = False,
    ) -> None:
        self.group = group
        self.num_ranks = dist.get_world_size(group) if group is not None else 1
        self.rank = dist.get_rank(group) if group is not None else 0
        self.max_tokens = max_tokens
        self.sends_values_ahead = sends_values_ahead and self.num_ranks > 1
        self._num_heads, self._head_dim = num_heads, head_dim
        self._heads = split_heads(num_heads, self.num_ranks)
        self._dtype = tensor_dtype
        self._copy_out = copy_out_
        self._group_name: str = "" if group is None else group.group_name
        self._is_gloo = group is not None and dist.get_backend(group) == "gloo"
        self._layout = TokenLayout(0, self.num_ranks, self.rank)
        self._active = self
        # The same objects for ever, or compiled blocks would take each new one for a reason to compile again.
        self.spread_kernel = self.attend_spread
        self.to_spread_kernel = self.attend_to_spread
        self.value_sender = self.send_values if self.sends_values_ahead else None

    @property
    def layout(self) -> TokenLayout:
        """Return where the tokens of the current forward lie."""
        return self._layout

    @property
    def can_be_recorded(self) -> bool:
        """Return whether a forward can be recorded: what gloo does between devices, the host does."""
        return self.num_ranks == 1 or not self._is_gloo

    @property
    def active(self) -> AttentionManager:
        """Return who shares the tokens of a forward: itself, or who stands in for it."""
        return self._active

    def for_team(self, group: dist.ProcessGroup | None) -> AttentionManager:
        """Return a manager like this one for some of its ranks, one alone with None."""
        return AttentionManager(
            self.max_tokens,
            self._num_heads,
            self._head_dim,
            self._dtype,
            group,
            self._copy_out,
            sends_values_ahead=self.sends_values_ahead,
        )

    @contextmanager
    def replaced_by(self, team: AttentionManager) -> Iterator[None]:
        """Have `team` share the tokens of the forwards within, each team those of its own.

        Ranks: one rank, local.
        """
        self._active = team
        try:
            yield
        finally:
            self._active = self

    def begin(self, num_tokens: int) -> TokenLayout:
        """Lay out the tokens of a forward; local, and to be called before it.

        Raises:
            JobRefusedError: More than `max_tokens`.
        """
        if num_tokens > self.max_tokens:
            raise JobRefusedError(too_many_tokens(num_tokens, self.max_tokens))
        self._layout = TokenLayout(num_tokens, self.num_ranks, self.rank)
        return self._layout

    def gather(self, x: Tensor) -> Tensor:
        """Return every rank's contiguous `x`, in rank order along the first dimension.

        Ranks: every rank of the group. Collectives: one all-gather; between devices on gloo one all-to-all.
        """
        gathered = send_to_all if self._is_gloo and not x.is_cpu else all_gather
        return gathered(x, self.num_ranks, self._group_name)

    def gather_tokens(self, x_BLC: Tensor) -> Tensor:
        """Return all tokens [B, T, C] of every rank's share, without padding.

        Ranks: every rank of the group. Collectives: one all-gather.
        """
        if self.num_ranks == 1:
            return x_BLC
        gathered = self.gather(x_BLC.contiguous())
        by_rank = gathered.view(self.num_ranks, *x_BLC.shape)
        return by_rank.transpose(0, 1).flatten(1, 2)[:, : self._layout.num_tokens]

    def broadcast_replicated(self, x: Tensor) -> Tensor:
        """Return the first rank's copy of what every rank computed, so that unlike devices cannot drift apart.

        Ranks: every rank of the group. Collectives: one broadcast.
        """
        if self.num_ranks == 1:
            return x
        received: Tensor = _ops.wait_tensor(_ops.broadcast(x.contiguous(), 0, self._group_name))
        return received

    def send_values(self, value_BLHD: Tensor) -> Tensor:
        """Begin to send values ahead of their queries and keys, as `attend_spread` then takes them.

        Ranks: every rank of the group. Collectives: one all-to-all, which the next `attend_spread` waits for.
        """
        return self._begin_tokens_from_heads((value_BLHD,))

    def attend_spread(self, query_BLHD: Tensor, key_BLHD: Tensor, value: Tensor, bias: Tensor | None) -> Tensor:
        """Attend from every rank's tokens to all tokens.

        Ranks: every rank of the group. Collectives: two all-to-alls, of q, k, v and of the output.

        Args:
            query_BLHD, key_BLHD: This rank's tokens, padded, with all heads.
            value: The same of values, or what `send_values` gave where they go ahead.
            bias: [B or 1, 1, T, T] over all tokens, alike on all ranks and for all heads, or None.

        Returns:
            [B, L, H, D]; padding is nobody's business.
        """
        if self.num_ranks == 1:
            return dense_attention(query_BLHD, key_BLHD, value, bias)
        batch, num_tokens = query_BLHD.shape[0], self._layout.num_tokens
        if self.sends_values_ahead:
            query_key = self._begin_tokens_from_heads((query_BLHD, key_BLHD))
            query, key = self._end_tokens_from_heads(query_key, batch, 2).unbind(dim=2)
            (values,) = self._end_tokens_from_heads(value, batch, 1).unbind(dim=2)
        else:
            sent = self._begin_tokens_from_heads((query_BLHD, key_BLHD, value))
            query, key, values = self._end_tokens_from_heads(sent, batch, 3).unbind(dim=2)
        if bias is not None:
            # Padded queries attend as they like: their outputs go to nobody.
            bias = torch.nn.functional.pad(bias, (0, 0, 0, self._layout.num_padded - num_tokens))
        out_BTGD = dense_attention(query, key[:, :num_tokens], values[:, :num_tokens], bias)
        out_BLHD = self._heads_from_tokens(out_BTGD)
        return out_BLHD.clone() if self._copy_out else out_BLHD

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

    def _begin_tokens_from_heads(self, parts_BLHD: Sequence[Tensor]) -> Tensor:
        # This rank's tokens with all heads go out, P parts in one message: to each rank its heads of [B, L, P, G, D].
        rows = [part.reshape(-1, self._num_heads, self._head_dim) for part in parts_BLHD]
        if len(set(self._heads)) == 1:
            # One copy, straight into the order of the message: [N, B L, P, G D].
            by_rank = [part.unflatten(1, (self.num_ranks, -1)).flatten(2).transpose(0, 1) for part in rows]
            send = torch.stack(by_rank, dim=2).flatten()
        else:
            cuts = [part.split(self._heads, dim=1) for part in rows]
            send = torch.cat([torch.stack(of_rank, dim=1).flatten() for of_rank in zip(*cuts, strict=True)])
        per_head = send.numel() // self._num_heads
        return all_to_all(
            send,
            [per_head * self._heads[self.rank]] * self.num_ranks,
            [per_head * heads for heads in self._heads],
            self._group_name,
        )

    def _end_tokens_from_heads(self, received: Tensor, batch: int, num_parts: int) -> Tensor:
        # All tokens [B, T', P, G, D] with this rank's heads come in.
        own_heads = self._heads[self.rank]
        shape = (self.num_ranks, batch, self._layout.share, num_parts, own_heads, self._head_dim)
        waited: Tensor = _ops.wait_tensor(received)
        by_rank = waited.view(shape)
        return by_rank.transpose(0, 1).flatten(1, 2)

    def _heads_from_tokens(self, out_BTGD: Tensor) -> Tensor:
        # Back: from all tokens, padded, with this rank's heads to this rank's tokens with all heads.
        batch, share, ranks = out_BTGD.shape[0], self._layout.share, self.num_ranks
        send = out_BTGD.unflatten(1, (ranks, share)).transpose(0, 1).flatten()
        per_head = batch * share * self._head_dim
        sizes = [per_head * heads for heads in self._heads]
        received: Tensor = _ops.wait_tensor(
            all_to_all(send, sizes, [per_head * self._heads[self.rank]] * ranks, self._group_name)
        )
        if len(set(self._heads)) == 1:
            by_rank = received.view(ranks, batch, share, -1, self._head_dim)
            return by_rank.permute(1, 2, 0, 3, 4).flatten(2, 3)
        parts = received.split(sizes)
        return torch.cat(
            [part.view(batch, share, heads, self._head_dim) for part, heads in zip(parts, self._heads, strict=True)],
            dim=2,
        )

    def _gather_pairs(self, out: Tensor, lse: Tensor) -> tuple[Tensor, Tensor]:
        # Outputs keep their dtype and log-sum-exps their precision: both travel as bytes in one message.
        packed = torch.cat((out.flatten().view(torch.uint8), lse.flatten().view(torch.uint8)))
        gathered = self.gather(packed)
        outs, lses = gathered.view(self.num_ranks, -1).split((out.nbytes, lse.nbytes), dim=1)
        return (
            outs.contiguous().view(out.dtype).view(self.num_ranks, *out.shape),
            lses.contiguous().view(lse.dtype).view(self.num_ranks, *lse.shape),
        )


def all_to_all(send: Tensor, received_sizes: list[int], sent_sizes: list[int], group_name: str) -> Tensor:
    """Begin to send each rank its piece of a flat tensor.

    Ranks: every rank of the group. Collectives: one all-to-all.

    Returns:
        A flat tensor, whose content is there once it was waited for.
    """
    received: Tensor = _ops.all_to_all_single(send, received_sizes, sent_sizes, group_name)
    return received


def all_gather(x: Tensor, num_ranks: int, group_name: str) -> Tensor:
    """Return every rank's `x`, in rank order along the first dimension.

    Ranks: every rank of the group. Collectives: one all-gather.
    """
    gathered: Tensor = _ops.wait_tensor(_ops.all_gather_into_tensor(x, num_ranks, group_name))
    return gathered


def send_to_all(x: Tensor, num_ranks: int, group_name: str) -> Tensor:
    """Return the same as `all_gather`, for devices on gloo: there, that operator takes their addresses for the host's.

    Ranks: every rank of the group. Collectives: one all-to-all.

    Source: https://github.com/pytorch/pytorch/issues/152645, seen as a crash on torch 2.11.
    """
    sizes = [x.numel()] * num_ranks
    received: Tensor = _ops.wait_tensor(all_to_all(x.flatten().repeat(num_ranks), sizes, sizes, group_name))
    return received.view(num_ranks * x.shape[0], *x.shape[1:])


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
