"""Who owns which weight, and in which buckets weights travel."""

from __future__ import annotations

import hashlib
from collections import Counter
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from podium.multigpu import sharded_sd
from podium.multigpu.ownership import owner_of, shares_of
from podium.multigpu.sharded_sd import ShardedSD, _buckets

from tests.unit.multigpu.print_ownership import RANKS, table, true_size_bytes

KEYS = [f"transformer_blocks.{block}.attn1.to_{part}.weight" for block in range(48) for part in "qkv"]


@given(st.sampled_from(KEYS), st.integers(1, 64))
def test_the_owner_is_the_first_eight_bytes_of_the_names_md5_from_the_little_end(key: str, num_ranks: int) -> None:
    digits = hashlib.md5(key.encode(), usedforsecurity=False).hexdigest()[:16]
    number = sum(int(digits[2 * place : 2 * place + 2], 16) << (8 * place) for place in range(8))
    assert owner_of(key, num_ranks) == number % num_ranks


@pytest.mark.parametrize(
    ("key", "owners"),
    [
        # Computed apart from Podium: `echo -n KEY | md5sum`.
        ("patchify_proj.weight", (0, 2, 6)),
        ("transformer_blocks.0.attn1.to_q.weight", (1, 0, 1)),
        ("audio_scale_shift_table", (1, 0, 3)),
    ],
)
def test_known_names_have_the_owners_that_any_other_program_computes(key: str, owners: tuple[int, ...]) -> None:
    assert tuple(owner_of(key, num_ranks) for num_ranks in (2, 3, 8)) == owners


@pytest.mark.parametrize("num_ranks", [2, 3, 8])
@pytest.mark.parametrize("suffix", [".weight_scale", ".weight_scale_2"])
def test_a_scale_goes_with_its_weight(suffix: str, num_ranks: int) -> None:
    for key in KEYS:
        assert owner_of(key.removesuffix(".weight") + suffix, num_ranks) == owner_of(key, num_ranks)


@pytest.mark.parametrize("num_ranks", [2, 3, 8])
def test_names_are_dealt_out_about_evenly(num_ranks: int) -> None:
    counts = Counter(owner_of(key, num_ranks) for key in KEYS)
    assert set(counts) == set(range(num_ranks))
    assert max(counts.values()) < 2 * len(KEYS) / num_ranks


@given(st.lists(st.integers(0, 40), max_size=20), st.integers(1, 60))
def test_buckets_keep_the_order_and_only_a_tensor_alone_exceeds_the_limit(sizes: list[int], limit_bytes: int) -> None:
    tensors = [torch.zeros(size, dtype=torch.uint8) for size in sizes]
    buckets = list(_buckets(tensors, limit_bytes))
    assert [id(tensor) for bucket in buckets for tensor in bucket] == [id(tensor) for tensor in tensors]
    assert all(buckets)
    for bucket in buckets:
        assert sum(t.nbytes for t in bucket) <= limit_bytes or sum(t.nbytes > 0 for t in bucket) == 1
    for bucket, after in pairwise(buckets):
        # Another one begins only where its first tensor no longer fitted.
        assert sum(t.nbytes for t in bucket) + after[0].nbytes > limit_bytes


def test_a_single_process_owns_all_and_sends_nothing() -> None:
    tensors = {"a.weight": torch.ones(3), "b.weight": torch.zeros(())}
    whole = ShardedSD(tensors, None)
    assert whole.broadcast(list(tensors)) == 0
    copies, views = whole.clone_own(), whole.view_own()
    assert set(copies) == set(views) == set(tensors)
    assert copies.num_bytes == views.num_bytes == 16
    tensors["a.weight"].zero_()
    assert bool(copies["a.weight"].all())
    assert not views["a.weight"].any()


class OneProcess:
    """Two ranks taking turns: what the first sent is what the second gets."""

    def __init__(self) -> None:
        self.rank = 0
        self.sent: list[torch.Tensor] = []

    def get_world_size(self, _group: object) -> int:
        return 2

    def get_rank(self, _group: object) -> int:
        return self.rank

    def broadcast(self, tensor: torch.Tensor, group: object, group_src: int) -> None:
        del group
        if group_src == self.rank:
            self.sent.append(tensor.clone())
        elif self.sent:
            tensor.copy_(self.sent.pop(0))


@pytest.mark.parametrize("bucket_mb", [0, 1])
def test_tensors_of_any_type_arrive_to_the_bit_those_without_dimensions_too(
    monkeypatch: pytest.MonkeyPatch, bucket_mb: int
) -> None:
    ranks = OneProcess()
    monkeypatch.setattr(sharded_sd, "dist", ranks)
    keys = [key for key in KEYS if owner_of(key, 2) == 0][:6]
    first = {
        keys[0]: torch.randn(3, 5).to(torch.float8_e4m3fn),
        keys[0].removesuffix(".weight") + ".weight_scale": torch.tensor(0.3),
        keys[1]: torch.randn(7, dtype=torch.bfloat16),
        keys[2]: torch.randn(4, 3).t(),
        keys[3]: torch.randn(()),
        keys[4]: torch.randn(1, 1),
    }
    second = {key: torch.zeros_like(tensor.float()).to(tensor.dtype) for key, tensor in first.items()}
    group: object = object()
    ShardedSD(first, group, bucket_mb).broadcast(list(first))  # type: ignore[arg-type] # a group of the fake
    ranks.rank = 1
    num_bytes = ShardedSD(second, group, bucket_mb).broadcast(list(second))  # type: ignore[arg-type]
    assert num_bytes >= sum(tensor.nbytes for tensor in first.values())
    for key, tensor in first.items():
        assert torch.equal(second[key].float(), tensor.float()), key


@given(st.dictionaries(st.text(min_size=1), st.integers(0, 1 << 40), max_size=30), st.integers(1, 9))
def test_shares_are_what_each_rank_owns(sizes: dict[str, int], num_ranks: int) -> None:
    shares = shares_of(sizes, num_ranks)
    assert len(shares) == num_ranks
    for rank, share in enumerate(shares):
        assert share == sum(n for key, n in sizes.items() if owner_of(key, num_ranks) == rank)


def test_the_true_sizes_are_dealt_out_as_the_table_says() -> None:
    sizes = {key: in_bf16 for key, (in_bf16, _) in true_size_bytes().items()}
    print(*table(sizes), sep="\n")
    total = sum(sizes.values())
    assert total == pytest.approx(37.98e9, rel=1e-3)
    for num_ranks in RANKS:
        shares = shares_of(sizes, num_ranks)
        assert sum(shares) == total
        # Dealt by name, so uneven: a plan that takes an even share is too low by up to a quarter.
        assert 1.0 <= max(shares) * num_ranks / total < 1.25
    assert max(shares_of(sizes, 8)) * 8 / total > 1.2
