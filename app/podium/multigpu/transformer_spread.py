"""How one transformer is spread over the ranks in either way: builders that share its weights and the exchange."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

import torch
import torch.distributed as dist

from podium.models.builder import SingleGPUModelBuilder
from podium.models.registry import Registry
from podium.models.tile_layout import TileCountConfig
from podium.models.transformer.model import AVTransformer
from podium.models.transformer.replay import ForwardReplays, GraphCapture
from podium.models.transformer.replay_limits import records_exchanges
from podium.multigpu.attention import AttentionManager
from podium.multigpu.groups import NCCLGroups, num_begun
from podium.multigpu.sp_builder import SequenceParallelBuilder
from podium.multigpu.tdp_builder import TiledDataParallelBuilder
from podium.multigpu.weight_tracker import TransformerWeightTracker
from podium.pipelines.blocks.diffusion import DiffusionStage


@dataclass(frozen=True, slots=True)
class TransformerSpread:
    """Makes the builders that spread one transformer over the ranks; all of them share its weights.

    Args:
        group: The ranks.
        attn_mgr: Exchanges between them.
        registry: This process's loaded weights.
        tracker: Owns the working copy.
        is_compiled: Have the blocks compiled at the first forward of each shape.
        replays: Records forwards; None where they cannot be.
    """

    group: dist.ProcessGroup = field(repr=False)
    attn_mgr: AttentionManager = field(repr=False)
    registry: Registry = field(repr=False)
    tracker: TransformerWeightTracker = field(repr=False)
    is_compiled: bool
    replays: ForwardReplays | None = field(default=None, repr=False)

    def by_tokens(self, inner: SingleGPUModelBuilder[AVTransformer]) -> SequenceParallelBuilder:
        """Return the builder of a stage whose tokens are shared out."""
        return SequenceParallelBuilder(
            inner=inner,
            attn_mgr=self.attn_mgr,
            registry=self.registry,
            tracker=self.tracker,
            is_compiled=self.is_compiled,
            replays=self.replays,
        )

    def by_tiles(
        self, inner: SingleGPUModelBuilder[AVTransformer], tiling: TileCountConfig
    ) -> TiledDataParallelBuilder:
        """Return the builder of a stage in tiles."""
        return TiledDataParallelBuilder(
            inner=inner,
            group=self.group,
            tiling=tiling,
            registry=self.registry,
            tracker=self.tracker,
            is_compiled=self.is_compiled,
            replays=self.replays,
        )


def make_replays(groups: NCCLGroups, device: torch.device) -> ForwardReplays | None:
    """Return what records forwards on a GPU; None on the CPU, which launches nothing, and where ranks should not.

    Ranks: one rank, local.
    """
    group = groups.transformer_group
    if device.type != "cuda" or (dist.get_world_size(group) > 1 and not records_exchanges(os.environ)):
        return None
    return ForwardReplays(GraphCapture(), num_begun=lambda: num_begun([group]), on_replayed=groups.replayed.add)


def single_gpu_builder(stage: DiffusionStage) -> SingleGPUModelBuilder[AVTransformer]:
    """Return what a pipeline has put into a stage's slot itself."""
    builder = stage.transformer_builder
    assert isinstance(builder, SingleGPUModelBuilder), "a pipeline of one GPU builds its transformer by itself"
    return builder
