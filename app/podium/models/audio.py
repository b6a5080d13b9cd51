"""The audio VAE, its halves apart, and the vocoder: normalised latents to log-mel spectrograms to sound.

The rule a caller must know: latents outside this module are normalised, over the features of a packed token.
Shapes: B batch, C channels (8 of a latent, 2 of a spectrogram), T latent steps (25 a second), M mel bins (16 of a
latent, 64 of a spectrogram), F mel frames = 4T - 3 (100 a second), S samples.
"""

from __future__ import annotations

from pathlib import Path

import torch
from diffusers.models.autoencoders.autoencoder_kl_ltx2_audio import LTX2AudioDecoder, LTX2AudioEncoder
from diffusers.pipelines.ltx2.vocoder import LTX2Vocoder, LTX2VocoderWithBWE
from torch import nn

from podium.models.builder import Headers, SingleGPUModelBuilder
from podium.models.configs import (
    JsonObject,
    audio_vae_arguments,
    config_section,
    extended_vocoder_arguments,
    metadata_config,
    reading_config,
    vocoder_arguments,
    vocoder_has_bandwidth_extension,
)
from podium.models.key_maps import AUDIO_DECODER, AUDIO_ENCODER, VOCODER
from podium.models.latent_statistics import LatentStatistics
from podium.models.registry import Registry


class AudioEncoder(nn.Module):
    """Encodes log-mel spectrograms to the mean of their latent, normalised.

    Args:
        audio_vae: The `audio_vae` section of a checkpoint's configuration.
    """

    def __init__(self, audio_vae: JsonObject) -> None:
        super().__init__()
        arguments = audio_vae_arguments(audio_vae)
        self.num_channels: int = arguments["latent_channels"]
        self.encoder = LTX2AudioEncoder(**arguments)
        self.statistics = LatentStatistics(arguments["base_channels"])

    def encode(self, mel_BCFM: torch.Tensor) -> torch.Tensor:
        """Return the normalised latent [B, 8, T, 16] of a log-mel spectrogram [B, 2, F, 64] at 100 frames a second."""
        moments = self.encoder(mel_BCFM.to(self.statistics.mean.dtype))
        return self.statistics.normalize_audio(moments[:, : self.num_channels])

    forward = encode


class AudioDecoder(nn.Module):
    """Decodes normalised audio latents to log-mel spectrograms.

    Args:
        audio_vae: The `audio_vae` section of a checkpoint's configuration.
    """

    def __init__(self, audio_vae: JsonObject) -> None:
        super().__init__()
        arguments = audio_vae_arguments(audio_vae)
        self.decoder = LTX2AudioDecoder(**arguments)
        self.statistics = LatentStatistics(arguments["base_channels"])

    def decode(self, latent_BCTM: torch.Tensor) -> torch.Tensor:
        """Return the log-mel spectrogram [B, 2, 4T - 3, 64] of a normalised latent [B, 8, T, 16]."""
        mel: torch.Tensor = self.decoder(self.statistics.un_normalize_audio(latent_BCTM.to(self.statistics.mean.dtype)))
        return mel

    forward = decode


class Vocoder(nn.Module):
    """Turns log-mel spectrograms into stereo sound, in float32 throughout.

    Args:
        vocoder: The `vocoder` section of a checkpoint's configuration: a pair of generators (2.3 and later, 48 kHz) or
            a single one (2.0, 24 kHz).
    """

    def __init__(self, vocoder: JsonObject) -> None:
        super().__init__()
        self.vocoder: LTX2Vocoder | LTX2VocoderWithBWE
        if vocoder_has_bandwidth_extension(vocoder):
            arguments = extended_vocoder_arguments(vocoder)
            self.vocoder = LTX2VocoderWithBWE(**arguments)
        else:
            arguments = vocoder_arguments(vocoder)
            self.vocoder = LTX2Vocoder(**arguments)
        self.sample_rate_hz: int = arguments["output_sampling_rate"]

    def synthesize(self, mel_BCFM: torch.Tensor) -> torch.Tensor:
        """Return the waveform [B, 2, S], float32 in [-1, 1] at `sample_rate_hz`, of a spectrogram [B, 2, F, 64]."""
        waveform: torch.Tensor = self.vocoder(mel_BCFM.to(torch.float32))
        return waveform

    forward = synthesize


def audio_encoder_builder(
    checkpoint_path: Path, registry: Registry | None = None
) -> SingleGPUModelBuilder[AudioEncoder]:
    """Return the builder of the audio encoder inside a monolith or a split audio VAE file."""
    return SingleGPUModelBuilder((checkpoint_path,), AUDIO_ENCODER, _make_encoder, registry)


def audio_decoder_builder(
    checkpoint_path: Path, registry: Registry | None = None
) -> SingleGPUModelBuilder[AudioDecoder]:
    """Return the builder of the audio decoder inside a monolith or a split audio VAE file."""
    return SingleGPUModelBuilder((checkpoint_path,), AUDIO_DECODER, _make_decoder, registry)


def vocoder_builder(checkpoint_path: Path, registry: Registry | None = None) -> SingleGPUModelBuilder[Vocoder]:
    """Return the builder of the vocoder inside a monolith or a split audio VAE file.

    It builds in float32 whatever is asked, as the original does for the pair of generators.
    """
    return SingleGPUModelBuilder((checkpoint_path,), VOCODER, _make_vocoder, registry, dtype=torch.float32)


def _section(headers: Headers, name: str) -> JsonObject:
    path = headers[0].path
    return config_section(path, metadata_config(path, headers[0].metadata), name)


def _make_encoder(headers: Headers) -> AudioEncoder:
    with reading_config(headers[0].path, "audio_vae"):
        return AudioEncoder(_section(headers, "audio_vae"))


def _make_decoder(headers: Headers) -> AudioDecoder:
    with reading_config(headers[0].path, "audio_vae"):
        return AudioDecoder(_section(headers, "audio_vae"))


def _make_vocoder(headers: Headers) -> Vocoder:
    with reading_config(headers[0].path, "vocoder"):
        return Vocoder(_section(headers, "vocoder"))
