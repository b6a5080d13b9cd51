"""The decoder begins as the inverse of the fold, windows show scenes with their latents, and both halves learn."""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import vae_training
from diffusers.models.autoencoders.autoencoder_kl_ltx2 import PerChannelRMSNorm
from latents import REACH_PX, Basis, Colours, Style, View, as_tensor, frame_times_s, scene_latents
from networks import make_decoder, make_encoder
from torch import Tensor, nn
from training import Run
from unfolding import unfold
from vae_training import full, train_decoder, train_encoder
from windows import Windows
from world import COLOURS, place, sample_attributes, signed_distance

CPU = torch.device("cpu")
WINDOWS = Windows((3, 4, 4), Style(), 1.0, 2.0)


@pytest.fixture(scope="module")
def basis() -> Basis:
    return Basis.load()


@pytest.fixture(scope="module")
def attributes() -> Tensor:
    rng = random.Random(5)
    return as_tensor([sample_attributes(rng, is_held_out=False) for _ in range(64)])


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(vae_training, "_NUM_SCENES", 16)
    monkeypatch.setattr(vae_training, "_NUM_VOXELS", 1)
    for grids in ("_DECODED", "_ENCODED"):
        monkeypatch.setattr(vae_training, grids, (((1, 1, 1), 1.0, 1.0, 1.0),))
    monkeypatch.setattr(vae_training, "_MEASURED", (("tiny", (1, 1, 1)),))
    return Run(tmp_path, CPU, math.inf)


def _before_painting(decoder: nn.Module, latents: Tensor) -> Tensor:
    seen = []
    upsampler = decoder.up_blocks[-1].upsamplers[0]  # type: ignore[union-attr, index]
    hook = upsampler.register_forward_hook(lambda *call: seen.append(call[2]))
    with torch.no_grad():
        decoder(full(latents), causal=False)
    hook.remove()
    return seen[0]


def test_a_new_decoder_knows_everywhere_how_far_the_edge_is(basis: Basis, attributes: Tensor) -> None:
    decoder = make_decoder()
    unfold(decoder, basis)
    view = View.whole(8, (3, 4, 6), CPU)
    scenes = place(attributes[:8], 1.5, torch.rand(8, 4, generator=torch.Generator().manual_seed(0)))
    colours = Colours.of(attributes[:8], Style())
    found = _before_painting(decoder, scene_latents(scenes, colours, view, basis))
    wanted = view.distance_px(scenes, frame_times_s(17, CPU), 4)
    is_near = wanted.abs() < 8
    error = (torch.atanh(found[:, 0].clamp(-0.98, 0.98)) * REACH_PX - wanted).abs()[is_near]
    # The fold itself loses half a pixel.
    assert int(is_near.sum()) > 1000
    assert float(error.mean()) < 0.9
    # Behind it come the background's colour, the shape's, and the style; last of all, that this is within the picture.
    assert torch.allclose(found[:, 1:4, :, 0, 0], colours.background[..., None].expand(-1, -1, 17), atol=1e-6)
    assert torch.equal(found[:, -1].unique(), torch.ones(1))


def test_scenes_go_on_from_where_they_are_later(attributes: Tensor) -> None:
    scenes = place(attributes, 1.5, torch.rand(64, 4, generator=torch.Generator().manual_seed(0)))
    ys, xs = (torch.linspace(-1, 1, 5).expand(64, 5) for _ in range(2))
    seconds = torch.linspace(0, 0.5, 64)
    for row in (3, 40, 63):
        one = slice(row, row + 1)
        now = signed_distance(scenes.take(one).later(seconds[one]), torch.tensor([0.0, 0.4]), ys[one], xs[one])
        then = signed_distance(scenes.take(one), torch.tensor([0.0, 0.4]) + seconds[row], ys[one], xs[one])
        assert torch.allclose(now, then, atol=1e-5)


def test_windows_mostly_show_the_shape_in_the_worlds_colours_and_in_any(basis: Basis, attributes: Tensor) -> None:
    torch.manual_seed(0)
    batch = WINDOWS.draw(attributes, basis)
    assert batch.pixels.shape == (64, 3, 17, 128, 128)
    assert batch.latents.shape == (64, 31, 3, 4, 4)
    assert float((batch.distance_px < 0).flatten(1).any(1).float().mean()) > 0.9
    palette = torch.tensor(list(COLOURS.values())) * 2 - 1
    is_ground = batch.distance_px.flatten(1).argmax(1)
    ground = batch.pixels.flatten(2)[torch.arange(64), :, is_ground]
    is_known = ((ground[:, None] - palette).abs().amax(-1) < 1e-4).any(1).float().mean()
    assert 0.3 < float(is_known) < 0.7


def test_both_halves_learn_and_go_on_where_they_were_left(run: Run, basis: Basis) -> None:
    for name, train in (("decoder", train_decoder), ("encoder", train_encoder)):
        assert train(run, basis, 1)
        first = run.load(name)
        assert train(run, basis, 2)
        second = run.load(name)
        assert first is not None
        assert second is not None
        assert (first.step, second.step) == (1, 2)
        assert any(not torch.equal(second.mean[key], value) for key, value in first.mean.items())


def test_steps_lower_the_decoders_loss(run: Run, basis: Basis, attributes: Tensor) -> None:
    torch.manual_seed(0)
    decoder = make_decoder()
    unfold(decoder, basis)
    step = vae_training.WindowStep(decoder, Windows((1, 2, 2), Style(), 1.0, 0.0), basis, vae_training._decoder_loss)
    optimizer = torch.optim.AdamW(decoder.parameters(), lr=1e-3)
    losses = []
    for _ in range(12):
        torch.manual_seed(1)
        step.fill(attributes)
        loss = step.loss()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.8 * losses[0]


def test_what_the_encoder_does_not_use_stays_zero(run: Run, basis: Basis) -> None:
    assert train_encoder(run, basis, 2)
    state = run.load("encoder")
    assert state is not None
    for key, rows in (("conv_out.conv.weight", 31), ("mid_block.resnets.0.conv1.conv.weight", 32)):
        assert state.mean[key][:rows].any()
        assert not state.mean[key][rows:].any()
    assert not state.mean["mid_block.resnets.0.conv2.conv.weight"][:, 32:].any()


@pytest.mark.parametrize("make", [make_decoder, make_encoder])
def test_a_quickened_network_is_the_same(make: Callable[[], nn.Module], monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    plain = make()
    quick = copy.deepcopy(plain)
    monkeypatch.setattr(torch, "compile", lambda function, **_options: function)
    vae_training._quicken(quick)
    assert not any(isinstance(module, PerChannelRMSNorm) for module in quick.modules())
    shape = (2, 128, 2, 2, 3) if make is make_decoder else (2, 3, 9, 64, 96)
    given = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        assert torch.allclose(quick(given), plain(given), atol=1e-5)
    assert quick.state_dict().keys() == plain.state_dict().keys()
