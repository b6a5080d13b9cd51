"""Pictures of the window's own making lie among the data, and go only when nothing refers to them."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from podium.helper.process import LOOSE_AGE_S, Desk
from podium.helper.requests import MeasureFolder, TidyPictures
from podium.jobs import ImageSpec
from podium.library import Library
from podium.library.history_store import HistoryRow
from podium.ui.state.images import ImagesState
from podium.ui.state.pictures import MAX_LOOSE_BYTES, KeptPictures

from tests.fakes.requests import make_clip, make_request
from tests.fakes.ui import FakeHelper
from tests.unit.library.rows import MOMENT


@pytest.fixture
def helper() -> FakeHelper:
    return FakeHelper()


def make(helper: FakeHelper, library: Library, folder: Path) -> KeptPictures:
    return KeptPictures(helper, library, ImagesState(FakeHelper(), 121), folder)


def write(pictures: KeptPictures, name: str, *, age_s: float = 2 * LOOSE_AGE_S, num_bytes: int = 100) -> Path:
    pictures.folder.mkdir(parents=True, exist_ok=True)
    path = pictures.folder / name
    path.write_bytes(bytes(num_bytes))
    used_s = path.stat().st_mtime - age_s
    os.utime(path, (used_s, used_s))
    return path


def test_only_what_nothing_refers_to_gives_way_and_the_oldest_first(helper: FakeHelper, tmp_path: Path) -> None:
    with Library.open(tmp_path / "library.sqlite") as library:
        pictures = make(helper, library, tmp_path)
        kept, first, second = (write(pictures, f"{name}.png", age_s=age * LOOSE_AGE_S) for name, age in _AGES)
        request = replace(make_request(), images=(ImageSpec(kept),))
        library.history.add(HistoryRow(make_clip(tmp_path / "a.mp4"), request, MOMENT))
        pictures.tidy()
        assert Desk().answer(helper.requests(MeasureFolder)[0]).value == 300
        helper.answer(MeasureFolder, MAX_LOOSE_BYTES + 1)
    (asked,) = helper.requests(TidyPictures)
    assert asked == TidyPictures(tmp_path / "pictures", frozenset({kept}), MAX_LOOSE_BYTES)
    assert Desk().answer(replace(asked, max_bytes=120)).value == 100
    assert (kept.exists(), first.exists(), second.exists()) == (True, False, True)


_AGES = (("kept", 9), ("first", 5), ("second", 2))


def test_below_the_limit_and_of_today_everything_stays(helper: FakeHelper, tmp_path: Path) -> None:
    pictures = make(helper, Library.in_memory(), tmp_path)
    old, new = write(pictures, "old.png"), write(pictures, "new.png", age_s=0)
    assert Desk().answer(TidyPictures(pictures.folder, frozenset(), 200)).value == 0
    assert Desk().answer(TidyPictures(pictures.folder, frozenset(), 10)).value == 100
    assert (old.exists(), new.exists()) == (False, True)


def test_a_folder_that_is_not_there_is_no_trouble(tmp_path: Path) -> None:
    assert Desk().answer(TidyPictures(tmp_path / "pictures", frozenset(), 10)).value == 0


@pytest.mark.logs_warnings
def test_nothing_is_removed_while_it_cannot_be_told_what_is_referred_to(helper: FakeHelper, tmp_path: Path) -> None:
    library = Library.in_memory()
    pictures = make(helper, library, tmp_path)
    library._database.write("DROP TABLE preset")
    pictures.tidy()
    helper.answer(MeasureFolder, MAX_LOOSE_BYTES + 1)
    assert helper.asked == []


def test_while_there_is_little_the_library_is_not_looked_through(helper: FakeHelper, tmp_path: Path) -> None:
    library = Library.in_memory()
    pictures = make(helper, library, tmp_path)
    library._database.write("DROP TABLE preset")
    pictures.tidy()
    helper.answer(MeasureFolder, MAX_LOOSE_BYTES)
    assert helper.asked == []


def test_what_the_form_holds_or_could_bring_back_stays(helper: FakeHelper, tmp_path: Path) -> None:
    images = ImagesState(FakeHelper(), 121)
    pictures = KeptPictures(helper, Library.in_memory(), images, tmp_path)
    images.add([Path("/a.png"), Path("/b.png")])
    images.remove(1)
    pictures.tidy()
    helper.answer(MeasureFolder, MAX_LOOSE_BYTES + 1)
    assert helper.requests(TidyPictures)[0].kept == {Path("/a.png"), Path("/b.png")}


def test_nothing_is_removed_for_a_library_that_is_not_on_the_disk(helper: FakeHelper, tmp_path: Path) -> None:
    (tmp_path / "in the way").write_text("no folder")
    with Library.open(tmp_path / "in the way" / "library.sqlite") as library:
        make(helper, library, tmp_path).tidy()
    assert helper.asked == []


def test_clips_of_one_name_in_two_folders_have_pictures_of_their_own(helper: FakeHelper, tmp_path: Path) -> None:
    pictures = make(helper, Library.in_memory(), tmp_path)
    paths = {pictures.frame_path(Path(folder, "clip.mp4"), 3) for folder in ("/a", "/b")}
    assert len(paths) == 2
    assert {path.name[:11] for path in paths} == {"clip-00004-"}
    assert pictures.frame_path(Path("/a/clip.mp4"), 3) in paths
