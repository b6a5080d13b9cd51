"""The fleet's text encoders on GPUs: the numbers of transformers on the CPU, and blocks on every GPU of the fleet."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from podium.jobs import EnhanceRequest, PromptEnhanced, StepDone
from podium.multigpu import MGPUController, RunnerRef

from tests.fakes.closeness import relative_error
from tests.fakes.padded_gemma import padded_hidden_states
from tests.gpu.places import Place, devices_of

pytestmark = pytest.mark.gpu

RUNNER = RunnerRef("tests.fakes.gemma_runner:GemmaRunner")
PROMPTS = ["A red fox runs across a snowy field at dawn.", "blurry, static"]
FOLDERS = {"gemma3": "gemma3", "ltx-2.5/text_encoder.safetensors": "gemma4"}


@pytest.fixture(scope="module")
def fleet(make_fleet: Callable[..., MGPUController], place: Place) -> MGPUController:
    return make_fleet(RUNNER, place)


@pytest.mark.parametrize("name", list(FOLDERS))
@pytest.mark.parametrize("kind", ["accelerate", "batch"])
def test_prompts_are_encoded_as_transformers_does_alone(
    fleet: MGPUController,
    place: Place,
    tiny_pack: Path,
    kind: str,
    name: str,
    record_property: Callable[[str, object], None],
) -> None:
    call = {"action": "encode", "kind": kind, "path": tiny_pack / name, "prompts": PROMPTS}
    alone = padded_hidden_states(tiny_pack / FOLDERS[name], PROMPTS)
    worst = 0.0
    for _ in range(2):
        ranks = sorted(fleet.stream(**call), key=lambda item: item["rank"])
        for item in ranks:
            for ours, theirs in zip(item["states"], alone, strict=True):
                worst = max(worst, relative_error(ours.cpu(), theirs))
                assert worst <= 1e-5
        of_fleet = sorted(set(devices_of(place)))
        assert ranks[0]["devices"] == (of_fleet if kind == "accelerate" else of_fleet[:1])
    record_property("figure", (f"Gemma, {kind}, {name}, {of_fleet} against transformers alone", f"{worst:.2e}"))


def test_a_prompt_is_written_out(fleet: MGPUController, tiny_pack: Path) -> None:
    request = EnhanceRequest("a fox", 3)
    events = list(fleet.stream(action="enhance", kind="accelerate", path=tiny_pack / "gemma3", request=request))
    assert isinstance(events[-1], PromptEnhanced)
    assert sum(isinstance(event, StepDone) for event in events) > 1
