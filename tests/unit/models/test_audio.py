"""The audio VAE and the vocoder against numbers that the original produced."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from diffusers.pipelines.ltx2.vocoder import LTX2Vocoder
from safetensors import safe_open
from torch import Tensor

from podium.models.audio import (
    AudioDecoder,
    AudioEncoder,
    Vocoder,
    audio_decoder_builder,
    audio_encoder_builder,
    vocoder_builder,
)
from podium.models.configs import vocoder_arguments

from tests.tiny_pack import TinyPack

Golden = Callable[[str], dict[str, Tensor]]
AssertClose = Callable[..., None]
CPU = torch.device("cpu")


def test_a_latent_is_decoded_to_the_golden_spectrogram(
    audio_decoder: AudioDecoder, golden: Golden, assert_close_to_golden: AssertClose
) -> None:
    tensors = golden("audio_2.3")
    assert_close_to_golden(audio_decoder.decode(tensors["decode.latent"]), tensors["decode.mel"])


def test_a_spectrogram_is_encoded_to_the_golden_latent(
    audio_encoder: AudioEncoder, golden: Golden, assert_close_to_golden: AssertClose
) -> None:
    tensors = golden("audio_2.3")
    assert_close_to_golden(audio_encoder.encode(tensors["encode.mel"]), tensors["encode.latent_normalized"])


def test_a_spectrogram_sounds_as_the_golden_waveform(
    vocoder: Vocoder, golden: Golden, assert_close_to_golden: AssertClose
) -> None:
    tensors = golden("audio_2.3")
    assert vocoder.sample_rate_hz == tensors["vocoder.sampling_rate"].item() == 48_000
    assert_close_to_golden(vocoder.synthesize(tensors["decode.mel"]), tensors["vocoder.waveform"])


def test_the_vocoder_stays_in_float32_whatever_is_asked(monolith: Path, vocoder: Vocoder, golden: Golden) -> None:
    mel = golden("audio_2.3")["decode.mel"][:, :, :3]
    asked_for_half = vocoder_builder(monolith).build(CPU, torch.bfloat16)
    assert torch.equal(asked_for_half.synthesize(mel), vocoder.synthesize(mel))


@torch.inference_mode()
def test_the_single_vocoder_of_2_0_sounds_as_diffusers_own(
    tiny_pack_2_0: TinyPack, golden: Golden, assert_close_to_golden: AssertClose
) -> None:
    ours = vocoder_builder(tiny_pack_2_0.model_paths.audio_path).build(CPU, torch.float32)
    theirs = LTX2Vocoder(
        hidden_channels=64, upsample_kernel_sizes=[16, 15, 8, 4, 4], upsample_factors=[6, 5, 2, 2, 2]
    ).eval()  # fmt: skip
    theirs.load_state_dict(single_vocoder_weights(tiny_pack_2_0.checkpoint_path))
    mel = golden("audio_2.3")["decode.mel"]
    sound = ours.synthesize(mel)
    assert sound.shape == (1, 2, mel.shape[2] * 240)
    assert_close_to_golden(sound, theirs(mel))
    assert sound.std() > 0.05


def single_vocoder_weights(path: Path) -> dict[str, Tensor]:
    renamed = {"conv_pre": "conv_in", "conv_post": "conv_out", "ups": "upsamplers", "resblocks": "resnets"}
    with safe_open(path, "pt") as file:
        keys = [key for key in file.keys() if key.startswith("vocoder.")]  # noqa: SIM118 - it is no mapping
        names = (key.removeprefix("vocoder.").split(".") for key in keys)
        return {
            ".".join(renamed.get(part, part) for part in name): file.get_tensor(key)
            for key, name in zip(keys, names, strict=True)
        }


@pytest.mark.parametrize(
    ("name", "sample_rate_hz"), [("ltx-2.0-tiny.safetensors", 24_000), ("ltx-2.5/audio_vae.safetensors", 48_000)]
)
def test_other_generations_load_whole(tiny_pack: Path, name: str, sample_rate_hz: int) -> None:
    path = tiny_pack / name
    latent = audio_encoder_builder(path).build(CPU, torch.float32).encode(torch.zeros(1, 2, 1, 64))
    mel = audio_decoder_builder(path).build(CPU, torch.float32).decode(latent)
    network = vocoder_builder(path).build(CPU, torch.float32)
    assert latent.shape == (1, 8, 1, 16)
    assert mel.shape == (1, 2, 1, 64)
    assert network.sample_rate_hz == sample_rate_hz
    assert network.synthesize(mel).shape == (1, 2, sample_rate_hz // 100)


@pytest.mark.parametrize(
    ("options", "activation"),
    [
        ({}, "tanh"),
        ({"use_tanh_at_final": False}, "clamp"),
        ({"apply_final_activation": False}, None),
    ],
)
def test_the_final_activation_follows_the_config(options: dict[str, bool], activation: str | None) -> None:
    config = {
        "upsample_initial_channel": 8,
        "upsample_kernel_sizes": [4],
        "upsample_rates": [2],
        "resblock_kernel_sizes": [3],
        "resblock_dilation_sizes": [[1]],
        **options,
    }
    assert vocoder_arguments(config)["final_act_fn"] == activation
