"""A guided pipeline set up on the ranks of a fleet as the published description shows it, for `ScriptedRunner.do_call`.

What is ours is the root of the imports and that the slots have public names; all else is as it is written there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from podium.models.registry import StateDictRegistry
from podium.models.tile_layout import DimensionTilingConfig, TileCountConfig, balanced_tile_split
from podium.multigpu.attention import AttentionManager
from podium.multigpu.bp_gemma_builder import BatchParallelGemmaBuilder
from podium.multigpu.gemma_builders import AccelerateGemmaBuilder
from podium.multigpu.runner import MGPURunner
from podium.multigpu.sp_builder import SequenceParallelBuilder
from podium.multigpu.tdp_builder import TiledDataParallelBuilder
from podium.multigpu.vae_builders import DistributedDecoderBuilder
from podium.multigpu.weight_tracker import TransformerWeightTracker
from podium.pipelines.ti2vid_two_stages import TI2VidTwoStagesPipeline

LATENTS = ("stage_1.video", "stage_1.audio", "upsampled", "stage_2.video", "stage_2.audio")
# The tiny model's.
NUM_HEADS, HEAD_DIM = 8, 16


def tiles(num_tiles: int, overlap: int) -> TileCountConfig:
    """Return a tiling in space."""
    height, width = balanced_tile_split(num_tiles)
    return TileCountConfig(
        frames=DimensionTilingConfig(num_tiles=1),
        height=DimensionTilingConfig(num_tiles=height, overlap=overlap),
        width=DimensionTilingConfig(num_tiles=width, overlap=overlap),
    )


class Published:
    """One rank's pipeline."""

    @torch.inference_mode()
    def setup(
        self,
        runner: MGPURunner,
        model: Mapping[str, Any],
        *,
        gemma: str,
        tracker: Mapping[str, Any],
        is_functional: bool,
        **more: Any,
    ) -> None:
        self.groups = runner.groups
        registry = StateDictRegistry()
        pipeline: Any = TI2VidTwoStagesPipeline(**model, loras=[], registry=registry, **more)
        self.tracker = TransformerWeightTracker(group=self.groups.transformer_group, **tracker)
        attn_mgr = AttentionManager(
            max_tokens=1024,
            num_heads=NUM_HEADS,
            head_dim=HEAD_DIM,
            tensor_dtype=pipeline.dtype,
            group=self.groups.transformer_group,
        )
        first = SequenceParallelBuilder(
            inner=pipeline.stage_1.transformer_builder,
            attn_mgr=attn_mgr,
            registry=registry,
            tracker=self.tracker,
        )
        if is_functional:
            own = pipeline.stage_1
            pipeline.stage_1 = own.with_builder(first)
            assert pipeline.stage_1 is not own
            assert own.transformer_builder is first.inner
        else:
            pipeline.stage_1.transformer_builder = first
        pipeline.stage_2.transformer_builder = TiledDataParallelBuilder(
            inner=pipeline.stage_2.transformer_builder,
            group=self.groups.transformer_group,
            tiling=tiles(runner.world_size, 5),
            registry=registry,
            tracker=self.tracker,
        )
        pipeline.prompt_encoder.text_encoder_builder = self._gemma(
            gemma, _encoder_path(model), registry, pipeline.dtype
        )
        pipeline.video_decoder.decoder_builder = DistributedDecoderBuilder(
            inner=pipeline.video_decoder.decoder_builder,
            queue=None,
            vae_group=self.groups.vae_group,
            vae_tiling=tiles(runner.world_size, 4),
            driver_rank=0,
            registry=registry,
        )
        self.pipeline = pipeline

    def _gemma(self, kind: str, path: str, registry: StateDictRegistry, dtype: torch.dtype) -> Any:
        if kind == "batch parallel":
            return BatchParallelGemmaBuilder(
                gemma_root_path=path,
                broadcast_group=self.groups.transformer_group,
                registry=registry,
                src_rank=0,
                dtype=dtype,
            )
        return AccelerateGemmaBuilder(
            gemma_root_path=path,
            gemma_group=self.groups.gemma_group,
            broadcast_group=self.groups.transformer_group,
            registry=registry,
            src_rank=0,
            dtype=dtype,
        )


def _encoder_path(model: Mapping[str, Any]) -> str:
    path: str | Path = model["gemma_root"] if "gemma_root" in model else model["model_paths"].gemma_root
    return str(path)


def clip_job(
    runner: MGPURunner,
    *,
    model: Mapping[str, Any],
    call: Mapping[str, Any],
    gemma: str = "accelerate",
    tracker: Mapping[str, Any] | None = None,
    is_functional: bool = False,
    **more: Any,
) -> Iterator[dict[str, Any]]:
    """Yield what this rank has of a clip: latents, pictures, sound, and how much clean weights take."""
    published, trace = Published(), {}
    published.setup(runner, model, gemma=gemma, tracker=tracker or {}, is_functional=is_functional, **more)

    def keep(name: str, tensor: Tensor) -> None:
        trace[name] = tensor.clone()

    with torch.inference_mode():
        video, audio = published.pipeline(**call, trace=keep)
    working, clean = published.tracker.broadcast_sd, published.tracker.stored_sd
    yield {
        "rank": runner.rank,
        "latents": {name: trace[name] for name in LATENTS},
        "video": video.clone(),
        "audio": audio.clone(),
        "is_clean_shared": all(clean[key].data_ptr() == working[key].data_ptr() for key in clean),
        "num_clean": len(clean),
        "num_weights": len(working),
    }
