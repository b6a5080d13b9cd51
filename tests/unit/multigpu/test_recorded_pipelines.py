"""Whole pipelines whose forwards are recorded, operation by operation: to the bit what they make unrecorded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from podium.models.tile_layout import TileCountConfig
from podium.models.transformer.replay import ForwardReplays
from podium.multigpu.attention import AttentionManager
from podium.multigpu.transformer_spread import TransformerSpread, single_gpu_builder
from podium.multigpu.weight_tracker import TransformerWeightTracker

from tests.fakes.guidance_jobs import FOUR
from tests.fakes.guided_runs import distilled, make_picture, traced, two_stages
from tests.fakes.reruns import RerunCapture
from tests.fakes.thorough import thorough
from tests.fakes.tiled_jobs import tiling_of
from tests.tiny_pack import TinyPack

SMALL: dict[str, Any] = {"prompt": "a fox", "seed": 3, "height": 64, "width": 64, "num_frames": 9, "frame_rate": 24}
LONG = {"prompt": "a fox that jumps over a dog " * 8}


@pytest.fixture(params=["2.3", thorough("2.5"), thorough("fp8")])
def pack(tiny_pack: Path, request: pytest.FixtureRequest) -> TinyPack:
    return TinyPack(tiny_pack, is_fp8=True) if request.param == "fp8" else TinyPack(tiny_pack, request.param)


def spread(pipeline: Any, replays: ForwardReplays | None, tiling: TileCountConfig | None = None) -> Any:
    """Have a pipeline's forwards run as on a fleet of one rank, those of the second stage in tiles if it is told so."""
    names = ("stage",) if hasattr(pipeline, "stage") else ("stage_1", "stage_2")
    stages = [getattr(pipeline, name) for name in names]
    video = single_gpu_builder(stages[0]).make_empty_module().config.video
    manager = AttentionManager(1000, video.num_heads, video.head_dim, torch.float32, None)
    tracker = TransformerWeightTracker(None)
    ours = TransformerSpread(None, manager, pipeline._model.registry, tracker, False, replays)  # type: ignore[arg-type] # a single process
    for stage in stages:
        stage.transformer_builder = ours.by_tokens(single_gpu_builder(stage))
    if tiling is not None:
        stages[-1].transformer_builder = ours.by_tiles(stages[-1].transformer_builder.inner, tiling)
    return pipeline


def assert_records_all(
    ours: Any, plain: Any, calls: Sequence[dict[str, Any]], replays: ForwardReplays, numbers: Sequence[int]
) -> None:
    """Assert that a call gives the same bits whatever came before, and how many forwards are recorded by then."""
    for call, num_captures in zip(calls, numbers, strict=True):
        recorded, wanted = traced(ours, {**SMALL, **call}), traced(plain, {**SMALL, **call})
        assert all(torch.equal(recorded[name], wanted[name]) for name in wanted)
        assert replays.num_captures == num_captures


def test_clips_with_other_loras_sizes_prompts_and_pictures_in_between(pack: TinyPack, tmp_path: Path) -> None:
    style, both = [(pack.style_lora_path, 0.6)], [(pack.distilled_lora_path, 0.5), (pack.style_lora_path, 0.3)]
    precision = {"quantization": "fp8-scaled"} if pack.is_fp8 else {}
    replays = ForwardReplays(RerunCapture())
    ours, plain = spread(distilled(pack, **precision), replays), spread(distilled(pack, **precision), None)
    picture = {"images": [(make_picture(tmp_path / "picture.png", 1), 0, 0.7)]}
    calls: list[dict[str, Any]] = [
        {}, {"loras": style}, {"loras": both}, {"loras": style}, {"width": 128}, LONG, picture, {"seed": 4}
    ]  # fmt: skip
    assert_records_all(ours, plain, calls, replays, (2, 2, 2, 2, 4, 4, 6, 6))


def test_guided_steps_with_every_kind_of_pass_and_a_second_stage_in_tiles(tiny_pack_2_3: TinyPack) -> None:
    replays, tiling = ForwardReplays(RerunCapture()), tiling_of((2, 1, 1), (1, 0, 0))
    guided = {"video_guidance": FOUR.video, "audio_guidance": FOUR.audio, "num_inference_steps": 3, "num_frames": 17}
    ours = spread(two_stages(tiny_pack_2_3), replays, tiling)
    plain = spread(two_stages(tiny_pack_2_3), None, tiling)
    style = [(tiny_pack_2_3.style_lora_path, 0.6)]
    # Both prompts' passes are of one kind; perturbed and isolated ones, and the tiles, are others.
    assert_records_all(ours, plain, [guided, {**guided, "loras": style}], replays, (4, 4))
