"""What is asked for is always valid, and what is wrong is said."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from podium.geometry import check_clip_format, size_step_px
from podium.helper.requests import CountTokens, GetDefaults, GuidanceDefaults, TokenCount
from podium.jobs import GenerationRequest, GuidanceSpec, ImageSpec, LoraSpec, PipelineKind
from podium.ui.state.compose import MAX_NUM_SEEDS, MAX_SEED, ComposeState
from podium.ui.state.compose_form import form_of, restore_form
from podium.ui.state.images import FramePlace
from podium.ui.state.sizes import ASPECTS, aspect_of, ratio_in_words, size_for
from podium.ui.state.values import ALL_PARTS, Aspect, ReusePart

from tests.fakes.ui import MODELS, FakeHelper

GEMMA = Path("/models/gemma")
DEFAULTS = GuidanceDefaults(30, GuidanceSpec(3, 1, 0.7, 3, 0, (28,)), GuidanceSpec(7, 1, 0.7, 3, 0, (28,)), (0.0, 1.0))


@pytest.fixture
def helper() -> FakeHelper:
    return FakeHelper()


@pytest.fixture
def compose(qapp: object, helper: FakeHelper) -> ComposeState:
    return ComposeState(helper)


@given(st.sampled_from(ASPECTS), st.floats(0, 40), st.sampled_from([64, 96]))
def test_any_shape_and_area_make_a_size_that_can_be_made(aspect: Aspect, megapixels: float, step_px: int) -> None:
    width, height = size_for(aspect, megapixels, step_px)
    assert width % step_px == 0
    assert height % step_px == 0
    assert min(width, height) >= step_px
    assert max(width, height) <= 8192


def test_the_upscaler_decides_the_step_of_a_size() -> None:
    assert (size_step_px(2.0), size_step_px(1.5)) == (64, 96)


@given(st.sampled_from(ASPECTS), st.floats(0.3, 8))
def test_the_size_comes_near_to_what_was_asked_for(aspect: Aspect, megapixels: float) -> None:
    width, height = size_for(aspect, megapixels)
    assert width * height == pytest.approx(megapixels * 1e6, rel=0.3)
    assert width / height == pytest.approx(aspect.ratio, rel=0.12)


@pytest.mark.parametrize(
    ("aspect", "megapixels", "size"),
    [(Aspect(3, 2), 1.572864, (1536, 1024)), (Aspect(1, 1), 1.0, (1024, 1024)), (Aspect(9, 16), 2.0, (1088, 1920))],
)
def test_usual_sizes_come_out_as_one_knows_them(aspect: Aspect, megapixels: float, size: tuple[int, int]) -> None:
    assert size_for(aspect, megapixels) == size


@settings(max_examples=60)
@example([("set_duration_s", 7.5e306)])
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("set_width"), st.integers(-9, 20_000)),
            st.tuples(st.just("set_height"), st.integers(-9, 20_000)),
            st.tuples(st.just("set_megapixels"), st.floats(allow_nan=False, allow_infinity=False)),
            st.tuples(st.just("set_aspect"), st.sampled_from(ASPECTS)),
            st.tuples(st.just("set_duration_s"), st.floats()),
            st.tuples(st.just("set_num_frames"), st.integers(-9, 10**7)),
            st.tuples(st.just("set_fps"), st.one_of(st.floats(), st.text(max_size=8))),
            st.tuples(st.just("set_seed"), st.integers()),
            st.tuples(st.just("set_num_seeds"), st.integers()),
            st.tuples(st.just("set_prompt"), st.text(max_size=9)),
            st.tuples(st.just("set_negative_prompt"), st.text(max_size=9)),
            st.tuples(st.just("set_pipeline"), st.sampled_from(PipelineKind)),
        ),
        max_size=8,
    )
)
def test_whatever_is_chosen_the_request_can_be_made(compose: ComposeState, choices: list[tuple[str, object]]) -> None:
    for intent, value in choices:
        getattr(compose, intent)(value)
        request = compose.to_request(Path("/clips/a.mp4"))
        check_clip_format(request.clip)
        assert 0 <= request.seed <= MAX_SEED
        assert 1 <= compose.num_seeds <= MAX_NUM_SEEDS
        request.prompt.encode()
        request.negative_prompt.encode()


def test_an_equal_value_is_silent(compose: ComposeState, qtbot: QtBot) -> None:
    compose.set_prompt("a fox")
    with qtbot.assertNotEmitted(compose.changed):
        compose.set_prompt("a fox")
        compose.set_width(compose.width)
        compose.set_seed(compose.seed)
        compose.set_num_frames(compose.num_frames)


def test_a_change_tells_of_what_changed_and_of_nothing_else(compose: ComposeState, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(compose.height_changed), qtbot.waitSignals([compose.width_changed, compose.changed]):
        compose.set_width(compose.width + 64)


def test_a_new_frame_rate_keeps_the_length_in_seconds(compose: ComposeState) -> None:
    compose.set_duration_s(5)
    compose.set_fps("29.97")
    assert compose.fps == Fraction(30000, 1001)
    assert compose.duration_s == pytest.approx(5, abs=8 / 30)


def test_a_frame_rate_that_cannot_be_made_is_refused_and_said(compose: ComposeState) -> None:
    compose.set_prompt("a fox")
    compose.set_fps("a lot")
    assert compose.fps == 24
    assert "“a lot” is not a frame rate" in compose.problem
    compose.set_fps("25")
    assert compose.problem == ""


def test_without_a_prompt_there_is_a_problem(compose: ComposeState) -> None:
    assert "Write what the clip shall show" in compose.problem
    compose.set_prompt("  \n")
    assert "Write what the clip shall show" in compose.problem


def test_tokens_are_counted_once_the_writing_rests(compose: ComposeState, helper: FakeHelper, qtbot: QtBot) -> None:
    compose.set_gemma_root(GEMMA)
    for end in range(1, 6):
        compose.set_prompt("a fox"[:end])
    qtbot.waitUntil(lambda: len(helper.asked) > 0)
    assert helper.answer(CountTokens, TokenCount(3, 1024)) == CountTokens(GEMMA, "a fox")
    assert (compose.num_tokens, compose.max_tokens) == (3, 1024)
    assert helper.asked == []


def test_a_count_of_what_was_written_over_is_dropped(compose: ComposeState, helper: FakeHelper, qtbot: QtBot) -> None:
    compose.set_gemma_root(GEMMA)
    compose.set_prompt("a fox")
    qtbot.waitUntil(lambda: len(helper.asked) > 0)
    compose.set_prompt("a")
    helper.answer(CountTokens, TokenCount(3, 1024))
    assert compose.num_tokens is None
    compose.close()


def test_a_prompt_that_is_too_long_is_a_problem(compose: ComposeState, helper: FakeHelper, qtbot: QtBot) -> None:
    compose.set_gemma_root(GEMMA)
    compose.set_prompt("word " * 2000)
    qtbot.waitUntil(lambda: len(helper.asked) > 0)
    helper.answer(CountTokens, TokenCount(2001, 1024))
    assert "2001 tokens, and the model reads 1024" in compose.problem


def test_the_request_holds_what_was_composed(compose: ComposeState) -> None:
    compose.set_prompt("a fox")
    compose.set_seed(7)
    compose.set_size(512, 320)
    compose.set_num_frames(33)
    compose.images.add([Path("/a.png"), Path("/b.png")])
    compose.images.set_strength(1, 0.5)
    loras = (LoraSpec(Path("/l.safetensors"), 0.8),)
    request = compose.to_request(Path("/clips/a.mp4"), loras)
    assert (request.prompt, request.seed, request.loras) == ("a fox", 7, loras)
    assert (request.clip.width, request.clip.height, request.clip.num_frames) == (512, 320, 33)
    assert request.images == (ImageSpec(Path("/a.png"), 0, 0.5), ImageSpec(Path("/b.png"), 32, 1.0))


@pytest.mark.parametrize(
    ("size", "aspect", "words"),
    [
        ((1024, 1024), Aspect(1, 1), "1:1"),
        ((256, 192), Aspect(4, 3), "4:3"),
        ((1536, 1024), Aspect(3, 2), "3:2"),
        ((1216, 704), Aspect(16, 9), "19:11"),
        ((1088, 1920), Aspect(9, 16), "17:30"),
        ((320, 192), None, "5:3"),
        ((64, 1024), None, "1:16"),
        ((8192, 64), None, "128.00:1"),
        ((64, 4160), None, "1:65.00"),
    ],
)
def test_the_shape_is_named_after_the_size(
    compose: ComposeState, size: tuple[int, int], aspect: Aspect | None, words: str
) -> None:
    compose.set_size(*size)
    assert compose.aspect == aspect == aspect_of(*size)
    assert ratio_in_words(*size) == words


def test_a_size_of_ones_own_keeps_its_shape_when_it_grows(compose: ComposeState) -> None:
    compose.set_size(640, 384)
    compose.set_megapixels(1.0)
    assert (compose.width, compose.height) == (1280, 768)
    assert compose.aspect is None


def test_a_model_with_another_upscaler_moves_the_size_to_what_it_can_make(
    compose: ComposeState, helper: FakeHelper
) -> None:
    compose.set_size(1216, 704)
    compose.set_model(MODELS, 96)
    assert (compose.width, compose.height, compose.size_step_px) == (1248, 672, 96)
    assert compose.aspect == Aspect(16, 9)
    compose.set_width(100)
    assert compose.width == 96
    compose.set_megapixels(0.9)
    assert compose.width % 96 == compose.height % 96 == 0


def test_half_a_surrogate_pair_becomes_text(compose: ComposeState) -> None:
    compose.set_prompt("a \ud83d fox 🦊")
    assert compose.prompt == "a \ufffd fox 🦊"


def test_what_fast_has_not_waits_for_a_pipeline_that_has_it(compose: ComposeState, helper: FakeHelper) -> None:
    compose.set_model(MODELS, 64)
    compose.set_negative_prompt("blur")
    assert compose.to_request(Path("/a.mp4")).negative_prompt == ""
    assert helper.requests(GetDefaults) == []
    compose.set_pipeline(PipelineKind.QUALITY)
    helper.answer(GetDefaults, DEFAULTS)
    compose.guidance.set_num_steps(20)
    request = compose.to_request(Path("/a.mp4"))
    assert (request.pipeline, request.negative_prompt, request.num_inference_steps) == ("quality", "blur", 20)
    assert (request.video_guidance, request.distilled_lora_strengths) == (None, None)
    compose.set_pipeline(PipelineKind.FAST)
    assert compose.to_request(Path("/a.mp4")).num_inference_steps is None


def filled(compose: ComposeState, helper: FakeHelper) -> None:
    compose.set_model(MODELS, 64)
    compose.set_pipeline(PipelineKind.HQ)
    helper.answer(GetDefaults, DEFAULTS)
    compose.set_prompt("a fox")
    compose.set_negative_prompt("blur")
    compose.set_seed(MAX_SEED)
    compose.set_seed_locked(True)
    compose.set_num_seeds(4)
    compose.set_size(512, 320)
    compose.set_fps("29.97")
    compose.set_num_frames(33)
    compose.images.add([Path("/a.png"), Path("/b.png"), Path("/c.png")])
    compose.images.set_crf(1, 20)
    compose.keyframes.set_count(3)
    compose.guidance.set_video(GuidanceSpec(5, 0, 0.2, 1, 1, (3, 4)))
    compose.guidance.set_lora_strengths(0.1, 0.9)


def test_a_form_comes_back_as_it_was_left(compose: ComposeState, helper: FakeHelper) -> None:
    filled(compose, helper)
    form = json.loads(json.dumps(form_of(compose)))
    other = ComposeState(FakeHelper())
    restore_form(other, form)
    assert json.loads(json.dumps(form_of(other))) == form
    assert other.to_request(Path("/x.mp4")) == compose.to_request(Path("/x.mp4"))
    assert (other.is_seed_locked, other.num_seeds) == (True, 4)


def test_a_size_for_another_upscaler_comes_back_before_its_model_is_known(compose: ComposeState) -> None:
    compose.set_model(MODELS, 96)
    compose.set_size(1248, 672)
    other = ComposeState(FakeHelper())
    restore_form(other, form_of(compose))
    other.set_model(None, 64)
    other.set_model(MODELS, 96)
    assert (other.width, other.height) == (1248, 672)
    third = ComposeState(FakeHelper())
    third.set_model(MODELS, 64)
    restore_form(third, form_of(compose))
    assert (third.width, third.height, third.size_step_px) == (1280, 640, 64)


def test_parts_of_a_form_leave_the_others_alone(compose: ComposeState, helper: FakeHelper) -> None:
    filled(compose, helper)
    form = form_of(compose, {ReusePart.SIZE, ReusePart.PIPELINE})
    assert form == {"version": 1, "pipeline": "hq", "width": 512, "height": 320, "size_step_px": 64}
    other = ComposeState(FakeHelper())
    other.set_prompt("an owl")
    other.images.add([Path("/owl.png")])
    restore_form(other, form)
    assert (other.prompt, other.width, other.pipeline) == ("an owl", 512, PipelineKind.HQ)
    assert len(other.images.items) == 1


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"version": 99, "mood": "blue", "prompt": 5, "seed": "many", "width": "wide", "fps": None, "images": 3},
        {"pipeline": "slow", "seed": -1, "num_seeds": True, "guidance": [], "images": [1, {}, {"path": ""}]},
        {"guidance": {"hq": {"num_steps": "x", "video": {"cfg": "y", "stg_blocks": 1}, "lora_strengths": [1]}}},
        {"width": 10**9, "height": -5, "num_frames": 10**9, "fps": "a lot", "images": [{"path": "/a", "frame": "x"}]},
    ],
)
def test_a_form_that_is_strange_is_read_as_far_as_it_goes(compose: ComposeState, form: dict[str, object]) -> None:
    restore_form(compose, form)
    check_clip_format(compose.clip)
    compose.to_request(Path("/a.mp4"))


def test_a_request_is_taken_over_whole_or_in_parts(compose: ComposeState, helper: FakeHelper) -> None:
    filled(compose, helper)
    request = compose.to_request(Path("/a.mp4"))
    other = ComposeState(FakeHelper())
    other.restore(request, ALL_PARTS)
    assert other.to_request(Path("/a.mp4")) == request
    third = ComposeState(FakeHelper())
    third.set_prompt("an owl")
    third.restore(request, {ReusePart.SEED, ReusePart.DURATION})
    assert (third.prompt, third.seed, third.num_frames, third.fps) == ("an owl", MAX_SEED, 33, Fraction(30000, 1001))
    assert (third.width, third.pipeline, third.images.items) == (1536, PipelineKind.FAST, ())


def test_guidance_of_another_pipeline_is_not_taken_over(compose: ComposeState) -> None:
    request = GenerationRequest("a", 1, compose.clip, Path("/a.mp4"), pipeline=PipelineKind.HQ, num_inference_steps=9)
    compose.set_pipeline(PipelineKind.QUALITY)
    compose.restore(request, {ReusePart.GUIDANCE})
    assert compose.guidance.is_own


def test_who_listens_to_the_form_hears_of_its_pictures_and_its_guidance(
    compose: ComposeState, helper: FakeHelper, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(compose.changed):
        compose.images.add([Path("/a.png")])
    with qtbot.waitSignal(compose.changed):
        compose.guidance.set_pipeline(PipelineKind.HQ)


def test_two_pictures_at_one_frame_are_a_problem_of_the_form(compose: ComposeState) -> None:
    compose.set_prompt("a fox")
    compose.images.add([Path("/a.png"), Path("/b.png")])
    compose.images.set_place(2, FramePlace.FIRST)
    assert "“a.png” and “b.png” stand at the same frame, 0" in compose.problem
    compose.images.remove(2)
    assert compose.problem == ""
