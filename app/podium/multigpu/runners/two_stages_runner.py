"""What the runners of both guided pipelines have in common: how their two stages are spread over the ranks.

The first stage, with its guided steps, runs under sequence parallelism. The second one runs in tiles, where each tile
would exceed its overlap with the next, and otherwise under sequence parallelism too. The same tiles give the same clip
on any number of ranks, so they are kept with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from podium.jobs import GenerationRequest, LoraSpec
from podium.models.errors import CheckpointError, CheckpointReason
from podium.models.paths import ModelPaths
from podium.models.tile_layout import DimensionTilingConfig, TileCountConfig
from podium.multigpu.errors import RunnerError
from podium.multigpu.guidance_parallel import GuidanceParallel, free_device_bytes, transformer_size
from podium.multigpu.runners.clip_runner import ClipRunner
from podium.multigpu.tdp_builder import TDP_OVERLAP, tdp_tiling
from podium.multigpu.transformer_spread import TransformerSpread, single_gpu_builder
from podium.pipelines.blocks.diffusion import DiffusionStage
from podium.pipelines.checks import check_guidance_mode
from podium.pipelines.guided import GuidedPipeline

P = TypeVar("P", bound=GuidedPipeline)


class TwoStagesRunner(ClipRunner[P]):
    """Makes clips with a guided pipeline on every rank of a fleet."""

    def _any_stage(self) -> DiffusionStage:
        return self._pipeline.stage_1

    def _spread_stages(self, spread: TransformerSpread) -> None:
        first, second = self._pipeline.stage_1, self._pipeline.stage_2
        self._spread = spread
        self._second_inner = single_gpu_builder(second)
        inner = single_gpu_builder(first)
        self._guidance = GuidanceParallel(
            spread.attn_mgr,
            self.groups,
            transformer_size(inner.make_empty_module().config, self._pipeline.placement.dtype),
            free_bytes=free_device_bytes(self.device),
        )
        self._guidance.open_teams()
        first.guidance_runner = self._guidance
        first.transformer_builder = spread.by_tokens(inner)
        second.transformer_builder = spread.by_tokens(self._second_inner)

    def _arrange(self, request: GenerationRequest) -> Mapping[str, object]:
        check_guidance_mode(request, self.world_size)
        tiling = choose_tiling(request, self.world_size)
        if tiling.num_tiles == 1:
            builder = self._spread.by_tokens(self._second_inner)
            self._pipeline.stage_2.transformer_builder = builder
        else:
            self._pipeline.stage_2.transformer_builder = self._spread.by_tiles(self._second_inner, tiling)
        self._guidance.mode = request.guidance_mode
        self._guidance.begin_job()
        return {"stage_2": describe_tiling(tiling), "guidance": self._guidance.chosen}


def choose_tiling(request: GenerationRequest, num_ranks: int) -> TileCountConfig:
    """Return the tiles of a request's second stage; a single one where it is not to be split.

    Raises:
        RunnerError: The request names tiles that would not exceed their overlap.
    """
    grid = request.clip.latent_grid
    if request.stage_2_tiles is None:
        tiling = tdp_tiling(num_ranks)
        return tiling if tiling.fits(grid) else TileCountConfig()
    rows, columns = (DimensionTilingConfig(count, TDP_OVERLAP) for count in request.stage_2_tiles)
    tiling = TileCountConfig(height=rows, width=columns)
    if not tiling.fits(grid):
        raise RunnerError(
            f"A second stage in {rows.num_tiles} × {columns.num_tiles} tiles cannot be made at "
            f"{request.clip.width} × {request.clip.height} pixels: they would not exceed their overlap. "
            "Take fewer tiles, or a larger clip."
        )
    return tiling


def describe_tiling(tiling: TileCountConfig) -> dict[str, object]:
    """Return how a second stage is split, as it is kept with a clip."""
    tiles = [tiling.height.num_tiles, tiling.width.num_tiles]
    if tiling.num_tiles == 1:
        return {"mode": "whole", "tiles": tiles}
    return {"mode": "tiles", "tiles": tiles, "overlap": tiling.height.overlap}


def require_distilled_lora(paths: ModelPaths) -> LoraSpec:
    """Return the distilled LoRA of a model, at full strength.

    Raises:
        CheckpointError: There is none.
    """
    if paths.distilled_lora_path is None:
        raise CheckpointError(
            "This pipeline refines its clips with the model's distilled LoRA, and none was chosen. "
            "Choose the one of the same generation.",
            path=paths.checkpoint_path,
            reason=CheckpointReason.MISSING,
        )
    return LoraSpec(paths.distilled_lora_path)
