"""Factors in host memory: read whole, checked, kept in the order of use up to a limit."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from podium.models.lora_keys import LoraError, LoraPlan, read_lora_plan
from podium.models.registry import FileStamp
from podium.multigpu import lora_cache
from podium.multigpu.factor_feed import ActiveLora, FactorFeed
from podium.multigpu.lora_cache import FactorCache, FactorReader, HostFactors

CPU = torch.device("cpu")
LAYERS = [f"transformer_blocks.{block}.attn1.to_q" for block in range(5)]
KEYS = tuple(f"{layer}.weight" for layer in LAYERS)
SHAPES = dict.fromkeys(KEYS, (6, 4))
# Of one pair: either factor takes a whole step of the alignment.
PAIR_BYTES = 512


def write_lora(path: Path, seed: int = 0, *, broken: bool = False) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    factors: dict[str, Tensor] = {}
    for index, layer in enumerate(LAYERS):
        # Types and ranks may differ from layer to layer.
        dtype, rank = ((torch.bfloat16, 2), (torch.float32, 3), (torch.float16, 1))[index % 3]
        factors[f"diffusion_model.{layer}.lora_A.weight"] = torch.randn(rank, 4, generator=generator).to(dtype)
        factors[f"diffusion_model.{layer}.lora_B.weight"] = torch.randn(6, rank, generator=generator).to(dtype)
    if broken:
        factors[f"diffusion_model.{LAYERS[-1]}.lora_B.weight"][0, 0] = float("inf")
    save_file(factors, path)
    return factors


def read(path: Path, cache: FactorCache, keys: tuple[str, ...] = KEYS) -> HostFactors:
    plan: LoraPlan = read_lora_plan(path, SHAPES)
    reader = FactorReader(plan, FileStamp.of(path), keys, cache=cache, device=CPU)
    reader.read(keys[:2])
    reader.read(keys[2:])
    return reader.finish()


def assert_holds(factors: HostFactors, path: Path, keys: tuple[str, ...] = KEYS) -> None:
    stored = load_file(path)
    assert tuple(factors) == keys
    for key in keys:
        a, b = factors.factors_in(key, factors.bytes_of(key))
        stem = f"diffusion_model.{key.removesuffix('.weight')}"
        assert torch.equal(a, stored[f"{stem}.lora_A.weight"])
        assert torch.equal(b, stored[f"{stem}.lora_B.weight"])


@pytest.mark.parametrize("segment_bytes", [1, 2 * PAIR_BYTES, 1 << 20])
def test_factors_in_memory_are_those_of_the_file_however_many_pieces_hold_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, segment_bytes: int
) -> None:
    monkeypatch.setattr(lora_cache, "_SEGMENT_BYTES", segment_bytes)
    write_lora(tmp_path / "x.safetensors")
    factors = read(tmp_path / "x.safetensors", FactorCache(0))
    assert_holds(factors, tmp_path / "x.safetensors")
    assert factors.num_bytes == len(KEYS) * PAIR_BYTES


def test_only_the_pairs_that_are_wanted_take_memory(tmp_path: Path) -> None:
    write_lora(tmp_path / "x.safetensors")
    factors = read(tmp_path / "x.safetensors", FactorCache(0), KEYS[1:3])
    assert_holds(factors, tmp_path / "x.safetensors", KEYS[1:3])
    assert factors.num_bytes == 2 * PAIR_BYTES
    assert factors.num_bytes_of(KEYS[0]) == 0


def test_a_file_that_goes_away_or_ends_early_is_told_in_words(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    write_lora(path)
    plan = read_lora_plan(path, SHAPES)
    reader = FactorReader(plan, FileStamp.of(path), KEYS, cache=FactorCache(0), device=CPU)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(LoraError, match="can no longer be read") as refusal:
        reader.read(KEYS)
    assert "ends at byte" in refusal.value.details
    path.unlink()
    with pytest.raises(LoraError, match="can no longer be read"):
        reader.read(KEYS)
    with pytest.raises(LoraError, match="was replaced while it was read"):
        reader.finish()


def test_factors_that_are_no_numbers_are_refused_before_anybody_gets_them(tmp_path: Path) -> None:
    write_lora(tmp_path / "x.safetensors", broken=True)
    with pytest.raises(LoraError, match="holds values that are no numbers"):
        read(tmp_path / "x.safetensors", FactorCache(0))


def test_the_least_recently_used_go_first_and_the_limit_is_never_passed(tmp_path: Path) -> None:
    size = len(KEYS) * PAIR_BYTES
    cache = FactorCache(2 * size + size // 2)
    stamps = []
    for index in range(3):
        path = tmp_path / f"{index}.safetensors"
        write_lora(path, index)
        stamps.append(FileStamp.of(path))
        cache.begin_swap()
        cache.keep(stamps[index], KEYS, read(path, cache))
        assert cache.num_bytes <= cache.limit_bytes
        if index == 1:
            assert cache.get(stamps[0], KEYS) is not None
    assert cache.get(stamps[1], KEYS) is None
    kept = cache.get(stamps[0], KEYS)
    assert kept is not None
    assert_holds(kept, tmp_path / "0.safetensors")
    assert cache.get(stamps[2], KEYS) is not None
    cache.clear()
    assert cache.num_bytes == 0


def test_what_exceeds_the_limit_alone_is_not_kept_and_drives_nothing_out(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    write_lora(path)
    cache = FactorCache(2 * PAIR_BYTES)
    few = KEYS[:1]
    cache.begin_swap()
    cache.keep(FileStamp.of(path), few, read(path, cache, few))
    cache.keep(FileStamp.of(path), KEYS, read(path, cache))
    assert cache.get(FileStamp.of(path), KEYS) is None
    assert cache.get(FileStamp.of(path), few) is not None


def test_what_a_swap_uses_does_not_drive_out_what_it_used_before(tmp_path: Path) -> None:
    size = len(KEYS) * PAIR_BYTES
    cache = FactorCache(2 * size)
    stamps = []
    for index in range(4):
        path = tmp_path / f"{index}.safetensors"
        write_lora(path, index)
        stamps.append(FileStamp.of(path))
    for _ in range(2):
        cache.begin_swap()
        for stamp in stamps[:3]:
            factors = cache.get(stamp, KEYS) or read(stamp.path, cache)
            cache.keep(stamp, KEYS, factors)
        assert [cache.get(stamp, KEYS) is not None for stamp in stamps] == [True, True, False, False]
    cache.begin_swap()
    cache.keep(stamps[3], KEYS, read(stamps[3].path, cache))
    assert [cache.get(stamp, KEYS) is not None for stamp in stamps] == [False, True, False, True]


def test_other_weights_of_a_file_are_another_entry(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    write_lora(path)
    cache = FactorCache(1 << 20)
    cache.keep(FileStamp.of(path), KEYS, read(path, cache))
    assert cache.get(FileStamp.of(path), KEYS[:2]) is None


def test_keeping_the_same_again_counts_once(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    write_lora(path)
    cache = FactorCache(8 * PAIR_BYTES)
    for _ in range(3):
        factors = cache.get(FileStamp.of(path), KEYS) or read(path, cache)
        cache.keep(FileStamp.of(path), KEYS, factors)
        assert cache.get(FileStamp.of(path), KEYS) is factors
    assert cache.num_bytes == len(KEYS) * PAIR_BYTES


def test_a_feed_gives_each_weight_the_loras_that_move_it_in_their_order(tmp_path: Path) -> None:
    loras = []
    for index, name in enumerate(("a", "b")):
        path = tmp_path / f"{name}.safetensors"
        write_lora(path, index)
        moved = KEYS if index == 0 else KEYS[3:]
        loras.append(ActiveLora(read(path, FactorCache(0)), dict.fromkeys(moved, 0.5 + index)))
    feed = FactorFeed(CPU, dict.fromkeys(KEYS, 24), loras, spare_bytes=0)
    seen = {key: [delta.factor for delta in deltas] for key, deltas in feed.deltas()}
    assert seen == {key: [0.5, 1.5] if key in KEYS[3:] else [0.5] for key in KEYS}
    assert feed.workspace.numel() == 24
