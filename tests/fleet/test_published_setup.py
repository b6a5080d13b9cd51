"""The published way to set up a guided pipeline on several ranks: every class of it, and one tiny clip."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from podium.models.tile_layout import DimensionTilingConfig, TileCountConfig
from podium.multigpu import SymmetricRunnerError
from podium.multigpu.tdp_builder import TiledDataParallelBuilder
from podium.multigpu.weight_tracker import TransformerWeightTracker

from tests.fakes.closeness import relative_error
from tests.fakes.guided_runs import make_picture, two_stages
from tests.fakes.published_setup import LATENTS
from tests.fleet.conftest import FleetPool
from tests.tiny_pack import TinyPack

# 12 cells wide: two tiles of 8 and 9 cells with 5 shared in the second stage, and of 8 with 4 for the decoder.
CALL: dict[str, Any] = {
    "prompt": "a red fox",
    "negative_prompt": "blurry",
    "seed": 7,
    "height": 64,
    "width": 384,
    "num_frames": 9,
    "frame_rate": 24,
    "num_inference_steps": 1,
}
FLOAT32 = {"dtype": torch.float32}
Job = Callable[..., list[dict[str, Any]]]


@pytest.fixture(scope="module")
def model(tiny_pack_2_3: TinyPack) -> dict[str, Any]:
    """Return the published keywords of the constructor."""
    return {
        "checkpoint_path": str(tiny_pack_2_3.checkpoint_path),
        "distilled_lora": (str(tiny_pack_2_3.distilled_lora_path), 1.0),
        "spatial_upsampler_path": str(tiny_pack_2_3.spatial_upsampler_path),
        "gemma_root": str(tiny_pack_2_3.gemma_root),
        "quantization": "none",
    }


@pytest.fixture(scope="module")
def job(fleets: FleetPool, model: dict[str, Any]) -> Job:
    """Return `job(**changes)`: what both ranks have of a clip."""

    def run(**changes: Any) -> list[dict[str, Any]]:
        arguments = {"model": model, "call": CALL, **changes}
        stream = fleets.get(2).stream(action="call", function="tests.fakes.published_setup:clip_job", **arguments)
        return sorted(stream, key=lambda item: item["rank"])

    return run


def alone(pack: TinyPack, call: dict[str, Any]) -> dict[str, Tensor]:
    """Return what one process makes of the same tiles."""
    pipeline: Any = two_stages(pack)
    pipeline.stage_2.transformer_builder = TiledDataParallelBuilder(
        inner=pipeline.stage_2.transformer_builder,
        group=None,
        tiling=TileCountConfig(width=DimensionTilingConfig(2, 5)),
        registry=pipeline._model.registry,
        tracker=TransformerWeightTracker(None),
    )
    trace: dict[str, Tensor] = {}
    for _event in pipeline.stream(**call, trace=trace.__setitem__):
        if LATENTS[-1] in trace:
            break
    return trace


@pytest.fixture(scope="module")
def whole(job: Job) -> list[dict[str, Any]]:
    """Return the clip in float32, which the published lines do not ask for: there it can be told from others."""
    return job(**FLOAT32)


def test_the_published_lines_make_a_clip(job: Job) -> None:
    first, second = job()
    assert first["video"].shape == second["video"].shape == (9, 64, 384, 3)
    assert first["audio"].shape == (2, 33 * 480)
    # Nothing may drift apart: both ranks go on with the same bits. The pictures are the driver's alone.
    assert all(torch.equal(first["latents"][name], second["latents"][name]) for name in LATENTS)
    assert float(first["video"].std()) > 0
    assert not second["video"].any()
    assert torch.equal(first["audio"], second["audio"])
    # The clean weights are dealt out, and are no part of the working ones.
    assert first["num_clean"] + second["num_clean"] == first["num_weights"]
    assert not first["is_clean_shared"]


def test_it_is_the_clip_of_one_process(
    whole: list[dict[str, Any]], tiny_pack_2_3: TinyPack, record_property: Callable[[str, object], None]
) -> None:
    wanted = alone(tiny_pack_2_3, CALL)
    worst = max(relative_error(whole[0]["latents"][name], wanted[name]) for name in LATENTS)
    record_property("figure", ("published setup, 2 ranks against one process", f"{worst:.1e}"))
    assert worst < 1e-5


@pytest.mark.parametrize("changes", [{"gemma": "batch parallel"}, {"is_functional": True, "tracker": {"bucket_mb": 1}}])
def test_the_other_encoder_the_functional_slot_and_smaller_buckets_make_the_same_clip(
    job: Job, whole: list[dict[str, Any]], changes: dict[str, Any]
) -> None:
    for ours, wanted in zip(job(**FLOAT32, **changes), whole, strict=True):
        assert all(torch.equal(ours["latents"][name], wanted["latents"][name]) for name in LATENTS)
        assert torch.equal(ours["video"], wanted["video"])


def test_with_a_fixed_lora_set_a_swap_is_an_error(job: Job, fleets: FleetPool) -> None:
    with pytest.raises(SymmetricRunnerError, match="no_lora_swap"):
        job(tracker={"no_lora_swap": True}, **FLOAT32)
    assert fleets.get(2).is_alive


def test_and_without_one_no_clean_copy_is_kept(job: Job, model: dict[str, Any]) -> None:
    path, _ = model["distilled_lora"]
    unrefined = {**model, "distilled_lora": (path, 0.0)}
    for ours in job(tracker={"no_lora_swap": True}, model=unrefined, **FLOAT32):
        assert ours["is_clean_shared"]
        assert float(ours["latents"]["stage_2.video"].std()) > 0


def test_split_files_with_key_frames_and_a_picture_make_the_clip_of_one_process_too(
    job: Job, tiny_pack_2_5: TinyPack, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    picture = make_picture(tmp_path / "picture.png", 1)
    call = {**CALL, "num_frames": 17, "generated_keyframes": 1, "images": [(picture, 0, 0.8), (picture, 16, 0.6)]}
    model = {"model_paths": tiny_pack_2_5.model_paths, "distilled_lora": (tiny_pack_2_5.distilled_lora_path, 1.0)}
    first, second = job(model=model, call=call, **FLOAT32)
    assert all(torch.equal(first["latents"][name], second["latents"][name]) for name in LATENTS)
    wanted = alone(tiny_pack_2_5, call)
    worst = max(relative_error(first["latents"][name], wanted[name]) for name in LATENTS)
    record_property("figure", ("published setup, 2.5 with key frames and pictures, 2 ranks", f"{worst:.1e}"))
    assert worst < 1e-5
