"""Made-up pictures for the window's tests: an evening over hills, so that the Stage shows something like a clip."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def evening(width: int, height: int, *, time: float = 0.0, noise: float = 0.0) -> NDArray[np.uint8]:
    """Return a picture [height, width, 3]: the sun goes down from time 0 to 1, and noise from 0 to 1 hides it."""
    y, x = np.mgrid[0:height, 0:width]
    u, v = x / width, y / height
    sky = _mix((24, 34, 74), (250, 148, 92), np.clip(v * 1.5, 0, 1))
    away = np.hypot((u - 0.62) * width / height, v - (0.38 + 0.2 * time))
    sky += np.exp(-((away / 0.2) ** 2))[..., None] * np.array((90, 70, 20))
    sky = np.where((away < 0.055)[..., None], np.array((255, 236, 190)), sky)
    picture = sky
    for depth, base, colour in ((0.0, 0.62, (116, 78, 104)), (1.0, 0.7, (70, 52, 86)), (2.0, 0.82, (28, 26, 48))):
        drift = u * (5 + 2 * depth) + depth * 2.1 + time * (0.4 + 0.5 * depth)
        ridge = base + 0.05 * np.sin(drift) + 0.022 * np.sin(2.7 * drift + 1) + 0.008 * np.sin(9 * drift)
        picture = np.where((v > ridge)[..., None], np.array(colour) + (v - ridge)[..., None] * 40, picture)
    if noise:
        grain = np.random.default_rng(5).integers(40, 216, (height, width, 3))
        picture = (1 - noise) * picture + noise * grain
    return np.clip(picture, 0, 255).astype(np.uint8)


def _mix(top: tuple[int, int, int], bottom: tuple[int, int, int], share: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array(top) * (1 - share[..., None]) + np.array(bottom) * share[..., None]
