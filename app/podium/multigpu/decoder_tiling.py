"""How a clip is dealt out to the ranks that decode it. No torch."""

from __future__ import annotations

from podium.models.tile_layout import DimensionTilingConfig, TileCountConfig, balanced_tile_split

# Source: the original's overlap between ranks, in latent cells.
DECODER_OVERLAP = 4


def decoder_tiling(num_ranks: int) -> TileCountConfig:
    """Return the tiling for a decoder on `num_ranks`: a tile a rank, in space alone, so that frames can leave early."""
    height, width = balanced_tile_split(num_ranks)
    return TileCountConfig(
        height=DimensionTilingConfig(height, DECODER_OVERLAP), width=DimensionTilingConfig(width, DECODER_OVERLAP)
    )
