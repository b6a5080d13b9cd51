"""Sample clips with the networks themselves, in batches, while they are trained.

What ships is measured through the pack, by `podium generate`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import torch
from latents import NUM_LIVE
from networks import DemoNetwork, live_only
from torch import Tensor, nn
from training import Run
from vae_training import full

from podium.geometry import ClipFormat
from podium.models.transformer.inputs import Timesteps
from podium.pipelines.latents import video_positions
from podium.pipelines.schedules import DISTILLED_STAGE_1_SIGMAS, DISTILLED_STAGE_2_SIGMAS


@dataclass(frozen=True, slots=True)
class Networks:
    """What makes a clip."""

    demo: DemoNetwork
    decoder: nn.Module
    upsampler: nn.Module


@torch.no_grad()
def sample(
    run: Run, networks: Networks, ids: Tensor, lengths: Tensor, *, grid: tuple[int, int, int], seed: int
) -> tuple[Tensor, Tensor]:
    """Return clips [B, 3, F, H, W] from -1 to 1 in two stages, and the first stage's, decoded.

    Args:
        ids, lengths: [B, N] tokens and [B] their numbers.
        grid: Of the first stage.
    """
    generator = torch.Generator(run.device).manual_seed(seed)
    with run.autocast():
        context = networks.demo.context(ids, lengths, 1024)
        draft = _stage(networks.demo, context, grid, DISTILLED_STAGE_1_SIGMAS, None, generator)
        larger = networks.upsampler(full(draft))[:, :NUM_LIVE].float()
        final_grid = (grid[0], 2 * grid[1], 2 * grid[2])
        final = _stage(networks.demo, context, final_grid, DISTILLED_STAGE_2_SIGMAS, larger, generator)
        small, large = (networks.decoder(full(latents)).float().clamp(-1, 1) for latents in (draft, final))
    return large, small


def _stage(
    network: DemoNetwork,
    context: Tensor,
    grid: tuple[int, int, int],
    sigmas: tuple[float, ...],
    init: Tensor | None,
    generator: torch.Generator,
) -> Tensor:
    frames, height, width = grid
    device = context.device
    clip = ClipFormat(height * 32, width * 32, (frames - 1) * 8 + 1, Fraction(24))
    ropes = network.transformer.video_ropes(video_positions(clip).to(device))
    shape = (len(context), frames * height * width, NUM_LIVE)
    noise = torch.randn(shape, generator=generator, device=device)
    x = noise if init is None else torch.lerp(init.flatten(2).transpose(1, 2), noise, sigmas[0])
    for sigma, next_sigma in pairwise(sigmas):
        level = torch.full((len(context),), sigma, device=device)
        velocity = network.velocity(live_only(x), Timesteps(level[:, None]), level, context, ropes)
        x = x + velocity[..., :NUM_LIVE].float() * (next_sigma - sigma)
    return x.transpose(1, 2).unflatten(2, grid)
