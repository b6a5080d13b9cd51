"""Objects to bytes and back, and packets over a socket."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import torch
from hypothesis import strategies as st

from podium.multigpu import channel, transport
from podium.multigpu.channel import INLINE_LIMIT_BYTES, Kind, Packet

from tests.fakes.processes import num_descriptors

DTYPES = [
    torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.int64, torch.bool, torch.complex64
]  # fmt: skip
shapes = st.lists(st.integers(0, 4), max_size=4).map(tuple)
tensors = st.builds(
    lambda dtype, shape, seed: (torch.randn(shape, generator=torch.Generator().manual_seed(seed)) * 3).to(dtype),
    st.sampled_from(DTYPES), shapes, st.integers(0, 99),
)  # fmt: skip
values = st.recursive(
    st.none() | st.integers() | st.text(max_size=5) | st.binary(max_size=20) | tensors,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = channel.socket_pair()
    with ours, theirs:
        yield ours, theirs


def through(ends: tuple[socket.socket, socket.socket], value: object) -> Any:
    body = transport.pack(value)
    channel.send_packet(ends[0], Kind.YIELDED, 3, body)
    body.close()
    packet = channel.receive_packet(ends[1])
    assert isinstance(packet, Packet)
    assert (packet.kind, packet.job_id) == (Kind.YIELDED, 3)
    return transport.unpack(packet.pickled, packet.blob)


def same(ours: object, theirs: object) -> bool:
    if isinstance(ours, torch.Tensor) and isinstance(theirs, torch.Tensor):
        bits = [t.clone(memory_format=torch.contiguous_format).reshape(-1).view(torch.uint8) for t in (ours, theirs)]
        return ours.dtype == theirs.dtype and ours.shape == theirs.shape and torch.equal(*bits)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return list(ours) == list(theirs) and all(map(same, ours.values(), theirs.values()))
    return ours == theirs


@hypothesis.given(values)
@hypothesis.settings(max_examples=60)
def test_any_nesting_of_values_and_tensors_comes_back(ends: tuple[socket.socket, socket.socket], value: object) -> None:
    assert same(through(ends, value), value)


@pytest.mark.parametrize("num_bytes", [0, 1, INLINE_LIMIT_BYTES - 200, INLINE_LIMIT_BYTES + 1, 3_000_000])
def test_every_size_passes_inline_or_beside(ends: tuple[socket.socket, socket.socket], num_bytes: int) -> None:
    data = os.urandom(num_bytes)
    before = num_descriptors()
    assert through(ends, data) == data
    assert num_descriptors() == before


def test_one_tensor_twice_in_a_message_is_one_tensor(ends: tuple[socket.socket, socket.socket]) -> None:
    tensor = torch.ones(3)
    first, second = through(ends, [tensor, tensor])
    assert first is second


def test_what_was_sent_is_there_after_the_sender_is_gone(ends: tuple[socket.socket, socket.socket]) -> None:
    body = transport.pack(torch.arange(100_000))
    channel.send_packet(ends[0], Kind.YIELDED, 1, body)
    body.close()
    ends[0].close()
    packet = channel.receive_packet(ends[1])
    assert packet is not None
    assert torch.equal(transport.unpack(packet.pickled, packet.blob), torch.arange(100_000))
    assert channel.receive_packet(ends[1]) is None


def test_a_packet_that_nobody_reads_times_out(
    ends: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel, "_SEND_LIMIT_S", 0.01)
    ends[0].setblocking(False)
    body = channel.plain_body(b"x" * INLINE_LIMIT_BYTES)

    def send_many() -> None:
        for _ in range(100):
            channel.send_packet(ends[0], Kind.LOG, 0, body)

    with pytest.raises(TimeoutError):
        send_many()


def test_the_memory_of_a_message_is_given_back() -> None:
    ours, theirs = channel.socket_pair()
    with ours, theirs:
        through((ours, theirs), torch.ones(1_000_000))
        before = _num_maps()
        for _ in range(20):
            through((ours, theirs), torch.ones(1_000_000))
        assert _num_maps() <= before + 1


def test_only_dense_tensors_at_top_level_are_split_off() -> None:
    dense, sparse = torch.ones(2), torch.ones(2, 2).to_sparse()
    split, rest = transport.split_tensors({"a": dense, "b": [dense], "c": sparse, "d": 1})
    assert list(split) == ["a"]
    assert list(rest) == ["b", "c", "d"]


def test_a_sparse_tensor_is_pickled_as_torch_does_it(ends: tuple[socket.socket, socket.socket]) -> None:
    sparse = torch.eye(3).to_sparse()
    assert torch.equal(through(ends, {"s": sparse})["s"].to_dense(), torch.eye(3))


def test_without_torch_in_the_process_nothing_looks_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torch")
    body = transport.pack({"prompt": "a cat"})
    assert body.num_blob_bytes == 0
    assert transport.split_tensors({"a": 1}) == ({}, {"a": 1})
    assert "torch" not in sys.modules


def test_classes_beside_a_runner_are_pickled_by_value_and_no_longer_after() -> None:
    import cloudpickle

    with transport.by_value(_Beside):
        inside = cloudpickle.dumps(_Beside)
    assert len(inside) > 4 * len(cloudpickle.dumps(_Beside))


class _Beside:
    """Something that a worker could not import."""

    text = "of this module"

    def method(self) -> str:
        return self.text


def _num_maps() -> int:
    return Path("/proc/self/maps").read_text(encoding="utf-8").count("memfd:podium")
