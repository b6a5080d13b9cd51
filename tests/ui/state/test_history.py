"""The history: page by page, found again, compared, reused and thrown away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, Qt
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from podium.helper.requests import FindMissing, KeepThumbnail, Thumbnail
from podium.jobs import LoraSpec
from podium.library import Library
from podium.media.errors import MediaError
from podium.ui.state.history import HistoryState
from podium.ui.state.history_model import MAX_THUMBNAILS, PAGE_ENTRIES, HistoryModel
from podium.ui.state.thumbnails import MAX_ASKED, MAX_WAITING
from podium.ui.state.values import HistoryEntry

from tests.fakes.requests import make_clip, make_request
from tests.fakes.ui import SPEC, FakeHelper, FakeTrash

PICTURE = Thumbnail(1, 1, b"rgb")


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 11, 29, 18, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(minutes=1)
        return self.now


class Bench:
    """A history with all that it stands on."""

    def __init__(self, library: Library, folder: Path) -> None:
        self.library = library
        self.helper = FakeHelper()
        self.trash = FakeTrash()
        self.history = HistoryState(self.helper, library, self.trash, folder / "cache", now=Clock())

    def add(self, prompt: str, *, loras: tuple[str, ...] = (), model: str = "ltx", queue_key: int | None = None) -> int:
        specs = tuple(LoraSpec(Path("/loras", f"{name}.safetensors")) for name in loras)
        request = make_request(prompt, loras=specs)
        models = replace(SPEC.models, checkpoint_path=Path("/models", f"{model}.safetensors"))
        clip = make_clip(Path("/clips", f"{prompt}.mp4"))
        self.history.add(clip, request, spec=replace(SPEC, models=models), duration_s=3.5, queue_key=queue_key)
        return self.entries()[0].key

    def entries(self) -> tuple[HistoryEntry, ...]:
        model = self.history.model
        while model.canFetchMore():
            model.fetchMore()
        return model.entries

    def titles(self) -> list[str]:
        return [entry.title for entry in self.entries()]

    def show(self, row: int) -> HistoryEntry:
        entry = self.history.model.index(row, 0).data(HistoryModel.ENTRY_ROLE)
        assert isinstance(entry, HistoryEntry)
        return entry


@pytest.fixture
def bench(qapp: object, tmp_path: Path) -> Iterator[Bench]:
    with Library.in_memory() as library:
        yield Bench(library, tmp_path)


def test_a_finished_clip_stands_in_front_with_all_that_is_known_of_it(bench: Bench) -> None:
    bench.add("one")
    bench.add("two")
    assert bench.titles() == ["two", "one"]
    entry = bench.entries()[0]
    assert (entry.model_name, entry.duration_s, entry.is_starred, entry.is_missing) == ("ltx", 3.5, False, False)
    assert entry.models == replace(SPEC.models, checkpoint_path=Path("/models/ltx.safetensors"))
    assert entry.finished_at.tzinfo is not None
    assert bench.history.num_entries == 2


def test_the_history_is_there_again_in_the_next_window(bench: Bench, tmp_path: Path) -> None:
    bench.add("one", loras=("fox",))
    again = Bench(bench.library, tmp_path)
    assert again.entries() == bench.entries()
    assert (again.history.num_entries, again.history.lora_names) == (1, ("fox",))


def fill(library: Library, count: int) -> None:
    """Put many clips into a library, in one stroke."""
    from podium.library.history_store import HistoryRow

    first = datetime(2026, 1, 1, tzinfo=UTC)
    with library._database.writing():
        for number in range(count):
            request = make_request(
                f"clip {number} of a fox", seed=number, loras=(LoraSpec(Path(f"/l/{number % 9}.safetensors")),)
            )
            moment = first + timedelta(seconds=number)
            clip = make_clip(Path(f"/clips/{number}.mp4"))
            library.history.add(HistoryRow(clip, request, moment, model_name=f"model {number % 3}"))


def test_ten_thousand_clips_are_read_a_page_at_a_time(qapp: object, tmp_path: Path) -> None:
    with Library.in_memory() as library:
        fill(library, 2 * PAGE_ENTRIES + 5)
        bench = Bench(library, tmp_path)
        model = bench.history.model
        assert (bench.history.num_entries, model.rowCount()) == (2 * PAGE_ENTRIES + 5, 0)
        seen = []
        while model.canFetchMore():
            model.fetchMore()
            seen.append(model.rowCount())
        assert seen == [PAGE_ENTRIES, 2 * PAGE_ENTRIES, 2 * PAGE_ENTRIES + 5, 2 * PAGE_ENTRIES + 5]
        keys = [entry.key for entry in model.entries]
        assert keys == sorted(keys, reverse=True)
        assert len(set(keys)) == len(keys)


def test_the_model_keeps_qts_rules(bench: Bench, qtmodeltester: ModelTester) -> None:
    for prompt in ("one", "two", "three"):
        bench.add(prompt)
    qtmodeltester.check(bench.history.model)
    assert bench.history.model.rowCount(bench.history.model.index(0, 0)) == 0
    assert bench.history.model.data(QModelIndex()) is None
    index = bench.history.model.index(0, 0)
    assert index.data(Qt.ItemDataRole.DisplayRole) == "three"
    assert "256 by 192 pixels" in index.data(Qt.ItemDataRole.AccessibleTextRole)


def test_a_new_clip_moves_nothing_else(bench: Bench, qtbot: QtBot) -> None:
    bench.add("one")
    with qtbot.assertNotEmitted(bench.history.model.modelReset):
        bench.add("two")


def test_search_and_filters_leave_what_passes_them(bench: Bench) -> None:
    first = bench.add("a fox in snow", loras=("snow",), model="a")
    bench.add("a wolf", model="b")
    bench.add("a bear", loras=("snow", "bear"), model="a")
    bench.history.set_starred(first, True)
    history = bench.history
    history.set_search("FOX")
    assert (bench.titles(), history.num_entries) == (["a fox in snow"], 1)
    history.set_search("")
    history.set_lora_filter("snow")
    assert bench.titles() == ["a bear", "a fox in snow"]
    history.set_starred_only(True)
    assert bench.titles() == ["a fox in snow"]
    history.set_starred_only(False)
    history.set_lora_filter("")
    history.set_model_filter("b")
    assert bench.titles() == ["a wolf"]
    assert history.is_filtered
    assert (history.lora_names, history.model_names) == (("bear", "snow"), ("a", "b"))


def test_a_clip_that_the_filters_hide_does_not_show_up_when_it_is_made(bench: Bench) -> None:
    bench.add("a fox")
    bench.history.set_search("fox")
    request = make_request("a wolf")
    bench.history.add(make_clip(Path("/clips/wolf.mp4")), request)
    assert bench.titles() == ["a fox"]
    bench.history.set_search("")
    assert bench.titles() == ["a wolf", "a fox"]


def test_a_star_is_kept_and_shown_wherever_the_clip_is(bench: Bench, tmp_path: Path) -> None:
    key, other = bench.add("one"), bench.add("two")
    bench.history.select(key)
    bench.history.compare(key, other)
    bench.history.set_starred(key, True)
    assert bench.history.selected is not None
    assert bench.history.compared is not None
    assert bench.history.selected.is_starred
    assert bench.history.compared[0].is_starred
    assert [entry.is_starred for entry in Bench(bench.library, tmp_path).entries()] == [False, True]


def test_two_clips_are_compared_and_no_clip_with_itself(bench: Bench) -> None:
    one, two = bench.add("one"), bench.add("two")
    bench.history.compare(one, one)
    assert bench.history.compared is None
    bench.history.compare(one, two)
    assert bench.history.compared is not None
    assert [entry.key for entry in bench.history.compared] == [one, two]
    bench.history.stop_comparing()
    assert bench.history.compared is None


def test_a_clip_out_of_sight_can_be_looked_at(qapp: object, tmp_path: Path) -> None:
    with Library.in_memory() as library:
        fill(library, PAGE_ENTRIES + 1)
        bench = Bench(library, tmp_path)
        bench.history.model.fetchMore()
        bench.history.select(1)
        assert bench.history.selected is not None
        assert bench.history.selected.title == "clip 0 of a fox"


def test_the_trash_takes_clip_and_sidecar_and_the_history_forgets(bench: Bench) -> None:
    key, other = bench.add("one"), bench.add("two")
    bench.history.select(key)
    bench.history.compare(key, other)
    bench.history.trash(key)
    assert bench.trash.taken == [Path("/clips/one.mp4"), Path("/clips/one.json")]
    assert bench.titles() == ["two"]
    assert (bench.history.selected, bench.history.compared, bench.history.num_entries) == (None, None, 1)


def test_what_the_trash_does_not_take_stays_and_that_is_said(bench: Bench) -> None:
    key = bench.add("one")
    bench.trash.refused.add(Path("/clips/one.mp4"))
    bench.history.trash(key)
    assert bench.titles() == ["one"]
    assert bench.history.problem == "“one.mp4” could not be moved to the trash. It lies where it lay."
    bench.trash.refused.clear()
    bench.history.trash(key)
    assert bench.history.problem == ""


def test_missing_files_are_marked_and_marked_no_more_when_they_are_back(bench: Bench, tmp_path: Path) -> None:
    bench.add("one")
    bench.add("two")
    again = Bench(bench.library, tmp_path)
    again.history.model.fetchMore()
    asked = again.helper.answer(FindMissing, (Path("/clips/one.mp4"),))
    assert set(asked.paths) == {Path("/clips/one.mp4"), Path("/clips/two.mp4")}
    assert [entry.is_missing for entry in again.entries()] == [False, True]
    again.helper.asked.clear()
    again.history.set_search("o")
    again.helper.answer(FindMissing, ())
    assert [entry.is_missing for entry in again.entries()] == [False, False]


def test_a_missing_clip_goes_without_the_trash(bench: Bench, tmp_path: Path) -> None:
    key = bench.add("one")
    again = Bench(bench.library, tmp_path)
    again.history.model.fetchMore()
    again.helper.answer(FindMissing, (Path("/clips/one.mp4"),))
    again.history.trash(key)
    assert (again.trash.taken, again.entries()) == ([], ())


def test_all_missing_clips_can_be_forgotten_also_those_out_of_sight(qapp: object, tmp_path: Path) -> None:
    with Library.in_memory() as library:
        fill(library, PAGE_ENTRIES + 50)
        bench = Bench(library, tmp_path)
        bench.history.forget_missing()
        (asked,) = bench.helper.requests(FindMissing)
        assert len(asked.paths) == PAGE_ENTRIES + 50
        bench.helper.answer(FindMissing, tuple(Path(f"/clips/{number}.mp4") for number in range(100)))
        assert bench.history.num_entries == PAGE_ENTRIES - 50


def test_thumbnails_are_asked_for_what_is_shown_only(bench: Bench, tmp_path: Path) -> None:
    bench.add("one")
    bench.add("two")
    again = Bench(bench.library, tmp_path)
    again.history.model.fetchMore()
    assert again.helper.requests(KeepThumbnail) == []
    assert again.show(1).thumbnail is None
    assert [asked.path for asked in again.helper.requests(KeepThumbnail)] == [Path("/clips/one.mp4")]
    again.show(1)
    asked = again.helper.answer(KeepThumbnail, PICTURE)
    assert asked.cache_folder == tmp_path / "cache"
    assert again.show(1).thumbnail == PICTURE
    assert again.helper.requests(KeepThumbnail) == []


def test_whoever_scrolls_past_a_thousand_clips_waits_for_none_of_them(qapp: object, tmp_path: Path) -> None:
    with Library.in_memory() as library:
        fill(library, 1000)
        bench = Bench(library, tmp_path)
        bench.entries()
        for row in range(1000):
            bench.show(row)
        assert len(bench.helper.requests(KeepThumbnail)) == MAX_ASKED
        for _ in range(MAX_ASKED):
            bench.helper.answer(KeepThumbnail, PICTURE)
        # What came into sight last is next.
        shown = {bench.show(row).clip.path for row in range(1000 - MAX_ASKED, 1000)}
        assert {asked.path for asked in bench.helper.requests(KeepThumbnail)} <= shown
        num_asked = MAX_ASKED
        while bench.helper.requests(KeepThumbnail):
            bench.helper.answer(KeepThumbnail, PICTURE)
            num_asked += 1
        assert num_asked <= MAX_WAITING + 2 * MAX_ASKED
        assert len(bench.history.model._thumbnails) <= MAX_THUMBNAILS


def test_a_thumbnail_that_cannot_be_made_is_not_asked_for_again(bench: Bench) -> None:
    bench.add("one")
    bench.show(0)
    bench.helper.answer(KeepThumbnail, error=MediaError("It is no clip."))
    assert bench.helper.requests(FindMissing)[-1].paths == (Path("/clips/one.mp4"),)
    bench.show(0)
    assert bench.helper.requests(KeepThumbnail) == []


def test_what_cannot_be_kept_is_shown_said_and_kept_as_soon_as_that_works(qapp: object, tmp_path: Path) -> None:
    with Library.open(tmp_path / "library.sqlite") as library:
        bench = Bench(library, tmp_path)
        bench.add("one")
        (used,) = library._database.read("PRAGMA page_count")[0]
        library._database.read(f"PRAGMA max_page_count = {used}")
        for number in range(30):
            bench.add(f"clip {number} " + "x" * 500)
        assert "the disk is full" in bench.history.problem
        assert (len(bench.titles()), bench.history.num_entries) == (31, 31)
        library._database.read("PRAGMA max_page_count = 100000")
        bench.add("last")
        assert bench.history.problem == ""
        assert bench.titles()[0] == "last"
        assert [title.split()[1] for title in bench.titles()[1:-1]] == [str(number) for number in reversed(range(30))]
        assert library.history.count() == 32


def test_what_was_wrong_with_the_library_is_said(qapp: object, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with Library.open(tmp_path / "file" / "library.sqlite") as library:
        bench = Bench(library, tmp_path)
        assert str(tmp_path / "file") in bench.history.problem
        bench.add("one")
        assert bench.history.problem == library.problem
        assert bench.titles() == ["one"]
