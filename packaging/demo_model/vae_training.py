"""Train the video VAE: a decoder from computed latents to pixels, an encoder from pixels to computed latents.

Neither needs the other, since the latents are computed from the scene. On a GPU a step of each kind of window is
captured as a CUDA graph, and what lies between two convolutions is one kernel.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from latents import NUM_LIVE, Basis, Colours, Style, View, as_tensor, scene_latents, scene_pixels
from networks import make_decoder, make_encoder
from torch import Tensor, nn
from training import Run, Stepper, Trained, psnr_db
from unfolding import unfold
from windows import Batch, Windows
from world import place, sample_attributes

NUM_DECODER_STEPS = 60000
NUM_ENCODER_STEPS = 18000
_PEAK_RATE = 1e-3
_NUM_SCENES = 200_000
_NUM_VOXELS = 350_000
"""Of a batch, whatever its windows: squares of 4 x 4 pixels."""

_STYLES = ((Style(), 0.4), (Style(is_outline=True), 0.4), (Style(is_night=True), 0.2))
# Grids, aspects and zooms with their shares. Large ones count: a decoder that has only seen places near a border is
# wrong in the middle of a picture. Encoders are given whole pictures, most often a single one.
_DECODED = (
    ((3, 4, 4), 1.0, 2.0, 0.25),
    ((5, 4, 6), 1.5, 2.0, 0.1),
    ((2, 8, 8), 1.0, 1.0, 0.4),
    ((5, 8, 12), 1.5, 0.5, 0.2),
    ((2, 16, 16), 1.0, 0.5, 0.05),
)
_ENCODED = (
    ((1, 4, 6), 1.5, 0.3, 0.3),
    ((1, 8, 12), 1.5, 0.3, 0.3),
    ((5, 4, 6), 1.5, 1.0, 0.3),
    ((3, 4, 4), 1.0, 2.0, 0.1),
)
_MEASURED = (("half", (5, 4, 6)), ("full", (5, 8, 12)), ("picture", (1, 8, 12)))
_EDGE_PX, _EDGE_WEIGHT = 4.0, 5.0


@dataclass(frozen=True, slots=True)
class _Half:
    # Under which name it is saved, how it begins, and what it is asked of which windows.
    name: str
    make: Callable[[Basis], nn.Module]
    loss: Callable[[nn.Module, Batch], Tensor]
    grids: tuple[tuple[tuple[int, int, int], float, float, float], ...]


def train_decoder(run: Run, basis: Basis, num_steps: int = NUM_DECODER_STEPS) -> bool:
    """Train the decoder, or go on training; return whether it is done."""
    return _train(run, basis, _Half("decoder", _unfolded, _decoder_loss, _DECODED), num_steps)


def train_encoder(run: Run, basis: Basis, num_steps: int = NUM_ENCODER_STEPS) -> bool:
    """Train the encoder, or go on training; return whether it is done."""
    return _train(run, basis, _Half("encoder", lambda _basis: make_encoder(), _encoder_loss, _ENCODED), num_steps)


class WindowStep:
    """The loss of one batch of one kind of windows.

    Args:
        network: What is trained.
        windows: Of the batch.
        basis: Of the latents.
        loss: Of the network on a batch.
    """

    def __init__(
        self, network: nn.Module, windows: Windows, basis: Basis, loss: Callable[[nn.Module, Batch], Tensor]
    ) -> None:
        self._network, self._windows, self._basis, self._loss = network, windows, basis, loss
        num_windows = min(max(_NUM_VOXELS // windows.num_voxels, 4), 128)
        self._attributes = torch.zeros(num_windows, 6, dtype=torch.int64, device=basis.mean.device)

    def fill(self, attributes: Tensor) -> None:
        """Take scenes at random, of attributes [N, 6]."""
        rows = torch.randint(len(attributes), (len(self._attributes),), device=attributes.device)
        self._attributes.copy_(attributes[rows])

    def loss(self) -> Tensor:
        """Return the loss of the network on windows that are drawn now."""
        with torch.no_grad(), torch.autocast(self._attributes.device.type, enabled=False):
            batch = self._windows.draw(self._attributes, self._basis)
        return self._loss(self._network, batch)


def full(latents: Tensor) -> Tensor:
    """Return latents with all 128 channels."""
    return nn.functional.pad(latents, (0, 0, 0, 0, 0, 0, 0, 128 - NUM_LIVE))


def _train(run: Run, basis: Basis, half: _Half, num_steps: int) -> bool:
    state = run.load(half.name)
    if state is not None and state.step >= num_steps:
        return True
    torch.manual_seed(1)
    network = half.make(basis).to(run.device, memory_format=torch.channels_last_3d)
    trained = Trained(network, network.parameters(), 0.999, state)
    if run.device.type == "cuda":
        _quicken(network)
    parameters = list(network.parameters())
    for parameter in parameters:
        parameter.grad = torch.zeros_like(parameter)
    torch.manual_seed(100 + trained.step)
    rng = random.Random(100 + trained.step)
    scenes = as_tensor([sample_attributes(rng, is_held_out=False) for _ in range(_NUM_SCENES)]).to(run.device)
    kinds = [
        (Windows(grid, style, aspect, zoom), share * style_share)
        for grid, aspect, zoom, share in half.grids
        for style, style_share in _STYLES
    ]
    steppers: dict[Windows, Stepper[WindowStep]] = {}
    losses: list[Tensor] = []
    while trained.step < num_steps and not run.is_over:
        windows = rng.choices([kind for kind, _ in kinds], [share for _, share in kinds])[0]
        if windows not in steppers:
            steppers[windows] = Stepper(run, WindowStep(network, windows, basis, half.loss), parameters)
        stepper = steppers[windows]
        stepper.step.fill(scenes)
        stepper()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        trained.advance(_PEAK_RATE, num_steps)
        losses.append(stepper.loss.clone())
        if trained.step % 500 == 0:
            run.say(f"{half.name} {trained.step}: {torch.stack(losses).mean().item():.4f}")
            losses.clear()
    is_done = trained.step >= num_steps
    run.save(half.name, trained, is_done=is_done)
    run.note(**{half.name: {"steps": trained.step} | _measure(trained.mean.network, half.name, run, basis)})
    return is_done


def _unfolded(basis: Basis) -> nn.Module:
    decoder = make_decoder()
    unfold(decoder, basis.to(torch.device("cpu")))
    return decoder


def _decoder_loss(network: nn.Module, batch: Batch) -> Tensor:
    # What the transformer makes is never exact.
    spread = 0.15 * torch.rand(len(batch.latents), 1, 1, 1, 1, device=batch.latents.device).square()
    decoded = network(full(batch.latents + spread * torch.randn_like(batch.latents)))
    error = decoded.float() - batch.pixels
    weight = 1 + _EDGE_WEIGHT * (batch.distance_px.abs() < _EDGE_PX)
    return (weight * (error.abs() + 2 * error.square())).mean() / weight.mean()


def _encoder_loss(network: nn.Module, batch: Batch) -> Tensor:
    encoded = network(batch.pixels, causal=True)[:, :NUM_LIVE].float()
    return (encoded - batch.latents).square().mean()


@torch.no_grad()
def _measure(network: nn.Module, name: str, run: Run, basis: Basis) -> dict[str, Any]:
    # Of whole pictures of both stages' sizes: decibels of the decoder's pixels, squared errors of encoded latents.
    rng = random.Random(99)
    generator = torch.Generator().manual_seed(99)
    figures = {}
    for size, grid in _MEASURED:
        for style, kind in ((Style(), "plain"), (Style(is_outline=True), "outline"), (Style(is_night=True), "night")):
            rows = as_tensor([sample_attributes(rng, is_held_out=False) for _ in range(8)]).to(run.device)
            scenes = place(rows, grid[2] / grid[1], torch.rand(8, 4, generator=generator).to(run.device))
            view = View.whole(8, grid, run.device)
            colours, is_outline = Colours.of(rows, style), style.is_outline
            pixels, _ = scene_pixels(scenes, colours, view, is_outline=is_outline)
            latents = scene_latents(scenes, colours, view, basis, is_outline=is_outline)
            with run.autocast():
                if name == "decoder":
                    value = psnr_db(network(full(latents)).float().clamp(-1, 1), pixels)
                else:
                    made = network(pixels, causal=True)[:, :NUM_LIVE].float()
                    value = float((made - latents).square().mean())
            figures[f"{size} {kind}"] = round(value, 4)
    run.say(f"{name}: {figures}")
    return figures


def _quicken(network: nn.Module) -> None:
    """Keep tensors laid out for tensor cores, and make one kernel of a norm and the activation after it."""
    norm = _NormSilu()
    for module in network.modules():
        for name in ("norm1", "norm2", "norm_out"):
            if hasattr(module, name):
                setattr(module, name, norm)
        for name in ("nonlinearity", "conv_act"):
            if hasattr(module, name):
                setattr(module, name, nn.Identity())
        # They deal channels out to places, in an order of their own.
        if hasattr(module, "stride") and hasattr(module, "conv") and not isinstance(module, nn.Conv3d):
            module.register_forward_hook(_lay_out)


def _lay_out(_module: nn.Module, _inputs: object, output: Tensor) -> Tensor:
    return output.contiguous(memory_format=torch.channels_last_3d)


class _NormSilu(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self._run: Callable[[Tensor], Tensor] = torch.compile(_norm_silu, dynamic=True)

    def forward(self, x: Tensor) -> Tensor:
        return self._run(x)


def _norm_silu(x: Tensor) -> Tensor:
    wide = x.float()
    return nn.functional.silu(wide * torch.rsqrt(wide.square().mean(1, keepdim=True) + 1e-8)).to(x.dtype)
