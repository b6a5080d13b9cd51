"""The video decoder on a fleet: tiles are dealt to the ranks, the first one blends them and hands out the frames."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod

import torch
import torch.distributed as dist
from torch import Tensor

from podium.geometry import LatentGrid
from podium.models.builder import SingleGPUModelBuilder
from podium.models.decode_plan import DecodePlan, Piece, Round, plan_decoding
from podium.models.registry import Registry
from podium.models.tile_layout import TileCountConfig, TileSizeConfig
from podium.models.tiled_decoding import DecodedPart, FramesDone, PartDecoder, TileDone, blend_rounds
from podium.models.weight_reader import OnProgress
from podium.pipelines.blocks.slots import BuilderSlot, FrameDecoder, Preloads

# What a part is, to ranks that do not make it.
_TILE, _FRAMES, _END = 1, 2, (0, 0, 0)


class DistributedDecoder:
    """Decodes a clip's tiles on all ranks.

    Args:
        inner: This rank's own decoder.
        group: The ranks; None for a single process.
        tiling: Tiles between the ranks; dimensions too small for it get fewer.
        driver_rank: The rank of the group that blends.
        dtype: Type that pixels travel in: the decoder's own.
    """

    def __init__(
        self,
        inner: FrameDecoder,
        group: dist.ProcessGroup | None,
        tiling: TileCountConfig,
        *,
        driver_rank: int,
        dtype: torch.dtype,
    ) -> None:
        self._inner = inner
        self._group = group
        self._tiling = tiling
        self._driver_rank = driver_rank
        self._dtype = dtype
        self._rank = dist.get_rank(group) if group is not None else 0
        self._num_ranks = dist.get_world_size(group) if group is not None else 1

    def decode(self, latent_BCFHW: Tensor) -> Tensor:
        """Return the pixels [B, 3, 8(F-1)+1, 32H, 32W] of a latent, whole and by this rank alone.

        Ranks: one rank, local.
        """
        return self._inner.decode(latent_BCFHW)

    def decode_parts(self, latent_BCFHW: Tensor, sizes: TileSizeConfig) -> Iterator[DecodedPart]:
        """Decode a clip that every rank holds the latent of.

        A decoder that has its own way to make a clip part by part runs on the driver rank alone.

        Ranks: every rank of the group. Collectives: one all-to-all a round, which carries the ranks' tiles to the
        driver rank, none where it alone has one; or, with such a decoder, one broadcast of three numbers a part.

        Args:
            latent_BCFHW: [B, C, F, H, W] normalised, the same on all ranks.
            sizes: How large a tile may be on its rank; larger ones are split further.

        Yields:
            As many parts on every rank: the frames in order, on the driver rank with their pixels, and a `TileDone`
            between rounds.

        Raises:
            JobRefusedError: Alike on all ranks: the clip would be split in time between ranks and again within one.
        """
        if isinstance(self._inner, PartDecoder):
            if self._rank == self._driver_rank:
                return self._lead(self._inner.decode_parts(latent_BCFHW, sizes), latent_BCFHW.device)
            return self._follow(latent_BCFHW.device)
        grid = LatentGrid(*latent_BCFHW.shape[2:])
        plan = plan_decoding(grid, sizes, self._tiling, self._num_ranks)
        if self._rank != self._driver_rank:
            return self._work(plan, latent_BCFHW)
        return blend_rounds(plan, lambda index: self._collect(plan.rounds[index], latent_BCFHW), latent_BCFHW)

    def _lead(self, parts: Iterator[DecodedPart], device: torch.device) -> Iterator[DecodedPart]:
        for part in parts:
            self._broadcast_numbers(_numbers_of(part), device)
            yield part
        self._broadcast_numbers(_END, device)

    def _follow(self, device: torch.device) -> Iterator[DecodedPart]:
        while (numbers := self._broadcast_numbers(_END, device)) != _END:
            kind, first, second = numbers
            yield TileDone(first, second) if kind == _TILE else FramesDone(first, second, None)

    def _broadcast_numbers(self, numbers: tuple[int, int, int], device: torch.device) -> tuple[int, ...]:
        if self._num_ranks == 1:
            return numbers
        message = torch.tensor(numbers, device=device)
        dist.broadcast(message, group=self._group, group_src=self._driver_rank)
        return tuple(message.tolist())

    @torch.inference_mode()
    def _work(self, plan: DecodePlan, latent_BCFHW: Tensor) -> Iterator[DecodedPart]:
        # One tile ahead: while the driver rank blends and writes a round, the next one's tile is decoded.
        pixels = self._decode(plan.rounds[0], latent_BCFHW)
        for index, pieces in enumerate(plan.rounds):
            self._exchange(pieces, len(latent_BCFHW), pixels, latent_BCFHW.device)
            # Gone before the next one comes, and not after.
            pixels = None
            if index < len(plan.rounds) - 1:
                pixels = self._decode(plan.rounds[index + 1], latent_BCFHW)
                yield TileDone(index + 1, len(plan.rounds))
            for first, num_frames in plan.chunks_after(index):
                yield FramesDone(first, num_frames, None)

    def _collect(self, pieces: Round, latent_BCFHW: Tensor) -> list[tuple[Piece, Tensor]]:
        own = self._decode(pieces, latent_BCFHW)
        others = self._exchange(pieces, len(latent_BCFHW), own, latent_BCFHW.device)
        found = [own if rank == self._driver_rank else others.get(rank) for rank in range(self._num_ranks)]
        return [(piece, pixels) for piece, pixels in zip(pieces, found, strict=True) if piece and pixels is not None]

    def _decode(self, pieces: Round, latent_BCFHW: Tensor) -> Tensor | None:
        piece = pieces[self._rank]
        return None if piece is None else self._inner.decode(piece.latent_of(latent_BCFHW)).to(self._dtype)

    def _exchange(self, pieces: Round, batch: int, own: Tensor | None, device: torch.device) -> dict[int, Tensor]:
        # On the driver rank the other ranks' pixels, elsewhere nothing. They travel as bytes, whatever their type.
        shapes = {
            rank: (batch, 3, *piece.size)
            for rank, piece in enumerate(pieces)
            if piece is not None and rank != self._driver_rank
        }
        if not shapes:
            return {}
        is_driver = self._rank == self._driver_rank
        sizes = [prod(shapes[rank]) * self._dtype.itemsize if rank in shapes else 0 for rank in range(self._num_ranks)]
        nothing = [0] * self._num_ranks
        sent = torch.empty(0, dtype=torch.uint8, device=device)
        if not is_driver and own is not None:
            sent = own.contiguous().flatten().view(torch.uint8)
        to_driver = [len(sent) if rank == self._driver_rank else 0 for rank in range(self._num_ranks)]
        received = torch.empty(sum(sizes) if is_driver else 0, dtype=torch.uint8, device=device)
        dist.all_to_all_single(
            received, sent, sizes if is_driver else nothing, nothing if is_driver else to_driver, group=self._group
        )
        if not is_driver:
            return {}
        parts = received.split(sizes)
        return {rank: parts[rank].view(self._dtype).view(shape) for rank, shape in shapes.items()}


def _numbers_of(part: DecodedPart) -> tuple[int, int, int]:
    if isinstance(part, TileDone):
        return _TILE, part.done, part.total
    return _FRAMES, part.first_frame, part.num_frames


@dataclass(frozen=True, slots=True)
class DistributedDecoderBuilder:
    """Builds the decoder of `inner` on every rank of a group, which share a clip's tiles.

    Ranks: every rank of the group; local.

    Args:
        inner: The decoder's own builder.
        queue: Not needed: frames come out of the pipeline on the driver rank, and go into the file there.
        vae_group: The ranks; None for a single process.
        vae_tiling: Tiles between the ranks, dealt round robin. Split in time, no tile may be larger than what a rank
            decodes at once.
        driver_rank: The rank of the group that blends and has the frames.
        registry: This process's loaded weights.
    """

    inner: BuilderSlot[FrameDecoder]
    queue: object | None = field(repr=False)
    vae_group: dist.ProcessGroup | None = field(repr=False)
    vae_tiling: TileCountConfig
    driver_rank: int
    registry: Registry = field(repr=False)

    def preload(self, device: torch.device, dtype: torch.dtype, *, on_progress: OnProgress | None = None) -> None:
        """Read the weights to where they live, on every rank."""
        read = self.inner.preload if isinstance(self.inner, Preloads) else self.build
        read(device, dtype, on_progress=on_progress)

    def build(
        self, device: torch.device, dtype: torch.dtype, *, on_progress: OnProgress | None = None
    ) -> DistributedDecoder:
        """Return the decoder; every rank reads the weights."""
        inner = self.inner
        if isinstance(inner, SingleGPUModelBuilder):
            inner = inner.with_registry(self.registry)
        return DistributedDecoder(
            inner.build(device, dtype, on_progress=on_progress),
            self.vae_group,
            self.vae_tiling,
            driver_rank=self.driver_rank,
            dtype=dtype,
        )
