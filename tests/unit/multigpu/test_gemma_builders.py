"""The fleet's text encoders on one process: what is read, when, and where it goes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from torch import Tensor

from podium.errors import JobRefusedError
from podium.models.errors import CheckpointError
from podium.models.prompt_enhancement import WritingRequest
from podium.models.registry import StateDictRegistry
from podium.models.text_encoder import GemmaTextEncoder, text_encoder_builder
from podium.multigpu import gemma_builders, gemma_source
from podium.multigpu.bp_gemma_builder import BatchParallelGemmaBuilder, BatchParallelGemmaWrapper
from podium.multigpu.gemma_builders import AccelerateGemmaBuilder, AccelerateGemmaWrapper
from podium.multigpu.gemma_ranks import EvenProgress, GemmaRanks
from podium.pipelines.prompt_cache import weights_identity

CPU = torch.device("cpu")
PROMPTS = ["a red fox", "x"]


def accelerate_builder(path: Path, registry: StateDictRegistry) -> AccelerateGemmaBuilder:
    return AccelerateGemmaBuilder(str(path), None, None, registry, src_rank=0, dtype=torch.float32)


def batch_builder(path: Path, registry: StateDictRegistry) -> BatchParallelGemmaBuilder:
    return BatchParallelGemmaBuilder(str(path), None, registry, src_rank=0, dtype=torch.float32)


@pytest.fixture
def gemma(tiny_pack: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_pack / "gemma3", tmp_path / "gemma3"))


@pytest.mark.parametrize("name", ["gemma3", "ltx-2.5/text_encoder.safetensors"])
def test_both_encode_as_one_devices_own_builder(name: str, tiny_pack: Path) -> None:
    registry, path = StateDictRegistry(), tiny_pack / name
    expected = text_encoder_builder(path, registry).build(CPU, torch.float32).encode(PROMPTS)
    for builder in (accelerate_builder(path, registry), batch_builder(path, registry)):
        # The types of the slot do not count: the builder has its own.
        for ours, theirs in zip(builder.build(CPU, torch.bfloat16).encode(PROMPTS), expected, strict=True):
            assert torch.equal(ours, theirs)


def test_a_later_build_uses_nothing_that_lies_on_disk(gemma: Path) -> None:
    builder = accelerate_builder(gemma, StateDictRegistry())
    before = builder.build(CPU, torch.float32).encode(PROMPTS)
    for path in gemma.iterdir():
        # As large and as old as before, so nobody takes it for another one; but whoever reads it reads rubbish.
        status = path.stat()
        path.write_bytes(b"?" * status.st_size)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    after = builder.build(CPU, torch.float32).encode(PROMPTS)
    assert all(torch.equal(one, other) for one, other in zip(before, after, strict=True))
    with pytest.raises(CheckpointError):
        accelerate_builder(gemma, StateDictRegistry()).build(CPU, torch.float32)


def test_the_registry_holds_computed_buffers_and_modules_share_them(tiny_pack: Path) -> None:
    registry = StateDictRegistry()
    builder = accelerate_builder(tiny_pack / "gemma3", registry)
    first, second = (dict(builder.build(CPU, torch.float32)._inner.named_buffers()) for _ in range(2))
    assert any(name.endswith("inv_freq") for name in first)
    assert {name: buffer.data_ptr() for name, buffer in first.items()} == {
        name: buffer.data_ptr() for name, buffer in second.items()
    }
    assert len(registry) == 1


def test_a_replaced_file_is_read_again(gemma: Path) -> None:
    passed: list[tuple[int, int]] = []
    builder = accelerate_builder(gemma, StateDictRegistry())
    builder.build(CPU, torch.float32, on_progress=lambda *progress: passed.append(progress))
    num_tensors = len(passed)
    assert passed[-1][0] == passed[-1][1]
    builder.build(CPU, torch.float32, on_progress=lambda *progress: passed.append(progress))
    assert len(passed) == num_tensors
    os.utime(gemma / "model.safetensors", ns=(0, 1))
    builder.build(CPU, torch.float32, on_progress=lambda *progress: passed.append(progress))
    assert len(passed) == 2 * num_tensors


def test_too_little_memory_is_refused_before_a_weight_is_read(tiny_pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gemma_builders, "agree_all", lambda _attempt, _group: [("cpu", 0), ("cuda:1", 0)])
    monkeypatch.setattr(gemma_source, "read_weights", None)
    with pytest.raises(JobRefusedError, match="needs 0.0 GB of device memory"):
        accelerate_builder(tiny_pack / "gemma3", StateDictRegistry()).build(CPU, torch.float32)


def test_hooks_between_devices_change_no_number_and_no_word(tiny_pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    builder = accelerate_builder(tiny_pack / "gemma3", StateDictRegistry())
    request = WritingRequest("a fox", 3)
    plain = builder.build(CPU, torch.float32)
    # One device stands in for several: what differs from them is only that nothing moves.
    module = gemma_source.dispatch_model(
        builder.build(CPU, torch.float32)._inner,
        dict.fromkeys(gemma_source._blocks(plain._inner.state_dict()), "cpu") | {"model.rotary_emb": "cpu"},
        main_device="cpu",
        skip_keys=gemma_source._KEPT_ARGUMENTS,
        force_hooks=True,
    )
    assert module.model.layers[0]._hf_hook is not None
    assert all(torch.equal(*pair) for pair in zip(module.encode(PROMPTS), plain.encode(PROMPTS), strict=True))
    assert list(islice(module.write(request), 5)) == list(islice(plain.write(request), 5))


def test_blocks_are_layers_and_what_stands_beside_them() -> None:
    names = ["model.embed_tokens.weight", "model.layers.0.a.weight", "model.layers.0.b.weight", "model.layers.10.c"]
    assert gemma_source._blocks([*names, "model.norm.weight", "model.rotary_emb.inv_freq"]) == {
        "model.embed_tokens": "model.embed_tokens.weight",
        "model.layers.0": "model.layers.0.a.weight",
        "model.layers.10": "model.layers.10.c",
        "model.norm": "model.norm.weight",
        "model.rotary_emb": "model.rotary_emb.inv_freq",
    }


def test_the_same_files_are_the_same_weights_to_a_cache_of_prompts(gemma: Path) -> None:
    builders = [accelerate_builder(gemma, StateDictRegistry()) for _ in range(2)]
    before = weights_identity(builders[0])
    assert before == weights_identity(builders[1])
    os.utime(gemma / "model.safetensors", ns=(0, 1))
    assert weights_identity(builders[0]) != before


def test_boundaries_that_were_not_passed_are_passed_at_the_end() -> None:
    passed: list[int] = []
    progress = EvenProgress(lambda done, _total: passed.append(done), 4)
    progress(10, 40)
    progress.finish()
    progress.finish()
    assert passed == [10, 0, 0, 0]


class Told:
    """An encoder that notes each call."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def encode(self, prompts: Sequence[str]) -> list[Tensor]:
        self.calls.append(list(prompts))
        return [torch.full((1, 1, 1), float(len(prompt))) for prompt in prompts]


class OneOf(GemmaRanks):
    """One rank of several, whose others take part in nothing."""

    def __init__(self, rank: int, num_ranks: int) -> None:
        super().__init__(None, None, 0)
        object.__setattr__(self, "_place", (rank, num_ranks))

    @property
    def rank(self) -> int:
        return int(self._place[0])  # type: ignore[attr-defined] # set above, past the frozen class

    @property
    def num_ranks(self) -> int:
        return int(self._place[1])  # type: ignore[attr-defined] # the same

    def agree(self, attempt: Callable[[], Any]) -> list[Any]:
        return [attempt() if rank == self.rank else {} for rank in range(self.num_ranks)]

    def broadcast_states(self, mine: Any, layouts: Any, device: torch.device) -> list[Tensor]:
        assert {index: rank for index, (rank, _) in layouts.items()} == dict.fromkeys(mine, self.rank)
        return list(mine.values())


def test_all_prompts_go_to_the_sources_encoder_in_one_call() -> None:
    told = Told()
    wrapper = AccelerateGemmaWrapper(cast("GemmaTextEncoder", told), GemmaRanks(None, None, 0), CPU)
    assert [states.item() for states in wrapper.encode(["a", "bb", "ccc"])] == [1, 2, 3]
    assert told.calls == [["a", "bb", "ccc"]]


@pytest.mark.parametrize(("rank", "mine"), [(0, ["a", "dddd"]), (1, ["bb"]), (2, ["ccc"])])
def test_prompts_are_dealt_to_the_ranks_that_each_have_an_encoder(rank: int, mine: list[str]) -> None:
    told = Told()
    wrapper = BatchParallelGemmaWrapper(cast("GemmaTextEncoder", told), OneOf(rank, 3), CPU)
    assert [states.item() for states in wrapper.encode(["a", "bb", "ccc", "dddd"])] == [len(one) for one in mine]
    assert told.calls == [mine]
