"""Prompts of before, presets, and a prompt that is written out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from podium.jobs import EnhanceRequest, PipelineKind, PromptEnhanced
from podium.library import Library
from podium.library.texts import PromptPair
from podium.ui.state.compose import ComposeState
from podium.ui.state.enhance import EnhanceState
from podium.ui.state.loras import LoraStackState
from podium.ui.state.presets import PresetsState
from podium.ui.state.prompts import PromptsState
from podium.ui.state.values import ReusePart

from tests.fakes.ui import FakeHelper


@pytest.fixture
def library() -> Iterator[Library]:
    opened = Library.in_memory()
    yield opened
    opened.close()


@pytest.fixture
def compose(qapp: object) -> ComposeState:
    return ComposeState(FakeHelper())


@pytest.fixture
def prompts(library: Library, compose: ComposeState) -> PromptsState:
    return PromptsState(library.prompts, compose)


@pytest.fixture
def loras(qapp: object) -> LoraStackState:
    return LoraStackState(FakeHelper())


@pytest.fixture
def presets(library: Library, compose: ComposeState, loras: LoraStackState) -> PresetsState:
    return PresetsState(library.presets, compose, loras)


@pytest.fixture
def enhance(compose: ComposeState) -> EnhanceState:
    return EnhanceState(compose)


def test_prompts_are_found_newest_first_and_taken_with_their_negative_one(
    prompts: PromptsState, compose: ComposeState
) -> None:
    prompts.record("a fox in snow", "")
    prompts.record("a heron", "blur")
    assert prompts.prompts == ()
    prompts.look()
    assert [found.prompt for found in prompts.prompts] == ["a heron", "a fox in snow"]
    prompts.set_search("FOX")
    assert prompts.prompts == (PromptPair("a fox in snow"),)
    compose.set_negative_prompt("grain")
    prompts.use(prompts.prompts[0])
    assert (compose.prompt, compose.negative_prompt) == ("a fox in snow", "grain")
    prompts.use(PromptPair("a heron", "blur"))
    assert compose.negative_prompt == "blur"


def test_prompts_that_cannot_be_read_are_said(prompts: PromptsState, library: Library) -> None:
    prompts.record("a fox", "")
    library._database.write("DROP TABLE prompt")
    prompts.look()
    assert prompts.prompts == ()
    assert prompts.problem


def test_a_preset_holds_how_a_clip_is_made_and_not_what_it_shows(
    presets: PresetsState, compose: ComposeState, loras: LoraStackState
) -> None:
    compose.set_prompt("a fox")
    compose.set_seed(7)
    compose.set_pipeline(PipelineKind.HQ)
    compose.set_size(512, 320)
    compose.images.add([Path("/fox.png")])
    loras.add([Path("/style.safetensors")])
    loras.set_strength(1, 0.6)
    presets.save(" Draft ")
    assert presets.names == ("Draft",)
    compose.set_prompt("an owl")
    compose.set_seed(8)
    compose.set_pipeline(PipelineKind.FAST)
    compose.set_size(1024, 1024)
    compose.images.clear()
    loras.restore(())
    presets.use("Draft")
    assert (compose.prompt, compose.seed, compose.images.items) == ("an owl", 8, ())
    assert (compose.pipeline, compose.width) == (PipelineKind.HQ, 512)
    assert [(item.name, item.strength) for item in loras.items] == [("style", 0.6)]


def test_prompt_seed_and_pictures_are_kept_when_asked(presets: PresetsState, compose: ComposeState) -> None:
    compose.set_prompt("a fox")
    compose.set_seed(7)
    compose.images.add([Path("/fox.png")])
    presets.save("Fox", {ReusePart.PROMPT, ReusePart.SEED, ReusePart.IMAGES})
    compose.set_prompt("")
    compose.set_seed(0)
    compose.images.clear()
    presets.use("Fox")
    assert (compose.prompt, compose.seed) == ("a fox", 7)
    assert [item.path.name for item in compose.images.items] == ["fox.png"]


def test_a_preset_is_renamed_and_deleted(presets: PresetsState, compose: ComposeState) -> None:
    compose.set_size(512, 320)
    presets.save("a")
    compose.set_size(1024, 1024)
    presets.save("b")
    presets.rename("a", "c")
    assert presets.names == ("b", "c")
    presets.use("c")
    assert compose.width == 512
    presets.remove("c")
    assert presets.names == ("b",)


def test_a_name_that_is_taken_or_blank_is_refused(presets: PresetsState) -> None:
    presets.save("  ")
    assert presets.problem == "Give the preset a name."
    presets.save("a")
    presets.save("b")
    assert presets.problem == ""
    presets.rename("a", "b")
    assert "“b” already" in presets.problem
    presets.rename("a", " ")
    assert presets.names == ("a", "b")


def test_presets_that_cannot_be_kept_say_so(presets: PresetsState, library: Library) -> None:
    library._database.write("DROP TABLE preset")
    presets.save("a")
    assert presets.problem
    assert presets.names == ()


def test_a_prompt_is_written_out_only_where_that_can_be_had(
    enhance: EnhanceState, compose: ComposeState, qtbot: QtBot
) -> None:
    compose.set_prompt("a fox")
    with qtbot.assertNotEmitted(enhance.ordered):
        enhance.enhance()
    enhance.set_available(True)
    compose.set_prompt(" ")
    with qtbot.assertNotEmitted(enhance.ordered):
        enhance.enhance()


def test_what_was_written_is_shown_and_then_used(enhance: EnhanceState, compose: ComposeState, qtbot: QtBot) -> None:
    compose.set_prompt("a fox")
    compose.images.add([Path("/start.png"), Path("/end.png")])
    enhance.set_available(True)
    with qtbot.waitSignal(enhance.ordered) as ordered:
        enhance.enhance()
    request = ordered.args[0]
    assert request == EnhanceRequest("a fox", request.seed, Path("/start.png"))
    assert (enhance.is_busy, enhance.original) == (True, "a fox")
    enhance.take(PromptEnhanced("a red fox trots through snow"))
    assert (enhance.is_busy, enhance.enhanced, compose.prompt) == (False, "a red fox trots through snow", "a fox")
    enhance.use()
    assert compose.prompt == "a red fox trots through snow"
    assert (enhance.original, enhance.enhanced) == ("", "")


def test_what_was_discarded_changes_nothing(enhance: EnhanceState, compose: ComposeState) -> None:
    compose.set_prompt("a fox")
    enhance.set_available(True)
    enhance.enhance()
    enhance.discard()
    enhance.take(PromptEnhanced("late"))
    enhance.refuse("late")
    enhance.use()
    assert (compose.prompt, enhance.enhanced, enhance.problem) == ("a fox", "", "")


def test_why_it_was_not_written_is_said_until_it_is_asked_for_again(
    enhance: EnhanceState, compose: ComposeState
) -> None:
    compose.set_prompt("a fox")
    enhance.set_available(True)
    enhance.enhance()
    enhance.refuse("The text encoder cannot write.")
    assert (enhance.is_busy, enhance.problem) == (False, "The text encoder cannot write.")
    enhance.enhance()
    assert enhance.problem == ""
