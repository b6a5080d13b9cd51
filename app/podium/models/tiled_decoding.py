"""Decoding in tiles: a plan of pieces, and the blend that lets frames go in order as soon as they are complete.

The rule a caller must know: what is held is a window of frames whose length depends on the tiles and never on the clip.
Shapes: B samples, C latent channels, F frames, H, W; pixels in about [-1, 1].
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from podium.errors import JobRefusedError
from podium.geometry import SPACE_FACTOR, TIME_FACTOR, LatentGrid
from podium.models.tiling import (
    Span,
    TileCountConfig,
    TileMask,
    TileSizeConfig,
    causal_frame_masks,
    causal_spans,
    split_cells,
    trapezoid_masks,
)

# Frames handed out at once: few enough that writing them begins early and that a boundary comes often.
FRAMES_PER_PART = 8


class PixelDecoder(Protocol):
    """A network that decodes what fits into one go."""

    def decode(self, latent_BCFHW: Tensor) -> Tensor:
        """Return pixels [B, 3, 8(F-1)+1, 32H, 32W] of a normalised latent [B, C, F, H, W]."""
        ...


@dataclass(frozen=True, slots=True)
class TileDone:
    """Tiles are decoded, and more are to come: `done` of `total` rounds."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class FramesDone:
    """The next frames in order.

    Args:
        first_frame: Index of the first of them.
        num_frames: How many.
        pixels_BCFHW: [B, 3, num_frames, H, W], good until the next part is asked for; None on ranks that do not blend.
    """

    first_frame: int
    num_frames: int
    pixels_BCFHW: Tensor | None


DecodedPart = TileDone | FramesDone


@runtime_checkable
class PartDecoder(Protocol):
    """A decoder that has its own way to make a clip part by part, such as one that is spread over ranks."""

    def decode_parts(self, latent_BCFHW: Tensor, sizes: TileSizeConfig) -> Iterator[DecodedPart]:
        """Yield the frames in order, with a `TileDone` between tiles."""
        ...


@dataclass(frozen=True, slots=True)
class Cut:
    """A piece along one dimension.

    Args:
        start, end: Latent cells it is decoded from.
        mask: Pixels or frames it gives, with their weights.
    """

    start: int
    end: int
    mask: TileMask


@dataclass(frozen=True, slots=True)
class Piece:
    """What is decoded in one go, and where its pixels go."""

    frames: Cut
    height: Cut
    width: Cut

    @property
    def size(self) -> tuple[int, int, int]:
        """Return its frames and pixels (down, right)."""
        return len(self.frames.mask.weights), len(self.height.mask.weights), len(self.width.mask.weights)

    def latent_of(self, latent_BCFHW: Tensor) -> Tensor:
        """Return the piece's part of a latent."""
        return latent_BCFHW[
            :,
            :,
            self.frames.start : self.frames.end,
            self.height.start : self.height.end,
            self.width.start : self.width.end,
        ]

    def weighted(self, pixels_BCFHW: Tensor) -> Tensor:
        """Return its pixels in float32, each times its weight."""
        weights = [cut.mask.weights.to(pixels_BCFHW.device) for cut in (self.frames, self.height, self.width)]
        out = pixels_BCFHW.float() * weights[0][:, None, None]
        return out.mul_(weights[1][:, None]).mul_(weights[2])


Round = tuple[Piece | None, ...]


@dataclass(frozen=True)
class DecodePlan:
    """Which pieces are decoded in which order: rounds, in each of which every rank has one piece at most.

    Args:
        grid: Of the clip.
        rounds: In order; the pieces of a round by rank.
    """

    grid: LatentGrid
    rounds: tuple[Round, ...] = field(repr=False)

    @property
    def num_frames(self) -> int:
        """Return the clip's frames."""
        return TIME_FACTOR * (self.grid.frames - 1) + 1

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
            complete = min([complete, *(piece.frames.mask.start for piece in pieces if piece is not None)])
        return tuple(reversed(found))

    @property
    def window(self) -> int:
        """Return the most frames that are begun and not complete at any time."""
        most, begun, complete = 0, 0, 0
        for pieces, complete_then in zip(self.rounds, self.complete_after, strict=True):
            begun = max([begun, *(piece.frames.mask.end for piece in pieces if piece is not None)])
            most = max(most, begun - complete)
            complete = complete_then
        return most

    def chunks_after(self, index: int) -> Iterator[tuple[int, int]]:
        """Yield (first frame, number of frames) of what is handed out after a round."""
        first = self.complete_after[index - 1] if index > 0 else 0
        end = self.complete_after[index]
        for start in range(first, end, FRAMES_PER_PART):
            yield start, min(FRAMES_PER_PART, end - start)


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
        times = _time_cuts(sizes.split_frames(grid.frames))
    else:
        times = _time_cuts(split_cells(grid.frames, outer.frames))
        _check_fits_in_time(times, sizes)
    heights = _side_cuts(split_cells(grid.height, outer.height), sizes)
    widths = _side_cuts(split_cells(grid.width, outer.width), sizes)
    tiles = [
        [[Piece(time, height, width) for height in of_row for width in of_column]
         for of_row in heights for of_column in widths]
        for time in times
    ]  # fmt: skip
    # Split in time between ranks, all tiles are dealt in a row; else each stretch of time is dealt to all ranks anew.
    decks = tiles if outer.frames.num_tiles == 1 else [[tile for of_time in tiles for tile in of_time]]
    return DecodePlan(grid, tuple(pieces for deck in decks for pieces in _deal(deck, num_ranks)))


def decode_parts(decoder: PixelDecoder, latent_BCFHW: Tensor, sizes: TileSizeConfig) -> Iterator[DecodedPart]:
    """Decode a clip in tiles that fit, in the decoder's own way if it has one; a clip that fits is decoded whole.

    Args:
        decoder: Any of the decoders.
        latent_BCFHW: [B, C, F, H, W] normalised.
        sizes: How large a tile may be.

    Yields:
        The frames in order, with a `TileDone` between tiles.
    """
    if isinstance(decoder, PartDecoder):
        return decoder.decode_parts(latent_BCFHW, sizes)
    plan = plan_decoding(LatentGrid(*latent_BCFHW.shape[2:]), sizes)

    def decode_round(index: int) -> list[tuple[Piece, Tensor]]:
        given = [piece for piece in plan.rounds[index] if piece is not None]
        return [(piece, decoder.decode(piece.latent_of(latent_BCFHW))) for piece in given]

    return blend_rounds(plan, decode_round, latent_BCFHW)


@torch.inference_mode()
def blend_rounds(
    plan: DecodePlan, decode_round: Callable[[int], Sequence[tuple[Piece, Tensor]]], like_BCFHW: Tensor
) -> Iterator[DecodedPart]:
    """Blend what rounds give, and yield frames as soon as no later round adds to them.

    Args:
        plan: The order of the rounds.
        decode_round: Gives all pieces of a round with their pixels [B, 3, F, H, W].
        like_BCFHW: The latent: its batch and device are those of the pixels.

    Yields:
        A `TileDone` after every round but the last, then what is complete.
    """
    frames = _WholeClip() if plan.is_whole else _FrameWindow(plan, len(like_BCFHW), like_BCFHW.device)
    for index in range(len(plan.rounds)):
        # Nothing here keeps a round's pixels: the next one needs their room.
        frames.add(decode_round(index))
        if index < len(plan.rounds) - 1:
            yield TileDone(index + 1, len(plan.rounds))
        for first, num_frames in plan.chunks_after(index):
            yield FramesDone(first, num_frames, frames.look(first, num_frames))
        frames.forget(plan.complete_after[index])


class _WholeClip:
    # A clip of one piece, as it was decoded.

    def __init__(self) -> None:
        self._pixels: Tensor | None = None

    def add(self, pieces: Sequence[tuple[Piece, Tensor]]) -> None:
        ((_, self._pixels),) = pieces

    def look(self, first: int, num_frames: int) -> Tensor:
        assert self._pixels is not None, "nothing was decoded yet"
        return self._pixels[:, :, first : first + num_frames]

    def forget(self, until: int) -> None:
        del until


class _FrameWindow:
    # Frames that are begun: weighted sums, in room that is taken once and before the first piece is decoded, so that
    # long clips find the same room as short ones.

    def __init__(self, plan: DecodePlan, batch: int, device: torch.device) -> None:
        height, width = plan.grid.height * SPACE_FACTOR, plan.grid.width * SPACE_FACTOR
        self._sums = torch.zeros((batch, 3, plan.window, height, width), device=device)
        self._first = 0

    def add(self, pieces: Sequence[tuple[Piece, Tensor]]) -> None:
        for piece, pixels in pieces:
            frames, rows, columns = (cut.mask for cut in (piece.frames, piece.height, piece.width))
            self.look(frames.start, len(frames.weights))[
                :, :, :, rows.start : rows.end, columns.start : columns.end
            ] += piece.weighted(pixels)

    def look(self, first: int, num_frames: int) -> Tensor:
        return self._sums[:, :, first - self._first :][:, :, :num_frames]

    def forget(self, until: int) -> None:
        if until == self._first:
            return
        kept = self._sums[:, :, until - self._first :].clone()
        self._sums[:, :, : kept.shape[2]] = kept
        self._sums[:, :, kept.shape[2] :] = 0
        self._first = until


def _deal(tiles: Sequence[Sequence[Piece]], num_ranks: int) -> Iterator[Round]:
    # Tiles of several pieces take several rounds; a rank whose tile has fewer of them sits the last ones out.
    for first in range(0, len(tiles), num_ranks):
        hands = tiles[first : first + num_ranks]
        for turn in range(max(len(hand) for hand in hands)):
            pieces = [hand[turn] if turn < len(hand) else None for hand in hands]
            yield tuple(pieces) + (None,) * (num_ranks - len(pieces))


def _time_cuts(spans: Sequence[Span]) -> tuple[Cut, ...]:
    causal = causal_spans(spans)
    masks = causal_frame_masks(causal)
    return tuple(Cut(span.start, span.end, mask) for span, mask in zip(causal, masks, strict=True))


def _check_fits_in_time(times: Sequence[Cut], sizes: TileSizeConfig) -> None:
    longest = max(time.end - time.start for time in times)
    if longest > sizes.max_frame_cells:
        raise JobRefusedError(
            f"This clip is too long to be decoded in {len(times)} tiles in time: a tile would have "
            f"{TIME_FACTOR * (longest - 1) + 1} frames, and {sizes.num_frames} are the most that a device decodes at "
            "once. Tiles in space between the devices have no such limit."
        )


def _side_cuts(spans: Sequence[Span], sizes: TileSizeConfig) -> list[list[Cut]]:
    # For each tile between ranks, the pieces it is split into; their weights go on top of the tile's own.
    cuts = []
    for span, outer in zip(spans, trapezoid_masks(spans, SPACE_FACTOR), strict=True):
        inner_spans = sizes.split_side(span.num_cells)
        of_tile = []
        for inner, mask in zip(inner_spans, trapezoid_masks(inner_spans, SPACE_FACTOR), strict=True):
            weights = mask.weights * outer.weights[mask.start : mask.end]
            of_tile.append(
                Cut(span.start + inner.start, span.start + inner.end, TileMask(outer.start + mask.start, weights))
            )
        cuts.append(of_tile)
    return cuts
