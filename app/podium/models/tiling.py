"""Tiles of a latent grid (see `podium.models.tile_layout`): how much each of them counts where they overlap.

The rule a caller must know: along every dimension the weights of all tiles of a split sum to one at each place, so a
blend of tiles is their weighted sum and nothing has to be divided afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from podium.geometry import TIME_FACTOR
from podium.models.tile_layout import Span


@dataclass(frozen=True, slots=True)
class TileMask:
    """A tile's output along one dimension: where it begins, and the weight of each place.

    Args:
        start: Cell, pixel or frame.
        weights: [n] float32 on the CPU, 0 to 1.
    """

    start: int
    weights: Tensor

    @property
    def end(self) -> int:
        """Return the first place behind it."""
        return self.start + len(self.weights)


def trapezoid_masks(spans: Sequence[Span], scale: int = 1) -> tuple[TileMask, ...]:
    """Return the masks of tiles that are not causal.

    Args:
        spans: All tiles of a dimension.
        scale: Places a cell decodes to: 1 for cells, 32 for pixels.
    """
    raw = [
        TileMask(
            span.start * scale,
            _trapezoid(span.num_cells * scale, _rise(span.left_ramp * scale, 1), _fall(span.right_ramp * scale)),
        )
        for span in spans
    ]
    return _summing_to_one(raw)


def causal_frame_masks(spans: Sequence[Span]) -> tuple[TileMask, ...]:
    """Return the masks, over pixel frames, of all tiles in time as `causal_spans` gives them.

    A tile [b, e) decodes to frames [8b, 8(e - 1) + 1).
    """
    raw = []
    for span in spans:
        num_frames = TIME_FACTOR * (span.num_cells - 1) + 1
        left = TIME_FACTOR * (span.left_ramp - 1) + 1 if span.left_ramp > 0 else 0
        mask = _trapezoid(num_frames, _rise(left, 0), _fall(span.right_ramp * TIME_FACTOR))
        raw.append(TileMask(span.start * TIME_FACTOR, mask))
    return _summing_to_one(raw)


def _rise(length: int, first: int) -> Tensor:
    # From 0 with `first` = 0, else from the first step above it; the step after the ramp would be 1.
    return torch.arange(first, length + first, dtype=torch.float64) / (length + first or 1)


def _fall(length: int) -> Tensor:
    return 1 - _rise(length, 1)


def _trapezoid(length: int, rise: Tensor, fall: Tensor) -> Tensor:
    weights = torch.ones(length, dtype=torch.float64)
    weights[: len(rise)] *= rise
    weights[length - len(fall) :] *= fall
    return weights


def _summing_to_one(raw: Sequence[TileMask]) -> tuple[TileMask, ...]:
    # Two neighbours sum to one by themselves; where a third tile reaches in, their shares are brought to that.
    total = torch.zeros(max(mask.end for mask in raw), dtype=torch.float64)
    for mask in raw:
        total[mask.start : mask.end] += mask.weights
    return tuple(TileMask(mask.start, (mask.weights / total[mask.start : mask.end]).to(torch.float32)) for mask in raw)
