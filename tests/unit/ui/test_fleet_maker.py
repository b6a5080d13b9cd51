"""Which runner a fleet has, and what it is set up with."""

from __future__ import annotations

import inspect
from dataclasses import replace
from pathlib import Path

import pytest

from podium.jobs import PipelineKind, Quantization
from podium.models.paths import ModelPaths
from podium.multigpu import RunnerRef
from podium.ui.fleet_maker import RUNNERS, RunnerFleetMaker, setup_kwargs

from tests.fakes.ui import SPEC


@pytest.mark.parametrize("pipeline", PipelineKind)
def test_each_pipeline_has_a_runner_that_takes_what_its_fleet_is_set_up_with(
    pipeline: PipelineKind, tmp_path: Path
) -> None:
    runner = RunnerRef(RUNNERS[pipeline]).resolve()
    spec = replace(SPEC, pipeline=pipeline)
    if pipeline.is_guided:
        spec = replace(spec, models=replace(spec.models, distilled_lora_path=Path("/models/distilled.safetensors")))
    kwargs = RunnerFleetMaker(tmp_path / "previews").setup_kwargs(spec)
    inspect.signature(runner.setup).bind(object(), **kwargs)
    assert (tmp_path / "previews").is_dir()


def test_a_split_pack_is_handed_over_file_by_file(tmp_path: Path) -> None:
    models = ModelPaths.from_split(
        transformer_path="/m/t",
        text_encoder_path="/m/e",
        video_vae_path="/m/v",
        audio_vae_path="/m/a",
        spatial_upsampler_path="/m/u",
        distilled_lora_path="/m/l",
    )
    spec = replace(SPEC, models=models, quantization=Quantization.FP8_CAST)
    assert setup_kwargs(spec, tmp_path) == {
        "checkpoint_path": Path("/m/t"),
        "gemma_root": Path("/m/e"),
        "spatial_upsampler_path": Path("/m/u"),
        "distilled_lora_path": Path("/m/l"),
        "video_vae_path": Path("/m/v"),
        "audio_vae_path": Path("/m/a"),
        "dtype": "float32",
        "quantization": "fp8-cast",
        "max_tokens": SPEC.max_tokens,
        "preview_folder": tmp_path,
    }
