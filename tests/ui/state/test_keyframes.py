"""Key frames that the model makes by itself: as many as the clip has room for, and none of a model that makes none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.ui.state.compose import ComposeState
from podium.ui.state.compose_form import form_of, restore_form
from podium.ui.state.keyframes import KeyframesState
from podium.ui.state.values import ALL_PARTS

from tests.fakes.ui import FakeHelper

OUT = Path("/clips/a.mp4")


@pytest.fixture
def compose(qapp: object) -> ComposeState:
    compose = ComposeState(FakeHelper())
    compose.set_num_frames(121)
    return compose


def test_a_request_asks_for_them_only_where_the_model_makes_some(compose: ComposeState) -> None:
    compose.keyframes.set_count(3)
    assert compose.to_request(OUT).generated_keyframes == 0
    assert compose.num_frames_behind == 0
    compose.keyframes.set_available(True)
    assert compose.to_request(OUT).generated_keyframes == 3
    assert compose.num_frames_behind == 3


def test_no_more_are_held_than_the_clip_has_room_for(compose: ComposeState) -> None:
    compose.keyframes.set_count(99)
    assert (compose.keyframes.count, compose.keyframes.most) == (15, 15)
    compose.set_num_frames(25)
    assert (compose.keyframes.count, compose.keyframes.most) == (3, 3)
    compose.keyframes.set_count(-1)
    assert compose.keyframes.count == 0


def test_frames_that_a_request_names_come_back_as_they_were(compose: ComposeState) -> None:
    compose.keyframes.set_available(True)
    compose.keyframes.restore((80, 40))
    request = compose.to_request(OUT)
    assert request.generated_keyframes == (40, 80)
    compose.keyframes.set_count(2)
    assert compose.keyframes.wanted == (40, 80)
    compose.keyframes.set_count(1)
    compose.restore(request, ALL_PARTS)
    assert compose.keyframes.wanted == (40, 80)
    form = json.loads(json.dumps(form_of(compose)))
    compose.keyframes.set_count(0)
    restore_form(compose, form)
    assert compose.keyframes.wanted == (40, 80)


def test_frames_outside_a_shorter_clip_are_spread_evenly_instead(compose: ComposeState) -> None:
    compose.keyframes.restore((40, 80))
    compose.set_num_frames(57)
    assert compose.keyframes.wanted == 2


@given(wanted=st.none() | st.booleans() | st.floats() | st.text() | st.integers() | st.lists(st.integers() | st.text()))
def test_whatever_a_kept_form_holds_fits_the_clip(wanted: object) -> None:
    keyframes = KeyframesState(41)
    keyframes.restore(wanted)
    assert 0 <= keyframes.count <= 5
    if isinstance(keyframes.wanted, tuple):
        assert all(0 <= frame < 41 for frame in keyframes.wanted)
