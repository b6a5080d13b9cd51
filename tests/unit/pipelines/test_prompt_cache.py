"""Contexts of recent prompts: what is encoded again, what is not, and what is kept."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from podium.jobs import LoraSpec, Phase
from podium.models.registry import StateDictRegistry
from podium.models.text_encoder import PromptContext, embeddings_processor_builder, text_encoder_builder
from podium.models.weight_reader import OnProgress
from podium.pipelines.blocks.placement import Placement
from podium.pipelines.blocks.prompts import PromptEncoder
from podium.pipelines.events import PhaseBegan, PhaseOver, PipelineEvent, PromptEncoded
from podium.pipelines.prompt_cache import PromptCache, weights_identity

CPU = torch.device("cpu")
WHERE = Placement(CPU, torch.float32)


@dataclass
class CountedEncoder:
    """Encodes as the builder's encoder does, and notes the prompts of each call."""

    inner: object
    calls: list[list[str]] = field(default_factory=list)

    def build(self, device: torch.device, dtype: torch.dtype, *, on_progress: OnProgress | None = None) -> object:
        self._encoder = self.inner.build(device, dtype)
        return self

    def encode(self, prompts: Sequence[str]) -> list[Tensor]:
        self.calls.append(list(prompts))
        return self._encoder.encode(prompts)

    def identity(self) -> object:
        return weights_identity(self.inner)


@pytest.fixture
def text_pack(tiny_pack: Path, tmp_path: Path) -> Path:
    """Return a copy of the two files that prompts go through, for tests that replace them."""
    shutil.copytree(tiny_pack / "gemma3", tmp_path / "gemma3")
    os.link(tiny_pack / "ltx-2.3-tiny.safetensors", tmp_path / "checkpoint.safetensors")
    return tmp_path


@pytest.fixture(scope="module")
def registry() -> StateDictRegistry:
    return StateDictRegistry()


class SmallProcessor:
    """Stands in for projection and connectors, which take their time."""

    def build(self, device: torch.device, dtype: torch.dtype, *, on_progress: OnProgress | None = None) -> object:
        return self

    def process(self, hidden_NDL: Tensor) -> PromptContext:
        return PromptContext(hidden_NDL[..., -1], hidden_NDL[..., 0])

    def identity(self) -> object:
        return "small"


@pytest.fixture
def prompts(tiny_pack: Path, registry: StateDictRegistry) -> PromptEncoder:
    return PromptEncoder(CountedEncoder(text_encoder_builder(tiny_pack / "gemma3", registry)), SmallProcessor(), WHERE)


def make_encoder(gemma: Path, checkpoint: Path, registry: StateDictRegistry) -> PromptEncoder:
    counted = CountedEncoder(text_encoder_builder(gemma, registry))
    return PromptEncoder(counted, embeddings_processor_builder(checkpoint, registry=registry), WHERE)


def calls_of(encoder: PromptEncoder) -> list[list[str]]:
    builder = encoder.text_encoder_builder
    assert isinstance(builder, CountedEncoder)
    return builder.calls


def run(encoder: PromptEncoder, *texts: str) -> tuple[list[PipelineEvent], list[PromptContext]]:
    events, stream = [], encoder.stream(texts)
    while True:
        try:
            events.append(next(stream))
        except StopIteration as end:
            return events, end.value


def test_a_prompt_is_encoded_once_and_comes_back_with_the_same_bits(prompts: PromptEncoder) -> None:
    _, [first] = run(prompts, "a red fox")
    _, [second] = run(prompts, " a red fox\n")
    assert calls_of(prompts) == [["a red fox"]]
    assert torch.equal(first.video, second.video)
    assert torch.equal(first.audio, second.audio)


def test_the_context_of_a_prompt_does_not_hang_on_what_was_encoded_with_it(prompts: PromptEncoder) -> None:
    _, [alone] = run(prompts, "a red fox")
    prompts.cache.clear()
    _, [_, together] = run(prompts, "blurry, low quality", "a red fox")
    assert torch.equal(alone.video, together.video)


def test_only_what_is_missing_is_encoded_and_each_prompt_once(prompts: PromptEncoder) -> None:
    run(prompts, "a fox", "blurry")
    run(prompts, "a dog", "blurry", "a dog")
    assert calls_of(prompts) == [["a fox", "blurry"], ["a dog"]]


def test_every_prompt_has_its_event_whether_it_was_known_or_not(prompts: PromptEncoder) -> None:
    expected = [
        PhaseBegan(Phase.ENCODING, 2),
        PromptEncoded(1, 2),
        PromptEncoded(2, 2),
        PhaseOver(Phase.ENCODING),
    ]
    assert run(prompts, "a fox", "blurry")[0] == expected
    assert run(prompts, "a fox", "blurry")[0] == expected


def test_known_contexts_reach_the_trace(prompts: PromptEncoder) -> None:
    run(prompts, "a fox")
    trace: dict[str, Tensor] = {}
    for _ in prompts.stream(["a fox"], trace.__setitem__):
        pass
    assert set(trace) == {"context.0.video", "context.0.audio"}


def test_what_is_fused_into_the_connectors_makes_other_weights(
    tiny_pack: Path,
) -> None:
    clean = embeddings_processor_builder(tiny_pack / "ltx-2.3-tiny.safetensors")
    lora = LoraSpec(tiny_pack / "style-lora.safetensors", 0.5)
    fused, weaker = clean.with_loras((lora,)), clean.with_loras((replace(lora, strength=0.4),))
    assert len({weights_identity(builder) for builder in (clean, fused, weaker)}) == 3
    assert weights_identity(fused.with_loras(())) == weights_identity(clean)


@pytest.mark.parametrize("name", ["gemma3/model.safetensors", "checkpoint.safetensors"])
def test_a_file_that_was_replaced_is_read_and_its_prompts_encoded_again(name: str, text_pack: Path) -> None:
    encoder = make_encoder(text_pack / "gemma3", text_pack / "checkpoint.safetensors", StateDictRegistry())
    run(encoder, "a fox")
    replacement = text_pack / "new.safetensors"
    shutil.copy(text_pack / name, replacement)
    os.utime(replacement, ns=(0, 1))
    replacement.replace(text_pack / name)
    run(encoder, "a fox")
    assert calls_of(encoder) == [["a fox"]] * 2


def test_a_file_that_cannot_be_looked_at_equals_nothing(tiny_pack: Path, tmp_path: Path) -> None:
    builder = text_encoder_builder(tiny_pack / "gemma3")
    gone = replace(builder, paths=(tmp_path / "gone.safetensors",))
    assert weights_identity(gone) != weights_identity(gone)


def test_what_cannot_say_which_weights_it_builds_is_not_cached(prompts: PromptEncoder) -> None:
    class Anonymous:
        def build(self, device: torch.device, dtype: torch.dtype, **_: object) -> object:
            return prompts.text_encoder_builder.build(device, dtype)

    encoder = PromptEncoder(Anonymous(), prompts.embeddings_builder, WHERE)
    run(encoder, "a fox")
    run(encoder, "a fox")
    assert calls_of(prompts) == [["a fox"]] * 2
    assert len(encoder.cache) == 0


def test_a_prompt_that_another_rank_does_not_know_is_encoded_again(prompts: PromptEncoder) -> None:
    asked: list[bool] = []
    run(prompts, "a fox", "blurry")
    prompts.cache.agree = lambda is_known: bool(asked.append(is_known)) or len(asked) == 2
    run(prompts, "a fox", "blurry")
    assert asked == [True, True]
    assert calls_of(prompts) == [["a fox", "blurry"], ["a fox"]]


def context(num_floats: int) -> PromptContext:
    return PromptContext(torch.zeros(num_floats), torch.zeros(num_floats))


def test_the_least_recently_used_go_first() -> None:
    cache = PromptCache(max_prompts=2)
    for text in ("a", "b"):
        cache.add("weights", text, context(1))
    cache.look_up("weights", ["a"])
    cache.add("weights", "c", context(1))
    assert set(cache.look_up("weights", ["a", "b", "c"])) == {"a", "c"}


def test_bytes_are_limited_too() -> None:
    cache = PromptCache(max_bytes=80)
    for text in ("a", "b", "c"):
        cache.add("weights", text, context(5))
    assert (len(cache), cache.num_bytes) == (2, 80)
    cache.add("weights", "too large", context(50))
    assert set(cache.look_up("weights", ["b", "c", "too large"])) == {"b", "c"}


def test_other_weights_know_nothing() -> None:
    cache = PromptCache()
    cache.add("weights", "a", context(1))
    assert cache.look_up("other weights", ["a"]) == {}


def test_another_builder_comes_with_an_empty_cache(prompts: PromptEncoder) -> None:
    run(prompts, "a fox")
    assert len(prompts.with_builder(prompts.text_encoder_builder).cache) == 0
