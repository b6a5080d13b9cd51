"""Attention in parts equals attention in one."""

from __future__ import annotations

from unittest import mock

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from podium.errors import JobRefusedError
from podium.models.transformer.attention import dense_attention
from podium.multigpu import attention
from podium.multigpu.attention import AttentionManager, attend_with_lse, merge_by_lse
from podium.multigpu.sequence_layout import TokenLayout
from podium.multigpu.sp_builder import _share

from tests.fakes.spread_jobs import CollectiveCounter

BATCH, NUM_QUERIES, HEADS, HEAD_DIM = 2, 5, 3, 8


def qkv(num_keys: int, seed: int, scale: float = 1.0) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    sizes = (NUM_QUERIES, num_keys, num_keys)
    query, key, value = (torch.randn(BATCH, size, HEADS, HEAD_DIM, generator=generator) for size in sizes)
    return query * scale, key, value


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=5).filter(any), st.integers(0, 999), st.sampled_from([0.1, 1, 8])
)
def test_any_split_of_the_keys_merges_to_attention_over_all_of_them(sizes: list[int], seed: int, scale: float) -> None:
    query, key, value = qkv(sum(sizes), seed, scale)
    parts = [attend_with_lse(query, k, v) for k, v in zip(key.split(sizes, 1), value.split(sizes, 1), strict=True)]
    merged = merge_by_lse(torch.stack([out for out, _ in parts]), torch.stack([lse for _, lse in parts]))
    whole = dense_attention(query, key, value, None)
    assert float((merged - whole).norm() / whole.norm()) < 1e-6


def test_the_log_sum_exp_is_that_of_the_scaled_scores() -> None:
    query, key, value = qkv(7, 1)
    _, lse = attend_with_lse(query, key, value)
    scores = torch.einsum("bahd,bshd->bhas", query.double(), key.double()) / HEAD_DIM**0.5
    assert torch.allclose(lse.double(), scores.logsumexp(-1), atol=1e-6)


def test_a_part_without_keys_gives_zeros_of_no_weight() -> None:
    query, key, value = qkv(0, 1)
    out, lse = attend_with_lse(query, key, value)
    assert not out.any()
    assert bool((lse == -torch.inf).all())
    assert lse.shape == (BATCH, HEADS, NUM_QUERIES)


def test_merging_keeps_the_outputs_type_and_sums_in_float32() -> None:
    query, key, value = qkv(16, 2)
    parts = [attend_with_lse(query, key[:, part], value[:, part]) for part in (slice(0, 5), slice(5, 16))]
    outs = torch.stack([out for out, _ in parts])
    lses = torch.stack([lse for _, lse in parts])
    exact = merge_by_lse(outs.bfloat16().float(), lses)
    merged = merge_by_lse(outs.bfloat16(), lses)
    assert merged.dtype == torch.bfloat16
    assert torch.equal(merged, exact.bfloat16())


def test_a_single_process_attends_as_without_a_manager_and_issues_no_collective() -> None:
    manager = AttentionManager(100, HEADS, HEAD_DIM, torch.float32, None)
    query, key, value = qkv(NUM_QUERIES, 3)
    whole = dense_attention(query, key, value, None)
    manager.begin(NUM_QUERIES)
    with CollectiveCounter(1, 0) as counter:
        assert torch.equal(manager.attend_spread(query, key, value, None), whole)
        assert torch.equal(manager.attend_to_spread(query, key, value, None), whole)
        assert manager.gather_tokens(query) is query
        assert manager.broadcast_replicated(query) is query
    assert not counter.messages


@given(st.integers(1, 40), st.integers(2, 9), st.integers(0, 999))
def test_shares_put_together_again_are_the_tokens(num_tokens: int, num_ranks: int, seed: int) -> None:
    tokens = torch.randn(BATCH, num_tokens, HEAD_DIM, generator=torch.Generator().manual_seed(seed))
    shares = [_share(tokens, TokenLayout(num_tokens, num_ranks, rank), dim=1) for rank in range(num_ranks)]
    assert len({share.shape for share in shares}) == 1
    manager = AttentionManager(100, HEADS, HEAD_DIM, torch.float32, None)
    manager.begin(num_tokens)
    manager.num_ranks = num_ranks
    with mock.patch.object(attention, "all_gather", lambda own, count, _group: torch.cat(shares[:count])):
        assert all(torch.equal(manager.gather_tokens(share), tokens) for share in shares)


def test_more_tokens_than_the_fleet_was_started_for_are_refused() -> None:
    manager = AttentionManager(100, HEADS, HEAD_DIM, torch.float32, None)
    assert manager.begin(100).num_tokens == 100
    with pytest.raises(JobRefusedError, match="101 tokens, and 100 are the most"):
        manager.begin(101)


@pytest.mark.parametrize(("backend", "can_be_recorded"), [("nccl", True), ("gloo", False)])
def test_forwards_of_several_ranks_can_be_recorded_where_devices_exchange(backend: str, can_be_recorded: bool) -> None:
    group = mock.Mock(group_name="a group")
    of_group = {"get_world_size": lambda _: 2, "get_rank": lambda _: 0, "get_backend": lambda _: backend}
    with mock.patch.multiple(attention.dist, **of_group):
        manager = AttentionManager(100, HEADS, HEAD_DIM, torch.float32, group)
        assert manager.can_be_recorded == can_be_recorded
        assert manager.for_team(group).can_be_recorded == can_be_recorded
    # A rank alone exchanges nothing.
    assert manager.for_team(None).can_be_recorded
