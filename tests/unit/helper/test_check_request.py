"""The helper process checks a request as the command does: everything that can be known before a rank starts."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from podium.errors import JobRefusedError
from podium.geometry import ClipFormat
from podium.helper import process
from podium.helper.process import Desk
from podium.helper.requests import CheckRequest
from podium.jobs import GenerationRequest, GuidanceMode, PipelineKind, Quantization
from podium.models.errors import CheckpointError
from podium.models.residency import Place, ResidencyPlan
from podium.pipelines.checks import CheckedRequest

from tests.tiny_pack import TinyPack

GB = 10**9


@pytest.fixture
def check(tiny_pack_2_3: TinyPack, tmp_path: Path) -> CheckRequest:
    request = GenerationRequest(
        "a fox", 7, ClipFormat(64, 64, 9, Fraction(24)), tmp_path / "a.mp4", pipeline=PipelineKind.QUALITY
    )
    return CheckRequest(request, tiny_pack_2_3.model_paths, 4, "float32", is_on_cpu=True)


def let_be_free(monkeypatch: pytest.MonkeyPatch, free_bytes: int, held_bytes: int = 0) -> None:
    monkeypatch.setattr(process, "available_host_bytes", lambda: free_bytes)
    monkeypatch.setattr(process, "held_by_relatives_bytes", lambda: held_bytes)


def test_a_fleet_that_this_machines_memory_cannot_hold_is_refused_with_figures(
    check: CheckRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_be_free(monkeypatch, GB // 2)
    answer = Desk().answer(check)
    assert isinstance(answer.error, JobRefusedError)
    assert "does not hold 4 processes on the CPU" in answer.error.message
    assert "0.5 GB are free. 2 processes would fit" in answer.error.message


def test_what_the_fleet_that_is_up_holds_is_not_counted_against_it(
    check: CheckRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_be_free(monkeypatch, GB // 2, held_bytes=GB)
    assert Desk().answer(check).error is None


def test_ranks_on_gpus_take_less_of_it(check: CheckRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    let_be_free(monkeypatch, 5 * GB)
    assert isinstance(Desk().answer(replace(check, is_on_cpu=False)).error, JobRefusedError)
    let_be_free(monkeypatch, 6 * GB)
    assert Desk().answer(replace(check, is_on_cpu=False)).error is None


def test_the_answer_has_the_defaults_filled_in_and_so_has_the_clips_tag(
    check: CheckRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_be_free(monkeypatch, GB)
    answer = Desk().answer(replace(check, quantization=Quantization.FP8_CAST))
    assert answer.value is not None
    resolved = answer.value.resolved
    assert (resolved.num_inference_steps, resolved.distilled_lora_strengths) == (30, (0.0, 1.0))
    assert answer.value.parameters["num_inference_steps"] == 30
    assert answer.value.parameters["quantization"] == "fp8-cast"


def test_a_quantisation_that_does_not_suit_the_file_is_refused(
    check: CheckRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_be_free(monkeypatch, GB)
    answer = Desk().answer(replace(check, quantization=Quantization.FP8_SCALED))
    assert isinstance(answer.error, CheckpointError)


def test_a_clip_on_gpus_is_planned_beside_what_the_windows_own_fleet_holds(
    check: CheckRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_be_free(monkeypatch, 8 * GB, held_bytes=GB)
    plan, asked = ResidencyPlan(decoders=Place.VISITING), []
    monkeypatch.setattr(process, "pids_of_relatives", lambda: (7, 8))
    monkeypatch.setattr(process, "plan_fleet", lambda devices: devices)

    def plan_here(checked: CheckedRequest, fleet: object, dtype: str, **room: object) -> ResidencyPlan:
        asked.append((checked.resolved.num_inference_steps, fleet, dtype, room))
        return plan

    monkeypatch.setattr(process, "plan_residency", plan_here)
    answer = Desk().answer(replace(check, is_on_cpu=False, devices=(0, 1, 2, 3), dtype="bfloat16"))
    assert answer.value is not None
    assert answer.value.residency == plan
    assert asked == [(30, (0, 1, 2, 3), "bfloat16", {"own_pids": (7, 8), "host_bytes": 9 * GB})]
    answer = Desk().answer(check)
    assert answer.value is not None
    assert answer.value.residency is None


def test_guidance_that_the_fleet_cannot_spread_is_refused(check: CheckRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    let_be_free(monkeypatch, 8 * GB)
    spread = replace(check, request=replace(check.request, guidance_mode=GuidanceMode.MESH))
    assert Desk().answer(spread).error is None
    assert isinstance(Desk().answer(replace(spread, num_ranks=1)).error, JobRefusedError)
