"""A real fleet of one rank writes a prompt out and tells its clip's length, asked by the form."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot
from safetensors.numpy import load_file, save_file

from podium.helper.process import Desk
from podium.helper.requests import GetModelFacts, WriteDemoPack
from podium.library import Library
from podium.models.demo_pack import DemoModel
from podium.models.header import read_header
from podium.models.paths import ModelPaths
from podium.multigpu import preload_forkserver
from podium.multigpu.forkserver import SHARED
from podium.ui.baton import Baton
from podium.ui.fleet_maker import RunnerFleetMaker
from podium.ui.link import OwnerLink
from podium.ui.mailbox import Mailbox
from podium.ui.owner import Owner, OwnerSignals
from podium.ui.state.session import Places, SessionState
from podium.ui.state.values import FleetPhase, JobPhase

from tests.fakes.ui import FakeHelper, FakeTrash
from tests.tiny_pack import TinyPack

LONG_MS, ENDS_S = 120_000, 5.0


class Window:
    """States, link and owner, over a fleet of the shipped runner."""

    def __init__(self, folder: Path) -> None:
        self.helper = FakeHelper()
        baton, mailbox, signals = Baton(), Mailbox(), OwnerSignals()
        places = Places(folder / "clips", folder / "cache", folder / "data")
        self.session = SessionState(self.helper, baton, places, library=Library.in_memory(), trash=FakeTrash())
        maker = RunnerFleetMaker(folder / "previews", folder / "logs", lock_folder=folder / "locks")
        self.owner = Owner(maker, baton, mailbox, signals)
        self.link = OwnerLink(self.session, self.owner, signals, mailbox)
        self.owner.start()

    def choose(self, models: ModelPaths) -> None:
        """Choose a model as the helper would find it, and one CPU rank."""
        session = self.session
        session.try_demo()
        self.helper.answer(WriteDemoPack, DemoModel(models, ()))
        (request,) = self.helper.requests(GetModelFacts)
        self.helper.answer(GetModelFacts, Desk().answer(request).value)
        session.devices.use_cpu(1)

    def close(self) -> None:
        self.link.close()
        self.session.close()
        self.owner.quit()
        assert self.owner.join(ENDS_S)


@pytest.fixture
def window(qapp: object, tmp_path: Path) -> Iterator[Window]:
    preload_forkserver()
    window = Window(tmp_path)
    yield window
    window.close()
    SHARED.close()


@pytest.fixture
def models(tiny_pack_2_5: TinyPack, tmp_path: Path) -> ModelPaths:
    """Return a model whose text encoder soon has written enough: random ones never come to an end."""
    paths = tiny_pack_2_5.model_paths
    tensors, metadata = load_file(paths.gemma_root), dict(read_header(paths.gemma_root).metadata)
    ends = json.dumps({"eos_token_id": list(range(0, 1000, 3))}).encode()
    tensors["hf_asset__generation_config.json"] = np.frombuffer(ends, np.uint8)
    brief = tmp_path / "text_encoder.safetensors"
    save_file(tensors, brief, metadata)
    return replace(paths, gemma_root=brief)


# Ranks load torch, diffusers and transformers first, which a busy machine takes a minute for.
@pytest.mark.timeout(300)
def test_a_prompt_is_written_out_and_its_length_told_by_the_model_that_is_chosen(
    window: Window, models: ModelPaths, qtbot: QtBot
) -> None:
    session = window.session
    window.choose(models)
    session.compose.set_prompt("A fox trots through fresh snow; the crunch of its steps is heard.")
    assert session.enhance.is_available
    assert session.length.is_available
    statuses: list[str] = []
    session.enhance.status_changed.connect(lambda: statuses.append(session.enhance.status))
    session.enhance.enhance()
    session.length.suggest()
    qtbot.waitUntil(lambda: not session.enhance.is_busy, timeout=LONG_MS)
    assert session.enhance.problem == ""
    assert session.enhance.enhanced
    assert session.compose.prompt.startswith("A fox trots")
    assert "The fleet starts first." in statuses
    assert any(status.startswith("Being written: ") for status in statuses)
    frames_before = session.compose.num_frames
    qtbot.waitUntil(lambda: not session.length.is_busy, timeout=LONG_MS)
    assert session.length.problem == ""
    assert session.compose.num_frames % 8 == 1
    assert session.compose.num_frames != frames_before
    assert (session.fleet.phase, session.job.phase) == (FleetPhase.READY, JobPhase.NONE)
