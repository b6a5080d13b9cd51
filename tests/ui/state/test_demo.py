"""The demo model brings what it is tried with: a prompt, a size, and LoRAs that wait to be switched on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from podium.helper.requests import WriteDemoPack
from podium.models.demo_pack import DemoModel, demo_form
from podium.ui.state.session import SessionState

from tests.fakes.ui import MODELS, FakeHelper, make_session

LORAS = (Path("/models/outline.safetensors"), Path("/models/night-colours.safetensors"))
DEMO = DemoModel(MODELS, LORAS)


@pytest.fixture
def world(qapp: object, tmp_path: Path) -> Iterator[tuple[SessionState, FakeHelper]]:
    session, helper, _ = make_session(tmp_path)
    yield session, helper
    session.close()


def test_the_form_is_filled_with_what_the_demo_makes_quickly(world: tuple[SessionState, FakeHelper]) -> None:
    session, _ = world
    session.try_demo()
    form, compose = demo_form(), session.compose
    assert (compose.prompt, compose.width, compose.height) == (form.prompt, form.width, form.height)
    assert compose.num_frames == form.num_frames


def test_a_prompt_that_is_written_stays(world: tuple[SessionState, FakeHelper]) -> None:
    session, _ = world
    session.compose.set_prompt("A crow")
    session.try_demo()
    assert session.compose.prompt == "A crow"


def test_the_demos_loras_wait_in_the_stack(world: tuple[SessionState, FakeHelper]) -> None:
    session, helper = world
    session.try_demo()
    assert session.loras.items == ()
    helper.answer(WriteDemoPack, DEMO)
    assert [(item.path, item.is_on) for item in session.loras.items] == [(path, False) for path in LORAS]
    assert session.loras.specs == ()
    assert "shape that moves" in session.pack.summary


def test_a_stack_that_is_in_use_stays_as_it_is(world: tuple[SessionState, FakeHelper]) -> None:
    session, helper = world
    session.loras.add([Path("/own.safetensors")])
    session.try_demo()
    helper.answer(WriteDemoPack, DEMO)
    assert [item.path for item in session.loras.items] == [Path("/own.safetensors")]


def test_a_lora_that_was_taken_out_stays_out(world: tuple[SessionState, FakeHelper]) -> None:
    session, helper = world
    session.try_demo()
    helper.answer(WriteDemoPack, DEMO)
    for item in session.loras.items:
        session.loras.remove(item.key)
    session.pack.choose_file(session.pack.files[0].slot, Path("/own.safetensors"))
    session.pack.choose_demo()
    helper.answer(WriteDemoPack, DEMO)
    assert session.loras.items == ()
