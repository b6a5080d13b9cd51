"""LoRA sets come and go, and the weights are exactly what they should be; on one process."""

from __future__ import annotations

import gc
import os
import weakref
from pathlib import Path

import pytest
import torch
from torch import Tensor

from podium.errors import JobRefusedError
from podium.jobs import LoraSpec, Quantization
from podium.models.errors import CheckpointError
from podium.models.lora import fuse_loras
from podium.models.registry import StateDictRegistry
from podium.models.transformer.builder import transformer_builder
from podium.multigpu.lora_cache import HostFactors
from podium.multigpu.weight_tracker import SwapStats, TransformerWeightTracker

PLACEMENT = (torch.device("cpu"), torch.float32)
MB = 1 << 20


class Fleet:
    """A tracker on one process, and what it builds from."""

    def __init__(
        self,
        pack: Path,
        quantization: Quantization = Quantization.NONE,
        *,
        no_lora_swap: bool = False,
        cache_bytes: int | None = None,
        is_clean_on_host: bool = False,
    ) -> None:
        self.registry = StateDictRegistry()
        suffix = "-fp8" if quantization is Quantization.FP8_SCALED else ""
        path = pack / f"ltx-2.3-tiny{suffix}.safetensors"
        self.builder = transformer_builder(path, self.registry, quantization=quantization)
        self.tracker = TransformerWeightTracker(
            None, no_lora_swap=no_lora_swap, factor_cache_bytes=cache_bytes, is_clean_on_host=is_clean_on_host
        )

    def swap(self, *loras: LoraSpec) -> dict[str, Tensor]:
        """Return the live weights with a LoRA set fused."""
        built = self.tracker.build(self.builder.with_loras(loras), self.registry, PLACEMENT)
        return built.module.state_dict()


@pytest.fixture
def fleet(tiny_pack: Path) -> Fleet:
    return Fleet(tiny_pack)


@pytest.fixture(params=list(Quantization))
def any_fleet(tiny_pack: Path, request: pytest.FixtureRequest) -> Fleet:
    """Return a fleet of each quantisation."""
    return Fleet(tiny_pack, request.param)


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
    assert [key for key, weight in weights.items() if not is_equal(weight, expected[key])] == []


def is_equal(ours: Tensor, theirs: Tensor) -> bool:
    # By bits: two zeros of unlike sign are not the same.
    return ours.dtype == theirs.dtype and torch.equal(as_bits(ours), as_bits(theirs))


def as_bits(tensor: Tensor) -> Tensor:
    return tensor.reshape(-1).view(torch.uint8)


def test_a_set_that_comes_again_gives_the_same_bits_and_none_the_clean_ones(
    any_fleet: Fleet, style: LoraSpec, distilled: LoraSpec
) -> None:
    clean = snapshot(any_fleet.swap())
    first = snapshot(any_fleet.swap(style))
    between = snapshot(any_fleet.swap(distilled, style))
    assert_equal(any_fleet.swap(style), first)
    assert_equal(any_fleet.swap(), clean)
    assert any(not is_equal(first[key], clean[key]) for key in clean)
    assert any(not is_equal(first[key], between[key]) for key in clean)


def test_fused_weights_are_those_of_a_fuse_on_one_gpu(any_fleet: Fleet, style: LoraSpec, distilled: LoraSpec) -> None:
    clean = snapshot(any_fleet.swap())
    fused = fuse_loras(clean, (style, distilled)).tensors
    assert_equal(any_fleet.swap(style, distilled), {**clean, **fused})


def test_weights_stay_where_they_are_in_memory(any_fleet: Fleet, style: LoraSpec) -> None:
    before = {key: weight.data_ptr() for key, weight in any_fleet.swap().items()}
    after = {key: weight.data_ptr() for key, weight in any_fleet.swap(style).items()}
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


def test_scales_travel_with_the_weights_that_a_set_touches(tiny_pack: Path, distilled: LoraSpec) -> None:
    fleet = Fleet(tiny_pack, Quantization.FP8_SCALED)
    clean = snapshot(fleet.swap())
    fused = fleet.swap(distilled)
    scales = [key for key in clean if key.endswith(".weight_scale")]
    grown = [key for key in scales if not torch.equal(fused[key], clean[key])]
    assert grown
    weights = fuse_loras(fleet.tracker.stored_sd, (distilled,)).tensors
    assert fleet.tracker.last_swap.num_keys == len(weights)
    assert len([key for key in weights if key.endswith(".weight_scale")]) == len(scales)


def test_a_clean_copy_in_host_memory_serves_as_well(tiny_pack: Path, style: LoraSpec) -> None:
    fleet, beside = Fleet(tiny_pack, is_clean_on_host=True), Fleet(tiny_pack)
    clean = snapshot(fleet.swap())
    assert_equal(fleet.swap(style), beside.swap(style))
    assert_equal(fleet.swap(), clean)


def test_a_clean_copy_that_moves_between_two_sets_is_copied_whole_and_changes_no_weight(
    any_fleet: Fleet, style: LoraSpec, distilled: LoraSpec
) -> None:
    clean, fused = snapshot(any_fleet.swap()), snapshot(any_fleet.swap(style))
    tracker = any_fleet.tracker
    for is_on_host in (True, True, False):
        before = tracker.stored_sd
        is_moved = tracker.is_clean_on_host is not is_on_host
        tracker.move_clean(is_on_host=is_on_host)
        assert tracker.is_clean_on_host is is_on_host
        after = tracker.stored_sd
        assert_equal(dict(after), dict(before))
        assert {after[key].data_ptr() != tensor.data_ptr() for key, tensor in before.items()} == {is_moved}
        assert_equal(any_fleet.swap(style), fused)
        any_fleet.swap(distilled)
        assert_equal(any_fleet.swap(), clean)
        assert_equal(any_fleet.swap(style), fused)


def test_where_a_clean_copy_shall_live_can_be_said_before_there_is_one(fleet: Fleet, style: LoraSpec) -> None:
    fleet.tracker.move_clean(is_on_host=True)
    clean = snapshot(fleet.swap())
    fleet.swap(style)
    assert_equal(fleet.swap(), clean)
    assert fleet.tracker.is_clean_on_host


def test_a_fixed_set_has_no_clean_copy_to_move(tiny_pack: Path, style: LoraSpec) -> None:
    fixed = Fleet(tiny_pack, no_lora_swap=True)
    fused = snapshot(fixed.swap(style))
    fixed.tracker.move_clean(is_on_host=True)
    assert_equal(fixed.swap(style), fused)


def test_the_counters_tell_what_a_swap_read_and_moved(fleet: Fleet, style: LoraSpec) -> None:
    fleet.swap(style)
    stats = fleet.tracker.last_swap
    assert (stats.num_keys, stats.num_broadcast_bytes, stats.num_cached_bytes) == (32, 0, 0)
    assert 0 < stats.num_read_bytes < style.path.stat().st_size
    assert min(stats.read_s, stats.fuse_s) > 0
    fleet.swap()
    assert fleet.tracker.last_swap.num_read_bytes == 0
    assert SwapStats() == TransformerWeightTracker(None).last_swap


def test_a_swap_back_reads_no_file_while_the_factors_are_kept(
    tiny_pack: Path, style: LoraSpec, distilled: LoraSpec
) -> None:
    fleet = Fleet(tiny_pack, cache_bytes=64 * MB)
    first = snapshot(fleet.swap(style))
    num_bytes = fleet.tracker.last_swap.num_read_bytes
    fleet.swap(distilled)
    again = fleet.swap(style)
    assert fleet.tracker.last_swap.num_read_bytes == 0
    assert fleet.tracker.last_swap.num_cached_bytes >= num_bytes
    assert_equal(again, first)


def test_another_strength_of_kept_factors_reads_no_file_either(tiny_pack: Path, style: LoraSpec) -> None:
    fleet = Fleet(tiny_pack, cache_bytes=64 * MB)
    fleet.swap(style)
    stronger = LoraSpec(style.path, 1.4)
    assert_equal(fleet.swap(stronger), Fleet(tiny_pack).swap(stronger))
    assert fleet.tracker.last_swap.num_read_bytes == 0


def test_a_set_that_was_seen_reads_no_header_again(
    tiny_pack: Path, style: LoraSpec, distilled: LoraSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet = Fleet(tiny_pack, cache_bytes=64 * MB)
    fleet.swap(style)
    first = fleet.tracker.build(fleet.builder.with_loras((style,)), fleet.registry, PLACEMENT).lora_reports
    fleet.swap(distilled)
    monkeypatch.setattr("podium.multigpu.weight_tracker.read_lora_plan", None)
    assert fleet.tracker.build(fleet.builder.with_loras((style,)), fleet.registry, PLACEMENT).lora_reports == first
    assert fleet.tracker.last_swap.num_keys > 0


def test_on_the_cpu_factors_are_not_kept_unless_asked(
    fleet: Fleet, style: LoraSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[weakref.ref[HostFactors]] = []
    plain = HostFactors.__init__

    def watched(self: HostFactors, *args: object, **kwargs: object) -> None:
        plain(self, *args, **kwargs)  # type: ignore[arg-type] # as they came
        made.append(weakref.ref(self))

    monkeypatch.setattr(HostFactors, "__init__", watched)
    fleet.swap(style)
    gc.collect()
    assert len(made) == 1
    assert made[0]() is None
    fleet.swap()
    fleet.swap(style)
    assert fleet.tracker.last_swap.num_read_bytes > 0


def copied(spec: LoraSpec, path: Path) -> LoraSpec:
    path.write_bytes(spec.path.read_bytes())
    return LoraSpec(path, spec.strength)


@pytest.mark.parametrize("cache_bytes", [0, 64 * MB])
def test_a_lora_that_was_replaced_in_place_is_read_again_at_the_next_build(
    tiny_pack: Path, tmp_path: Path, style: LoraSpec, distilled: LoraSpec, cache_bytes: int
) -> None:
    fleet = Fleet(tiny_pack, cache_bytes=cache_bytes)
    lora = copied(style, tmp_path / "lora.safetensors")
    before = snapshot(fleet.swap(lora))
    replaced = copied(LoraSpec(distilled.path, style.strength), lora.path)
    assert replaced == lora
    after = fleet.swap(lora)
    assert fleet.tracker.last_swap.num_read_bytes > 0
    assert_equal(after, Fleet(tiny_pack).swap(LoraSpec(distilled.path, style.strength)))
    assert any(not torch.equal(after[key], before[key]) for key in before)


def test_a_lora_replaced_while_it_is_read_leaves_the_weights(
    fleet: Fleet, style: LoraSpec, distilled: LoraSpec, tmp_path: Path
) -> None:
    before = snapshot(fleet.swap(style))
    lora = copied(distilled, tmp_path / "lora.safetensors")

    def replace_it(_done: int, _total: int) -> None:
        os.utime(lora.path, ns=(1, 1))

    with pytest.raises(CheckpointError, match="was replaced while it was read"):
        fleet.tracker.build(fleet.builder.with_loras((lora,)), fleet.registry, PLACEMENT, on_progress=replace_it)
    assert_equal(dict(fleet.tracker.broadcast_sd), before)


def test_a_lora_cut_short_while_it_is_read_leaves_the_weights(
    fleet: Fleet, style: LoraSpec, distilled: LoraSpec, tmp_path: Path
) -> None:
    before = snapshot(fleet.swap(style))
    lora = copied(distilled, tmp_path / "lora.safetensors")
    calls: list[int] = []

    def cut_it(done: int, _total: int) -> None:
        calls.append(done)
        os.truncate(lora.path, lora.path.stat().st_size // 2)

    with pytest.raises(CheckpointError, match="can no longer be read"):
        fleet.tracker.build(fleet.builder.with_loras((lora,)), fleet.registry, PLACEMENT, on_progress=cut_it)
    # The boundaries after the failure come all the same: other ranks are waiting at them.
    assert calls == [64, 112]
    assert_equal(dict(fleet.tracker.broadcast_sd), before)


def test_a_fuse_that_does_not_fit_leaves_the_weights_and_the_set(
    any_fleet: Fleet, style: LoraSpec, distilled: LoraSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = snapshot(any_fleet.swap(style))

    def full(num_bytes: int, device: torch.device) -> Tensor:
        raise torch.OutOfMemoryError(f"{num_bytes} on {device}")

    with monkeypatch.context() as patch:
        patch.setattr("podium.multigpu.factor_feed._taken", full)
        with pytest.raises(JobRefusedError, match="The LoRAs cannot be applied: one of the devices lacks"):
            any_fleet.swap(distilled)
    assert_equal(dict(any_fleet.tracker.broadcast_sd), before)
    assert_equal(any_fleet.swap(style), before)
    fused = fuse_loras(any_fleet.tracker.stored_sd, (distilled,)).tensors
    assert_equal(any_fleet.swap(distilled), {**any_fleet.tracker.stored_sd, **fused})


def test_the_registrys_weights_are_taken_over_for_each_quantisation(any_fleet: Fleet) -> None:
    any_fleet.swap()
    assert len(any_fleet.registry) == 0


def test_another_quantisation_of_the_same_file_is_another_working_copy(tiny_pack: Path) -> None:
    fleet = Fleet(tiny_pack)
    whole = fleet.swap()
    cast = transformer_builder(tiny_pack / "ltx-2.3-tiny.safetensors", quantization="fp8-cast")
    built = fleet.tracker.build(cast, fleet.registry, PLACEMENT).module.state_dict()
    key = "transformer_blocks.0.attn1.to_q.weight"
    assert (whole[key].dtype, built[key].dtype) == (torch.float32, torch.float8_e4m3fn)
