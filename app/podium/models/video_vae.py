"""The video VAE, its halves apart: pixels to normalised latents and back.

The rule a caller must know: latents outside this module are normalised, pixels are in [-1, 1], frames count 8k + 1.
Shapes: B batch, C channels, F frames, H, W; a latent has (F - 1) / 8 + 1 frames of H / 32 x W / 32.
"""

from __future__ import annotations

from pathlib import Path

import torch
from diffusers.models.autoencoders.autoencoder_kl_ltx2 import LTX2VideoDecoder3d, LTX2VideoEncoder3d
from torch import nn

from podium.models.builder import Headers, SingleGPUModelBuilder
from podium.models.configs import (
    JsonObject,
    config_section,
    flat_video_vae,
    metadata_config,
    reading_config,
    video_decoder_arguments,
    video_encoder_arguments,
)
from podium.models.key_maps import VIDEO_DECODER, VIDEO_ENCODER, VIDEO_STATISTICS
from podium.models.latent_statistics import LatentStatistics
from podium.models.registry import Registry


class VideoEncoder(nn.Module):
    """Encodes pixels to the mean of their latent, normalised.

    Args:
        vae: The `vae` section of a checkpoint's configuration.
    """

    def __init__(self, vae: JsonObject) -> None:
        super().__init__()
        self.num_channels: int = vae["latent_channels"]
        self.encoder = LTX2VideoEncoder3d(**video_encoder_arguments(vae))
        self.statistics = LatentStatistics(self.num_channels)

    @property
    def dtype(self) -> torch.dtype:
        """Type of the weights, which pixels are brought to."""
        return self.statistics.mean.dtype

    def encode(self, pixels_BCFHW: torch.Tensor) -> torch.Tensor:
        """Return the normalised latent [B, 128, F', H/32, W/32] of pixels [B, 3, F, H, W] in [-1, 1].

        Args:
            pixels_BCFHW: F = 8k + 1 frames, H and W multiples of 32; any floating type.
        """
        moments = self.encoder(pixels_BCFHW.to(self.dtype), causal=True)
        return self.statistics.normalize(moments[:, : self.num_channels])

    forward = encode


class VideoDecoder(nn.Module):
    """Decodes normalised latents to pixels, not causal in time.

    Args:
        vae: The `vae` section of a checkpoint's configuration.
    """

    def __init__(self, vae: JsonObject) -> None:
        super().__init__()
        self.decoder = LTX2VideoDecoder3d(**video_decoder_arguments(vae))
        self.statistics = LatentStatistics(vae["latent_channels"])

    @property
    def dtype(self) -> torch.dtype:
        """Type of the weights, which latents are brought to."""
        return self.statistics.mean.dtype

    def decode(self, latent_BCFHW: torch.Tensor) -> torch.Tensor:
        """Return the pixels [B, 3, 8(F-1)+1, 32H, 32W], about [-1, 1] and not clipped, of a normalised latent.

        Args:
            latent_BCFHW: [B, 128, F, H, W], any floating type.
        """
        pixels: torch.Tensor = self.decoder(self.statistics.un_normalize(latent_BCFHW.to(self.dtype)))
        return pixels

    forward = decode


def video_encoder_builder(
    checkpoint_path: Path, registry: Registry | None = None
) -> SingleGPUModelBuilder[VideoEncoder]:
    """Return the builder of the encoder inside a monolith or a split video VAE file."""
    return SingleGPUModelBuilder((checkpoint_path,), VIDEO_ENCODER, _make_encoder, registry)


def video_decoder_builder(
    checkpoint_path: Path, registry: Registry | None = None
) -> SingleGPUModelBuilder[VideoDecoder]:
    """Return the builder of the convolutional decoder inside a monolith or a split video VAE file."""
    return SingleGPUModelBuilder((checkpoint_path,), VIDEO_DECODER, _make_decoder, registry)


def video_statistics_builder(
    checkpoint_path: Path, registry: Registry | None = None
) -> SingleGPUModelBuilder[LatentStatistics]:
    """Return the builder of the latent statistics alone: what upsampling needs of the VAE."""
    return SingleGPUModelBuilder((checkpoint_path,), VIDEO_STATISTICS, _make_statistics, registry)


def _vae_section(headers: Headers) -> JsonObject:
    path = headers[0].path
    return flat_video_vae(config_section(path, metadata_config(path, headers[0].metadata), "vae"))


def _make_encoder(headers: Headers) -> VideoEncoder:
    with reading_config(headers[0].path, "vae"):
        return VideoEncoder(_vae_section(headers))


def _make_decoder(headers: Headers) -> VideoDecoder:
    with reading_config(headers[0].path, "vae"):
        return VideoDecoder(_vae_section(headers))


def _make_statistics(headers: Headers) -> LatentStatistics:
    with reading_config(headers[0].path, "vae"):
        return LatentStatistics(_vae_section(headers)["latent_channels"])
