"""What an artist sets is kept apart from what the model does by itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.errors import JobRefusedError, PodiumError
from podium.helper.requests import GetDefaults, GuidanceDefaults
from podium.jobs import ClipFormat, GenerationRequest, GuidanceMode, GuidanceSpec, PipelineKind, count_passes
from podium.pipelines.checks import check_guidance_mode
from podium.ui.state.guidance import GuidanceChoice, GuidanceState

from tests.fakes.requests import make_request
from tests.fakes.ui import MODELS, FakeHelper

VIDEO, AUDIO = GuidanceSpec(3, 1, 0.7, 3, 0, (28,)), GuidanceSpec(7, 1, 0.7, 3, 0, (28,))
DEFAULTS = GuidanceDefaults(30, VIDEO, AUDIO, (0.0, 1.0))
HQ_DEFAULTS = GuidanceDefaults(15, replace(VIDEO, stg=0, rescale=0.45), replace(AUDIO, stg=0, rescale=1), (0.25, 0.5))
UNGUIDED = GuidanceSpec(cfg=1, stg=0, rescale=0.7, modality=1, stg_blocks=(28,))
SCALES = st.sampled_from([0.0, 1.0, 3.0])
GUIDANCE = st.builds(GuidanceSpec, cfg=SCALES, stg=SCALES, modality=SCALES)


@pytest.fixture
def helper() -> FakeHelper:
    return FakeHelper()


@pytest.fixture
def unknown(qapp: object, helper: FakeHelper) -> GuidanceState:
    return GuidanceState(helper)


@pytest.fixture
def guidance(unknown: GuidanceState, helper: FakeHelper) -> GuidanceState:
    unknown.set_pipeline(PipelineKind.QUALITY)
    unknown.set_models(MODELS)
    helper.answer(GetDefaults, DEFAULTS)
    return unknown


def test_without_a_model_nothing_is_known_and_nothing_can_be_set(unknown: GuidanceState, helper: FakeHelper) -> None:
    unknown.set_pipeline(PipelineKind.QUALITY)
    assert helper.asked == []
    unknown.set_num_steps(3)
    unknown.set_video(VIDEO)
    unknown.set_audio(AUDIO)
    unknown.set_lora_strengths(1, 1)
    assert unknown.is_own
    assert (unknown.num_steps, unknown.video, unknown.audio, unknown.lora_strengths) == (None, None, None, None)


def test_the_models_own_values_are_shown_and_not_sent(guidance: GuidanceState) -> None:
    assert (guidance.num_steps, guidance.video, guidance.audio) == (30, VIDEO, AUDIO)
    assert guidance.lora_strengths == (0.0, 1.0)
    assert guidance.choice == GuidanceChoice()


def test_one_value_that_is_set_otherwise_is_sent_with_its_stream(guidance: GuidanceState) -> None:
    guidance.set_video(replace(VIDEO, cfg=5))
    assert guidance.video == replace(VIDEO, cfg=5)
    # Blocks that nobody chose are the model's, whichever that is.
    assert guidance.choice == GuidanceChoice(video=replace(VIDEO, cfg=5, stg_blocks=()))
    guidance.set_video(VIDEO)
    assert guidance.is_own


def test_what_is_set_back_by_hand_is_the_models_own_again(guidance: GuidanceState) -> None:
    guidance.set_num_steps(12)
    guidance.set_lora_strengths(0.2, 0.8)
    assert not guidance.is_own
    guidance.set_num_steps(30)
    guidance.set_lora_strengths(0.0, 1.0)
    assert guidance.is_own


def test_reset_takes_the_models_own_values(guidance: GuidanceState) -> None:
    guidance.set_num_steps(12)
    guidance.set_audio(replace(AUDIO, stg_blocks=(1, 2)))
    guidance.reset()
    assert guidance.is_own
    assert guidance.audio == AUDIO


def test_each_pipeline_keeps_what_was_set_for_it(guidance: GuidanceState, helper: FakeHelper) -> None:
    guidance.set_num_steps(12)
    guidance.set_pipeline(PipelineKind.HQ)
    assert guidance.is_own
    assert helper.answer(GetDefaults, HQ_DEFAULTS) == GetDefaults(MODELS, PipelineKind.HQ)
    assert guidance.num_steps == 15
    guidance.set_num_steps(9)
    guidance.set_pipeline(PipelineKind.QUALITY)
    assert guidance.num_steps == 12


def test_fast_asks_for_nothing(guidance: GuidanceState, helper: FakeHelper) -> None:
    guidance.set_pipeline(PipelineKind.FAST)
    assert guidance.defaults is None
    assert helper.asked == []


def test_an_answer_about_an_earlier_model_is_dropped(unknown: GuidanceState, helper: FakeHelper) -> None:
    unknown.set_pipeline(PipelineKind.QUALITY)
    unknown.set_models(MODELS)
    unknown.set_models(replace(MODELS, checkpoint_path=Path("/other.safetensors")))
    helper.answer(GetDefaults, DEFAULTS)
    assert unknown.defaults is None
    helper.answer(GetDefaults, HQ_DEFAULTS)
    assert unknown.defaults == HQ_DEFAULTS


def test_a_model_whose_values_cannot_be_told_leaves_them_unknown(unknown: GuidanceState, helper: FakeHelper) -> None:
    unknown.set_pipeline(PipelineKind.QUALITY)
    unknown.set_models(MODELS)
    helper.answer(GetDefaults, error=PodiumError("no"))
    assert unknown.defaults is None


wild = st.floats()


@given(st.builds(GuidanceSpec, wild, wild, wild, wild, st.integers(), st.lists(st.integers(), max_size=3).map(tuple)))
def test_whatever_is_set_can_be_made(spec: GuidanceSpec) -> None:
    helper = FakeHelper()
    guidance = GuidanceState(helper)
    guidance.set_pipeline(PipelineKind.QUALITY)
    guidance.set_models(MODELS)
    helper.answer(GetDefaults, DEFAULTS)
    guidance.set_video(spec)
    held = guidance.video
    assert held is not None
    assert all(0 <= value <= 100 for value in (held.cfg, held.stg, held.modality))
    assert 0 <= held.rescale <= 1
    assert held.skip_step >= 0
    assert list(held.stg_blocks) == sorted(set(held.stg_blocks))


def test_steps_and_strengths_stay_in_their_ranges(guidance: GuidanceState) -> None:
    guidance.set_num_steps(0)
    guidance.set_lora_strengths(99, float("nan"))
    assert (guidance.num_steps, guidance.lora_strengths) == (1, (10.0, 0.0))


def test_a_request_steers_as_it_did(guidance: GuidanceState) -> None:
    request = GenerationRequest(
        "a", 1, ClipFormat(64, 64, 9, 24), Path("/a.mp4"), pipeline=PipelineKind.QUALITY,
        num_inference_steps=7, audio_guidance=replace(AUDIO, cfg=2), distilled_lora_strengths=(0.1, 0.2),
    )  # fmt: skip
    guidance.restore(request)
    assert guidance.choice == GuidanceChoice(7, None, replace(AUDIO, cfg=2), (0.1, 0.2))


def test_a_form_of_both_pipelines_comes_back(guidance: GuidanceState, helper: FakeHelper) -> None:
    guidance.set_num_steps(12)
    guidance.set_pipeline(PipelineKind.HQ)
    helper.answer(GetDefaults, HQ_DEFAULTS)
    guidance.set_video(replace(HQ_DEFAULTS.video, stg_blocks=(3, 9)))
    form = guidance.form()
    assert set(form) == {"quality", "hq"}
    other = GuidanceState(FakeHelper())
    other.restore_form(form)
    other.set_pipeline(PipelineKind.HQ)
    assert other.choice == guidance.choice
    other.set_pipeline(PipelineKind.QUALITY)
    assert other.choice == GuidanceChoice(num_steps=12)


def refuses(mode: GuidanceMode, num_ranks: int, video: GuidanceSpec, audio: GuidanceSpec) -> bool:
    """Return whether the check of a request refuses it for the way its passes run."""
    request = replace(make_request(), guidance_mode=mode, video_guidance=video, audio_guidance=audio)
    try:
        check_guidance_mode(request, num_ranks)
    except JobRefusedError:
        return True
    return False


@pytest.mark.parametrize("specs", [(VIDEO, AUDIO), (UNGUIDED, UNGUIDED), (UNGUIDED, AUDIO)])
@pytest.mark.parametrize("num_ranks", [1, 2, 5])
@pytest.mark.parametrize("mode", GuidanceMode)
def test_what_the_check_would_refuse_of_the_passes_is_said_before_generate_and_nothing_else(
    guidance: GuidanceState, mode: GuidanceMode, num_ranks: int, specs: tuple[GuidanceSpec, GuidanceSpec]
) -> None:
    guidance.set_num_ranks(num_ranks)
    guidance.set_video(specs[0])
    guidance.set_audio(specs[1])
    guidance.set_mode(mode)
    assert bool(guidance.problem) is refuses(mode, num_ranks, *specs)


def test_passes_cannot_be_spread_over_one_device_until_there_are_more(guidance: GuidanceState) -> None:
    guidance.set_mode(GuidanceMode.MESH)
    assert guidance.problem == ""
    guidance.set_num_ranks(1)
    assert "two devices or more, and one is chosen" in guidance.problem
    guidance.set_pipeline(PipelineKind.FAST)
    assert guidance.problem == ""
    guidance.set_pipeline(PipelineKind.QUALITY)
    assert guidance.problem != ""
    guidance.set_num_ranks(2)
    assert guidance.problem == ""


@given(GUIDANCE, GUIDANCE)
def test_passes_can_be_batched_where_a_step_takes_more_than_one(video: GuidanceSpec, audio: GuidanceSpec) -> None:
    assert refuses(GuidanceMode.BATCHED, 2, video, audio) is not (count_passes(video, audio) > 1)
