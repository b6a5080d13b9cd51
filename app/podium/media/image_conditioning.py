"""Fit a picture to a clip's size, in the numbers that the video encoder of the model takes."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


def prepare_image(rgb: NDArray[np.uint8], height: int, width: int) -> NDArray[np.float32]:
    """Scale a picture to cover a size, crop it to its centre, and map 0..255 to -1..1.

    Bilinear with half-pixel centres and without antialiasing, as torch's `interpolate` computes it in float32.

    Args:
        rgb: uint8 [h, w, 3], at least one pixel.
        height: Pixels, at least 1.
        width: Pixels, at least 1.

    Returns:
        float32 [height, width, 3].
    """
    scale = max(height / rgb.shape[0], width / rgb.shape[1])
    # In floats, on purpose: where rounding lifts a product over a whole number, the model's own preparation goes one
    # pixel further too.
    top, bottom, down = _taps(rgb.shape[0], math.ceil(rgb.shape[0] * scale), height)
    left, right, across = _taps(rgb.shape[1], math.ceil(rgb.shape[1] * scale), width)
    across, down = across[:, None], down[:, None, None]
    one = np.float32(1)
    upper = rgb[np.ix_(top, left)] * (one - across) + rgb[np.ix_(top, right)] * across
    lower = rgb[np.ix_(bottom, left)] * (one - across) + rgb[np.ix_(bottom, right)] * across
    prepared: NDArray[np.float32] = (upper * (one - down) + lower * down) / np.float32(127.5) - one
    return prepared


def _taps(
    num_source: int, num_scaled: int, num_kept: int
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float32]]:
    """Return, for each position the crop keeps, its two source positions and the weight of the second."""
    first = (num_scaled - num_kept) // 2
    centres = np.arange(first, first + num_kept) + 0.5
    # Rounded where torch rounds: its ratio is float32, and its position is rounded once, after the subtraction.
    ratio = np.float32(num_source) / np.float32(num_scaled)
    position = np.maximum(np.float64(ratio) * centres - 0.5, 0).astype(np.float32)
    low = np.minimum(position.astype(np.intp), num_source - 1)
    return low, np.minimum(low + 1, num_source - 1), position - low.astype(np.float32)
