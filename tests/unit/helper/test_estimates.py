"""The helper tells what a clip takes of the devices, from headers that it reads once."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from podium.geometry import ClipFormat
from podium.helper import estimates
from podium.helper.estimates import EstimateDesk
from podium.helper.requests import EstimateJob, Lane
from podium.jobs import GuidanceMode, GuidanceSpec, Phase, PipelineKind, Quantization
from podium.models.errors import CheckpointError
from podium.models.pack import Pack, resolve_pack
from podium.models.paths import ModelPaths

from tests.tiny_pack import TinyPack

GB = 1 << 30
CLIP = ClipFormat(256, 384, 25, Fraction(24))


@pytest.fixture
def request_of(tiny_pack_2_3: TinyPack) -> EstimateJob:
    return EstimateJob(
        tiny_pack_2_3.model_paths, CLIP, PipelineKind.FAST, Quantization.NONE, "bfloat16", 2, device_bytes=(8 * GB,) * 2
    )


def test_every_rank_s_need_is_told_with_the_phase_in_which_it_is_largest(request_of: EstimateJob) -> None:
    estimate = EstimateDesk().estimate(request_of)
    assert len(estimate.needs) == 2
    for need in estimate.needs:
        by_phase = dict(need.by_phase)
        assert need.num_bytes == max(by_phase.values()) == by_phase[need.phase]
        assert next(iter(by_phase)) is Phase.ENCODING
    assert estimate.problem == ""


def test_a_larger_clip_takes_more_and_too_large_a_one_is_a_problem(request_of: EstimateJob) -> None:
    desk = EstimateDesk()
    small, large = (
        desk.estimate(replace(request_of, clip=clip)) for clip in (CLIP, ClipFormat(1088, 1920, 481, Fraction(24)))
    )
    assert large.needs[0].num_bytes > small.needs[0].num_bytes
    refused = desk.estimate(replace(request_of, device_bytes=(1 * GB,) * 2, names=("GPU 3", "GPU 5")))
    assert "GPU 3" in refused.problem


def test_without_devices_it_is_the_machine_s_memory(request_of: EstimateJob, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimates, "available_host_bytes", lambda: 1 << 20)
    on_cpu = replace(request_of, device_bytes=(), dtype="float32")
    assert "this machine's memory" in EstimateDesk().estimate(on_cpu).problem
    assert EstimateDesk().estimate(replace(on_cpu, held_bytes=100 * GB)).problem == ""


def test_headers_are_read_once_until_a_file_changes(
    request_of: EstimateJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "checkpoint.safetensors"
    shutil.copyfile(request_of.models.checkpoint_path, copy)
    request = replace(request_of, models=replace(request_of.models, checkpoint_path=copy, distilled_lora_path=None))
    resolved: list[ModelPaths] = []

    def resolve(models: ModelPaths) -> Pack:
        resolved.append(models)
        return resolve_pack(models)

    monkeypatch.setattr(estimates, "resolve_pack", resolve)
    desk = EstimateDesk()
    for frames in (25, 33, 41):
        desk.estimate(replace(request, clip=replace(CLIP, num_frames=frames)))
    assert len(resolved) == 1
    os.utime(copy, ns=(1, 1))
    desk.estimate(request)
    assert len(resolved) == 2


def test_a_model_that_is_gone_is_refused(request_of: EstimateJob, tmp_path: Path) -> None:
    models = replace(request_of.models, checkpoint_path=tmp_path / "gone.safetensors")
    with pytest.raises(CheckpointError):
        EstimateDesk().estimate(replace(request_of, models=models))


def test_estimates_wait_for_nothing_else(request_of: EstimateJob) -> None:
    assert request_of.lane is Lane.ESTIMATES


def test_forwards_that_run_at_once_take_more_than_one_after_another(request_of: EstimateJob) -> None:
    guided = replace(request_of, pipeline=PipelineKind.QUALITY, clip=ClipFormat(512, 768, 97, Fraction(24)))
    specs = (GuidanceSpec(cfg=3, stg=1), GuidanceSpec(modality=2))
    needs = {
        mode: dict(EstimateDesk().estimate(replace(guided, guidance=(mode, *specs))).needs[0].by_phase)[Phase.STAGE_1]
        for mode in GuidanceMode
    }
    assert needs[GuidanceMode.BATCHED] == needs[GuidanceMode.MESH] > needs[GuidanceMode.SEQUENTIAL]
    assert needs[GuidanceMode.AUTO] == needs[GuidanceMode.SEQUENTIAL]
    assert EstimateDesk().estimate(guided).needs[0] == EstimateDesk().estimate(replace(guided, guidance=None)).needs[0]
