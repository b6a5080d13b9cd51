"""Train the video VAE: a decoder from computed latents to pixels, an encoder from pixels to computed latents.

Neither needs the other, since the latents are computed from the scene; both see windows of scenes of every size.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import torch
from latents import CELL_PX, NUM_LIVE, Basis, Colours, Style, View, as_tensor, scene_latents, scene_pixels
from networks import make_decoder, make_encoder
from torch import Tensor, nn
from training import Run, Trained, psnr_db
from world import place, sample_attributes

NUM_STEPS = NUM_STEPS_AGAIN = 6000
_BATCH = 20
_PEAK_RATE, _PEAK_RATE_AGAIN = 8e-4, 6e-4
_STYLES = (Style(), Style(), Style(), Style(is_outline=True), Style(is_night=True), Style(is_outline=True))
_EDGE_PX, _EDGE_WEIGHT = 4.0, 5.0


@dataclass(frozen=True, slots=True)
class Batch:
    """Windows of scenes: pixels [B, 3, F, H, W], distances to edges in pixels, live latents [B, 31, F', H', W']."""

    pixels: Tensor
    distance_px: Tensor
    latents: Tensor


def train_vae(run: Run, basis: Basis, num_steps: int = NUM_STEPS) -> bool:
    """Train both halves, or go on training; return whether they are done."""
    return _train(run, basis, _Pass("vae", num_steps, _PEAK_RATE))


def train_vae_again(run: Run, basis: Basis, num_steps: int = NUM_STEPS_AGAIN) -> bool:
    """Train both halves a second time, from where the first ended and at a lower rate; return whether that is done."""
    return _train(run, basis, _Pass("vae_again", num_steps, _PEAK_RATE_AGAIN, begins_with="vae"))


@dataclass(frozen=True, slots=True)
class _Pass:
    # Under which name it is saved, how long and fast it is, and whose weights it begins with.
    name: str
    num_steps: int
    peak_rate: float
    begins_with: str | None = None


def _train(run: Run, basis: Basis, this: _Pass) -> bool:
    state = run.load(this.name)
    if state is not None and state.step >= this.num_steps:
        return True
    torch.manual_seed(1)
    both = nn.ModuleDict({"decoder": make_decoder(), "encoder": make_encoder()}).to(run.device)
    both = both.to(memory_format=torch.channels_last_3d)
    if state is None and this.begins_with is not None and (first := run.load(this.begins_with)) is not None:
        both.load_state_dict(first.mean)
    masks = [(parameter, mask.to(run.device)) for parameter, mask in _masks(both["encoder"], both["decoder"])]
    trained = Trained(both, both.parameters(), 0.999, state)
    rng = random.Random(100 + trained.step)
    while trained.step < this.num_steps and not run.is_over:
        losses = _losses(run, both, sample_batch(rng, run.device, basis))
        both.zero_grad()
        (losses[0] + 0.5 * losses[1]).backward()
        for half in both.values():
            nn.utils.clip_grad_norm_(half.parameters(), 1.0)
        trained.advance(this.peak_rate, this.num_steps)
        with torch.no_grad():
            for parameter, mask in masks:
                parameter.mul_(mask)
        if trained.step % 250 == 1:
            run.say(f"{this.name} {trained.step}: pixels {losses[0].item():.4f}, latents {losses[1].item():.4f}")
    is_done = trained.step >= this.num_steps
    run.save(this.name, trained, is_done=is_done)
    _measure(run, trained.mean.network, basis)
    return is_done


def _losses(run: Run, both: nn.ModuleDict, batch: Batch) -> tuple[Tensor, Tensor]:
    with run.autocast():
        decoded = both["decoder"](_noisy(batch.latents).to(memory_format=torch.channels_last_3d))
        encoded = both["encoder"](batch.pixels.contiguous(memory_format=torch.channels_last_3d), causal=True)
    return _pixel_loss(decoded.float(), batch), (encoded[:, :NUM_LIVE].float() - batch.latents).square().mean()


def sample_batch(rng: random.Random, device: torch.device, basis: Basis, size: int = _BATCH) -> Batch:
    """Return windows of four by four cells, now and then of other sizes, of scenes in one style."""
    # Few distinct shapes: convolutions are tuned to each one.
    frames, height, width = rng.choices(((3, 4, 4), (5, 4, 3), (1, 4, 6), (3, 5, 6)), (0.6, 0.2, 0.05, 0.15))[0]
    size = max(4, size * 48 // (frames * height * width))
    style = rng.choice(_STYLES)
    aspect = rng.choice((1.0, 1.5))
    rows = [sample_attributes(rng, is_held_out=False) for _ in range(size)]
    attributes = as_tensor(rows).to(device)
    scenes = place(attributes, aspect, torch.rand(size, 4, device=device))
    # Of whole pictures as well as of corners of larger ones.
    least = max(height, width / aspect) * CELL_PX
    height_px = least * (1 + 2 * torch.rand(size, device=device).square())
    room_y, room_x = height_px - height * CELL_PX, height_px * aspect - width * CELL_PX
    u = torch.rand(2, size, device=device)
    view = View(height_px, aspect, room_y.clamp(min=0) * u[0], room_x.clamp(min=0) * u[1], height, width, frames)
    colours = Colours.of(attributes, style)
    pixels, distance = scene_pixels(scenes, colours, view, is_outline=style.is_outline)
    return Batch(pixels, distance, scene_latents(scenes, colours, view, basis, is_outline=style.is_outline))


def full(latents: Tensor) -> Tensor:
    """Return latents with all 128 channels."""
    return nn.functional.pad(latents, (0, 0, 0, 0, 0, 0, 0, 128 - NUM_LIVE))


def _noisy(latents: Tensor) -> Tensor:
    # What the transformer makes is never exact.
    spread = 0.15 * torch.rand(len(latents), 1, 1, 1, 1, device=latents.device)
    return full(latents + spread * torch.randn_like(latents))


def _pixel_loss(decoded: Tensor, batch: Batch) -> Tensor:
    error = decoded - batch.pixels
    weight = 1 + _EDGE_WEIGHT * (batch.distance_px.abs() < _EDGE_PX)
    return (weight * (error.abs() + 2 * error.square())).mean() / weight.mean()


def _masks(encoder: nn.Module, decoder: nn.Module) -> list[tuple[nn.Parameter, Tensor]]:
    """Return what stays zero, so that it zips away: dead channels, and half of the widest layer's inner ones."""
    masks = []
    for resnet in encoder.down_blocks[1].resnets:  # type: ignore[union-attr, index]
        first, second = resnet.conv1.conv, resnet.conv2.conv
        half = first.weight.shape[0] // 2
        for parameter, dim in ((first.weight, 0), (first.bias, 0), (second.weight, 1)):
            mask = torch.ones_like(parameter)
            mask.narrow(dim, half, parameter.shape[dim] - half).zero_()
            masks.append((parameter, mask))
    out, into = encoder.conv_out.conv, decoder.conv_in.conv  # type: ignore[union-attr]
    for parameter, dim in ((out.weight, 0), (out.bias, 0), (into.weight, 1)):
        mask = torch.ones_like(parameter)
        mask.narrow(dim, NUM_LIVE, parameter.shape[dim] - NUM_LIVE).zero_()
        masks.append((parameter, mask))
    return masks


@torch.no_grad()
def _measure(run: Run, network: nn.Module, basis: Basis) -> None:
    rng = random.Random(99)
    figures = {}
    for name, grid in (("half", (5, 4, 6)), ("full", (5, 8, 12)), ("square", (5, 8, 8))):
        rows = as_tensor([sample_attributes(rng, is_held_out=False) for _ in range(8)]).to(run.device)
        scenes = place(rows, grid[2] / grid[1], torch.rand(8, 4, device=run.device))
        view = View.whole(8, grid, run.device)
        colours = Colours.of(rows, Style())
        pixels, _ = scene_pixels(scenes, colours, view)
        latents = scene_latents(scenes, colours, view, basis)
        with run.autocast():
            decoded = network["decoder"](full(latents)).float().clamp(-1, 1)  # type: ignore[index]
            encoded = network["encoder"](pixels, causal=True)[:, :NUM_LIVE].float()  # type: ignore[index]
            again = network["decoder"](full(encoded)).float().clamp(-1, 1)  # type: ignore[index]
        figures[name] = {
            "decoded_db": round(psnr_db(decoded, pixels), 2),
            "through_both_db": round(psnr_db(again, pixels), 2),
            "encoded_error": round(float((encoded - latents).square().mean()), 4),
        }
    run.say(f"vae: {figures}")
    run.note(vae=figures)
