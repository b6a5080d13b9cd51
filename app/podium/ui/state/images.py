"""The pictures that the clip starts from, ends with, or passes through."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from podium.helper.requests import Answer, MakeThumbnail, Thumbnail
from podium.jobs import ImageSpec
from podium.ui.state.observable import ObservableState
from podium.ui.state.ports import HelperPort
from podium.ui.state.sentences import said

THUMBNAIL_PX = 160
MAX_CRF = 51


class FramePlace(StrEnum):
    """Where in the clip a picture stands: a closed set. OTHER is a frame of its own number."""

    FIRST = "first"
    LAST = "last"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class ImageItem:
    """A picture of the form.

    Args:
        key: Names it for as long as it is there.
        frame: Where it stands, counted from 0, if its place is OTHER.
        strength: 0 (ignored) to 1 (kept as it is).
        crf: H.264 quality of its re-compression, 0 (none) to 51; None takes the model's own.
        thumbnail: None until it is made.
        problem: A sentence on why it cannot be used; empty if nothing is known against it.
    """

    key: int
    path: Path
    place: FramePlace = FramePlace.FIRST
    frame: int = 0
    strength: float = 1.0
    crf: int | None = None
    thumbnail: Thumbnail | None = None
    problem: str = ""

    def frame_in(self, num_frames: int) -> int:
        """Return the frame it stands at in a clip of so many frames."""
        last = num_frames - 1
        return {FramePlace.FIRST: 0, FramePlace.LAST: last}.get(self.place, min(last, self.frame))


class ImagesState(ObservableState):
    """The pictures of the form, in the order they were added.

    Args:
        helper: Makes thumbnails.
        num_frames: The clip's length.
    """

    items_changed = Signal()
    num_frames_changed = Signal()
    problem_changed = Signal()
    removed_names_changed = Signal()

    def __init__(self, helper: HelperPort, num_frames: int, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._helper = helper
        self._items: tuple[ImageItem, ...] = ()
        self._num_frames = num_frames
        self._problem = ""
        self._removed_names: tuple[str, ...] = ()
        self._before_removal: tuple[ImageItem, ...] = ()
        self._last_key = 0

    @property
    def items(self) -> tuple[ImageItem, ...]:
        """Return the pictures."""
        return self._items

    @property
    def num_frames(self) -> int:
        """Return the clip's length, which no picture stands behind."""
        return self._num_frames

    @property
    def problem(self) -> str:
        """Return a sentence on the first picture that cannot be used where it stands; empty if there is none."""
        return self._problem

    @property
    def removed_names(self) -> tuple[str, ...]:
        """Return the names of the pictures that `undo_remove` would bring back."""
        return self._removed_names

    @property
    def specs(self) -> tuple[ImageSpec, ...]:
        """Return the pictures for a request, by frame; it changes with `items` and `num_frames`."""
        specs = (ImageSpec(item.path, item.frame_in(self._num_frames), item.strength, item.crf) for item in self._items)
        return tuple(sorted(specs, key=lambda spec: spec.frame))

    @property
    def held_paths(self) -> tuple[Path, ...]:
        """Return the files of the pictures, and of those that `undo_remove` would bring back."""
        return tuple(item.path for item in (*self._items, *self._before_removal))

    def add(self, paths: Sequence[Path]) -> None:
        """Add pictures: the first one starts the clip, the next one ends it, others stand in the widest gaps."""
        for path in paths:
            place, frame = self._free_place()
            self._add(ImageItem(0, path, place, frame))

    def put(self, path: Path, place: FramePlace) -> None:
        """Put a picture at the clip's first or last frame; one that stands there goes, and can be brought back."""
        frame = ImageItem(0, path, place).frame_in(self._num_frames)
        self._remove({item.key for item in self._items if item.frame_in(self._num_frames) == frame})
        removed = self._removed_names, self._before_removal
        self._add(ImageItem(0, path, place))
        if removed[0]:
            self._before_removal = removed[1]
            self._update(removed_names=removed[0])

    def remove(self, key: int) -> None:
        """Take a picture out."""
        self._remove({key})

    def clear(self) -> None:
        """Take all pictures out."""
        self._remove({item.key for item in self._items})

    def undo_remove(self) -> None:
        """Bring back what was taken out last."""
        if self._removed_names:
            self._take_items(self._before_removal)

    def set_place(self, key: int, place: FramePlace) -> None:
        """Choose whether a picture stands at the first frame, the last one or another; that is the middle at first."""
        item = self._find(key)
        if item is not None and place is not item.place:
            frame = self._num_frames // 2 if place is FramePlace.OTHER and item.frame == 0 else item.frame
            self._replace(key, place=place, frame=frame)

    def set_frame(self, key: int, frame: int) -> None:
        """Choose a picture's frame, counted from 0; what lies outside the clip becomes the nearest in it."""
        self._replace(key, place=FramePlace.OTHER, frame=min(self._num_frames - 1, max(0, frame)))

    def set_strength(self, key: int, strength: float) -> None:
        """Choose how much of a picture stays; what lies outside 0 to 1 becomes the nearest."""
        if math.isfinite(strength):
            self._replace(key, strength=min(1.0, max(0.0, strength)))

    def set_crf(self, key: int, crf: int | None) -> None:
        """Choose how hard a picture is compressed before the model sees it; None takes the model's own."""
        self._replace(key, crf=None if crf is None else min(MAX_CRF, max(0, crf)))

    def set_num_frames(self, num_frames: int) -> None:
        """Say how long the clip is; pictures behind its end stand at its end until it is longer again."""
        self._update(num_frames=num_frames)
        self._show_problem()

    def restore(self, specs: Sequence[ImageSpec], num_frames: int) -> None:
        """Put a request's pictures in the place of these.

        Args:
            specs: The pictures.
            num_frames: Of the request's clip.
        """
        self._take_items(())
        for spec in specs:
            self._add(_item_of(spec, num_frames))

    def form(self) -> list[dict[str, object]]:
        """Return the pictures as plain values that become JSON."""
        return [_to_form(item) for item in self._items]

    def restore_form(self, form: Sequence[Mapping[str, object]]) -> None:
        """Put pictures as `form` gave them in the place of these; what is none of a picture is left out."""
        self._take_items(())
        for values in form:
            item = _from_form(values)
            if item is not None:
                self._add(item)

    def _add(self, item: ImageItem) -> None:
        self._last_key += 1
        item = replace(item, key=self._last_key)
        self._take_items((*self._items, item))
        self._helper.ask(MakeThumbnail(item.path, THUMBNAIL_PX), partial(self._take_thumbnail, item.key))

    def _free_place(self) -> tuple[FramePlace, int]:
        last = self._num_frames - 1
        frames = sorted({item.frame_in(self._num_frames) for item in self._items})
        if 0 not in frames:
            return FramePlace.FIRST, 0
        if last not in frames:
            return FramePlace.LAST, 0
        gaps = [(after - before, before) for before, after in itertools.pairwise(frames)]
        width, before = max(gaps, key=lambda gap: (gap[0], -gap[1]))
        return FramePlace.OTHER, before + width // 2

    def _remove(self, keys: set[int]) -> None:
        gone = [item for item in self._items if item.key in keys]
        if gone:
            before = self._items
            self._take_items(tuple(item for item in self._items if item.key not in keys))
            self._before_removal = before
            self._update(removed_names=tuple(item.path.name for item in gone))

    def _take_thumbnail(self, key: int, answer: Answer[Thumbnail]) -> None:
        problem = "" if answer.error is None else said(answer.error.message)
        # It may have been taken out meanwhile, and come back.
        self._before_removal = tuple(
            replace(item, thumbnail=answer.value, problem=problem) if item.key == key else item
            for item in self._before_removal
        )
        self._set(key, thumbnail=answer.value, problem=problem)

    def _find(self, key: int) -> ImageItem | None:
        return next((item for item in self._items if item.key == key), None)

    def _replace(self, key: int, **values: object) -> None:
        """Change a picture as the artist asked: what was taken out before is forgotten."""
        if self._find(key) is not None:
            self._forget_removed()
            self._set(key, **values)

    def _set(self, key: int, **values: object) -> None:
        self._update(items=tuple(_with(item, values) if item.key == key else item for item in self._items))
        self._show_problem()

    def _take_items(self, items: tuple[ImageItem, ...]) -> None:
        self._forget_removed()
        self._update(items=items)
        self._show_problem()

    def _forget_removed(self) -> None:
        self._before_removal = ()
        self._update(removed_names=())

    def _show_problem(self) -> None:
        self._update(problem=self._find_problem())

    def _find_problem(self) -> str:
        for item in self._items:
            if item.problem:
                return item.problem
        frames = Counter(item.frame_in(self._num_frames) for item in self._items)
        twice = [frame for frame, count in frames.items() if count > 1]
        if not twice:
            return ""
        first, second, *_ = (item.path.name for item in self._items if item.frame_in(self._num_frames) == twice[0])
        if first == second:
            return self.tr("“{0}” stands at frame {1} twice. Move one of them, or take it out.").format(first, twice[0])
        text = self.tr("“{0}” and “{1}” stand at the same frame, {2}. Move one of them, or take it out.")
        return text.format(first, second, twice[0])


def _with(item: ImageItem, values: dict[str, object]) -> ImageItem:
    return replace(item, **values)  # type: ignore[arg-type]  # names and types are checked where this room calls it


def _item_of(spec: ImageSpec, num_frames: int) -> ImageItem:
    places = {0: FramePlace.FIRST, num_frames - 1: FramePlace.LAST}
    place = places.get(spec.frame, FramePlace.OTHER)
    return ImageItem(0, spec.path, place, spec.frame, spec.strength, spec.crf)


def _to_form(item: ImageItem) -> dict[str, object]:
    return {
        "path": str(item.path),
        "place": item.place.value,
        "frame": item.frame,
        "strength": item.strength,
        "crf": item.crf,
    }


def _from_form(values: Mapping[str, object]) -> ImageItem | None:
    path = values.get("path")
    if not isinstance(path, str) or not path:
        return None
    place, frame, strength, crf = (values.get(name) for name in ("place", "frame", "strength", "crf"))
    return ImageItem(
        0,
        Path(path),
        FramePlace(place) if isinstance(place, str) and place in list(FramePlace) else FramePlace.FIRST,
        max(0, frame) if isinstance(frame, int) else 0,
        min(1.0, max(0.0, float(strength))) if isinstance(strength, int | float) and math.isfinite(strength) else 1.0,
        min(MAX_CRF, max(0, crf)) if isinstance(crf, int) else None,
    )
