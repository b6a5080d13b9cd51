"""The video VAE of 2.0, whose file names no padding, against diffusers' class, loaded by itself."""

from __future__ import annotations

import pytest
import torch
from diffusers import AutoencoderKLLTX2Video
from safetensors import safe_open

from podium.models.video_vae import video_decoder_builder, video_encoder_builder

from tests.fakes.closeness import assert_close_to_golden, relative_error
from tests.tiny_pack import TinyPack

CPU = torch.device("cpu")
ENCODER_BLOCKS = {
    "0": "down_blocks.0",
    "1": "down_blocks.0.downsamplers.0",
    "2": "down_blocks.1",
    "3": "down_blocks.1.downsamplers.0",
    "4": "down_blocks.2",
    "5": "down_blocks.2.downsamplers.0",
    "6": "down_blocks.3",
    "7": "down_blocks.3.downsamplers.0",
    "8": "mid_block",
}
DECODER_BLOCKS = {
    "0": "mid_block",
    "1": "up_blocks.0.upsamplers.0",
    "2": "up_blocks.0",
    "3": "up_blocks.1.upsamplers.0",
    "4": "up_blocks.1",
    "5": "up_blocks.2.upsamplers.0",
    "6": "up_blocks.2",
}
STATISTICS = {
    "vae.per_channel_statistics.mean-of-means": "latents_mean",
    "vae.per_channel_statistics.std-of-means": "latents_std",
}


def diffusers_name(key: str) -> str:
    if key in STATISTICS:
        return STATISTICS[key]
    half, part, *rest = key.removeprefix("vae.").split(".")
    blocks = {"down_blocks": ENCODER_BLOCKS, "up_blocks": DECODER_BLOCKS}.get(part)
    names = [half, part, *rest] if blocks is None else [half, blocks[rest[0]], *rest[1:]]
    return ".".join(names).replace("res_blocks", "resnets")


@pytest.fixture(scope="module", params=["zeros", "reflect"])
def theirs(request: pytest.FixtureRequest, tiny_pack_2_0: TinyPack) -> tuple[AutoencoderKLLTX2Video, str]:
    """Return diffusers' VAE of 2.0, with the padding that its decoder has and, once, that of the encoder wrongly so."""
    network = AutoencoderKLLTX2Video(
        block_out_channels=(128,) * 4,
        decoder_block_out_channels=(16, 32, 64),
        layers_per_block=(1,) * 5,
        decoder_layers_per_block=(1,) * 4,
        decoder_causal=False,
        encoder_spatial_padding_mode=request.param,
        decoder_spatial_padding_mode="reflect",
    )
    with safe_open(tiny_pack_2_0.checkpoint_path, "pt") as file:
        keys = [key for key in file.keys() if key.startswith("vae.")]  # noqa: SIM118 - it is no mapping
        network.load_state_dict({diffusers_name(key): file.get_tensor(key) for key in keys})
    return network.eval(), request.param


def pixels() -> torch.Tensor:
    return torch.rand(1, 3, 9, 64, 96, generator=torch.Generator().manual_seed(1)) * 2 - 1


@torch.inference_mode()
def test_the_encoder_pads_with_zeros(theirs: tuple[AutoencoderKLLTX2Video, str], tiny_pack_2_0: TinyPack) -> None:
    network, padding = theirs
    ours = video_encoder_builder(tiny_pack_2_0.model_paths.video_path).build(CPU, torch.float32)
    mean, std = (tensor.view(1, -1, 1, 1, 1) for tensor in (network.latents_mean, network.latents_std))
    expected = (network.encode(pixels()).latent_dist.mode() - mean) / std
    if padding == "zeros":
        assert_close_to_golden(ours.encode(pixels()), expected)
    else:
        assert relative_error(ours.encode(pixels()), expected) > 0.1


@torch.inference_mode()
def test_the_decoder_reflects(theirs: tuple[AutoencoderKLLTX2Video, str], tiny_pack_2_0: TinyPack) -> None:
    network, _ = theirs
    ours = video_decoder_builder(tiny_pack_2_0.model_paths.video_path).build(CPU, torch.float32)
    latent = torch.randn(1, 128, 2, 2, 3, generator=torch.Generator().manual_seed(1))
    mean, std = (tensor.view(1, -1, 1, 1, 1) for tensor in (network.latents_mean, network.latents_std))
    assert_close_to_golden(ours.decode(latent), network.decode(latent * std + mean).sample)
