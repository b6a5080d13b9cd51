"""A fleet that this machine's memory cannot hold is refused before it starts, with figures and with what would fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from podium.errors import JobRefusedError
from podium.models.pack import Pack, resolve_pack
from podium.models.probe import Slot
from podium.multigpu.host_memory import RANK_BYTES, available_host_bytes, check_host_memory, host_need_bytes


@pytest.fixture(scope="module")
def pack(tiny_pack: Path) -> Pack:
    return resolve_pack(
        tiny_pack / "ltx-2.3-tiny.safetensors", tiny_pack / "gemma3", tiny_pack / "spatial-upscaler-x2.safetensors"
    )


def need(pack: Pack, num_ranks: int, dtype: str = "float32") -> int:
    return host_need_bytes(pack, num_ranks=num_ranks, dtype=dtype, is_on_cpu=True)


def test_every_rank_on_the_cpu_has_weights_of_its_own_and_the_clean_ones_are_kept_once(pack: Pack) -> None:
    sizes = {part.slot: part.num_bytes for part in pack.checkpoint.components}
    each = need(pack, 3) - need(pack, 2)
    held = each - RANK_BYTES - pack.spatial_upsampler.components[0].num_bytes
    first_only = (Slot.VIDEO_DECODER, Slot.AUDIO_ENCODER)
    assert held == sum(num_bytes for slot, num_bytes in sizes.items() if slot not in first_only)
    once = need(pack, 1) - each
    assert once == sizes[Slot.TRANSFORMER] + sizes[Slot.VIDEO_DECODER] + pack.text_encoder.components[0].num_bytes


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
    import psutil

    assert 0 < available_host_bytes() <= psutil.virtual_memory().total
