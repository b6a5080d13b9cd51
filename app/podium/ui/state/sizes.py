"""From shape and area to a size that can be made. Pure functions."""

from __future__ import annotations

import itertools
import math

from podium.geometry import SIZE_STEP_PX
from podium.ui.state.values import Aspect

ASPECTS = tuple(
    Aspect(width, height)
    for width, height in ((21, 9), (16, 9), (3, 2), (4, 3), (1, 1), (3, 4), (2, 3), (9, 16), (9, 21))
)
MIN_MEGAPIXELS, MAX_MEGAPIXELS = 0.02, 16.0
MIN_SIDE_PX, MAX_SIDE_PX = SIZE_STEP_PX, 8192
# An area a little off is seen by nobody, a shape a little off by everybody.
_SHAPE_WEIGHT = 2.0


def snap_side(side_px: float) -> int:
    """Return the nearest side that a clip can have."""
    steps = round(side_px / SIZE_STEP_PX)
    return min(MAX_SIDE_PX, max(MIN_SIDE_PX, steps * SIZE_STEP_PX))


def size_for(aspect: Aspect, megapixels: float) -> tuple[int, int]:
    """Return the width and height in pixels that come nearest to a shape and an area, in millions of pixels."""
    area_px = min(MAX_MEGAPIXELS, max(MIN_MEGAPIXELS, megapixels)) * 1e6
    width, height = math.sqrt(area_px * aspect.ratio), math.sqrt(area_px / aspect.ratio)

    def miss(size: tuple[int, int]) -> float:
        area = abs(math.log(size[0] * size[1] / area_px))
        return area + _SHAPE_WEIGHT * abs(math.log(size[0] / size[1] / aspect.ratio))

    return min(itertools.product(_near(width), _near(height)), key=miss)


def aspect_of(width: int, height: int) -> Aspect | None:
    """Return the named shape that a size is the nearest one of, at its own area; None if it is none's."""
    return next((aspect for aspect in ASPECTS if size_for(aspect, width * height / 1e6) == (width, height)), None)


def _near(side_px: float) -> list[int]:
    low = math.floor(side_px / SIZE_STEP_PX) * SIZE_STEP_PX
    return sorted({snap_side(low + step * SIZE_STEP_PX) for step in (-1, 0, 1, 2)})
