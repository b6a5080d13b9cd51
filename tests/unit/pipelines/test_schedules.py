"""Schedules against the original's, and those that cannot be."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from podium.errors import JobRefusedError
from podium.pipelines.schedules import TILED_STAGE_2_SIGMAS, check_strictly_falling, shifted_schedule

from tests.fakes.guided_oracle import schedule as schedule_of_diffusers


@pytest.fixture
def data(golden: Callable[[str], dict[str, Tensor]]) -> dict[str, Tensor]:
    return golden("schedules_and_geometry")


def test_the_sigmas_of_tiles_are_the_originals(data: dict[str, Tensor]) -> None:
    assert torch.equal(torch.tensor(TILED_STAGE_2_SIGMAS), data["tdp_stage2"])


@pytest.mark.parametrize("num_steps", [1, 2, 4, 8, 15, 30, 40])
def test_the_two_stage_schedule_is_the_originals_bit_by_bit(data: dict[str, Tensor], num_steps: int) -> None:
    assert torch.equal(torch.tensor(shifted_schedule(num_steps)), data[f"ltx2.default_tokens.steps{num_steps}"])


@pytest.mark.parametrize("num_tokens", [72, 6144, 8160])
def test_the_schedule_by_token_count_is_the_originals_bit_by_bit(data: dict[str, Tensor], num_tokens: int) -> None:
    assert torch.equal(torch.tensor(shifted_schedule(15, num_tokens)), data[f"ltx2.tokens{num_tokens}.steps15"])


@given(st.integers(2, 60), st.integers(1, 16384))
def test_schedules_fall_from_one_to_a_tenth_and_zero(num_steps: int, num_tokens: int) -> None:
    sigmas = shifted_schedule(num_steps, num_tokens)
    assert len(sigmas) == num_steps + 1
    # The stretch makes more of float32's last bit, the fewer the steps and the larger the clip.
    assert sigmas[0] == pytest.approx(1, abs=1e-3)
    assert sigmas[-2:] == (pytest.approx(0.1, abs=1e-6), 0.0)
    assert all(following < level for level, following in pairwise(sigmas))
    check_strictly_falling(sigmas, num_tokens)


@given(st.integers(2, 40), st.integers(64, 8160))
def test_a_schedule_is_that_of_diffusers_scheduler(num_steps: int, num_tokens: int) -> None:
    assert shifted_schedule(num_steps, num_tokens) == pytest.approx(
        schedule_of_diffusers(num_steps, num_tokens), abs=2e-5
    )


def test_a_token_count_whose_schedule_is_no_number_is_refused_in_words() -> None:
    with pytest.raises(JobRefusedError, match="63240 video tokens"):
        shifted_schedule(15, 63240)


def test_levels_that_cannot_be_told_apart_are_refused_where_that_matters() -> None:
    sigmas = shifted_schedule(15, 50_000)
    with pytest.raises(JobRefusedError, match="too large"):
        check_strictly_falling(sigmas, 50_000)


def test_a_schedule_without_steps_is_refused() -> None:
    with pytest.raises(JobRefusedError, match="At least 1"):
        shifted_schedule(0)


def test_one_step_by_token_count_is_refused_with_what_would_do() -> None:
    with pytest.raises(JobRefusedError, match="two or more"):
        shifted_schedule(1, 6144)
