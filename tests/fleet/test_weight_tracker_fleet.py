"""Swaps on two ranks: the same bits on both, only what is touched moves, and a rank that fails changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from podium.jobs import BranchStrengths, LoraSpec, Quantization
from podium.multigpu import MGPUController, RunnerRef

from tests.fakes.tracker_runner import Swapped

RUNNER = RunnerRef("tests.fakes.tracker_runner:TrackerRunner")
NUM_RANKS = 2
Swap = Callable[..., tuple[Swapped, Swapped]]


@pytest.fixture(scope="module")
def swap(_warm_forkserver: None, tiny_pack: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Swap]:
    """Return `swap(quantization, *loras, **injection)`: what each rank has after it."""
    fleet = MGPUController(RUNNER, cpu_ranks=NUM_RANKS, log_folder=tmp_path_factory.mktemp("logs"))
    plain = tiny_pack / "ltx-2.3-tiny.safetensors"
    checkpoints = {"none": plain, "fp8-cast": plain, "fp8-scaled": tiny_pack / "ltx-2.3-tiny-fp8.safetensors"}
    fleet.start(timeout=60, checkpoints=checkpoints, cache_bytes=64 << 20)

    def run(quantization: str, *loras: LoraSpec, **injection: object) -> tuple[Swapped, Swapped]:
        first, second = sorted(
            fleet.stream(quantization=quantization, loras=loras, **injection), key=lambda swapped: swapped.rank
        )
        assert first.digest == second.digest
        # Boundaries may hold a collective each: a rank that cannot go on comes by all of them.
        assert first.num_progress_calls == second.num_progress_calls
        return first, second

    yield run
    fleet.shutdown(graceful_timeout=10)


@pytest.fixture(scope="module")
def style(tiny_pack: Path) -> LoraSpec:
    return LoraSpec(tiny_pack / "style-lora.safetensors", 0.7, BranchStrengths(video=0.5))


@pytest.fixture(scope="module")
def distilled(tiny_pack: Path) -> LoraSpec:
    return LoraSpec(tiny_pack / "distilled-lora.safetensors", -1.5)


@pytest.mark.parametrize("quantization", Quantization)
def test_a_set_that_comes_again_gives_the_same_bits_on_both_ranks_and_none_the_clean_ones(
    swap: Swap, style: LoraSpec, distilled: LoraSpec, quantization: str
) -> None:
    clean = swap(quantization)[0].digest
    first = swap(quantization, style)[0].digest
    between = swap(quantization, distilled, style)[0].digest
    again = swap(quantization, style)
    assert again[0].digest == first
    # Each rank kept the factors of its own weights.
    assert [rank.stats.num_read_bytes for rank in again] == [0, 0]
    assert all(rank.stats.num_cached_bytes > 0 for rank in again)
    assert swap(quantization)[0].digest == clean
    assert len({clean, first, between}) == 3


def test_only_what_was_touched_goes_over_the_link_scales_with_their_weights(
    swap: Swap, style: LoraSpec, distilled: LoraSpec
) -> None:
    swap("fp8-scaled")
    few, many = swap("fp8-scaled", style)[0].stats, swap("fp8-scaled", distilled)[0].stats
    assert few.num_keys < many.num_keys
    assert 0 < few.num_broadcast_bytes < many.num_broadcast_bytes
    ranks = swap("fp8-scaled")
    assert all(rank.stats.num_keys == many.num_keys for rank in ranks)
    assert all(rank.own_bytes > 0 for rank in ranks)


@pytest.mark.parametrize("failing_rank", range(NUM_RANKS))
@pytest.mark.parametrize(
    ("failure", "words"), [("read", "The injected drive is gone."), ("memory", "one of the devices lacks")]
)
@pytest.mark.parametrize("quantization", ["none", "fp8-scaled"])
def test_a_rank_that_fails_leaves_the_old_weights_on_every_rank(
    swap: Swap, tiny_pack: Path, tmp_path: Path, quantization: str, failure: str, words: str, failing_rank: int
) -> None:
    # A file that no rank has kept, so that it has to be read.
    fresh = tmp_path / "fresh.safetensors"
    fresh.write_bytes((tiny_pack / "distilled-lora.safetensors").read_bytes())
    before = swap(quantization, LoraSpec(tiny_pack / "style-lora.safetensors", 0.7))
    after = swap(quantization, LoraSpec(fresh), failing_rank=failing_rank, failure=failure)
    assert all(words in rank.refusal for rank in after)
    assert after[0].digest == before[0].digest
    # And nothing of the failed set is left behind.
    once_more = swap(quantization, LoraSpec(fresh))
    assert [rank.refusal for rank in once_more] == ["", ""]
    assert once_more[0].digest != before[0].digest
