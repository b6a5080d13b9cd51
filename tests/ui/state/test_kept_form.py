"""The form as it was left, and clips that are dropped onto the window."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from podium.helper.requests import ClipContents, ReadClip
from podium.jobs import FileIdentity
from podium.library import Library
from podium.media.errors import MediaError
from podium.ui.state.session import SessionState
from podium.ui.state.values import ClipOffer, ErrorMessage, ReusePart

from tests.fakes.requests import make_clip, make_request
from tests.fakes.ui import MODELS, FakeControls, FakeHelper, make_ready, make_session

World = tuple[SessionState, FakeHelper, FakeControls]
PATH = Path("/dropped/fox.mp4")


@pytest.fixture
def library() -> Iterator[Library]:
    with Library.in_memory() as library:
        yield library


def test_the_form_is_kept_a_second_after_a_change_and_put_back(
    qapp: object, qtbot: QtBot, tmp_path: Path, library: Library
) -> None:
    session, *_ = make_session(tmp_path, library)
    session.compose.set_prompt("a fox")
    session.compose.set_seed(2**63 + 1)
    session.loras.add([Path("/loras/fox.safetensors")])
    session.loras.set_strength(1, 0.25)
    assert library.form.load() is None
    qtbot.waitUntil(lambda: library.form.load() is not None, timeout=5000)
    session.close()
    again, *_ = make_session(tmp_path, library)
    again.restore_form()
    assert (again.compose.prompt, again.compose.seed) == ("a fox", 2**63 + 1)
    assert [(item.path.name, item.strength) for item in again.loras.items] == [("fox.safetensors", 0.25)]
    again.close()


def test_what_was_written_in_the_last_second_is_kept_too(qapp: object, tmp_path: Path, library: Library) -> None:
    session, *_ = make_session(tmp_path, library)
    session.compose.set_prompt("a fox")
    session.close()
    again, *_ = make_session(tmp_path, library)
    again.restore_form()
    assert again.compose.prompt == "a fox"
    again.close()


def test_a_form_that_cannot_be_kept_is_said(qapp: object, tmp_path: Path) -> None:
    with Library.open(tmp_path / "library.sqlite") as library:
        session, *_ = make_session(tmp_path, library)
        session.compose.set_prompt("x" * 100_000)
        (used,) = library._database.read("PRAGMA page_count")[0]
        library._database.read(f"PRAGMA max_page_count = {used}")
        session.close()
        assert "the disk is full" in session.library_problem


def test_generate_remembers_the_prompt(world: World) -> None:
    session, helper, _ = world
    make_ready(session, helper, prompt="a fox")
    session.generate()
    assert [pair.prompt for pair in session.library.prompts.recent()] == ["a fox"]


def test_a_dropped_clip_offers_what_it_was_made_with(world: World, qtbot: QtBot) -> None:
    session, helper, _ = world
    make_ready(session, helper)
    known = FileIdentity(Path("/loras/fox.safetensors"), 1, 2, "ab")
    session.library.files.note([known])
    session.loras.add([Path("/stack/other.safetensors")])
    request = make_request("theirs", seed=99)
    contents = ClipContents(make_clip(PATH), request, MODELS, ("gone.safetensors",), ("new.safetensors",))
    with qtbot.waitSignal(session.reuse_offered) as offered:
        session.open_clip_file(PATH)
        asked = helper.answer(ReadClip, contents)
    assert asked.known == (known,)
    assert {Path("/loras"), Path("/stack"), Path("/models")} <= set(asked.folders)
    (offer,) = offered.args
    assert isinstance(offer, ClipOffer)
    assert (offer.path, offer.request, offer.models, offer.unmatched) == (PATH, request, MODELS, ("gone.safetensors",))
    assert "“gone.safetensors”" in offer.sentence
    assert "“new.safetensors”" in offer.sentence
    session.pack.clear_file(session.pack.files[0].slot)
    session.reuse(offer.request, frozenset({ReusePart.PROMPT, ReusePart.MODEL}))
    assert session.compose.prompt == "theirs"
    assert session.pack.files[0].path == MODELS.checkpoint_path


def test_a_dropped_file_that_is_no_clip_of_podiums_is_refused(world: World, qtbot: QtBot) -> None:
    session, helper, _ = world
    with qtbot.waitSignal(session.clip_refused) as refused:
        session.open_clip_file(PATH)
        helper.answer(ReadClip, error=MediaError("“fox.mp4” holds no parameters.", details="x"))
    assert refused.args == [ErrorMessage("“fox.mp4” holds no parameters.", "x")]
