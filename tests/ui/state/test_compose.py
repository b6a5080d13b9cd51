"""What is asked for is always valid, and what is wrong is said."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from podium.geometry import check_clip_format
from podium.helper.requests import CountTokens, MakeThumbnail, Thumbnail, TokenCount
from podium.jobs import ImageSpec, LoraSpec
from podium.media.errors import MediaError
from podium.ui.state.compose import MAX_SEED, ComposeState
from podium.ui.state.sizes import ASPECTS, aspect_of, size_for
from podium.ui.state.values import Aspect

from tests.fakes.ui import FakeHelper

GEMMA = Path("/models/gemma")


@pytest.fixture
def helper() -> FakeHelper:
    return FakeHelper()


@pytest.fixture
def compose(qapp: object, helper: FakeHelper) -> ComposeState:
    return ComposeState(helper)


@given(st.sampled_from(ASPECTS), st.floats(0, 40))
def test_any_shape_and_area_make_a_size_that_can_be_made(aspect: Aspect, megapixels: float) -> None:
    width, height = size_for(aspect, megapixels)
    assert width % 64 == 0
    assert height % 64 == 0
    assert min(width, height) >= 64


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


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
            st.tuples(st.just("set_image_strength"), st.floats()),
            st.tuples(st.just("set_prompt"), st.text(max_size=9)),
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
        assert 0 <= compose.image_strength <= 1
        request.prompt.encode()


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


def test_a_picture_that_cannot_be_read_is_a_problem_until_it_is_taken_out(
    compose: ComposeState, helper: FakeHelper
) -> None:
    compose.set_prompt("a fox")
    compose.set_image(Path("/a.png"))
    helper.answer(MakeThumbnail, error=MediaError("“a.png” is damaged."))
    assert compose.problem == "“a.png” is damaged."
    compose.clear_image()
    assert compose.problem == ""


def test_a_thumbnail_of_an_earlier_picture_is_dropped(compose: ComposeState, helper: FakeHelper) -> None:
    compose.set_image(Path("/a.png"))
    compose.set_image(Path("/b.png"))
    helper.answer(MakeThumbnail, Thumbnail(1, 1, b"aaa"))
    assert compose.image_thumbnail is None
    helper.answer(MakeThumbnail, Thumbnail(1, 1, b"bbb"))
    assert compose.image_thumbnail == Thumbnail(1, 1, b"bbb")


def test_the_request_holds_what_was_composed(compose: ComposeState) -> None:
    compose.set_prompt("a fox")
    compose.set_seed(7)
    compose.set_size(512, 320)
    compose.set_num_frames(33)
    compose.set_image(Path("/a.png"))
    compose.set_image_strength(0.5)
    loras = (LoraSpec(Path("/l.safetensors"), 0.8),)
    request = compose.to_request(Path("/clips/a.mp4"), loras)
    assert (request.prompt, request.seed, request.loras) == ("a fox", 7, loras)
    assert (request.clip.width, request.clip.height, request.clip.num_frames) == (512, 320, 33)
    assert request.images == (ImageSpec(Path("/a.png"), 0, 0.5),)


def test_the_shape_is_named_after_the_size(compose: ComposeState) -> None:
    compose.set_size(1024, 1024)
    assert compose.aspect == Aspect(1, 1)
    compose.set_size(64, 1024)
    assert compose.aspect is None
    assert aspect_of(1536, 1024) == Aspect(3, 2)


def test_half_a_surrogate_pair_becomes_text(compose: ComposeState) -> None:
    compose.set_prompt("a \ud83d fox 🦊")
    assert compose.prompt == "a \ufffd fox 🦊"
