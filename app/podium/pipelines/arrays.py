"""From tensors of a pipeline to the arrays that media takes."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from podium.media.errors import MediaError


def to_pictures(frames_FHWC: Tensor) -> NDArray[np.uint8]:
    """Return frames [n, H, W, 3] from 0 to 1 as uint8 in host memory.

    Raises:
        MediaError: They hold values that are no numbers.
    """
    # As bytes they would turn black and pass for a clip.
    if not bool(torch.isfinite(frames_FHWC).all()):
        raise MediaError(
            "The pictures hold values that are no numbers, so the clip was not written. A LoRA's strength or the type "
            "to compute in may be the reason: try without LoRAs first."
        )
    pictures: NDArray[np.uint8] = (frames_FHWC * 255).round().byte().cpu().numpy()
    return pictures


def to_samples(waveform: Tensor) -> NDArray[np.float32]:
    """Return sound [2, samples] as float32 from -1 to 1 in host memory."""
    samples: NDArray[np.float32] = waveform.clamp(-1, 1).cpu().numpy()
    return samples
