"""Tiled data parallelism: a stage's latent in tiles that overlap, each denoised by itself on one of the ranks.

The rule a caller must know: tiles agree only where there is something to agree on. From pure noise they drift apart, so
a stage in tiles refines a draft, along a schedule of its own that begins at less noise (`sigmas`).
Shapes: B samples, T video tokens of a stage, C channels.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Self

import torch
import torch.distributed as dist
from torch import Tensor

from podium.geometry import TIME_FACTOR, LatentGrid
from podium.jobs import LoraSpec
from podium.models.builder import BuiltModel, SingleGPUModelBuilder
from podium.models.registry import Registry
from podium.models.tile_layout import DimensionTilingConfig, TileCountConfig, balanced_tile_split, split_cells
from podium.models.tiling import TileMask, trapezoid_masks
from podium.models.transformer.inputs import Perturbations, StreamInput, Timesteps
from podium.models.transformer.model import AVTransformer, Ropes
from podium.models.transformer.replay import ForwardReplays
from podium.models.weight_reader import OnProgress
from podium.multigpu.weight_tracker import TransformerWeightTracker
from podium.pipelines.schedules import TILED_STAGE_2_SIGMAS

# Source: the original's overlap of a second stage's tiles, in latent cells.
TDP_OVERLAP = 5


def tdp_tiling(num_ranks: int) -> TileCountConfig:
    """Return the tiling for `num_ranks`: a tile a rank, in space alone, with the published overlap.

    Where it does not fit a clip (`TileCountConfig.fits`), the stage runs under sequence parallelism instead.
    """
    height, width = balanced_tile_split(num_ranks)
    return TileCountConfig(
        height=DimensionTilingConfig(height, TDP_OVERLAP), width=DimensionTilingConfig(width, TDP_OVERLAP)
    )


@dataclass(frozen=True, slots=True)
class TokenTile:
    """The tokens of a tile.

    Args:
        index: [t] int64, the tile's generated tokens, row by row, then the conditioning tokens that it keeps.
        weights: [t] float32, how much of each token's velocity counts.
        positions: [1, 3, t, 2] float32.
    """

    index: Tensor
    weights: Tensor
    positions: Tensor


def read_grid(positions: Tensor) -> LatentGrid:
    """Return the grid of a clip's own tokens, with which every sequence of video positions begins.

    Args:
        positions: [1, 3, T, 2] float32 as `podium.pipelines.latents` makes them, conditioning tokens behind the clip's.

    Raises:
        ValueError: They begin with no grid.
    """
    bounds = positions[0].to("cpu", torch.float64)
    one_frame, cell_height, cell_width = bounds[:, 0, 1].tolist()
    if bool(bounds[:, 0, 0].any()) or one_frame <= 0:
        raise ValueError(f"{bounds.shape[1]} positions do not begin with the grid of a clip")
    is_first_row = (bounds[:2] == bounds[:2, :1]).all(dim=2).all(dim=0)
    width = _num_leading(is_first_row & (bounds[2, :, 0] == cell_width * torch.arange(bounds.shape[1])))
    rows = _blocks(bounds, width)
    is_row = (rows[0] == bounds[0, 0]).flatten(1).all(dim=1) & (rows[2] == rows[2, 0]).flatten(1).all(dim=1)
    height = _num_leading(is_row & (rows[1, :, 0, 0] == cell_height * torch.arange(rows.shape[1])))
    frames = _blocks(bounds, width * height)
    # The first latent frame lasts one frame of the clip and each following one eight, from where the last one ends.
    ends = TIME_FACTOR * torch.arange(frames.shape[1]) + 1.0
    times = torch.stack(((ends - TIME_FACTOR).clamp(min=0), ends), dim=1)[:, None]
    is_frame = ((frames[0] / one_frame - times).abs() < 0.1).flatten(1).all(dim=1)
    is_frame &= (frames[1:] == frames[1:, :1]).flatten(2).all(dim=2).all(dim=0)
    return LatentGrid(_num_leading(is_frame), height, width)


def token_tiles(positions: Tensor, tiling: TileCountConfig, *, normalize_positions: bool) -> tuple[TokenTile, ...]:
    """Split a stage's video tokens into tiles whose weights sum to one for every token that any tile has.

    A conditioning token goes with each tile whose box of time and space it touches; one before the clip's begin is a
    reference, and goes with all of them.

    Args:
        positions: [1, 3, T, 2] of all tokens, on the CPU.
        tiling: In cells of the latent grid.
        normalize_positions: Have each tile's own tokens begin at zero in every dimension.

    Raises:
        ValueError: A tile would not exceed its overlap, or there is no grid.
    """
    grid = read_grid(positions)
    tiles = list(_generated_tiles(grid, tiling))
    starts, ends = positions[0].unbind(dim=-1)
    extra = torch.arange(grid.num_tokens, positions.shape[2])
    kept = []
    for index, _ in tiles:
        low, high = starts[:, index].amin(dim=1), ends[:, index].amax(dim=1)
        touches = (starts[:, extra] < high[:, None]) & (ends[:, extra] > low[:, None])
        kept.append(touches.all(dim=0) | (starts[0, extra] < 0))
    shares = 1 / torch.stack(kept).sum(dim=0).clamp(min=1)
    return tuple(
        _with_conditioning(index, weights, positions, (extra[keeps], shares[keeps]), normalize_positions)
        for (index, weights), keeps in zip(tiles, kept, strict=True)
    )


class TiledTransformer:
    """A transformer that takes and gives all tokens on every rank, and works on this rank's tiles of them.

    Ranks: every rank of the group. Collectives of a forward: one all-reduce.

    Args:
        inner: The module of one GPU.
        group: The ranks; None for a single process.
        tiling: In cells of the latent grid.
        normalize_positions: Have each tile's own tokens begin at zero in every dimension.
        replays: Records the forwards of tiles; None where they cannot be.
    """

    def __init__(
        self,
        inner: AVTransformer,
        group: dist.ProcessGroup | None,
        tiling: TileCountConfig,
        *,
        normalize_positions: bool,
        replays: ForwardReplays | None = None,
    ) -> None:
        self._replays = replays
        self._inner = inner
        self._group = group
        self._tiling = tiling
        self._normalize_positions = normalize_positions
        self._own_tiles: list[tuple[TokenTile, Ropes]] = []

    def video_ropes(self, positions: Tensor) -> Ropes:
        """Lay out the tiles of video positions [1, 3, T, 2] for the forwards that follow.

        Returns:
            Tables of no token: forwards use those of the tiles, which stay in here.
        """
        tiles = token_tiles(positions.cpu(), self._tiling, normalize_positions=self._normalize_positions)
        rank, num_ranks = (dist.get_rank(self._group), dist.get_world_size(self._group)) if self._group else (0, 1)
        device = self._inner.device
        self._own_tiles = [
            (
                replace(tile, index=tile.index.to(device), weights=tile.weights.to(device)),
                self._inner.video_ropes(tile.positions),
            )
            for tile in tiles[rank::num_ranks]
        ]
        return self._inner.video_ropes(positions[:, :, :0])

    def audio_ropes(self, positions: Tensor) -> Ropes:
        """Return the tables of audio positions [1, 1, T, 2], which every tile hears whole."""
        return self._inner.audio_ropes(positions)

    def is_cold(self, video: StreamInput, audio: StreamInput, perturbations: Perturbations | None = None) -> bool:
        """Say whether a forward of these inputs would compile first on any rank.

        Ranks: every rank of the group. Collectives: one all-reduce of a number.
        """
        is_cold = any(self._inner.is_cold(of_tile, audio, perturbations) for of_tile in self._tile_inputs(video))
        if self._group is None:
            return is_cold
        flag = torch.tensor([float(is_cold)], device=self._inner.device)
        dist.all_reduce(flag, op=dist.ReduceOp.MAX, group=self._group)
        return bool(flag.item())

    def __call__(
        self, video: StreamInput | None, audio: StreamInput | None, perturbations: Perturbations | None = None
    ) -> tuple[Tensor | None, Tensor | None]:
        """Return the velocities of all tokens in float32, alike on all ranks.

        Ranks: every rank of the group. Collectives: one all-reduce; none without video, which alone has tiles.
        """
        if video is None:
            return None, self._inner(None, audio, perturbations)[1]
        assert self._own_tiles or self._group is not None, "positions come before tokens"
        sums = _VelocitySums(video, audio, self._tiling.num_tiles)
        for (tile, _), of_tile in zip(self._own_tiles, self._tile_inputs(video), strict=True):
            video_v, audio_v = self._forward(of_tile, audio, perturbations or Perturbations())
            assert video_v is not None, "video was given"
            sums.add(tile, video_v, audio_v)
        if self._group is not None:
            dist.all_reduce(sums.flat, group=self._group)
        return sums.video, sums.audio

    def _forward(
        self, tile: StreamInput, audio: StreamInput | None, perturbations: Perturbations
    ) -> tuple[Tensor | None, Tensor | None]:
        if self._replays is None or audio is None or not self._replays.takes(tile, audio, perturbations):
            velocities: tuple[Tensor | None, Tensor | None] = self._inner(tile, audio, perturbations)
            return velocities
        key = (weakref.ref(self._inner), perturbations)
        return self._replays.run(key, lambda *of: self._inner(*of, perturbations), (tile, audio))

    def _tile_inputs(self, video: StreamInput) -> Iterator[StreamInput]:
        for tile, ropes in self._own_tiles:
            yield _of_tile(video, tile.index, ropes)


@dataclass(frozen=True, slots=True)
class TiledDataParallelBuilder:
    """Builds the transformer of `inner` for a stage in tiles.

    Ranks: every rank of the group.

    Args:
        inner: The stage's own builder: checkpoint, quantisation, LoRAs.
        group: The ranks that tiles are dealt to in turn; None for a single process.
        tiling: In cells of the latent grid; more tiles than ranks are fine. It must fit the clips
            (`TileCountConfig.fits`).
        registry: This process's loaded weights.
        tracker: Owns the working copy; shared by the stages of one checkpoint.
        normalize_positions: Have each tile's own tokens begin at zero in every dimension.
        is_compiled: Have the blocks compiled at the first forward of each shape.
        replays: Records the forwards of tiles; None where they cannot be.
    """

    inner: SingleGPUModelBuilder[AVTransformer]
    group: dist.ProcessGroup | None = field(repr=False)
    tiling: TileCountConfig
    registry: Registry = field(repr=False)
    tracker: TransformerWeightTracker = field(repr=False)
    normalize_positions: bool = True
    is_compiled: bool = False
    replays: ForwardReplays | None = field(default=None, repr=False)

    @property
    def sigmas(self) -> tuple[float, ...]:
        """Return the schedule of a stage in tiles."""
        return TILED_STAGE_2_SIGMAS

    @property
    def loras(self) -> tuple[LoraSpec, ...]:
        """Return the LoRA set that `build` fuses."""
        return self.inner.loras

    def with_loras(self, loras: tuple[LoraSpec, ...]) -> Self:
        """Return a builder that fuses another LoRA set."""
        return replace(self, inner=self.inner.with_loras(loras))

    def build(
        self, device: torch.device, dtype: torch.dtype, *, on_progress: OnProgress | None = None
    ) -> TiledTransformer:
        """Return the transformer; see `build_with_report`."""
        return self.build_with_report(device, dtype, on_progress=on_progress).module

    def build_with_report(
        self, device: torch.device, dtype: torch.dtype, *, on_progress: OnProgress | None = None
    ) -> BuiltModel[TiledTransformer]:
        """Return the transformer with its LoRA set fused on every rank, and what each LoRA did.

        Ranks: every rank of the group. Collectives: the tracker's.

        Raises:
            CheckpointError: Alike on all ranks; the weights are as they were.
        """
        built = self.tracker.build(self.inner, self.registry, (device, dtype), on_progress=on_progress)
        if self.is_compiled:
            built.module.compile_blocks()
        tiled = TiledTransformer(
            built.module,
            self.group,
            self.tiling,
            normalize_positions=self.normalize_positions,
            replays=self.replays,
        )
        return BuiltModel(tiled, built.lora_reports)


class _VelocitySums:
    # Weighted velocities of tiles, both streams in one buffer: what ranks add up in one message.

    def __init__(self, video: StreamInput, audio: StreamInput | None, num_tiles: int) -> None:
        shapes = [stream.latent.shape for stream in (video, audio) if stream is not None]
        sizes = [shape.numel() for shape in shapes]
        self.flat = torch.zeros(sum(sizes), device=video.latent.device)
        parts = [part.view(shape) for part, shape in zip(self.flat.split(sizes), shapes, strict=True)]
        self.video = parts[0]
        self.audio = parts[1] if audio is not None else None
        self._num_tiles = num_tiles

    def add(self, tile: TokenTile, video_v: Tensor, audio_v: Tensor | None) -> None:
        # A tile has no token twice, so adding by index has one order.
        self.video.index_add_(1, tile.index, video_v.float() * tile.weights[:, None])
        if self.audio is not None and audio_v is not None:
            self.audio += audio_v.float() / self._num_tiles


def _of_tile(video: StreamInput, index: Tensor, ropes: Ropes) -> StreamInput:
    levels, mask, keyframes = video.timesteps.index, video.attention_mask, video.keyframes_mask
    return replace(
        video,
        latent=video.latent.index_select(1, index),
        timesteps=Timesteps(video.timesteps.values, None if levels is None else levels.index_select(0, index)),
        rope=ropes.own,
        cross_rope=ropes.cross,
        attention_mask=None if mask is None else mask.index_select(1, index).index_select(2, index),
        keyframes_mask=None if keyframes is None else keyframes.index_select(1, index),
    )


def _num_leading(flags: Tensor) -> int:
    return int(flags.long().cumprod(dim=0).sum())


def _blocks(bounds: Tensor, size: int) -> Tensor:
    # From [3, T, 2] to as many whole blocks of tokens as there are: [3, n, size, 2].
    num_blocks = bounds.shape[1] // size
    return bounds[:, : num_blocks * size].reshape(3, num_blocks, size, 2)


def _generated_tiles(grid: LatentGrid, tiling: TileCountConfig) -> Iterator[tuple[Tensor, Tensor]]:
    # The clip's own tokens of each tile, row by row, and their weights.
    cells = torch.arange(grid.num_tokens).view(grid.frames, grid.height, grid.width)
    dimensions = ((grid.frames, tiling.frames), (grid.height, tiling.height), (grid.width, tiling.width))
    masks: list[tuple[TileMask, ...]] = [trapezoid_masks(split_cells(*dimension)) for dimension in dimensions]
    for frames, rows, columns in product(*masks):
        index = cells[frames.start : frames.end, rows.start : rows.end, columns.start : columns.end]
        weights = frames.weights[:, None, None] * rows.weights[:, None] * columns.weights
        yield index.flatten(), weights.flatten()


def _with_conditioning(
    index: Tensor,
    weights: Tensor,
    positions: Tensor,
    extra: tuple[Tensor, Tensor],
    normalize_positions: bool,  # noqa: FBT001 - passed through
) -> TokenTile:
    extra_index, extra_weights = extra
    all_of_it = torch.cat((index, extra_index))
    of_tile = positions[:, :, all_of_it]
    if normalize_positions:
        origin = of_tile[:, :, : len(index), :1].amin(dim=2, keepdim=True)
        of_tile = of_tile - origin
    return TokenTile(all_of_it, torch.cat((weights, extra_weights)), of_tile)
