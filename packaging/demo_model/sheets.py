"""Contact sheets: clips as rows of small frames, to be looked at."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn


def contact_sheet(clips: Tensor, path: Path, columns: int = 6) -> None:
    """Draw frames of clips [B, 3, F, H, W] from 0 to 1 at half size, a row a clip."""
    frames = torch.linspace(0, clips.shape[2] - 1, columns).round().long()
    small = nn.functional.avg_pool2d(clips[:, :, frames].flatten(1, 2).float().cpu(), 2).unflatten(1, (3, columns))
    pictures = (small * 255).round().clamp(0, 255).byte().permute(0, 3, 2, 4, 1)
    rows = pictures.reshape(len(clips) * pictures.shape[1], -1, 3).numpy()
    Image.fromarray(np.ascontiguousarray(rows)).save(path, optimize=True)
