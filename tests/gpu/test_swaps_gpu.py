"""Swaps of LoRAs on GPUs, over both backends: the same bits on all ranks, again after others, and none clean ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from podium.jobs import LoraSpec, Quantization
from podium.multigpu import MGPUController, RunnerRef

from tests.fakes.tracker_runner import Swapped
from tests.gpu.places import Place, num_ranks_of

pytestmark = pytest.mark.gpu

RUNNER = RunnerRef("tests.fakes.tracker_runner:TrackerRunner")


@pytest.fixture(scope="module")
def swap(make_fleet: Callable[..., MGPUController], place: Place, tiny_pack: Path) -> Callable[..., list[Swapped]]:
    plain = tiny_pack / "ltx-2.3-tiny.safetensors"
    checkpoints = {"none": plain, "fp8-cast": plain, "fp8-scaled": tiny_pack / "ltx-2.3-tiny-fp8.safetensors"}
    fleet = make_fleet(RUNNER, place, checkpoints=checkpoints, cache_bytes=64 << 20)

    def run(quantization: str, *loras: LoraSpec) -> list[Swapped]:
        ranks = list(fleet.stream(quantization=quantization, loras=loras))
        assert len(ranks) == num_ranks_of(place)
        assert [rank.refusal for rank in ranks] == [""] * len(ranks)
        return ranks

    return run


@pytest.mark.parametrize("quantization", Quantization)
def test_a_set_that_comes_again_gives_the_same_bits_on_all_ranks_and_none_the_clean_ones(
    swap: Callable[..., list[Swapped]], tiny_pack: Path, quantization: str
) -> None:
    distilled, style = (LoraSpec(tiny_pack / f"{name}-lora.safetensors", 0.7) for name in ("distilled", "style"))
    sets = ((), (style,), (distilled, style), (style,), ())
    seen = [{rank.digest for rank in swap(quantization, *loras)} for loras in sets]
    assert [len(of_ranks) for of_ranks in seen] == [1] * len(sets)
    clean, first, both, again, clean_again = (digest for (digest,) in seen)
    assert (again, clean_again) == (first, clean)
    assert len({clean, first, both}) == 3
