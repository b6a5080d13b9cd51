"""Which pieces a clip is decoded in, and in which order. No torch: a memory plan goes by the decoder's own pieces.

Cells are those of the latent grid; places are pixels of the finished clip along a side, and its frames in time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from podium.errors import JobRefusedError
from podium.geometry import SPACE_FACTOR, TIME_FACTOR, LatentGrid
from podium.models.tile_layout import Span, TileCountConfig, TileSizeConfig, causal_spans, split_cells

if TYPE_CHECKING:
    from torch import Tensor

# Frames handed out at once: few enough that writing them begins early and that a boundary comes often.
FRAMES_PER_PART = 8


@dataclass(frozen=True, slots=True)
class Cut:
    """A piece along one dimension.

    Args:
        start, end: Latent cells it is decoded from.
        first_place: The first place it gives.
        num_places: How many it gives.
        tile: Index of the tile between ranks that it is of; 0 in time.
    """

    start: int
    end: int
    first_place: int
    num_places: int
    tile: int = 0

    @property
    def end_place(self) -> int:
        """Return the first place behind it."""
        return self.first_place + self.num_places


@dataclass(frozen=True, slots=True)
class SideTile:
    """A tile between ranks along a side, and how it is split further.

    Args:
        index: Of the tile.
        span: Its cells.
        inner: Its pieces, in cells counted from the tile's own first one.
    """

    index: int
    span: Span
    inner: tuple[Span, ...]

    @property
    def cuts(self) -> tuple[Cut, ...]:
        """Return its pieces."""
        start = self.span.start
        return tuple(
            Cut(
                start + span.start,
                start + span.end,
                SPACE_FACTOR * (start + span.start),
                SPACE_FACTOR * span.num_cells,
                self.index,
            )
            for span in self.inner
        )


@dataclass(frozen=True, slots=True)
class Piece:
    """What is decoded in one go, and where its pixels go."""

    frames: Cut
    height: Cut
    width: Cut

    @property
    def size(self) -> tuple[int, int, int]:
        """Return its frames and pixels (down, right)."""
        return self.frames.num_places, self.height.num_places, self.width.num_places

    def latent_of(self, latent_BCFHW: Tensor) -> Tensor:
        """Return the piece's part of a latent."""
        return latent_BCFHW[
            :,
            :,
            self.frames.start : self.frames.end,
            self.height.start : self.height.end,
            self.width.start : self.width.end,
        ]


Round = tuple[Piece | None, ...]


# No slots: what is reckoned from the rounds is kept in the instance.
@dataclass(frozen=True)
class DecodePlan:
    """Which pieces are decoded in which order: rounds, in each of which every rank has one piece at most.

    Args:
        grid: Of the clip.
        times: Tiles in time as the decoder takes them.
        heights, widths: Tiles along the sides.
        rounds: In order; the pieces of a round by rank.
    """

    grid: LatentGrid
    times: tuple[Span, ...] = field(repr=False)
    heights: tuple[SideTile, ...] = field(repr=False)
    widths: tuple[SideTile, ...] = field(repr=False)
    rounds: tuple[Round, ...] = field(repr=False)

    @property
    def num_frames(self) -> int:
        """Return the clip's frames."""
        return TIME_FACTOR * (self.grid.frames - 1) + 1

    @property
    def time_cuts(self) -> tuple[Cut, ...]:
        """Return what tiles in time decode to."""
        return tuple(map(_time_cut, self.times))

    @property
    def is_whole(self) -> bool:
        """Say whether one piece is the clip, so that there is nothing to blend."""
        return sum(piece is not None for pieces in self.rounds for piece in pieces) == 1

    @cached_property
    def complete_after(self) -> tuple[int, ...]:
        """Return, for each round, how many frames no later round adds to."""
        complete, found = self.num_frames, []
        for pieces in reversed(self.rounds):
            found.append(complete)
            complete = min([complete, *(piece.frames.first_place for piece in pieces if piece is not None)])
        return tuple(reversed(found))

    @property
    def window(self) -> int:
        """Return the most frames that are begun and not complete at any time."""
        most, begun, complete = 0, 0, 0
        for pieces, complete_then in zip(self.rounds, self.complete_after, strict=True):
            begun = max([begun, *(piece.frames.end_place for piece in pieces if piece is not None)])
            most = max(most, begun - complete)
            complete = complete_then
        return most

    def chunks_after(self, index: int) -> Iterator[tuple[int, int]]:
        """Yield (first frame, number of frames) of what is handed out after a round."""
        first = self.complete_after[index - 1] if index > 0 else 0
        end = self.complete_after[index]
        for start in range(first, end, FRAMES_PER_PART):
            yield start, min(FRAMES_PER_PART, end - start)

    def pieces_of(self, rank: int) -> tuple[Piece, ...]:
        """Return what a rank decodes, in order."""
        return tuple(piece for pieces in self.rounds if (piece := pieces[rank]) is not None)


def plan_decoding(
    grid: LatentGrid, sizes: TileSizeConfig, between: TileCountConfig | None = None, num_ranks: int = 1
) -> DecodePlan:
    """Plan how a clip is decoded; alike on all ranks.

    Args:
        grid: Of the clip.
        sizes: How large a piece may be; tiles between ranks are split further where they are larger.
        between: Tiles that are dealt to the ranks one after another, as many of them as fit; one by default.
        num_ranks: Ranks they are dealt to.

    Raises:
        JobRefusedError: Tiles would be split in time between the ranks and again within one.
    """
    outer = (between or TileCountConfig()).fitted(grid)
    if outer.frames.num_tiles == 1:
        times = causal_spans(sizes.split_frames(grid.frames))
    else:
        times = causal_spans(split_cells(grid.frames, outer.frames))
        _check_fits_in_time(times, sizes)
    heights = _side_tiles(split_cells(grid.height, outer.height), sizes)
    widths = _side_tiles(split_cells(grid.width, outer.width), sizes)
    tiles = [
        [[Piece(_time_cut(time), height, width) for height in row.cuts for width in column.cuts]
         for row in heights for column in widths]
        for time in times
    ]  # fmt: skip
    # Split in time between ranks, all tiles are dealt in a row; else each stretch of time is dealt to all ranks anew.
    decks = tiles if outer.frames.num_tiles == 1 else [[tile for of_time in tiles for tile in of_time]]
    rounds = tuple(pieces for deck in decks for pieces in _deal(deck, num_ranks))
    return DecodePlan(grid, times, heights, widths, rounds)


def _deal(tiles: Sequence[Sequence[Piece]], num_ranks: int) -> Iterator[Round]:
    # Tiles of several pieces take several rounds; a rank whose tile has fewer of them sits the last ones out.
    for first in range(0, len(tiles), num_ranks):
        hands = tiles[first : first + num_ranks]
        for turn in range(max(len(hand) for hand in hands)):
            pieces = [hand[turn] if turn < len(hand) else None for hand in hands]
            yield tuple(pieces) + (None,) * (num_ranks - len(pieces))


def _time_cut(span: Span) -> Cut:
    return Cut(span.start, span.end, TIME_FACTOR * span.start, TIME_FACTOR * (span.num_cells - 1) + 1)


def _check_fits_in_time(times: Sequence[Span], sizes: TileSizeConfig) -> None:
    longest = max(span.num_cells for span in times)
    if longest > sizes.max_frame_cells:
        raise JobRefusedError(
            f"This clip is too long to be decoded in {len(times)} tiles in time: a tile would have "
            f"{TIME_FACTOR * (longest - 1) + 1} frames, and {sizes.num_frames} are the most that a device decodes at "
            "once. Tiles in space between the devices have no such limit."
        )


def _side_tiles(spans: Sequence[Span], sizes: TileSizeConfig) -> tuple[SideTile, ...]:
    return tuple(SideTile(index, span, sizes.split_side(span.num_cells)) for index, span in enumerate(spans))
