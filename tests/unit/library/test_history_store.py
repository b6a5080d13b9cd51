"""The history on disk: pages, filters and search, also over ten thousand clips."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.library import Library
from podium.library.history_store import HistoryFilter, HistoryRow

from tests.unit.library.rows import history_row


@pytest.fixture
def library() -> Iterator[Library]:
    with Library.in_memory() as library:
        yield library


def prompts(rows: tuple[HistoryRow, ...]) -> list[str]:
    return [row.request.prompt for row in rows]


def test_a_clip_comes_back_as_it_was(library: Library) -> None:
    row = history_row("a fox\nin the snow", loras=("snow", "fox"))
    key = library.history.add(row)
    assert library.history.find(key) == replace(row, key=key)
    assert library.history.find_by_path(row.clip.path) == replace(row, key=key)
    assert library.history.find(key + 1) is None


def test_a_clip_made_again_at_the_same_place_is_the_newest(library: Library) -> None:
    library.history.add(history_row("first"))
    library.history.add(history_row("second", minute=-5))
    found = library.history.find_by_path(Path("/clips/a.mp4"))
    assert found is not None
    assert found.request.prompt == "second"


@settings(max_examples=25)
@given(st.lists(st.integers(0, 3), max_size=12), st.integers(1, 5))
def test_pages_hold_every_clip_once_newest_first(minutes: list[int], limit: int) -> None:
    with Library.in_memory() as library:
        for number, minute in enumerate(minutes):
            library.history.add(history_row(str(number), minute=minute))
        seen: list[HistoryRow] = []
        while page := library.history.page(after=seen[-1] if seen else None, limit=limit):
            assert len(page) <= limit
            seen += page
        assert library.history.count() == len(seen) == len(minutes)
        order = [(row.finished_at, row.key) for row in seen]
        assert order == sorted(order, reverse=True)


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("", ["Straße im Regen", "a RED fox, 100%", "a fox in snow"]),
        ("fox", ["a RED fox, 100%", "a fox in snow"]),
        ("fox red", ["a RED fox, 100%"]),
        ("STRASSE", ["Straße im Regen"]),
        ("100%", ["a RED fox, 100%"]),
        ("%", ["a RED fox, 100%"]),
        ("snowy", ["a fox in snow"]),
        ("ltx-two", ["Straße im Regen"]),
        ("wolf", []),
    ],
)
def test_a_search_finds_all_words_in_any_case_and_no_wildcards(library: Library, search: str, found: list[str]) -> None:
    library.history.add(history_row("a fox in snow", minute=1, loras=("snowy",)))
    library.history.add(history_row("a RED fox, 100%", minute=2))
    library.history.add(history_row("Straße im Regen", minute=3, model_name="ltx-two"))
    wanted = HistoryFilter(search=search)
    assert prompts(library.history.page(wanted, limit=9)) == found
    assert library.history.count(wanted) == len(found)


def test_filters_by_star_lora_and_model_go_together(library: Library) -> None:
    first = library.history.add(history_row("one", minute=1, loras=("fox", "fox"), model_name="a"))
    library.history.add(history_row("two", minute=2, loras=("fox", "snow"), model_name="b"))
    library.history.add(history_row("three", minute=3, model_name="a"))
    library.history.set_starred(first, is_starred=True)
    assert prompts(library.history.page(HistoryFilter(is_starred_only=True), limit=9)) == ["one"]
    assert prompts(library.history.page(HistoryFilter(lora="fox"), limit=9)) == ["two", "one"]
    assert prompts(library.history.page(HistoryFilter(model="a"), limit=9)) == ["three", "one"]
    assert prompts(library.history.page(HistoryFilter(lora="fox", model="b"), limit=9)) == ["two"]
    assert (library.history.lora_names(), library.history.model_names()) == (("fox", "snow"), ("a", "b"))


def test_a_clip_that_is_forgotten_takes_its_loras_along(library: Library) -> None:
    key = library.history.add(history_row("one", loras=("fox",)))
    library.history.remove([key])
    assert (library.history.count(), library.history.lora_names(), library.history.model_names()) == (0, (), ())


def test_missing_files_are_noted_and_found_by_path(library: Library) -> None:
    one = library.history.add(history_row("one", path="/clips/1.mp4"))
    two = library.history.add(history_row("two", path="/clips/2.mp4"))
    library.history.set_missing([two], is_missing=True)
    found = library.history.find(two)
    assert found is not None
    assert found.is_missing
    assert library.history.paths() == {one: Path("/clips/1.mp4"), two: Path("/clips/2.mp4")}


def test_names_that_are_no_utf_8_can_be_kept_and_found(library: Library) -> None:
    path = Path(b"/clips/\xff.mp4".decode("utf-8", "surrogateescape"))
    row = replace(history_row("one", loras=("\udcff",)), clip=replace(history_row("x").clip, path=path))
    key = library.history.add(row)
    found = library.history.find_by_path(path)
    assert found is not None
    assert (found.key, found.clip.path) == (key, path)
    assert library.history.count(HistoryFilter(lora="\udcff")) == 1


@pytest.mark.parametrize(
    ("condition", "index"),
    [
        ("1", "history_by_time"),
        ("is_starred", "history_by_star"),
        ("model_name = 'a'", "history_by_model"),
        ("path = 'a'", "history_by_path"),
    ],
)
def test_pages_come_out_of_an_index_and_nothing_is_sorted(library: Library, condition: str, index: str) -> None:
    plan = library._database.read(
        f"EXPLAIN QUERY PLAN SELECT * FROM history WHERE {condition} "
        + ("ORDER BY finished_at DESC, key DESC LIMIT 200" if index != "history_by_path" else "")
    )
    text = " ".join(str(values[-1]) for values in plan)
    assert index in text
    assert "TEMP B-TREE" not in text
