"""The fleet's text encoders on GPUs: the numbers of transformers on the CPU, and blocks on every GPU of the fleet."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from podium.jobs import EnhanceRequest, PromptEnhanced, StepDone
from podium.multigpu import MGPUController, RunnerRef

from tests.fakes.closeness import assert_close_to_golden
from tests.fakes.padded_gemma import padded_hidden_states
from tests.gpu.conftest import PLACEMENTS

pytestmark = pytest.mark.gpu

RUNNER = RunnerRef("tests.fakes.gemma_runner:GemmaRunner")
PROMPTS = ["A red fox runs across a snowy field at dawn.", "blurry, static"]
SEVERAL: dict[str, dict[str, Any]] = {"two GPUs": {"devices": [0, 1]}} if torch.cuda.device_count() > 1 else {}
FOLDERS = {"gemma3": "gemma3", "ltx-2.5/text_encoder.safetensors": "gemma4"}


@pytest.fixture(params=list(PLACEMENTS | SEVERAL), scope="module")
def placement(request: pytest.FixtureRequest) -> dict[str, Any]:
    return (PLACEMENTS | SEVERAL)[request.param]


@pytest.fixture(scope="module")
def fleet(make_fleet: Callable[..., MGPUController], placement: dict[str, Any]) -> MGPUController:
    return make_fleet(RUNNER, placement)


@pytest.mark.parametrize("name", list(FOLDERS))
@pytest.mark.parametrize("kind", ["accelerate", "batch"])
def test_prompts_are_encoded_as_transformers_does_alone(
    fleet: MGPUController, placement: dict[str, Any], tiny_pack: Path, kind: str, name: str
) -> None:
    call = {"action": "encode", "kind": kind, "path": tiny_pack / name, "prompts": PROMPTS}
    alone = padded_hidden_states(tiny_pack / FOLDERS[name], PROMPTS)
    for _ in range(2):
        ranks = sorted(fleet.stream(**call), key=lambda item: item["rank"])
        for item in ranks:
            for ours, theirs in zip(item["states"], alone, strict=True):
                assert_close_to_golden(ours.cpu(), theirs)
        of_fleet = sorted({f"cuda:{index}" for index in placement["devices"]})
        assert ranks[0]["devices"] == (of_fleet if kind == "accelerate" else ["cuda:0"])


def test_a_prompt_is_written_out(fleet: MGPUController, tiny_pack: Path) -> None:
    request = EnhanceRequest("a fox", 3)
    events = list(fleet.stream(action="enhance", kind="accelerate", path=tiny_pack / "gemma3", request=request))
    assert isinstance(events[-1], PromptEnhanced)
    assert sum(isinstance(event, StepDone) for event in events) > 1
