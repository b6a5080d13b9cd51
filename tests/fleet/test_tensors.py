"""Tensors into and out of jobs, bit for bit."""

from __future__ import annotations

from typing import Any

import hypothesis
import numpy as np
import pytest
import torch
from hypothesis import strategies as st

from tests.fakes.processes import num_descriptors
from tests.fleet.conftest import FleetPool

DTYPES = [
    torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2,
    torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, torch.bool, torch.complex64, torch.complex128,
]  # fmt: skip


def make(dtype: torch.dtype, shape: tuple[int, ...]) -> torch.Tensor:
    values = torch.arange(int(np.prod(shape)), dtype=torch.float32).reshape(shape) % 7 - 3
    return (values + 2j * values).to(dtype) if dtype.is_complex else values.to(dtype)


def assert_same(ours: torch.Tensor, theirs: torch.Tensor) -> None:
    assert (ours.dtype, ours.shape, ours.device) == (theirs.dtype, theirs.shape, theirs.device)
    flat = [
        t.resolve_conj().clone(memory_format=torch.contiguous_format).reshape(-1).view(torch.uint8)
        for t in (ours, theirs)
    ]
    assert torch.equal(*flat)


def echo(fleets: FleetPool, rank: int, **kwargs: Any) -> dict[str, Any]:
    (answer,) = fleets.get().stream(action="echo", rank=rank, **kwargs)
    assert isinstance(answer, dict)
    return answer


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("shape", [(), (0, 3), (5,), (3, 4, 5), (300, 1000)], ids=str)
def test_tensors_of_every_type_come_back_as_they_went(fleets: FleetPool, shape: tuple[int, ...], rank: int) -> None:
    tensors = {str(dtype).removeprefix("torch."): make(dtype, shape) for dtype in DTYPES}
    answer = echo(fleets, rank, **tensors, nested={"deep": [tensors]})
    for name, tensor in tensors.items():
        assert_same(answer[name], tensor)
        assert_same(answer["nested"]["deep"][0][name], tensor)


@hypothesis.given(
    dtype=st.sampled_from(DTYPES),
    shape=st.lists(st.integers(0, 5), max_size=4).map(tuple),
    order=st.randoms(use_true_random=False),
    step=st.integers(1, 3),
)
@hypothesis.settings(max_examples=40)
def test_views_of_any_stride_keep_their_values(
    fleets: FleetPool, dtype: torch.dtype, shape: tuple[int, ...], order: Any, step: int
) -> None:
    dims = list(range(len(shape)))
    order.shuffle(dims)
    view = make(dtype, shape).permute(dims)
    view = view[::step] if view.ndim else view
    answer = echo(fleets, 1, top=view, nested=(view,))
    assert_same(answer["top"], view)
    assert_same(answer["nested"][0], view)


def test_conjugate_expanded_and_gradient_tensors_arrive_with_their_values(fleets: FleetPool) -> None:
    conjugate = make(torch.complex64, (4,)).conj()
    expanded = torch.tensor([1.0]).expand(3, 4)
    weighted = torch.nn.Parameter(torch.ones(2)) * 3
    answer = echo(fleets, 0, conjugate=conjugate, nested=[expanded, weighted])
    assert_same(answer["conjugate"], conjugate.resolve_conj())
    assert_same(answer["nested"][0], expanded.contiguous())
    assert answer["nested"][1].tolist() == [3.0, 3.0]


def test_a_tensor_received_may_be_written(fleets: FleetPool) -> None:
    answer = echo(fleets, 0, small=torch.zeros(3), large=torch.zeros(100_000))
    answer["small"] += 1
    answer["large"] += 1
    assert (answer["small"].sum(), answer["large"].sum()) == (3, 100_000)


def test_what_one_rank_writes_into_a_nested_input_the_others_do_not_see(fleets: FleetPool) -> None:
    given = torch.zeros(100_000)
    first = echo(fleets, 0, nested=[given])["nested"][0]
    first += 1
    assert echo(fleets, 1, nested=[given])["nested"][0].sum() == 0
    assert given.sum() == 0


def test_ten_thousand_small_tensors_need_no_descriptor_each(fleets: FleetPool) -> None:
    fleets.get()
    before = num_descriptors()
    answer = echo(fleets, 1, many=[torch.tensor([k, k]) for k in range(10_000)])["many"]
    assert num_descriptors() <= before + 1
    assert all(tensor.tolist() == [k, k] for k, tensor in enumerate(answer))


def test_a_thousand_unread_large_tensors_need_no_descriptor_each(fleets: FleetPool) -> None:
    fleet = fleets.get()
    before = num_descriptors()
    stream = fleet.stream(action="many_tensors", num_items=1000)
    items = list(stream)
    assert num_descriptors() <= before + 1
    assert [int(item[0]) for item in items] == list(range(1000))


def test_a_tensor_outlives_the_fleet_that_made_it(own_fleet: Any) -> None:
    fleet = own_fleet(2)
    items = list(fleet.stream(action="sum", tensor=torch.ones(200_000)))
    fleet.shutdown(graceful_timeout=0)
    assert all(torch.equal(item, torch.full((200_000,), 3.0, dtype=torch.float64)) for item in items)


def test_arrays_bytes_and_everything_else_are_pickled(fleets: FleetPool) -> None:
    array = np.arange(50_000, dtype=np.int16).reshape(2, -1)
    answer = echo(fleets, 1, array=array, data=b"\0" * 200_000, text="λ" * 3, nothing=None, words={"a", "b"})
    assert np.array_equal(answer["array"], array)
    assert (answer["data"], answer["text"], answer["nothing"], answer["words"]) == (
        b"\0" * 200_000, "λλλ", None, {"a", "b"},
    )  # fmt: skip


def test_a_class_of_the_drivers_own_comes_back_as_that_class(fleets: FleetPool) -> None:
    class Note:
        def __init__(self, text: str) -> None:
            self.text = text

    answer = echo(fleets, 1, note=Note("kept"))["note"]
    assert type(answer) is Note
    assert answer.text == "kept"
