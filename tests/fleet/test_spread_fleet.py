"""Tokens spread over fleets of CPU ranks: masks, batches, compiled blocks; always what one rank computes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

from tests.fakes.spread_jobs import SpreadCase, build, count_alone, run_stage_spread
from tests.fakes.thorough import thorough
from tests.fakes.tiled_jobs import make_stage
from tests.fleet.conftest import FleetPool

CASES = [
    SpreadCase(),
    SpreadCase(has_mask=False),
    SpreadCase(batch=4),
    SpreadCase(batch=4, sends_values_ahead=True),
]


def relative(ours: Tensor, theirs: Tensor) -> float:
    return float((ours - theirs).norm() / theirs.norm())


@pytest.fixture(scope="module")
def checkpoint(tiny_pack: Path) -> Path:
    return tiny_pack / "ltx-2.5" / "transformer.safetensors"


@pytest.fixture(scope="module")
def alone(checkpoint: Path) -> Callable[[SpreadCase], tuple[Tensor, Tensor]]:
    transformer = build(checkpoint, None, SpreadCase())
    stage = make_stage(transformer._inner)
    return lambda case: run_stage_spread(transformer, stage, case)


@pytest.mark.parametrize("num_ranks", [thorough(1), 2, 3, thorough(4)])
def test_masks_and_batches_give_on_any_number_of_ranks_what_they_give_on_one(
    fleets: FleetPool,
    checkpoint: Path,
    alone: Callable[[SpreadCase], tuple[Tensor, Tensor]],
    num_ranks: int,
    record_property: Callable[[str, object], None],
) -> None:
    call = {"function": "tests.fakes.spread_jobs:spread_job", "checkpoint": checkpoint, "cases": CASES}
    found: dict[int, list[tuple[Tensor, Tensor]]] = {rank: [] for rank in range(num_ranks)}
    for rank, video, audio in fleets.get(num_ranks).stream(action="call", **call):
        found[rank].append((video, audio))
    worst = 0.0
    for case, *of_ranks in zip(CASES, *found.values(), strict=True):
        expected = alone(case)
        for ours in of_ranks:
            worst = max(worst, *(relative(*pair) for pair in zip(ours, expected, strict=True)))
            assert all(torch.equal(*pair) for pair in zip(ours, of_ranks[0], strict=True)), "ranks drift apart"
    record_property("figure", (f"masks and batches, {num_ranks} ranks against one", f"{worst:.1e}"))
    assert worst < 1e-5


@pytest.mark.parametrize("num_ranks", [2, 3])
def test_sending_to_all_gives_what_an_all_gather_gives(fleets: FleetPool, num_ranks: int) -> None:
    call = {"function": "tests.fakes.spread_jobs:gather_job", "num_rows": 5}
    of_ranks = list(fleets.get(num_ranks).stream(action="call", **call))
    assert len(of_ranks) == num_ranks
    for _rank, gathered, sent in of_ranks:
        assert gathered.shape == (5 * num_ranks, 3)
        assert torch.equal(sent, gathered)


@pytest.mark.parametrize("num_ranks", [2, 3])
def test_real_ranks_send_what_is_counted_where_nothing_is_sent(
    fleets: FleetPool, checkpoint: Path, num_ranks: int
) -> None:
    case = SpreadCase(batch=4, sends_values_ahead=True)
    call = {"function": "tests.fakes.spread_jobs:count_job", "checkpoint": checkpoint, "case": case}
    for rank, messages, sent_bytes in fleets.get(num_ranks).stream(action="call", **call):
        counted = count_alone(checkpoint, num_ranks, rank, case)
        assert (counted.messages, counted.sent_bytes) == (messages, sent_bytes)
        assert messages["all_to_all_single"] > 0


@pytest.mark.parametrize("case", [SpreadCase(), SpreadCase(batch=4, sends_values_ahead=True)], ids=["one", "batch"])
def test_a_compiler_takes_a_block_with_its_exchanges_as_one_graph(
    fleets: FleetPool, checkpoint: Path, alone: Callable[[SpreadCase], tuple[Tensor, Tensor]], case: SpreadCase
) -> None:
    call = {"function": "tests.fakes.spread_jobs:compiled_job", "checkpoint": checkpoint, "case": case}
    for _rank, video, audio, num_graphs in fleets.get(2).stream(action="call", **call):
        assert all(relative(*pair) < 1e-5 for pair in zip((video, audio), alone(case), strict=True))
        # All blocks share one, and the perturbed block has its own.
        assert num_graphs == (1 if case.batch == 1 else 2)
