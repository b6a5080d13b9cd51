"""The per-channel statistics that latents are normalised by.

Shapes: B batch, C channels, F frames, H, W cells, T audio steps, M mel bins.
"""

from __future__ import annotations

import torch
from torch import nn


class LatentStatistics(nn.Module):
    """Mean and standard deviation of each channel of a latent.

    Args:
        num_channels: Channels of a token: 128 for video, 8 x 16 packed features for audio.
    """

    mean: torch.Tensor
    std: torch.Tensor

    def __init__(self, num_channels: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.empty(num_channels))
        self.register_buffer("std", torch.empty(num_channels))

    def normalize(self, latent_BCFHW: torch.Tensor) -> torch.Tensor:
        """Return (latent - mean) / std per channel of a video latent [B, C, F, H, W]."""
        return (latent_BCFHW - _on_channels(self.mean, latent_BCFHW)) / _on_channels(self.std, latent_BCFHW)

    def un_normalize(self, latent_BCFHW: torch.Tensor) -> torch.Tensor:
        """Return latent * std + mean per channel of a video latent [B, C, F, H, W]."""
        return latent_BCFHW * _on_channels(self.std, latent_BCFHW) + _on_channels(self.mean, latent_BCFHW)

    def normalize_audio(self, latent_BCTM: torch.Tensor) -> torch.Tensor:
        """Return (latent - mean) / std over the packed features (C M) of an audio latent [B, C, T, M]."""
        return (latent_BCTM - _on_features(self.mean, latent_BCTM)) / _on_features(self.std, latent_BCTM)

    def un_normalize_audio(self, latent_BCTM: torch.Tensor) -> torch.Tensor:
        """Return latent * std + mean over the packed features (C M) of an audio latent [B, C, T, M]."""
        return latent_BCTM * _on_features(self.std, latent_BCTM) + _on_features(self.mean, latent_BCTM)


def _on_channels(values: torch.Tensor, latent: torch.Tensor) -> torch.Tensor:
    return values.to(latent.dtype).view(1, -1, 1, 1, 1)


def _on_features(values: torch.Tensor, latent: torch.Tensor) -> torch.Tensor:
    # A token packs channels outside mel bins, so feature c * M + m belongs to channel c and bin m.
    return values.to(latent.dtype).view(1, latent.shape[1], 1, latent.shape[3])
