"""What a sampler's state is held to: masks, noise levels and markers, in numbers."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch
from torch import Tensor

from podium.geometry import ClipFormat
from podium.models.text_encoder import PromptContext
from podium.models.transformer.inputs import RotaryTables
from podium.models.transformer.model import Ropes
from podium.pipelines.blocks.diffusion import _StreamSetup
from podium.pipelines.blocks.placement import Placement
from podium.pipelines.guidance import CONDITIONED, ContextChoice
from podium.pipelines.latents import LatentState, audio_state, keep_first_frame, video_state

CPU = torch.device("cpu")
CLIP = ClipFormat(64, 128, 17, Fraction(24))
NUM_FIRST = 2 * 4
"""Tokens of the first latent frame."""


def filled(value: float) -> Tensor:
    return torch.full((1, CLIP.latent_grid.num_tokens, 128), value)


@pytest.fixture
def state() -> LatentState:
    """Return a state that starts at 10, its first frame held to 2 at strength 0.75."""
    start = video_state(CLIP, CPU, torch.full((1, 128, 3, 2, 4), 10.0))
    return keep_first_frame(start, torch.full((1, 128, 1, 2, 4), 2.0), 0.75)


def test_a_kept_frame_is_what_its_tokens_are_held_to_by_its_strength(state: LatentState) -> None:
    assert torch.equal(state.denoise_mask, torch.tensor([0.25] * NUM_FIRST + [1.0] * 2 * NUM_FIRST))
    assert bool((state.clean[:, :NUM_FIRST] == 2).all())
    assert bool((state.clean[:, NUM_FIRST:] == 10).all())
    assert bool((state.latent == 10).all())


def test_noise_is_mixed_into_the_start_and_then_held_to_the_clean_tokens(state: LatentState) -> None:
    noisy = state.with_noise(filled(-6.0), 0.5).latent
    # Halfway from 10 to -6 is 2; a quarter of the way from 2 to there is 2 again: another noise tells them apart.
    assert bool((noisy == 2).all())
    noisy = state.with_noise(filled(0.0), 0.5).latent
    assert bool((noisy[:, NUM_FIRST:] == 5).all())
    assert bool((noisy[:, :NUM_FIRST] == 2 + 0.25 * (5 - 2)).all())


def test_an_estimate_is_held_to_the_clean_tokens_by_the_mask(state: LatentState) -> None:
    estimate = state.blend(filled(-2.0))
    assert bool((estimate[:, :NUM_FIRST] == 0.25 * -2 + 0.75 * 2).all())
    assert bool((estimate[:, NUM_FIRST:] == -2).all())


def test_the_first_latent_frame_alone_is_marked_in_every_run() -> None:
    marker = video_state(CLIP, CPU).keyframes_mask
    assert marker is not None
    assert marker.flatten().tolist() == [1.0] * NUM_FIRST + [0.0] * 2 * NUM_FIRST
    assert audio_state(CLIP, CPU).keyframes_mask is None


def test_a_tokens_own_noise_level_is_its_mask_times_the_streams(state: LatentState) -> None:
    table = RotaryTables(torch.zeros(1), torch.zeros(1))
    context = PromptContext(torch.zeros(1, 4, 8), torch.zeros(1, 4, 8)).video
    setup = _StreamSetup(Ropes(table, table), {ContextChoice.PROMPT: context}, state, Placement(CPU, torch.float32))
    estimate = setup.estimate(filled(1.0), filled(2.0), 0.5)
    assert bool((estimate[:, NUM_FIRST:] == 1 - 0.5 * 2).all())
    assert bool((estimate[:, :NUM_FIRST] == 1 - 0.25 * 0.5 * 2).all())
    timesteps = setup.input_at(filled(1.0), 0.5, [CONDITIONED]).timesteps
    index = timesteps.index
    assert index is not None
    assert torch.equal(timesteps.values[0][index], state.denoise_mask * 0.5)
