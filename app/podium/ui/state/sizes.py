"""From shape and area to a size that can be made. Pure functions."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

from podium.geometry import SIZE_STEP_PX
from podium.ui.state.numbers import number_in_words
from podium.ui.state.values import Aspect

ASPECTS = tuple(
    Aspect(width, height)
    for width, height in ((21, 9), (16, 9), (3, 2), (4, 3), (1, 1), (3, 4), (2, 3), (9, 16), (9, 21))
)
MIN_MEGAPIXELS, MAX_MEGAPIXELS = 0.02, 16.0
MIN_SIDE_PX, MAX_SIDE_PX = SIZE_STEP_PX, 8192
SIZE_STEPS_PX = (64, 96)
"""What both sides can be multiples of: of the upscalers x2 and x1.5."""

# An area a little off is seen by nobody, a shape a little off by everybody.
_SHAPE_WEIGHT = 2.0
# 1216 x 704 is still called 16:9, and 320 x 192 is not called anything.
_SAME_SHAPE = math.log(1.04)
_MAX_RATIO_TERM = 40


def snap_side(side_px: float, step_px: int = SIZE_STEP_PX) -> int:
    """Return the nearest side that a clip can have."""
    most = MAX_SIDE_PX // step_px * step_px
    return min(most, max(step_px, round(side_px / step_px) * step_px))


def size_for(aspect: Aspect, megapixels: float, step_px: int = SIZE_STEP_PX) -> tuple[int, int]:
    """Return the width and height in pixels that come nearest to a shape and an area, in millions of pixels."""
    area_px = min(MAX_MEGAPIXELS, max(MIN_MEGAPIXELS, megapixels)) * 1e6
    width, height = math.sqrt(area_px * aspect.ratio), math.sqrt(area_px / aspect.ratio)

    def miss(size: tuple[int, int]) -> float:
        area = abs(math.log(size[0] * size[1] / area_px))
        return area + _SHAPE_WEIGHT * abs(math.log(size[0] / size[1] / aspect.ratio))

    return min(itertools.product(_near(width, step_px), _near(height, step_px)), key=miss)


def aspect_of(width: int, height: int) -> Aspect | None:
    """Return the named shape that a size has, within what a step of the size can be off; None if it has none."""

    def miss(aspect: Aspect) -> float:
        return abs(math.log(width / height / aspect.ratio))

    nearest = min(ASPECTS, key=miss)
    return nearest if miss(nearest) <= _SAME_SHAPE else None


def ratio_in_words(width: int, height: int) -> str:
    """Return a size's true shape: “5:3”, or “2.29:1” where whole numbers would be long."""
    ratio = Fraction(width, height)
    if max(ratio.numerator, ratio.denominator) <= _MAX_RATIO_TERM:
        return f"{ratio.numerator}:{ratio.denominator}"
    return f"{number_in_words(width / height, 2)}:1" if width >= height else f"1:{number_in_words(height / width, 2)}"


def _near(side_px: float, step_px: int) -> list[int]:
    low = math.floor(side_px / step_px) * step_px
    return sorted({snap_side(low + step * step_px, step_px) for step in (-1, 0, 1, 2)})
