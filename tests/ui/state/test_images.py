"""Pictures find their places in the clip, and one that was taken out comes back."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.helper.requests import MakeThumbnail, Thumbnail
from podium.jobs import ImageSpec
from podium.media.errors import MediaError
from podium.ui.state.images import FramePlace, ImageItem, ImagesState

from tests.fakes.ui import FakeHelper

A, B, C, D = (Path(f"/{name}.png") for name in "abcd")


@pytest.fixture
def helper() -> FakeHelper:
    return FakeHelper()


@pytest.fixture
def images(qapp: object, helper: FakeHelper) -> ImagesState:
    return ImagesState(helper, 121)


def frames(images: ImagesState) -> list[int]:
    return [spec.frame for spec in images.specs]


def test_pictures_start_the_clip_end_it_and_then_stand_between(images: ImagesState) -> None:
    images.add([A, B, C, D])
    assert [item.place for item in images.items] == [
        *(FramePlace.FIRST, FramePlace.LAST),
        *(FramePlace.OTHER, FramePlace.OTHER),
    ]
    assert [item.frame_in(121) for item in images.items] == [0, 120, 60, 30]
    assert frames(images) == [0, 30, 60, 120]
    assert images.problem == ""


@given(st.integers(1, 12))
def test_pictures_that_are_added_never_stand_at_one_frame(num_images: int) -> None:
    images = ImagesState(FakeHelper(), 121)
    images.add([Path(f"/{number}.png") for number in range(num_images)])
    assert len(set(frames(images))) == num_images


def test_the_last_picture_stays_the_last_whatever_the_length(images: ImagesState) -> None:
    images.add([A, B])
    images.set_num_frames(49)
    assert frames(images) == [0, 48]


def test_a_picture_behind_the_end_stands_at_the_end_until_the_clip_is_longer(images: ImagesState) -> None:
    images.add([A])
    images.set_frame(1, 100)
    images.set_num_frames(49)
    assert frames(images) == [48]
    images.set_num_frames(121)
    assert frames(images) == [100]


def test_a_frame_outside_the_clip_becomes_the_nearest_in_it(images: ImagesState) -> None:
    images.add([A])
    images.set_frame(1, 500)
    assert frames(images) == [120]
    images.set_frame(1, -4)
    assert frames(images) == [0]
    images.set_place(1, FramePlace.OTHER)
    assert images.items[0].place is FramePlace.OTHER


def test_a_place_of_its_own_begins_in_the_middle(images: ImagesState) -> None:
    images.add([A])
    images.set_place(1, FramePlace.OTHER)
    assert frames(images) == [60]
    images.set_place(1, FramePlace.LAST)
    assert frames(images) == [120]


def test_strength_and_compression_stay_in_their_ranges(images: ImagesState) -> None:
    images.add([A])
    images.set_strength(1, 7)
    images.set_strength(1, float("nan"))
    images.set_crf(1, 99)
    assert images.specs == (ImageSpec(A, 0, 1.0, 51),)
    images.set_crf(1, None)
    assert images.specs[0].crf is None


def test_a_picture_that_was_taken_out_comes_back_as_it_was(images: ImagesState) -> None:
    images.add([A, B, C])
    images.set_strength(2, 0.4)
    before = images.items
    images.remove(2)
    assert images.removed_names == ("b.png",)
    images.undo_remove()
    assert images.items == before
    assert images.removed_names == ()
    images.undo_remove()
    assert images.items == before


def test_all_pictures_come_back_together(images: ImagesState) -> None:
    images.add([A, B])
    images.clear()
    assert (images.items, images.removed_names) == ((), ("a.png", "b.png"))
    images.undo_remove()
    assert [item.path for item in images.items] == [A, B]


def test_what_was_taken_out_is_forgotten_once_something_else_is_done(images: ImagesState) -> None:
    images.add([A, B])
    images.remove(1)
    images.set_strength(2, 0.5)
    assert images.removed_names == ()
    images.undo_remove()
    assert [item.path for item in images.items] == [B]


def test_a_frame_of_a_clip_takes_the_place_of_the_picture_that_stood_there(images: ImagesState) -> None:
    images.add([A, B])
    images.put(C, FramePlace.LAST)
    assert [(item.path, item.place) for item in images.items] == [(A, FramePlace.FIRST), (C, FramePlace.LAST)]
    assert images.removed_names == ("b.png",)
    images.undo_remove()
    assert [item.path for item in images.items] == [A, B]
    images.clear()
    images.put(C, FramePlace.FIRST)
    assert frames(images) == [0]


def test_a_picture_that_cannot_be_read_is_a_problem_until_it_is_taken_out(
    images: ImagesState, helper: FakeHelper
) -> None:
    images.add([A])
    helper.answer(MakeThumbnail, error=MediaError("“a.png” is damaged."))
    assert images.problem == images.items[0].problem == "“a.png” is damaged."
    images.clear()
    assert images.problem == ""


def test_a_thumbnail_finds_its_picture_wherever_it_is(images: ImagesState, helper: FakeHelper) -> None:
    images.add([A, B])
    images.remove(1)
    helper.answer(MakeThumbnail, Thumbnail(1, 1, b"aaa"))
    helper.answer(MakeThumbnail, Thumbnail(1, 1, b"bbb"))
    assert [item.thumbnail for item in images.items] == [Thumbnail(1, 1, b"bbb")]
    images.undo_remove()
    assert images.items[0].thumbnail == Thumbnail(1, 1, b"aaa")


def test_the_same_picture_can_start_and_end_a_clip_but_not_stand_twice_at_one_frame(images: ImagesState) -> None:
    images.add([A, A])
    assert images.problem == ""
    images.set_place(2, FramePlace.FIRST)
    assert images.problem.startswith("“a.png” stands at frame 0 twice.")


def test_pictures_of_a_request_take_their_places_again(images: ImagesState) -> None:
    specs = (ImageSpec(A, 0, 0.5), ImageSpec(B, 17, 1.0, 10), ImageSpec(C, 48))
    images.restore(specs, 49)
    assert [item.place for item in images.items] == [FramePlace.FIRST, FramePlace.OTHER, FramePlace.LAST]
    images.set_num_frames(49)
    assert images.specs == specs


items = st.builds(
    ImageItem, st.just(0), st.just(A), st.sampled_from(FramePlace), st.integers(0, 999), st.floats(0, 1),
    st.none() | st.integers(0, 51),
)  # fmt: skip


@given(st.lists(items, max_size=4))
def test_a_form_of_pictures_comes_back(held: list[ImageItem]) -> None:
    images, other = ImagesState(FakeHelper(), 121), ImagesState(FakeHelper(), 121)
    for item in held:
        images._add(item)
    other.restore_form(images.form())
    assert other.items == images.items
