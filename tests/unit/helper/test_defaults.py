"""The helper process tells the form what a model does by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from podium.helper.process import Desk
from podium.helper.requests import GetDefaults
from podium.jobs import PipelineKind
from podium.models.paths import ModelPaths
from podium.ui.state.guidance import MAX_SCALE, MAX_STEPS


@pytest.fixture
def models(tiny_pack: Path) -> ModelPaths:
    return ModelPaths(tiny_pack / "ltx-2.3-tiny.safetensors", tiny_pack / "gemma3", tiny_pack / "u.safetensors")


@pytest.mark.parametrize(("pipeline", "num_steps"), [(PipelineKind.QUALITY, 30), (PipelineKind.HQ, 15)])
def test_what_a_pipeline_does_by_itself_can_be_shown(
    models: ModelPaths, pipeline: PipelineKind, num_steps: int
) -> None:
    answer = Desk().answer(GetDefaults(models, pipeline))
    assert answer.error is None
    defaults = answer.value
    assert (defaults.num_steps, defaults.num_blocks) == (num_steps, 4)
    assert num_steps <= MAX_STEPS
    for spec in (defaults.video, defaults.audio):
        assert max(spec.cfg, spec.stg, spec.modality) <= MAX_SCALE
        assert all(block < defaults.num_blocks for block in spec.stg_blocks)


def test_a_checkpoint_that_cannot_be_read_has_no_values(models: ModelPaths, tmp_path: Path) -> None:
    broken = tmp_path / "broken.safetensors"
    broken.write_bytes(b"nothing")
    answer = Desk().answer(GetDefaults(ModelPaths(broken, models.gemma_root, broken), PipelineKind.HQ))
    assert answer.value is None
    assert "broken.safetensors" in str(answer.error)
