"""Where tiles of a latent grid lie. No torch: what plans a clip and what decodes it go by the same tiles.

Cells are those of the latent grid; pixels and pixel frames those of the decoded clip.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from podium.geometry import SPACE_FACTOR, TIME_FACTOR, LatentGrid


@dataclass(frozen=True, slots=True)
class DimensionTilingConfig:
    """How one dimension of a latent grid is split.

    Args:
        num_tiles: 1 or more.
        overlap: Cells that neighbours share, 0 or more.

    Raises:
        ValueError: A number is smaller than that.
    """

    num_tiles: int
    overlap: int = 0

    def __post_init__(self) -> None:
        if self.num_tiles < 1 or self.overlap < 0:
            raise ValueError(f"{self} names no tiling: num_tiles begins at 1 and overlap at 0")

    def fits(self, num_cells: int) -> bool:
        """Say whether every tile would exceed the overlap."""
        return self.num_tiles == 1 or self.num_tiles <= num_cells - self.overlap

    def fitted(self, num_cells: int) -> Self:
        """Return this tiling with as many of its tiles as fit; at least one."""
        return replace(self, num_tiles=max(1, min(self.num_tiles, num_cells - self.overlap)))


@dataclass(frozen=True, slots=True)
class TileCountConfig:
    """How a latent grid is split, by dimension."""

    frames: DimensionTilingConfig = field(default_factory=lambda: DimensionTilingConfig(1))
    height: DimensionTilingConfig = field(default_factory=lambda: DimensionTilingConfig(1))
    width: DimensionTilingConfig = field(default_factory=lambda: DimensionTilingConfig(1))

    @property
    def num_tiles(self) -> int:
        """Return how many tiles there are in all."""
        return self.frames.num_tiles * self.height.num_tiles * self.width.num_tiles

    def fits(self, grid: LatentGrid) -> bool:
        """Say whether every tile of `grid` would exceed its overlaps."""
        return self.frames.fits(grid.frames) and self.height.fits(grid.height) and self.width.fits(grid.width)

    def fitted(self, grid: LatentGrid) -> Self:
        """Return this tiling with as many of its tiles in each dimension as fit into `grid`."""
        return replace(
            self,
            frames=self.frames.fitted(grid.frames),
            height=self.height.fitted(grid.height),
            width=self.width.fitted(grid.width),
        )


@dataclass(frozen=True, slots=True)
class TileSizeConfig:
    """How large a tile may be that one device decodes at once.

    Args:
        long_side_px: Most pixels of a side; a multiple of 32.
        side_overlap_px: Pixels that neighbours share along a side; a multiple of 32.
        num_frames: Most frames; a multiple of 8.
        frame_overlap: Frames that neighbours in time share; a multiple of 8.

    Raises:
        ValueError: A number is no such multiple, or a tile would not exceed its overlap.
    """

    long_side_px: int = 768
    side_overlap_px: int = 64
    num_frames: int = 80
    frame_overlap: int = 24

    def __post_init__(self) -> None:
        sides, frames = (self.long_side_px, self.side_overlap_px), (self.num_frames, self.frame_overlap)
        if any(n % SPACE_FACTOR for n in sides) or any(n % TIME_FACTOR for n in frames) or min(*sides, *frames) < 0:
            raise ValueError(f"{self}: sides come in {SPACE_FACTOR} pixels and lengths in {TIME_FACTOR} frames")
        # A tile that is not the first in time gives one cell to what causality needs.
        if self.long_side_px <= self.side_overlap_px or self.num_frames <= self.frame_overlap + TIME_FACTOR:
            raise ValueError(f"{self}: tiles must be larger than what they share")

    @property
    def max_frame_cells(self) -> int:
        """Return the most latent frames of a tile."""
        return self.num_frames // TIME_FACTOR

    def split_side(self, num_cells: int) -> tuple[Span, ...]:
        """Split a side into as few tiles as the limit allows, evenly."""
        most, overlap = self.long_side_px // SPACE_FACTOR, self.side_overlap_px // SPACE_FACTOR
        num_tiles = 1 if num_cells <= most else math.ceil((num_cells - overlap) / (most - overlap))
        return split_cells(num_cells, DimensionTilingConfig(num_tiles, overlap))

    def split_frames(self, num_cells: int) -> tuple[Span, ...]:
        """Split the time so that no tile exceeds the limit once it is causal (see `causal_spans`).

        All tiles but the last are as long as may be, so that every long clip takes the same memory.
        """
        most, overlap = self.max_frame_cells, self.frame_overlap // TIME_FACTOR
        spans = [Span(0, min(most, num_cells))]
        while spans[-1].end < num_cells:
            start = spans[-1].end - overlap
            spans[-1] = replace(spans[-1], right_ramp=overlap)
            spans.append(Span(start, min(start + most - 1, num_cells), left_ramp=overlap))
        return tuple(spans)


@dataclass(frozen=True, slots=True)
class Span:
    """A tile along one dimension: cells [start, end), and how many of them are ramps to its neighbours."""

    start: int
    end: int
    left_ramp: int = 0
    right_ramp: int = 0

    @property
    def num_cells(self) -> int:
        """Return how many cells it covers."""
        return self.end - self.start


def balanced_tile_split(num_tiles: int) -> tuple[int, int]:
    """Return how many tiles `num_tiles` are in height and in width: as square as can be, more of them in width.

    Raises:
        ValueError: `num_tiles` is less than one.
    """
    if num_tiles < 1:
        raise ValueError(f"{num_tiles} tiles are no tiling")
    height = next(n for n in range(math.isqrt(num_tiles), 0, -1) if num_tiles % n == 0)
    return height, num_tiles // height


def split_cells(num_cells: int, tiling: DimensionTilingConfig) -> tuple[Span, ...]:
    """Split cells into tiles whose sizes differ by one at most, the larger ones first.

    Raises:
        ValueError: A tile would not exceed the overlap.
    """
    if not tiling.fits(num_cells):
        raise ValueError(f"{num_cells} cells cannot be split by {tiling}: a tile must exceed the overlap")
    if tiling.num_tiles == 1:
        return (Span(0, num_cells),)
    total = num_cells + tiling.overlap * (tiling.num_tiles - 1)
    size, num_larger = divmod(total, tiling.num_tiles)
    spans, start = [], 0
    for index in range(tiling.num_tiles):
        end = start + size + (index < num_larger)
        left = tiling.overlap if index > 0 else 0
        right = tiling.overlap if index < tiling.num_tiles - 1 else 0
        spans.append(Span(start, end, left, right))
        start = end - tiling.overlap
    return tuple(spans)


def causal_spans(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Return tiles in time as the decoder takes them: each but the first begins one cell earlier.

    A tile's first cell decodes to a single frame, which has nothing before it to lean on, so it only leads in.
    """
    first, *others = spans
    return (first, *(replace(span, start=span.start - 1, left_ramp=span.left_ramp + 1) for span in others))
