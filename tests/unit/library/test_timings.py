"""Timings: what is known gives an estimate, and what is not known gives none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from podium.jobs import Phase, PipelineKind, Quantization
from podium.library import Library
from podium.library.timings import NUM_KEPT, PhaseTiming, TimedFleet, TimingStore

FLEET = TimedFleet(PipelineKind.FAST, "ltx.safetensors", ("NVIDIA H200",) * 2, 2)


@pytest.fixture
def timings() -> Iterator[TimingStore]:
    with Library.in_memory() as library:
        yield library.timings


def clip(stage_s: float, *, num_steps: int | None = 8) -> list[PhaseTiming]:
    return [
        PhaseTiming(Phase.ENCODING, 1.0),
        PhaseTiming(Phase.STAGE_1, stage_s, num_steps),
        PhaseTiming(Phase.DECODING, stage_s / 2),
    ]


def test_before_the_first_clip_nothing_is_known(timings: TimingStore) -> None:
    assert timings.estimate(FLEET, 1000) is None
    assert timings.start_s(FLEET) is None


def test_the_same_clip_again_takes_the_median_of_those_before(timings: TimingStore) -> None:
    for stage_s in (10.0, 12.0, 90.0):
        timings.add(FLEET, 1000, clip(stage_s))
    assert timings.phases_s(FLEET, 1000) == {Phase.ENCODING: 1.0, Phase.STAGE_1: 12.0, Phase.DECODING: 6.0}
    assert timings.estimate(FLEET, 1000) == 19.0


def test_between_two_known_sizes_a_clip_takes_what_lies_between(timings: TimingStore) -> None:
    timings.add(FLEET, 1000, clip(10.0))
    timings.add(FLEET, 3000, clip(50.0))
    assert timings.phases_s(FLEET, 2000)[Phase.STAGE_1] == 30.0


def test_from_one_known_size_a_clip_is_told_by_proportion_and_not_too_far(timings: TimingStore) -> None:
    timings.add(FLEET, 1000, clip(10.0))
    assert timings.phases_s(FLEET, 500) == {Phase.ENCODING: 1.0, Phase.STAGE_1: 5.0, Phase.DECODING: 2.5}
    assert timings.phases_s(FLEET, 3000)[Phase.STAGE_1] == 30.0
    assert timings.estimate(FLEET, 4001) is None


def test_other_steps_of_the_first_stage_are_counted_in(timings: TimingStore) -> None:
    timings.add(FLEET, 1000, clip(10.0, num_steps=20))
    assert timings.phases_s(FLEET, 1000, num_steps=40)[Phase.STAGE_1] == 20.0


@pytest.mark.parametrize(
    "other",
    [
        replace(FLEET, pipeline=PipelineKind.HQ),
        replace(FLEET, model="other.safetensors"),
        replace(FLEET, devices=("cpu",)),
        replace(FLEET, num_ranks=1),
        replace(FLEET, quantization=Quantization.FP8_CAST),
    ],
)
def test_what_one_fleet_took_says_nothing_of_another(timings: TimingStore, other: TimedFleet) -> None:
    timings.add(FLEET, 1000, clip(10.0))
    timings.add_start(FLEET, 40.0)
    assert timings.estimate(other, 1000) is None
    assert timings.start_s(other) is None


def test_a_start_is_known_by_the_last_one_and_is_no_part_of_a_clip(timings: TimingStore) -> None:
    timings.add_start(FLEET, 40.0)
    timings.add_start(FLEET, 50.0)
    assert timings.start_s(FLEET) == 50.0
    assert timings.estimate(FLEET, 1000) is None


def test_compiling_is_not_expected_again(timings: TimingStore) -> None:
    timings.add(FLEET, 1000, [*clip(10.0), PhaseTiming(Phase.COMPILING, 60.0)])
    assert timings.estimate(FLEET, 1000) == 16.0


def test_only_the_last_ones_are_kept(timings: TimingStore) -> None:
    for number in range(NUM_KEPT + 5):
        timings.add(FLEET, 1000, clip(float(number)))
    assert timings._database.read("SELECT count(*) FROM timing WHERE phase = 'stage_1'") == [(NUM_KEPT,)]
    assert timings.phases_s(FLEET, 1000)[Phase.STAGE_1] == 5 + NUM_KEPT // 2
