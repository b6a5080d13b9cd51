"""Nothing of a request is lost on its way through the form: reused, kept as a preset, kept from window to window."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from podium.helper.requests import GetModelFacts, ModelFacts
from podium.jobs import (
    BranchStrengths,
    ClipFormat,
    GenerationRequest,
    GuidanceMode,
    GuidanceSpec,
    ImageSpec,
    LoraSpec,
    PipelineKind,
)
from podium.ui.state.compose_form import form_of, restore_form
from podium.ui.state.session import SessionState
from podium.ui.state.values import ALL_PARTS

from tests.fakes.ui import FakeControls, FakeHelper, make_ready

World = tuple[SessionState, FakeHelper, FakeControls]
WHOLE = GenerationRequest(
    prompt="a fox",
    seed=2**63 + 7,
    clip=ClipFormat(320, 512, 49, Fraction(30000, 1001)),
    output_path=Path("/clips/fox.mp4"),
    images=(ImageSpec(Path("/a.png"), 8, 0.5, 20), ImageSpec(Path("/b.png"), 48, 0.25, 0)),
    loras=(LoraSpec(Path("/grain.safetensors"), 0.75, BranchStrengths(0.1, 0.2, 0.3, 0.4)),),
    pipeline=PipelineKind.QUALITY,
    negative_prompt="blur",
    num_inference_steps=12,
    video_guidance=GuidanceSpec(4.5, 0.5, 0.3, 2.0, 1, (3, 14)),
    audio_guidance=GuidanceSpec(5.5, 0.25, 0.2, 4.0, 2, (5,)),
    distilled_lora_strengths=(0.1, 0.9),
    generated_keyframes=(16, 32),
    stage_2_tiles=(1, 2),
    guidance_mode=GuidanceMode.BATCHED,
)


def left_at_default(value: Any) -> Iterator[str]:
    """Name every field, of parts too, that has the value it would have if nobody had set it."""
    for field in fields(value):
        own = getattr(value, field.name)
        default = field.default_factory() if field.default_factory is not MISSING else field.default
        if own == default:
            yield f"{type(value).__name__}.{field.name}"
        for part in own if isinstance(own, tuple) else (own,):
            if is_dataclass(part):
                yield from left_at_default(part)


@pytest.fixture
def session(world: World) -> SessionState:
    """Return a window whose model can do everything."""
    session, helper, _ = world
    make_ready(session, helper)
    helper.answer(GetModelFacts, ModelFacts(can_make_keyframes=True))
    return session


def composed(session: SessionState) -> GenerationRequest:
    return session.compose.to_request(WHOLE.output_path, session.loras.specs)


def test_the_request_of_these_tests_leaves_no_field_as_it_is_by_itself() -> None:
    # A field that is new fails here: set it above, and the tests below see whether it gets lost.
    assert list(left_at_default(WHOLE)) == []


@pytest.mark.parametrize("name", [field.name for field in fields(GenerationRequest)])
def test_every_field_of_a_request_outlives_its_reuse(session: SessionState, name: str) -> None:
    session.reuse(WHOLE, ALL_PARTS)
    assert getattr(composed(session), name) == getattr(WHOLE, name)


def test_a_clip_that_sets_nothing_of_its_own_takes_away_what_another_set(session: SessionState) -> None:
    session.reuse(WHOLE, ALL_PARTS)
    plain = GenerationRequest("an owl", 3, WHOLE.clip, WHOLE.output_path, pipeline=PipelineKind.QUALITY)
    session.reuse(plain, ALL_PARTS)
    assert composed(session) == plain


def test_every_part_of_the_form_outlives_its_being_kept(session: SessionState) -> None:
    session.reuse(WHOLE, ALL_PARTS)
    kept = json.loads(json.dumps(form_of(session.compose)))
    loras = json.loads(json.dumps(session.loras.form()))
    session.reuse(GenerationRequest("an owl", 3, WHOLE.clip, WHOLE.output_path), ALL_PARTS)
    restore_form(session.compose, kept)
    session.loras.restore_form(loras)
    assert composed(session) == WHOLE


def test_how_a_clip_was_steered_is_in_a_preset_and_nothing_else_of_it(session: SessionState) -> None:
    session.reuse(WHOLE, ALL_PARTS)
    session.presets.save("mine")
    session.compose.guidance.reset()
    session.compose.set_prompt("an owl")
    session.presets.use("mine")
    request = composed(session)
    assert (request.stage_2_tiles, request.guidance_mode, request.prompt) == ((1, 2), GuidanceMode.BATCHED, "an owl")


@pytest.mark.parametrize("form", [{"stage_2_tiles": [0, 99], "mode": "mesh"}, {"stage_2_tiles": "2x2", "mode": "warp"}])
def test_what_a_kept_form_cannot_mean_becomes_what_can_be(session: SessionState, form: dict[str, object]) -> None:
    guidance = session.compose.guidance
    guidance.set_pipeline(PipelineKind.HQ)
    guidance.restore_form({"hq": form})
    is_known = form["mode"] == "mesh"
    assert guidance.choice.mode is (GuidanceMode.MESH if is_known else GuidanceMode.AUTO)
    assert guidance.choice.stage_2_tiles == ((1, 64) if is_known else None)


def test_fast_asks_for_neither_tiles_nor_a_way_to_guide(session: SessionState) -> None:
    session.reuse(WHOLE, ALL_PARTS)
    session.compose.set_pipeline(PipelineKind.FAST)
    assert (composed(session).stage_2_tiles, composed(session).guidance_mode) == (None, GuidanceMode.AUTO)
