"""The HQ pipeline against the oracle on every generation, and its own promises."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from podium.errors import JobRefusedError
from podium.jobs import GuidanceSpec, LoraSpec, Phase
from podium.pipelines.events import LorasFused, SoundDecoded, StepDenoised, SubstepDenoised
from podium.pipelines.schedules import shifted_schedule
from podium.pipelines.ti2vid_two_stages_hq import TI2VidTwoStagesHQPipeline

from tests.fakes.closeness import relative_error
from tests.fakes.guided_runs import LATENTS, Oracle, Plan, traced, two_stages_hq
from tests.tiny_pack import TinyPack

SMALL: dict[str, Any] = {"prompt": "a red fox", "seed": 3, "height": 64, "width": 64, "num_frames": 9, "frame_rate": 24}
CALL: dict[str, Any] = {
    "prompt": "a red fox",
    "negative_prompt": "blurry, static",
    "seed": 7,
    "height": 64,
    "width": 128,
    "num_frames": 17,
    "frame_rate": 25,
    "num_inference_steps": 3,
}
VIDEO, AUDIO = GuidanceSpec(3, 0, 0.45, 3), GuidanceSpec(7, 0, 1.0, 3)
NUM_TOKENS = 3 * 1 * 2
Run = tuple[dict[str, Tensor], dict[str, Tensor]]


@pytest.fixture(scope="session")
def runs(
    tiny_pack_2_0: TinyPack,
    tiny_pack_2_3: TinyPack,
    tiny_pack_2_5: TinyPack,
    pictures: list[tuple[Path, int, float]],
) -> Callable[[str], Run]:
    """Return both runs on a generation, made once."""
    made: dict[str, Run] = {}
    packs = {"2.0": tiny_pack_2_0, "2.3": tiny_pack_2_3, "2.5": tiny_pack_2_5}

    def get(version: str) -> Run:
        if version not in made:
            pack, call = packs[version], {**CALL, "images": pictures}
            weak, strong = (LoraSpec(pack.distilled_lora_path, strength) for strength in (0.25, 0.5))
            plan = Plan(
                list(shifted_schedule(3, NUM_TOKENS)),
                (VIDEO, AUDIO),
                18 if version == "2.5" else 33,
                ((weak,), (strong,)),
                samplers=("res_2s", "res_2s"),
            )
            ours = traced(two_stages_hq(pack), call)
            made[version] = ours, Oracle(pack).run(call, plan, ours)
        return made[version]

    return get


@pytest.mark.parametrize("name", LATENTS)
@pytest.mark.parametrize("version", ["2.0", "2.3", "2.5"])
def test_every_latent_is_the_oracles(runs: Callable[[str], Run], version: str, name: str) -> None:
    ours, oracle = runs(version)
    assert relative_error(ours[name], oracle[name]) < 1e-5


@pytest.fixture(scope="session")
def pipeline(tiny_pack_2_3: TinyPack) -> TI2VidTwoStagesHQPipeline:
    return two_stages_hq(tiny_pack_2_3)


def test_bfloat16_stays_within_two_percent_of_float32(
    pipeline: TI2VidTwoStagesHQPipeline, tiny_pack_2_3: TinyPack
) -> None:
    call = {**CALL, "num_inference_steps": 8}
    exact, half = traced(pipeline, call), traced(two_stages_hq(tiny_pack_2_3, dtype=torch.bfloat16), call)
    for name in ("stage_1.video", "stage_1.audio", "stage_2.video"):
        assert relative_error(half[name], exact[name]) < 2e-2, name


@pytest.fixture(scope="session")
def events(pipeline: TI2VidTwoStagesHQPipeline) -> list[Any]:
    trace: dict[str, Tensor] = {}
    return [*pipeline.stream(**SMALL, num_inference_steps=2, trace=trace.__setitem__), trace]


def test_a_job_can_be_stopped_between_the_estimates_of_a_step(events: list[Any]) -> None:
    told = [
        (isinstance(event, StepDenoised), event.step, event.num_steps)
        for event in events
        if isinstance(event, StepDenoised | SubstepDenoised) and event.phase is Phase.STAGE_1
    ]
    # The last step has a third estimate, where the schedule ends.
    assert told == [(False, 1, 2), (True, 1, 2), (False, 2, 2), (False, 2, 2), (True, 2, 2)]


def test_the_clips_sound_is_the_first_stages(pipeline: TI2VidTwoStagesHQPipeline, events: list[Any]) -> None:
    (sound,) = [event for event in events if isinstance(event, SoundDecoded)]
    assert torch.equal(sound.waveform, pipeline.audio_decoder.decode(events[-1]["stage_1.audio"]).waveform)


def test_the_distilled_lora_is_in_both_stages(events: list[Any]) -> None:
    assert [len(event.summaries) for event in events if isinstance(event, LorasFused)] == [1, 1]


def test_its_strengths_are_the_constructors(tiny_pack_2_3: TinyPack) -> None:
    other = two_stages_hq(tiny_pack_2_3, distilled_lora_strength_stage_1=0.0, distilled_lora_strength_stage_2=1.0)
    assert other.distilled_lora.strengths == (0.0, 1.0)
    (first, _) = [event for event in other.stream(**SMALL, num_inference_steps=2) if isinstance(event, LorasFused)]
    assert first.summaries == ()


@pytest.mark.parametrize(("size", "num_frames"), [(4096, 241), (3072, 385)])
def test_a_clip_too_large_for_its_schedule_is_refused_in_words(
    tiny_pack_2_3: TinyPack, size: int, num_frames: int
) -> None:
    unloaded = two_stages_hq(tiny_pack_2_3)
    with pytest.raises(JobRefusedError, match="too large for this pipeline"):
        next(unloaded.stream(**{**SMALL, "height": size, "width": size, "num_frames": num_frames}))
    assert not unloaded.is_loaded
