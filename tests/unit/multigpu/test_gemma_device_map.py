"""Blocks of a language model dealt to devices."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from podium.errors import JobRefusedError
from podium.multigpu.gemma_device_map import RESERVED_BYTES, block_sizes, plan_device_map

GB = 10**9
EMBEDDING = {"model.embed_tokens": 2 * GB}
LAYERS = {f"model.layers.{index}": GB // 2 for index in range(48)}
SIZES = {**EMBEDDING, **LAYERS, "model.norm": 1000}


def memory(*free: int) -> dict[str, int]:
    return {f"cuda:{index}": num_bytes + RESERVED_BYTES for index, num_bytes in enumerate(free)}


def loads(planned: dict[str, str], sizes: dict[str, int]) -> dict[str, int]:
    return {
        device: sum(sizes[name] for name, place in planned.items() if place == device)
        for device in set(planned.values())
    }


def test_devices_with_room_take_even_shares_in_order() -> None:
    planned = plan_device_map(SIZES, memory(80 * GB, 80 * GB, 80 * GB, 80 * GB))
    assert set(loads(planned, SIZES)) == {"cuda:0", "cuda:1", "cuda:2", "cuda:3"}
    assert max(loads(planned, SIZES).values()) <= sum(SIZES.values()) / 4 + 2 * GB
    assert list(planned) == list(SIZES)
    assert planned["model.embed_tokens"] == "cuda:0"


def test_a_device_with_little_room_takes_what_it_can() -> None:
    planned = plan_device_map(SIZES, memory(3 * GB, 80 * GB))
    assert loads(planned, SIZES)["cuda:0"] <= 3 * GB
    assert planned["model.norm"] == "cuda:1"


def test_what_does_not_fit_is_refused_with_what_each_device_has() -> None:
    with pytest.raises(JobRefusedError, match=r"needs 26\.0 GB.*cuda:0 has 10\.0 GB and cuda:1 has 0\.0 GB to spare"):
        plan_device_map(SIZES, {**memory(10 * GB), "cuda:1": 0})


@given(st.lists(st.integers(1, 50), min_size=1, max_size=30), st.lists(st.integers(0, 400), min_size=1, max_size=5))
def test_no_device_takes_more_than_it_has_and_blocks_keep_their_order(blocks: list[int], free: list[int]) -> None:
    sizes = {f"layers.{index}": size for index, size in enumerate(blocks)}
    try:
        planned = plan_device_map(sizes, memory(*free))
    except JobRefusedError:
        # With a block's worth of air on every device it would have fitted.
        assert sum(blocks) > sum(max(0, room - max(blocks)) for room in free)
        return
    assert all(load <= memory(*free)[device] - RESERVED_BYTES for device, load in loads(planned, sizes).items())
    assert all(one <= other for one, other in pairwise(planned.values()))


def test_sizes_are_those_of_the_wanted_type_and_buffers_count() -> None:
    model = nn.Module()
    model.embed_tokens = nn.Embedding(10, 4)
    model.layers = nn.ModuleList([nn.Linear(4, 4, bias=False), nn.Linear(4, 4)])
    model.layers[0].register_buffer("ids", torch.zeros(3, dtype=torch.int64))
    sizes = block_sizes(model, "model.", torch.bfloat16)
    assert sizes == {"model.embed_tokens": 80, "model.layers.0": 32 + 24, "model.layers.1": 40}
