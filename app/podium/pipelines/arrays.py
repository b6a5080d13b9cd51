"""From tensors of a pipeline to the arrays that media takes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from torch import Tensor


def to_pictures(frames_FHWC: Tensor) -> NDArray[np.uint8]:
    """Return frames [n, H, W, 3] from 0 to 1 as uint8 in host memory."""
    pictures: NDArray[np.uint8] = (frames_FHWC * 255).round().byte().cpu().numpy()
    return pictures


def to_samples(waveform: Tensor) -> NDArray[np.float32]:
    """Return sound [2, samples] as float32 from -1 to 1 in host memory."""
    samples: NDArray[np.float32] = waveform.clamp(-1, 1).cpu().numpy()
    return samples
