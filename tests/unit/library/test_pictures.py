"""Pictures that something in the library refers to are known, wherever that stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.jobs import ImageSpec
from podium.library import Library, LibraryError

from tests.fakes.requests import make_request
from tests.unit.library.rows import history_row, queue_row

FOLDER = Path("/daten/ä/pictures")


@pytest.fixture
def library() -> Iterator[Library]:
    with Library.in_memory() as library:
        yield library


def add(library: Library, *paths: Path, to_history: bool = True) -> None:
    request = replace(make_request(), images=tuple(ImageSpec(path, k) for k, path in enumerate(paths)))
    if to_history:
        library.history.add(replace(history_row("a fox"), request=request))
    else:
        library.queue.write([1], saved=[replace(queue_row(1), request=request)])


def test_pictures_of_queue_history_presets_and_forms_are_found(library: Library) -> None:
    add(library, FOLDER / "a.png", FOLDER / "b.png")
    add(library, FOLDER / "c.png", to_history=False)
    library.presets.save("p", {"images": [{"path": str(FOLDER / "d.png"), "frame": 0}]})
    library.form.save({"compose": {"images": [{"path": str(FOLDER / "e.png")}]}, "loras": []})
    assert library.pictures.in_folder(FOLDER) == {FOLDER / f"{name}.png" for name in "abcde"}


def test_pictures_of_the_artists_own_are_none_of_the_folders(library: Library) -> None:
    add(library, Path("/home/fox.png"), FOLDER / "deeper" / "a.png")
    assert library.pictures.in_folder(FOLDER) == frozenset()


def test_a_path_that_was_written_down_another_way_is_found_by_its_name(library: Library) -> None:
    add(library, Path("/link/pictures/a.png"))
    assert library.pictures.in_folder(FOLDER) == {FOLDER / "a.png"}


def test_what_is_forgotten_refers_to_nothing(library: Library) -> None:
    key = library.history.add(replace(history_row("a"), request=replace(make_request(), images=(_image("a.png"),))))
    library.history.remove([key])
    assert library.pictures.in_folder(FOLDER) == frozenset()


def test_a_part_that_is_damaged_is_an_error_and_not_nothing(library: Library) -> None:
    add(library, FOLDER / "a.png")
    library._database.write("UPDATE history SET request = substr(request, 1, length(request) - 1)")
    with pytest.raises(LibraryError):
        library.pictures.in_folder(FOLDER)


@given(name=st.binary(min_size=1, max_size=9).map(lambda data: data.decode("utf-8", "surrogateescape")))
def test_any_name_that_a_file_can_have_is_found(name: str) -> None:
    name = name.replace("/", "").replace("\0", "") + ".png"
    with Library.in_memory() as library:
        add(library, FOLDER / name)
        assert library.pictures.in_folder(FOLDER) == {FOLDER / name}


def _image(name: str) -> ImageSpec:
    return ImageSpec(FOLDER / name)
