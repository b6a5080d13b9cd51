"""A text encoder whose weights wait in host memory: the same numbers and words, and no copy is left afterwards."""

from __future__ import annotations

import gc
from itertools import islice
from pathlib import Path

import pytest
import torch
from torch import Tensor

from podium.errors import JobRefusedError
from podium.models.prompt_enhancement import WritingRequest
from podium.models.registry import StateDictRegistry
from podium.models.residency import Place
from podium.multigpu import gemma_builders, gemma_source
from podium.multigpu.gemma_builders import AccelerateGemmaBuilder, AccelerateGemmaWrapper
from podium.multigpu.gemma_stay import weights_of
from podium.multigpu.waiting import WAITING

from tests.fakes.live_memory import LiveMemory

CPU = torch.device("cpu")
PROMPTS = ["a red fox", "x"]
AWAY = (Place.VISITING, Place.STREAMED)


@pytest.fixture
def registry() -> StateDictRegistry:
    return StateDictRegistry()


@pytest.fixture(params=["gemma3", "gemma4"])
def builder(tiny_pack: Path, registry: StateDictRegistry, request: pytest.FixtureRequest) -> AccelerateGemmaBuilder:
    path = str(tiny_pack / request.param)
    return AccelerateGemmaBuilder(path, None, None, registry, src_rank=0, dtype=torch.float32)


def build(builder: AccelerateGemmaBuilder, place: Place) -> AccelerateGemmaWrapper:
    builder.move(place, CPU)
    return builder.build(CPU, torch.float32)


def pointers(wrapper: AccelerateGemmaWrapper) -> set[int]:
    assert wrapper._inner is not None
    return {tensor.data_ptr() for tensor in (*wrapper._inner.parameters(), *wrapper._inner.buffers())}


def waiting(registry: StateDictRegistry) -> dict[str, Tensor]:
    (entry,) = (entry for key, entry in registry._entries.items() if key.device == WAITING)
    return dict(entry.tensors)


def layer_bytes(tensors: dict[str, Tensor]) -> list[int]:
    names = dict.fromkeys(".".join(name.split(".")[:3]) for name in tensors if ".layers." in name)
    return [sum(tensor.nbytes for tensor in weights_of(tensors, name).values()) for name in names]


@pytest.mark.parametrize("place", AWAY)
def test_prompts_are_encoded_to_the_bit_as_where_the_weights_stay(
    builder: AccelerateGemmaBuilder, place: Place
) -> None:
    staying = builder.build(CPU, torch.float32).encode(PROMPTS)
    for ours, theirs in zip(build(builder, place).encode(PROMPTS), staying, strict=True):
        assert torch.equal(ours, theirs)


@pytest.mark.parametrize("place", AWAY)
def test_the_same_words_are_written(builder: AccelerateGemmaBuilder, place: Place) -> None:
    request = WritingRequest("a fox", 3)
    staying = list(islice(builder.build(CPU, torch.float32).write(request), 5))
    assert list(islice(build(builder, place).write(request), 5)) == staying


@pytest.mark.parametrize("place", AWAY)
def test_between_two_encodings_the_module_holds_what_waits_and_nothing_else(
    builder: AccelerateGemmaBuilder, registry: StateDictRegistry, place: Place
) -> None:
    encoder = build(builder, place)
    assert pointers(encoder) <= {tensor.data_ptr() for tensor in waiting(registry).values()}
    with LiveMemory() as memory:
        states = encoder.encode(["x"])
        assert memory.peak_bytes > memory.num_bytes
        del states
        gc.collect()
        assert memory.num_bytes == 0
    assert pointers(encoder) <= {tensor.data_ptr() for tensor in waiting(registry).values()}


def test_a_visit_brings_all_weights_and_a_stream_two_layers_at_most(
    builder: AccelerateGemmaBuilder, registry: StateDictRegistry
) -> None:
    peaks = {}
    for place in AWAY:
        encoder = build(builder, place)
        with LiveMemory() as memory:
            encoder.encode(["x"])
        peaks[place] = memory.peak_bytes
    weights = waiting(registry)
    whole, layers = sum(tensor.nbytes for tensor in weights.values()), layer_bytes(weights)
    assert len(layers) > 2
    assert peaks[Place.VISITING] >= whole
    # What a forward makes is the same; the layers that are not there make the difference.
    assert peaks[Place.VISITING] - peaks[Place.STREAMED] >= sum(layers) - 2 * max(layers) - max(layers) // 2


@pytest.mark.parametrize("place", AWAY)
def test_a_refusal_leaves_nothing_behind(
    builder: AccelerateGemmaBuilder, registry: StateDictRegistry, place: Place
) -> None:
    encoder = build(builder, place)
    with pytest.raises(JobRefusedError, match="too long"):
        encoder.encode(["word " * 2000])
    assert pointers(encoder) <= {tensor.data_ptr() for tensor in waiting(registry).values()}
    assert encoder.encode(["x"])[0].isfinite().all()


@pytest.mark.parametrize("place", AWAY)
def test_writing_that_is_broken_off_leaves_nothing_behind(
    builder: AccelerateGemmaBuilder, registry: StateDictRegistry, place: Place
) -> None:
    encoder = build(builder, place)
    tokens = encoder.write(WritingRequest("a fox", 3))
    next(tokens)
    tokens.close()
    assert pointers(encoder) <= {tensor.data_ptr() for tensor in waiting(registry).values()}


def test_what_leaves_the_devices_is_not_read_again_and_what_comes_back_is(
    builder: AccelerateGemmaBuilder, registry: StateDictRegistry
) -> None:
    passed: list[int] = []

    def num_read(place: Place) -> int:
        passed.clear()
        builder.move(place, CPU)
        builder.preload(CPU, torch.float32, on_progress=lambda done, _: passed.append(done))
        assert len(registry) == 1
        return len(passed)

    num_tensors = num_read(Place.DEVICE)
    assert num_tensors > 10
    assert [num_read(place) for place in (Place.VISITING, Place.STREAMED, Place.DEVICE)] == [0, 0, num_tensors]
    builder.move(Place.STREAMED, CPU)
    registry.clear()
    assert num_read(Place.STREAMED) == num_tensors


def test_a_visit_that_has_no_room_is_refused_before_it_begins(
    builder: AccelerateGemmaBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(builder, Place.VISITING)
    monkeypatch.setattr(gemma_builders, "agree_all", lambda _attempt, _group: [("cpu", 0), ("cuda:1", 0)])
    with pytest.raises(JobRefusedError, match="needs 0.0 GB of device memory"):
        builder.build(CPU, torch.float32)


def test_a_visit_is_spread_over_the_devices_that_have_room_now(
    tiny_pack: Path, registry: StateDictRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    builder = AccelerateGemmaBuilder(str(tiny_pack / "gemma3"), None, None, registry, src_rank=0, dtype=torch.float32)
    expected = builder.build(CPU, torch.float32).encode(PROMPTS)
    build(builder, Place.VISITING)
    dispatched: list[dict[str, str]] = []
    room = [("cpu", 2 << 30), ("cpu:0", 2 << 30)]
    monkeypatch.setattr(gemma_builders, "agree_all", lambda _attempt, _group: room)
    # Two names of one device stand in for two devices: hooks between them would move nothing.
    monkeypatch.setattr(gemma_source, "dispatch_model", lambda _module, places, **_: dispatched.append(places))
    states = builder.build(CPU, torch.float32).encode(PROMPTS)
    (places,) = dispatched
    assert set(places.values()) == {"cpu", "cpu:0"}
    assert places["model.embed_tokens"] == "cpu"
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(states, expected, strict=True))
