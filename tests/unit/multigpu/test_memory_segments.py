"""What torch takes from a GPU for tensors that come one after another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.multigpu.memory_segments import segment_bytes

KB, MB = 1 << 10, 1 << 20
SIZES = st.lists(st.integers(0, 40 * MB) | st.integers(0, 2 * MB) | st.sampled_from([8 * MB, MB, 512]), max_size=40)


@pytest.mark.parametrize(
    ("sizes", "taken"),
    [
        ([], 0),
        # A small tensor takes a segment of two megabytes, and more of them fill it.
        ([1], 2 * MB),
        ([MB, MB], 2 * MB),
        ([MB, MB, 1], 4 * MB),
        ([512] * 4096, 2 * MB),
        ([1] * 4097, 4 * MB),
        # From there to ten they share twenty, and two of eight leave four that no third fits into,
        ([MB + 1], 20 * MB),
        ([8 * MB, 8 * MB], 20 * MB),
        ([8 * MB] * 3, 40 * MB),
        # but what is small enough does.
        ([8 * MB, 8 * MB, 3 * MB], 20 * MB),
        # Small ones have segments of their own, whatever is left in those.
        ([8 * MB, 8 * MB, 3 * MB, MB], 22 * MB),
        # From ten on each has its own, in steps of two.
        ([10 * MB], 10 * MB),
        ([33 * MB + 1], 34 * MB),
        ([32 * MB, 32 * MB], 64 * MB),
        # The smallest rest that is large enough is taken: six of seven, so that nine find eleven.
        ([5 * MB, 8 * MB, 9 * MB, 6 * MB, 9 * MB], 40 * MB),
    ],
)
def test_tensors_are_cut_from_segments_as_torch_cuts_them(sizes: list[int], taken: int) -> None:
    assert segment_bytes(sizes) == taken


@given(SIZES)
def test_segments_hold_all_tensors_and_no_more_than_one_each(sizes: list[int]) -> None:
    taken = segment_bytes(sizes)
    assert taken % (2 * MB) == 0
    assert sum(sizes) <= taken <= sum(segment_bytes([size]) for size in sizes)


@given(SIZES, st.integers(0, 40 * MB))
def test_one_tensor_more_never_takes_less(sizes: list[int], more: int) -> None:
    assert segment_bytes(sizes) <= segment_bytes([*sizes, more])


@given(st.lists(st.integers(10 * MB, 200 * MB), max_size=20))
def test_large_tensors_lose_two_megabytes_each_at_most(sizes: list[int]) -> None:
    assert segment_bytes(sizes) - sum(sizes) < 2 * MB * max(1, len(sizes))


def test_weights_of_eight_megabytes_take_a_quarter_more_than_they_are() -> None:
    assert segment_bytes([8 * MB] * 576) == 288 * 20 * MB
