"""The latent upsamplers: a stage-1 latent to the size of stage 2.

The rule a caller must know: `LatentUpsampler` works on latents that are not normalised, so `upsample` takes the video
VAE's statistics and hands back a normalised latent. Shapes: B batch, C channels, F frames, H, W in latent cells.
"""

from __future__ import annotations

from pathlib import Path

import torch
from diffusers.pipelines.ltx2.latent_upsampler import LTX2LatentUpsamplerModel
from torch import nn

from podium.models.builder import Headers, SingleGPUModelBuilder
from podium.models.configs import JsonObject, metadata_config, reading_config, upsampler_arguments
from podium.models.key_maps import LATENT_UPSAMPLER
from podium.models.latent_statistics import LatentStatistics
from podium.models.registry import Registry


class LatentUpsampler(nn.Module):
    """Enlarges un-normalised latents in space (x2, x1.5) or in time (x2).

    Args:
        config: The whole configuration of an upscaler's file.
    """

    def __init__(self, config: JsonObject) -> None:
        super().__init__()
        arguments = upsampler_arguments(config)
        self.network = LTX2LatentUpsamplerModel(**arguments)
        self.spatial_scale: float = _spatial_scale(arguments)
        self.doubles_frames: bool = arguments["temporal_upsample"]

    def forward(self, latent_BCFHW: torch.Tensor) -> torch.Tensor:
        """Return the larger latent of an un-normalised one [B, 128, F, H, W]; both in their natural units."""
        larger: torch.Tensor = self.network(latent_BCFHW.to(self.network.final_conv.weight.dtype))
        return larger


def upsample(latent_BCFHW: torch.Tensor, statistics: LatentStatistics, upsampler: LatentUpsampler) -> torch.Tensor:
    """Return the larger normalised latent of a normalised one [B, 128, F, H, W]."""
    return statistics.normalize(upsampler(statistics.un_normalize(latent_BCFHW)))


def upsampler_builder(upsampler_path: Path, registry: Registry | None = None) -> SingleGPUModelBuilder[LatentUpsampler]:
    """Return the builder of the network in an upscaler's file."""
    return SingleGPUModelBuilder((upsampler_path,), LATENT_UPSAMPLER, _make_upsampler, registry)


def _make_upsampler(headers: Headers) -> LatentUpsampler:
    path = headers[0].path
    config = metadata_config(path, headers[0].metadata)
    with reading_config(path, "(whole)"):
        return LatentUpsampler(config)


def _spatial_scale(arguments: dict[str, object]) -> float:
    if not arguments["spatial_upsample"]:
        return 1.0
    # Without the rational resampler the network is a plain doubling, whatever scale the file names.
    scale = arguments["rational_spatial_scale"] if arguments["use_rational_resampler"] else 2.0
    assert isinstance(scale, float)
    return scale
