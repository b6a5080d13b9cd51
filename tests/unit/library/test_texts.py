"""Prompts, presets, forms and known files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from podium.jobs import FileIdentity
from podium.library import Library
from podium.library.texts import NUM_PROMPTS, PromptPair


@pytest.fixture
def library() -> Iterator[Library]:
    with Library.in_memory() as library:
        yield library


def test_prompts_come_back_newest_first_and_each_once(library: Library) -> None:
    for prompt in ("a fox", "a wolf", "a fox", "  "):
        library.prompts.add(prompt)
    library.prompts.add("a fox", "blurry")
    assert library.prompts.recent(10) == (PromptPair("a fox", "blurry"), PromptPair("a fox"), PromptPair("a wolf"))
    assert library.prompts.recent(1) == (PromptPair("a fox", "blurry"),)


def test_prompts_are_searched_by_words_in_any_case(library: Library) -> None:
    library.prompts.add("Ein FUCHS im Schnee")
    library.prompts.add("a wolf", "fuchs")
    library.prompts.add("a bear")
    assert [pair.prompt for pair in library.prompts.recent(9, "fuchs")] == ["a wolf", "Ein FUCHS im Schnee"]
    assert [pair.prompt for pair in library.prompts.recent(9, "schnee fuchs")] == ["Ein FUCHS im Schnee"]


def test_the_oldest_prompts_are_forgotten(library: Library) -> None:
    with library._database.writing():
        for number in range(NUM_PROMPTS + 3):
            library.prompts.add(f"prompt {number}")
    kept = library.prompts.recent(NUM_PROMPTS * 2)
    assert len(kept) == NUM_PROMPTS
    assert kept[-1] == PromptPair("prompt 3")


def test_presets_are_kept_by_name(library: Library) -> None:
    library.presets.save("zoom", {"width": 1})
    library.presets.save("Äther", {"seed": str(2**63)})
    library.presets.save("zoom", {"width": 2})
    assert library.presets.names() == ("zoom", "Äther")
    assert library.presets.load("zoom") == {"width": 2}
    library.presets.remove("zoom")
    assert library.presets.names() == ("Äther",)
    assert library.presets.load("zoom") == {}


def test_a_form_is_kept_beside_the_drafts(library: Library) -> None:
    assert library.form.load() is None
    library.form.save({"prompt": "half a \udcff"})
    library.drafts.save({"a": 1})
    assert library.form.load() == {"prompt": "half a \udcff"}
    assert library.drafts.load() == {"a": 1}


def test_a_form_that_cannot_be_read_is_none(library: Library, caplog: pytest.LogCaptureFixture) -> None:
    library.form.save({"a": 1})
    library._database.write("UPDATE form SET form = '{'")
    assert library.form.load() is None
    assert "cannot be read" in caplog.text


def test_files_are_known_by_their_last_place_and_content(library: Library) -> None:
    path = Path(b"/loras/\xff.safetensors".decode("utf-8", "surrogateescape"))
    library.files.note([FileIdentity(path, 1, 2, "aa"), FileIdentity(Path("/not/read"), 1, 2)])
    library.files.note([FileIdentity(path, 3, 4, "bb")])
    assert library.files.all() == (FileIdentity(path, 3, 4, "bb"),)
    assert library.files.find(path) == FileIdentity(path, 3, 4, "bb")
    assert library.files.find(Path("/not/read")) is None
