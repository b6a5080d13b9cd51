"""Which files a pipeline loads its networks from. No torch; nothing is opened."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ModelPaths:
    """The files of one model, as the artist chose them.

    Args:
        checkpoint_path: The single-file checkpoint: transformer, connectors, text projection, VAEs and vocoder.
        gemma_root: The folder of the text encoder and its tokenizer.
        spatial_upsampler_path: The latent upscaler of the second stage.
    """

    checkpoint_path: Path
    gemma_root: Path
    spatial_upsampler_path: Path
