"""Conventions of the published multi-GPU half that no other test holds."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from podium.models.tile_layout import DimensionTilingConfig, TileCountConfig
from podium.multigpu.attention import AttentionManager
from podium.multigpu.decoder_tiling import decoder_tiling
from podium.multigpu.sp_builder import SequenceParallelBuilder
from podium.multigpu.tdp_builder import tdp_tiling
from podium.multigpu.weight_tracker import TransformerWeightTracker
from podium.pipelines.ti2vid_two_stages_hq import TI2VidTwoStagesHQPipeline

from tests.fakes.guided_runs import distilled, two_stages_hq
from tests.tiny_pack import TinyPack

SMALL: dict[str, Any] = {"prompt": "a fox", "seed": 3, "height": 64, "width": 64, "num_frames": 9, "frame_rate": 24}


@pytest.mark.parametrize(("tiling", "overlap"), [(tdp_tiling(8), 5), (decoder_tiling(8), 4)])
def test_tiles_share_five_cells_in_the_second_stage_and_four_in_the_decoder(
    tiling: TileCountConfig, overlap: int
) -> None:
    assert tiling == TileCountConfig(
        frames=DimensionTilingConfig(1),
        height=DimensionTilingConfig(2, overlap),
        width=DimensionTilingConfig(4, overlap),
    )


def fix(pipeline: Any, *stages: str) -> TransformerWeightTracker:
    """Share one fixed LoRA set among stages, in a single process."""
    tracker = TransformerWeightTracker(None, no_lora_swap=True)
    for name in stages:
        stage = getattr(pipeline, name)
        stage.transformer_builder = SequenceParallelBuilder(
            inner=stage.transformer_builder,
            attn_mgr=AttentionManager(256, 8, 16, torch.float32, None),
            registry=pipeline._model.registry,
            tracker=tracker,
        )
    return tracker


def test_a_pipeline_whose_lora_set_is_fixed_makes_clip_after_clip_and_no_other_set(tiny_pack_2_3: TinyPack) -> None:
    style = (tiny_pack_2_3.style_lora_path, 0.6)
    pipeline, free = distilled(tiny_pack_2_3, loras=[style]), distilled(tiny_pack_2_3, loras=[style])
    tracker = fix(pipeline, "stage")
    pipeline.load()
    for _ in range(2):
        assert torch.allclose(pipeline(**SMALL)[0], free(**SMALL)[0], atol=1e-5)
    assert tracker.stored_sd["proj_out.weight"].data_ptr() == tracker.broadcast_sd["proj_out.weight"].data_ptr()
    with pytest.raises(ValueError, match="no_lora_swap"):
        pipeline(**SMALL, loras=[])


def test_so_does_one_with_the_same_set_in_both_stages(tiny_pack_2_3: TinyPack) -> None:
    alike = {"distilled_lora_strength_stage_1": 0.5, "distilled_lora_strength_stage_2": 0.5}
    pipeline: TI2VidTwoStagesHQPipeline = two_stages_hq(tiny_pack_2_3, **alike)
    fix(pipeline, "stage_1", "stage_2")
    video, _ = pipeline(**SMALL, num_inference_steps=2)
    assert video.shape == (9, 64, 64, 3)
    unlike = two_stages_hq(tiny_pack_2_3)
    fix(unlike, "stage_1", "stage_2")
    with pytest.raises(ValueError, match="no_lora_swap"):
        unlike(**SMALL, num_inference_steps=2)
