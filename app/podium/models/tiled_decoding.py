"""Decoding in the pieces of a `DecodePlan`, and the blend that lets frames go in order as soon as they are complete.

The rule a caller must know: what is held is a window of frames whose length depends on the tiles and never on the clip.
Shapes: B samples, C latent channels, F frames, H, W; pixels in about [-1, 1].
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from podium.geometry import SPACE_FACTOR, LatentGrid
from podium.models.decode_plan import Cut, DecodePlan, Piece, SideTile, plan_decoding
from podium.models.tile_layout import TileSizeConfig
from podium.models.tiling import causal_frame_masks, trapezoid_masks


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
    # At the call and not at the first frame: beside the plan they alone grow with the clip, by some bytes a frame.
    return _blended(plan, decode_round, like_BCFHW, _BlendWeights(plan))


@torch.inference_mode()
def _blended(
    plan: DecodePlan,
    decode_round: Callable[[int], Sequence[tuple[Piece, Tensor]]],
    like_BCFHW: Tensor,
    weights: _BlendWeights,
) -> Iterator[DecodedPart]:
    frames = _WholeClip() if plan.is_whole else _FrameWindow(plan, weights, len(like_BCFHW), like_BCFHW.device)
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

    def __init__(self, plan: DecodePlan, weights: _BlendWeights, batch: int, device: torch.device) -> None:
        height, width = plan.grid.height * SPACE_FACTOR, plan.grid.width * SPACE_FACTOR
        self._sums = torch.zeros((batch, 3, plan.window, height, width), device=device)
        self._weights = weights
        self._first = 0

    def add(self, pieces: Sequence[tuple[Piece, Tensor]]) -> None:
        for piece, pixels in pieces:
            frames, rows, columns = piece.frames, piece.height, piece.width
            self.look(frames.first_place, frames.num_places)[
                :, :, :, rows.first_place : rows.end_place, columns.first_place : columns.end_place
            ] += self._weights.weighted(piece, pixels)

    def look(self, first: int, num_frames: int) -> Tensor:
        return self._sums[:, :, first - self._first :][:, :, :num_frames]

    def forget(self, until: int) -> None:
        if until == self._first:
            return
        kept = self._sums[:, :, until - self._first :].clone()
        self._sums[:, :, : kept.shape[2]] = kept
        self._sums[:, :, kept.shape[2] :] = 0
        self._first = until


class _BlendWeights:
    # How much each place of each piece counts, along every dimension.

    def __init__(self, plan: DecodePlan) -> None:
        masks = causal_frame_masks(plan.times)
        self._frames = {cut: mask.weights for cut, mask in zip(plan.time_cuts, masks, strict=True)}
        self._rows, self._columns = _side_weights(plan.heights), _side_weights(plan.widths)

    def weighted(self, piece: Piece, pixels_BCFHW: Tensor) -> Tensor:
        """Return a piece's pixels in float32, each times its weight."""
        found = (self._frames[piece.frames], self._rows[piece.height], self._columns[piece.width])
        weights = [of_dim.to(pixels_BCFHW.device) for of_dim in found]
        out = pixels_BCFHW.float() * weights[0][:, None, None]
        return out.mul_(weights[1][:, None]).mul_(weights[2])


def _side_weights(tiles: Sequence[SideTile]) -> dict[Cut, Tensor]:
    # Weights of the pieces of a tile go on top of the tile's own.
    found = {}
    outer_masks = trapezoid_masks([tile.span for tile in tiles], SPACE_FACTOR)
    for tile, outer in zip(tiles, outer_masks, strict=True):
        masks = trapezoid_masks(tile.inner, SPACE_FACTOR)
        for cut, mask in zip(tile.cuts, masks, strict=True):
            found[cut] = mask.weights * outer.weights[mask.start : mask.end]
    return found
