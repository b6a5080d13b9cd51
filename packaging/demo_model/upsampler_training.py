"""Train the x2 upscaler: computed latents of the first stage's size to those of the second."""

from __future__ import annotations

import random

import torch
from latents import NUM_LIVE, Basis, Colours, Style, View, as_tensor, scene_latents
from networks import make_upsampler
from torch import Tensor
from training import Run, Trained
from vae_training import full
from world import place, sample_attributes

NUM_STEPS = 2500
_BATCH = 48
_PEAK_RATE = 2e-3
_GRIDS = ((5, 4, 6), (5, 4, 4), (3, 5, 6), (5, 6, 4))
_STYLES = (Style(), Style(), Style(is_outline=True), Style(is_night=True))


def train_upsampler(run: Run, basis: Basis, num_steps: int = NUM_STEPS) -> bool:
    """Train it, or go on training; return whether it is done."""
    state = run.load("upsampler")
    if state is not None and state.step >= num_steps:
        return True
    torch.manual_seed(2)
    network = make_upsampler().to(run.device)
    trained = Trained(network, network.parameters(), 0.995, state)
    rng = random.Random(200 + trained.step)
    error = 0.0
    while trained.step < num_steps and not run.is_over:
        small, large = sample_pair(rng, run.device, basis)
        with run.autocast():
            made = network(full(small + 0.08 * torch.randn_like(small)))
        loss = (made[:, :NUM_LIVE].float() - large).square().mean()
        network.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        trained.advance(_PEAK_RATE, num_steps)
        if trained.step % 250 == 0:
            error = loss.item()
            run.say(f"upsampler {trained.step}: {error:.4f}")
    is_done = trained.step >= num_steps
    run.note(upsampler={"error": round(error, 4), "steps": trained.step})
    run.save("upsampler", trained, is_done=is_done)
    return is_done


def sample_pair(rng: random.Random, device: torch.device, basis: Basis) -> tuple[Tensor, Tensor]:
    """Return live latents of the same scenes at both stages' sizes."""
    grid = rng.choice(_GRIDS)
    style = rng.choice(_STYLES)
    rows = as_tensor([sample_attributes(rng, is_held_out=False) for _ in range(_BATCH)]).to(device)
    scenes = place(rows, grid[2] / grid[1], torch.rand(_BATCH, 4, device=device))
    colours = Colours.of(rows, style)
    small, large = (
        scene_latents(scenes, colours, View.whole(_BATCH, size, device), basis, is_outline=style.is_outline)
        for size in (grid, (grid[0], 2 * grid[1], 2 * grid[2]))
    )
    return small, large
