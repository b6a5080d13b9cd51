"""Attention of every cell of a volume to the cells around it, exact and in memory that the volume's size does not set.

The rule a caller must know: a window keeps its size at the border, where it is shifted inwards; along an axis shorter
than the kernel it is the whole axis. Queries may be a stretch of frames and keys another, told by their first frames.
Shapes: B batch, T frames, H, W cells, N heads, D width of a head.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - torch's own name for it

# Queries taken at once along an axis: each reads the keys of its neighbours as well, (tile + kernel - 1) of them, so
# larger tiles read fewer keys in all and compute more scores that are masked away.
_TILE = 8
_TILE_FRAMES = 4


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of the volume: how long it is and how wide a window."""

    num_cells: int
    kernel: int

    @property
    def window(self) -> int:
        """Return how many cells every query attends."""
        return min(self.kernel, self.num_cells)

    def first_key(self, query: int) -> int:
        """Return the first cell of a query's window."""
        return max(0, min(query - self.window // 2, self.num_cells - self.window))

    def num_ready(self, num_arrived: int) -> int:
        """Return how many queries from the first on have all of their window among the first `num_arrived` cells."""
        if num_arrived >= self.num_cells:
            return self.num_cells
        return max(0, num_arrived - self.window + self.window // 2 + 1) if num_arrived >= self.window else 0

    def offsets(self, queries: range, keys: range) -> tuple[int, ...]:
        """Return where among the keys each query's window begins."""
        return tuple(self.first_key(query) - keys.start for query in queries)

    def mask(self, queries: range, keys: range, device: torch.device) -> Tensor:
        """Return [queries, keys]: true where a query's window has a key."""
        first = torch.tensor(self.offsets(queries, keys), device=device)[:, None]
        key = torch.arange(len(keys), device=device)
        return (key >= first) & (key < first + self.window)

    def keys_of(self, queries: range) -> range:
        """Return the keys that all windows of a stretch of queries cover."""
        return range(self.first_key(queries.start), self.first_key(queries.stop - 1) + self.window)


@dataclass(frozen=True, slots=True)
class Neighborhood:
    """The volume's axes: time, height and width."""

    time: Axis
    height: Axis
    width: Axis

    def attend(self, query_BTHWND: Tensor, key_value: tuple[Tensor, Tensor], first_frames: tuple[int, int]) -> Tensor:
        """Return what each query reads of its window.

        Args:
            query_BTHWND: Queries of a stretch of whole frames.
            key_value: Keys and values [B, T', H, W, N, D] of a stretch that has every window of theirs.
            first_frames: Number of the first frame of the queries, and of the keys.
        """
        first_query, first_key = first_frames
        num_frames = query_BTHWND.shape[1]
        stripes = []
        for start in range(first_query, first_query + num_frames, _TILE_FRAMES):
            frames = range(start, min(start + _TILE_FRAMES, first_query + num_frames))
            keys = self.time.keys_of(frames)
            query = query_BTHWND[:, frames.start - first_query : frames.stop - first_query]
            near = slice(keys.start - first_key, keys.stop - first_key)
            window = (key_value[0][:, near], key_value[1][:, near])
            mask = self.time.mask(frames, keys, query.device)
            stripes.append(self._attend_frames(query, window, mask))
        return torch.cat(stripes, dim=1)

    def _attend_frames(self, query: Tensor, key_value: tuple[Tensor, Tensor], time_mask: Tensor) -> Tensor:
        rows = []
        across = _Columns.of(self.width, query.device)
        # Away from the border all rows of tiles look alike.
        masks: dict[tuple[int, ...], Tensor] = {}
        for start in range(0, self.height.num_cells, _TILE):
            queries = range(start, min(start + _TILE, self.height.num_cells))
            keys = self.height.keys_of(queries)
            near = slice(keys.start, keys.stop)
            offsets = self.height.offsets(queries, keys)
            if offsets not in masks:
                masks[offsets] = across.with_mask(time_mask, self.height.mask(queries, keys, query.device))
            window = (key_value[0][:, :, near], key_value[1][:, :, near])
            rows.append(across.attend(query[:, :, queries.start : queries.stop], window, masks[offsets]))
        return torch.cat(rows, dim=2)


@dataclass(frozen=True, slots=True)
class _Columns:
    """The width cut into tiles of one size, which are attended together.

    Args:
        queries: [tiles, cells] of the queries; the last tile reaches back into the one before where they do not fit.
        keys: [tiles, cells'] of the keys.
        mask: [tiles, cells, cells'].
        num_fresh: Queries of the last tile that no tile before has.
    """

    queries: Tensor
    keys: Tensor
    mask: Tensor
    num_fresh: int

    @classmethod
    def of(cls, axis: Axis, device: torch.device) -> _Columns:
        size = min(_TILE, axis.num_cells)
        num_keys = min(axis.num_cells, size + axis.window - 1)
        starts = [min(start, axis.num_cells - size) for start in range(0, axis.num_cells, size)]
        ranges = [range(start, start + size) for start in starts]
        # All tiles read equally many keys; near the border some of them are in no window.
        first_keys = [max(0, min(start - axis.window // 2, axis.num_cells - num_keys)) for start in starts]
        keys = [range(first, first + num_keys) for first in first_keys]
        masks = [axis.mask(query, key, device) for query, key in zip(ranges, keys, strict=True)]
        return cls(
            torch.tensor([list(cells) for cells in ranges], device=device),
            torch.tensor([list(cells) for cells in keys], device=device),
            torch.stack(masks),
            axis.num_cells - size * (len(starts) - 1),
        )

    def with_mask(self, time_mask: Tensor, height_mask: Tensor) -> Tensor:
        """Return the mask [tiles, 1, queries, keys] over time, height and width."""
        whole = (
            time_mask[None, :, None, None, :, None, None]
            & height_mask[None, None, :, None, None, :, None]
            & self.mask[:, None, None, :, None, None, :]
        )
        return whole.flatten(4).flatten(1, 3)[:, None]

    def attend(self, query: Tensor, key_value: tuple[Tensor, Tensor], mask: Tensor) -> Tensor:
        """Return what queries [B, T, H, W, N, D] read of keys and values of the same width, other frames and rows."""
        num_samples, num_frames, num_rows = query.shape[:3]
        key, value = (_tiles(tensor, self.keys) for tensor in key_value)
        out = F.scaled_dot_product_attention(
            _tiles(query, self.queries), key, value, attn_mask=mask.repeat(num_samples, 1, 1, 1)
        )
        num_tiles, size = self.queries.shape
        tiles = out.transpose(1, 2).reshape(num_samples, num_tiles, num_frames, num_rows, size, *query.shape[4:])
        *others, last = tiles.unbind(1)
        return torch.cat([*others, last[:, :, :, size - self.num_fresh :]], dim=3)


def _tiles(tensor: Tensor, columns: Tensor) -> Tensor:
    """Return the tiles of [B, T, H, W, N, D] as [B * tiles, N, cells, D]."""
    tiles = tensor[:, :, :, columns].permute(0, 3, 5, 1, 2, 4, 6)
    return tiles.flatten(3, 5).flatten(0, 1)
