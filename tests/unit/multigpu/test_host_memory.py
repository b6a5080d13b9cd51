"""A fleet that this machine's memory cannot hold is refused before it starts, with figures and with what would fit."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from podium.errors import JobRefusedError
from podium.geometry import ClipFormat
from podium.jobs import Quantization
from podium.models.pack import Pack, resolve_pack
from podium.models.paths import ModelPaths
from podium.models.probe import Slot
from podium.models.residency import ModelPart
from podium.multigpu.host_memory import (
    RANK_BYTES,
    available_host_bytes,
    check_host_memory,
    held_by_relatives_bytes,
    host_need_bytes,
)
from podium.multigpu.memory_activations import PlannedJob
from podium.multigpu.memory_parts import weigh_model
from podium.multigpu.memory_plan import Room, plan_memory

from tests.tiny_pack import TinyPack


@pytest.fixture(scope="module")
def pack(tiny_pack: Path) -> Pack:
    return resolve_pack(
        ModelPaths(
            tiny_pack / "ltx-2.3-tiny.safetensors", tiny_pack / "gemma3", tiny_pack / "spatial-upscaler-x2.safetensors"
        )
    )


def text_bytes(pack: Pack) -> int:
    weighed = weigh_model(pack, dtype="float32", quantization=Quantization.NONE)
    return weighed.part_bytes[ModelPart.TEXT_ENCODER]


def need(pack: Pack, num_ranks: int, dtype: str = "float32") -> int:
    return host_need_bytes(pack, num_ranks=num_ranks, dtype=dtype, is_on_cpu=True)


def test_every_rank_on_the_cpu_has_weights_of_its_own_and_the_clean_ones_are_kept_once(pack: Pack) -> None:
    sizes = {part.slot: part.num_bytes for part in pack.checkpoint.components}
    each = need(pack, 3) - need(pack, 2)
    held = each - RANK_BYTES - pack.spatial_upsampler.components[0].num_bytes
    assert held == sum(num_bytes for slot, num_bytes in sizes.items() if slot is not Slot.AUDIO_ENCODER)
    once = need(pack, 1) - each
    assert once == sizes[Slot.TRANSFORMER] + text_bytes(pack)
    # The language model alone is read, not the eyes beside it.
    assert 0 < text_bytes(pack) < pack.text_encoder.components[0].num_bytes


def test_the_parts_of_a_split_pack_are_added_up_over_its_files(tiny_pack_2_5: TinyPack) -> None:
    pack = resolve_pack(tiny_pack_2_5.model_paths)
    sizes = {part.slot: part.num_bytes for report in pack.files for part in report.components}
    each = need(pack, 3) - need(pack, 2)
    held = each - RANK_BYTES - pack.spatial_upsampler.components[0].num_bytes
    elsewhere = (Slot.AUDIO_ENCODER, Slot.TEXT_ENCODER, Slot.TOKENIZER, Slot.DURATION_HEAD)
    assert held == sum(num_bytes for slot, num_bytes in sizes.items() if slot not in elsewhere)
    assert need(pack, 1) - each == sizes[Slot.TRANSFORMER] + text_bytes(pack)


@pytest.mark.parametrize("num_ranks", [1, 3])
@pytest.mark.parametrize("quantization", [Quantization.NONE, Quantization.FP8_CAST])
def test_it_is_what_a_memory_plan_counts_beside_what_a_clip_needs(
    pack: Pack, num_ranks: int, quantization: Quantization
) -> None:
    job = PlannedJob(ClipFormat(64, 64, 9, Fraction(24)), num_ranks, num_images=1)
    plan = plan_memory(weigh_model(pack, dtype="bfloat16", quantization=quantization), job, Room(()))
    weights = {sum(rank.num_bytes - rank.of(ModelPart.ACTIVATIONS) for rank in phase.ranks) for phase in plan.phases}
    assert weights == {
        host_need_bytes(pack, num_ranks=num_ranks, dtype="bfloat16", is_on_cpu=True, quantization=quantization)
    }


def test_half_the_precision_takes_half_the_memory_but_for_the_vocoder(pack: Pack) -> None:
    (vocoder,) = (part.num_bytes for part in pack.checkpoint.components if part.slot is Slot.VOCODER)
    fixed = 2 * (RANK_BYTES + vocoder)
    assert (need(pack, 2) - fixed) // 2 == pytest.approx(need(pack, 2, "bfloat16") - fixed, abs=8)


def test_a_fleet_that_does_not_fit_is_refused_with_figures_and_with_what_would_fit(pack: Pack) -> None:
    with pytest.raises(JobRefusedError, match=r"4 processes .* they need 0\.7 GB .* 0\.5 GB are free\. 2 processes"):
        check_host_memory(pack, num_ranks=4, dtype="float32", is_on_cpu=True, available_bytes=500 * 10**6)


def test_less_precision_is_offered_where_fewer_ranks_do_not_help(pack: Pack) -> None:
    available = need(pack, 1) - 1
    with pytest.raises(JobRefusedError, match="1 process in bfloat16 would fit"):
        check_host_memory(pack, num_ranks=1, dtype="float32", is_on_cpu=True, available_bytes=available)


def test_where_nothing_fits_that_is_said(pack: Pack) -> None:
    with pytest.raises(JobRefusedError, match="Close other programs, or use a machine with more memory"):
        check_host_memory(pack, num_ranks=2, dtype="bfloat16", is_on_cpu=True, available_bytes=10**6)


def test_a_fleet_that_fits_passes(pack: Pack) -> None:
    check_host_memory(pack, num_ranks=4, dtype="float32", is_on_cpu=True, available_bytes=need(pack, 4))


def test_on_gpus_the_weights_do_not_count(pack: Pack) -> None:
    per_rank = host_need_bytes(pack, num_ranks=1, dtype="bfloat16", is_on_cpu=False)
    assert host_need_bytes(pack, num_ranks=4, dtype="float32", is_on_cpu=False) == 4 * per_rank


def test_what_is_available_is_no_more_than_the_machine_has() -> None:
    assert 0 < available_host_bytes() <= psutil.virtual_memory().total


def test_a_transformer_that_is_rounded_to_fp8_takes_a_byte_a_number(pack: Pack) -> None:
    def need_as(quantization: Quantization) -> int:
        return host_need_bytes(pack, num_ranks=2, dtype="float32", is_on_cpu=True, quantization=quantization)

    whole, cast = (
        weigh_model(pack, dtype="float32", quantization=kind).transformer_bytes
        for kind in (Quantization.NONE, Quantization.FP8_CAST)
    )
    assert all(cast[name] in (size, size // 4) for name, size in whole.items())
    # Once on each rank, and the clean one shared out among both.
    saved = sum(whole.values()) - sum(cast.values())
    assert need_as(Quantization.NONE) - need_as(Quantization.FP8_CAST) == 3 * saved > sum(whole.values())


def test_a_file_in_fp8_takes_what_it_stores(pack: Pack, tiny_pack_fp8: TinyPack) -> None:
    whole, small = (p.checkpoint.component(Slot.TRANSFORMER) for p in (pack, resolve_pack(tiny_pack_fp8.model_paths)))
    assert whole is not None
    assert small is not None
    assert need(pack, 2) - need(resolve_pack(tiny_pack_fp8.model_paths), 2) == 3 * (whole.num_bytes - small.num_bytes)


def test_processes_beside_this_one_count_with_what_they_alone_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    class Other:
        def __init__(self, pid: int, uss: int) -> None:
            self.pid, self._uss = pid, uss

        def memory_full_info(self) -> SimpleNamespace:
            if self._uss < 0:
                raise psutil.NoSuchProcess(self.pid)
            return SimpleNamespace(uss=self._uss)

    class Parent:
        def __init__(self, pid: int) -> None:
            assert pid == os.getppid()

        def children(self, *, recursive: bool) -> list[Other]:
            assert recursive
            return [Other(os.getpid(), 1000), Other(1, 20), Other(2, 3), Other(3, -1)]

    monkeypatch.setattr(psutil, "Process", Parent)
    assert held_by_relatives_bytes() == 23
