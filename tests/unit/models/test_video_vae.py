"""The video VAE against numbers that the original produced, and its own promises."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

from podium.models.configs import video_decoder_arguments, video_encoder_arguments
from podium.models.latent_statistics import LatentStatistics
from podium.models.video_vae import VideoDecoder, VideoEncoder, video_decoder_builder, video_encoder_builder

Golden = Callable[[str], dict[str, Tensor]]
AssertClose = Callable[..., None]
CPU = torch.device("cpu")


def test_a_clip_is_encoded_to_the_golden_latent(
    video_encoder: VideoEncoder, golden: Golden, assert_close_to_golden: AssertClose
) -> None:
    tensors = golden("video_vae_2.3")
    assert_close_to_golden(video_encoder.encode(tensors["encode.in"]), tensors["encode.latent_normalized"])


def test_a_single_picture_is_encoded_to_the_golden_latent(
    video_encoder: VideoEncoder, golden: Golden, assert_close_to_golden: AssertClose
) -> None:
    tensors = golden("video_vae_2.3")
    assert_close_to_golden(video_encoder.encode(tensors["encode.in"][:, :, :1]), tensors["encode.single_frame"])


def test_a_latent_is_decoded_to_the_golden_pixels(
    video_decoder: VideoDecoder, golden: Golden, assert_close_to_golden: AssertClose
) -> None:
    tensors = golden("video_vae_2.3")
    assert_close_to_golden(video_decoder.decode(tensors["decode.latent"]), tensors["decode.out"])


def test_each_half_holds_nothing_of_the_other(video_encoder: VideoEncoder, video_decoder: VideoDecoder) -> None:
    assert {name.split(".")[0] for name in video_encoder.state_dict()} == {"encoder", "statistics"}
    assert {name.split(".")[0] for name in video_decoder.state_dict()} == {"decoder", "statistics"}


def test_statistics_alone_equal_those_of_the_halves(
    video_statistics: LatentStatistics, video_encoder: VideoEncoder, video_decoder: VideoDecoder
) -> None:
    for half in (video_encoder, video_decoder):
        assert torch.equal(half.statistics.mean, video_statistics.mean)
        assert torch.equal(half.statistics.std, video_statistics.std)


def test_un_normalising_undoes_normalising(video_statistics: LatentStatistics) -> None:
    latent = torch.randn(1, 128, 2, 3, 4, generator=torch.Generator().manual_seed(1))
    normal = video_statistics.normalize(latent)
    assert not torch.allclose(normal, latent, atol=0.01)
    assert torch.allclose(video_statistics.un_normalize(normal), latent, atol=1e-6)


@pytest.mark.parametrize("name", ["ltx-2.0-tiny.safetensors", "ltx-2.5/video_vae.safetensors"])
def test_other_generations_and_bare_keys_load_whole(tiny_pack: Path, name: str) -> None:
    path = tiny_pack / name
    latent = video_encoder_builder(path).build(CPU, torch.float32).encode(torch.zeros(1, 3, 1, 64, 64))
    pixels = video_decoder_builder(path).build(CPU, torch.float32).decode(latent)
    assert latent.shape == (1, 128, 1, 2, 2)
    assert pixels.shape == (1, 3, 1, 64, 64)


def test_halves_pad_unlike_when_a_file_names_no_padding() -> None:
    vae = {
        "latent_channels": 128,
        "encoder_blocks": [["res_x", {"num_layers": 1}]],
        "decoder_blocks": [["res_x", {"num_layers": 1}]],
        "decoder_base_channels": 8,
    }
    assert video_encoder_arguments(vae)["spatial_padding_mode"] == "zeros"
    assert video_decoder_arguments(vae)["spatial_padding_mode"] == "reflect"
    named = {**vae, "spatial_padding_mode": "replicate"}
    assert video_encoder_arguments(named)["spatial_padding_mode"] == "replicate"
    assert video_decoder_arguments(named)["spatial_padding_mode"] == "replicate"


def test_decoder_stride_kinds_run_in_the_opposite_order_of_the_file() -> None:
    layers = ["res_x", {"num_layers": 1}]
    vae = {
        "latent_channels": 128,
        "decoder_base_channels": 8,
        "decoder_blocks": [
            layers,
            ["compress_space", {"multiplier": 2}],
            layers,
            ["compress_all", {"multiplier": 4, "residual": True}],
            layers,
        ],
    }
    arguments = video_decoder_arguments(vae)
    assert arguments["upsample_type"] == ("spatiotemporal", "spatial")
    assert arguments["upsample_residual"] == (False, True)
    assert arguments["upsample_factor"] == (2, 4)
    assert arguments["block_out_channels"] == (16, 64)


def test_a_decoder_built_in_bfloat16_keeps_close(
    monolith: Path, golden: Golden, assert_close_to_golden: AssertClose
) -> None:
    tensors = golden("video_vae_2.3")
    decoder = video_decoder_builder(monolith).build(CPU, torch.bfloat16)
    pixels = decoder.decode(tensors["decode.latent"])
    assert pixels.dtype == torch.bfloat16
    assert_close_to_golden(pixels, tensors["decode.out"], 2e-2)
