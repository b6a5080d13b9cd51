"""LoRA sets come and go, and the weights are exactly what they should be; on one process."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

from podium.jobs import LoraSpec
from podium.models.errors import CheckpointError
from podium.models.lora import fuse_loras
from podium.models.registry import StateDictRegistry
from podium.models.transformer.builder import transformer_builder
from podium.multigpu.weight_tracker import TransformerWeightTracker

PLACEMENT = (torch.device("cpu"), torch.float32)


class Fleet:
    """A tracker on one process, and what it builds from."""

    def __init__(self, pack: Path, *, no_lora_swap: bool = False) -> None:
        self.registry = StateDictRegistry()
        self.builder = transformer_builder(pack / "ltx-2.3-tiny.safetensors", self.registry)
        self.tracker = TransformerWeightTracker(None, no_lora_swap=no_lora_swap)

    def swap(self, *loras: LoraSpec) -> dict[str, Tensor]:
        """Return the live weights with a LoRA set fused."""
        built = self.tracker.build(self.builder.with_loras(loras), self.registry, PLACEMENT)
        return built.module.state_dict()


@pytest.fixture
def fleet(tiny_pack: Path) -> Fleet:
    return Fleet(tiny_pack)


@pytest.fixture(scope="session")
def style(tiny_pack: Path) -> LoraSpec:
    return LoraSpec(tiny_pack / "style-lora.safetensors", 0.7)


@pytest.fixture(scope="session")
def distilled(tiny_pack: Path) -> LoraSpec:
    return LoraSpec(tiny_pack / "distilled-lora.safetensors", -1.5)


def snapshot(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    return {key: weight.clone() for key, weight in weights.items()}


def assert_equal(weights: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
    assert weights.keys() == expected.keys()
    assert [key for key, weight in weights.items() if not torch.equal(weight, expected[key])] == []


def test_a_set_that_comes_again_gives_the_same_bits_and_none_the_clean_ones(
    fleet: Fleet, style: LoraSpec, distilled: LoraSpec
) -> None:
    clean = snapshot(fleet.swap())
    first = snapshot(fleet.swap(style))
    between = snapshot(fleet.swap(distilled, style))
    assert_equal(fleet.swap(style), first)
    assert_equal(fleet.swap(), clean)
    assert any(not torch.equal(first[key], clean[key]) for key in clean)
    assert any(not torch.equal(first[key], between[key]) for key in clean)


def test_fused_weights_are_those_of_a_fuse_on_one_gpu(fleet: Fleet, style: LoraSpec, distilled: LoraSpec) -> None:
    clean = snapshot(fleet.swap())
    fused = fuse_loras(clean, (style, distilled)).tensors
    assert_equal(fleet.swap(style, distilled), {**clean, **fused})


def test_weights_stay_where_they_are_in_memory(fleet: Fleet, style: LoraSpec) -> None:
    before = {key: weight.data_ptr() for key, weight in fleet.swap().items()}
    after = {key: weight.data_ptr() for key, weight in fleet.swap(style).items()}
    assert after == before


def test_only_what_the_old_or_the_new_set_touches_moves(fleet: Fleet, style: LoraSpec, distilled: LoraSpec) -> None:
    fleet.swap()
    fleet.swap(style)
    assert fleet.tracker.last_swap.num_keys == 32
    fleet.swap(distilled)
    assert fleet.tracker.last_swap.num_keys == len(
        {
            *fuse_loras(fleet.tracker.stored_sd, (style,)).tensors,
            *fuse_loras(fleet.tracker.stored_sd, (distilled,)).tensors,
        }
    )
    fleet.swap()
    assert fleet.tracker.last_swap.num_keys == 112


def test_the_same_set_again_fuses_nothing_and_reports_the_same(
    fleet: Fleet, style: LoraSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports = fleet.tracker.build(fleet.builder.with_loras((style,)), fleet.registry, PLACEMENT).lora_reports
    monkeypatch.setattr("podium.multigpu.weight_tracker.fuse_into_", None)
    again = fleet.tracker.build(fleet.builder.with_loras((style,)), fleet.registry, PLACEMENT).lora_reports
    assert again == reports
    assert reports[0].applied.num_layers == 32


@pytest.mark.parametrize("bad", ["missing.safetensors", "spatial-upscaler-x2.safetensors"])
def test_a_lora_that_cannot_be_applied_leaves_the_weights_and_the_set(
    fleet: Fleet, style: LoraSpec, tiny_pack: Path, bad: str
) -> None:
    before = snapshot(fleet.swap(style))
    with pytest.raises(CheckpointError):
        fleet.swap(LoraSpec(tiny_pack / bad))
    assert_equal(dict(fleet.tracker.broadcast_sd), before)
    assert_equal(fleet.swap(style), before)


def test_a_lora_whose_factors_cannot_be_read_leaves_the_weights_too(
    fleet: Fleet, style: LoraSpec, distilled: LoraSpec, tmp_path: Path
) -> None:
    before = snapshot(fleet.swap(style))
    damaged = tmp_path / "damaged.safetensors"
    # Its first layers are sound; its last factor is not a number.
    damaged.write_bytes(distilled.path.read_bytes()[:-4] + b"\x00\x00\xc0\x7f")
    with pytest.raises(CheckpointError):
        fleet.swap(LoraSpec(damaged))
    assert_equal(dict(fleet.tracker.broadcast_sd), before)


def test_a_fixed_set_cannot_be_swapped_and_needs_no_clean_copy(tiny_pack: Path, style: LoraSpec) -> None:
    fleet = Fleet(tiny_pack, no_lora_swap=True)
    before = snapshot(fleet.swap(style))
    assert fleet.tracker.stored_sd.num_bytes == fleet.tracker.broadcast_sd.num_bytes
    assert all(
        weight.data_ptr() == fleet.tracker.broadcast_sd[key].data_ptr()
        for key, weight in fleet.tracker.stored_sd.items()
    )
    with pytest.raises(ValueError, match="no_lora_swap"):
        fleet.swap()
    assert_equal(fleet.swap(style), before)


def test_the_registry_gives_up_the_weights_that_do_not_stay_clean(fleet: Fleet) -> None:
    module = fleet.tracker.build(fleet.builder, fleet.registry, PLACEMENT).module
    fresh = fleet.builder.build(*PLACEMENT)
    assert fresh.patchify_proj.weight.data_ptr() != module.patchify_proj.weight.data_ptr()


def test_a_checkpoint_that_went_away_is_refused_in_words(tiny_pack: Path, tmp_path: Path) -> None:
    copy = tmp_path / "ltx-2.3-tiny.safetensors"
    copy.write_bytes((tiny_pack / copy.name).read_bytes())
    fleet = Fleet(tmp_path)
    fleet.swap()
    copy.unlink()
    with pytest.raises(CheckpointError, match="There is no file"):
        fleet.swap()
