"""What was chosen is there again when the window opens."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from podium.jobs import Quantization
from podium.settings import ClipSettings, ModelSettings, Settings, parse_settings, to_tables
from podium.ui.remember import collect, restore
from podium.ui.state.session import SessionState
from podium.ui.state.values import PackSlot

from tests.fakes.ui import FakeControls, FakeHelper

World = tuple[SessionState, FakeHelper, FakeControls]
WHOLE = ModelSettings("/m/ltx.safetensors", "/m/gemma", "/m/up.safetensors", distilled_lora="/m/lora.safetensors")
SPLIT = replace(
    WHOLE, video_vae="/m/v.safetensors", audio_vae="/m/a.safetensors", duration_head="/m/d.safetensors",
    quantization="fp8-cast",
)  # fmt: skip


@pytest.mark.parametrize(
    "model",
    [
        ModelSettings(),
        WHOLE,
        SPLIT,
        ModelSettings(checkpoint="/m/ltx.safetensors"),
        ModelSettings(distilled_lora="/m/lora.safetensors", quantization="fp8-cast"),
        ModelSettings(is_demo=True, quantization="fp8-cast"),
    ],
)
def test_a_model_comes_back_as_it_was_chosen(world: World, model: ModelSettings) -> None:
    session, _, _ = world
    restore(session, Settings(model=model))
    kept = collect(session, Settings())
    assert kept.model == model
    assert parse_settings(to_tables(kept)).model == model


def test_a_quantization_of_another_version_is_none(world: World) -> None:
    session, _, _ = world
    restore(session, Settings(model=ModelSettings(quantization="nvfp4")))
    assert session.pack.quantization is Quantization.NONE


def test_where_clips_go_is_not_forgotten_by_collecting(world: World) -> None:
    session, _, _ = world
    kept = collect(session, Settings(clip=ClipSettings(folder="/clips")))
    assert kept.clip.folder == "/clips"
    assert session.pack.file(PackSlot.CHECKPOINT).path is None
    assert Path(kept.clip.folder).name == "clips"
