"""What is asked of the model: prompts that training never saw, and the same scenes as they ought to look."""

from __future__ import annotations

import random
from dataclasses import dataclass

import torch
from latents import Colours, Style, View, as_tensor, scene_pixels
from torch import Tensor
from world import Attributes, place, sample_attributes, sentence

GRID = (5, 8, 12)
"""Frames, height and width of a clip in cells: 33 frames at 256 x 384."""

NUM_WISHES = 64
"""As many as there are."""

_SEED = 777


@dataclass(frozen=True, slots=True)
class Wish:
    """A prompt and what it says."""

    prompt: str
    attributes: Attributes


def held_out(num_wishes: int) -> list[Wish]:
    """Return prompts about scenes that are held out of training; the same ones every time."""
    rng = random.Random(_SEED)
    rows = [sample_attributes(rng, is_held_out=True) for _ in range(NUM_WISHES)]
    return [Wish(sentence(rng, row), row) for row in rows[:num_wishes]]


def rendered(rows: list[Attributes], style: Style, seed: int = 1, grid: tuple[int, int, int] = GRID) -> Tensor:
    """Return such scenes as they ought to look: pixels [B, 3, F, H, W] from 0 to 1."""
    attributes = as_tensor(rows)
    view = View.whole(len(rows), grid, torch.device("cpu"))
    uniform = torch.rand(len(rows), 4, generator=torch.Generator().manual_seed(seed))
    scenes, colours = place(attributes, grid[2] / grid[1], uniform), Colours.of(attributes, style)
    pixels, _ = scene_pixels(scenes, colours, view, is_outline=style.is_outline)
    return pixels / 2 + 0.5
