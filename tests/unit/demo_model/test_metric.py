"""The metric reads off rendered scenes exactly what they show."""

from __future__ import annotations

import pytest
import torch
from held_out import held_out, rendered
from latents import Colours, Style, as_tensor
from metric import is_hollow, is_night, look, scores
from torch import Tensor
from world import Attributes

SMALL = (5, 4, 6)


@pytest.fixture(scope="module")
def rows() -> list[Attributes]:
    return [wish.attributes for wish in held_out(8)]


@pytest.fixture(scope="module")
def day(rows: list[Attributes]) -> Tensor:
    return rendered(rows, Style(), grid=SMALL)


@pytest.fixture(scope="module")
def by_night(rows: list[Attributes]) -> Tensor:
    return Colours.of(as_tensor(rows), Style(is_night=True)).background / 2 + 0.5


def test_rendered_scenes_score_full_marks(rows: list[Attributes], day: Tensor) -> None:
    figures = scores([look(clip) for clip in day], rows)
    assert {figures[name] for name in ("background", "colour", "kind", "direction", "other_motion")} == {1.0}


def test_other_scenes_than_were_asked_for_score_less(rows: list[Attributes], day: Tensor) -> None:
    figures = scores([look(clip) for clip in day.roll(1, 0)], rows)
    assert max(figures[name] for name in ("background", "colour", "kind", "direction")) < 0.7


def test_prompts_are_the_same_every_time_and_none_was_trained_on() -> None:
    assert held_out(8) == held_out(8)
    assert all(wish.attributes.is_held_out for wish in held_out(8))


def test_an_outline_is_told_from_a_filled_shape(rows: list[Attributes], day: Tensor) -> None:
    assert not any(is_hollow(clip) for clip in day)
    # At half the size of a clip a smaller shape is not much more than its outline.
    large = [row for row in rows if row.size == 2]
    assert large
    assert all(is_hollow(clip) for clip in rendered(large, Style(is_outline=True), grid=SMALL))


def test_night_is_told_from_day(rows: list[Attributes], day: Tensor, by_night: Tensor) -> None:
    night = rendered(rows, Style(is_night=True), grid=SMALL)
    backgrounds = [row.background for row in rows]
    assert all(map(is_night, night, backgrounds, by_night))
    assert not any(map(is_night, day, backgrounds, by_night))


def test_a_clip_without_a_shape_is_neither_hollow_nor_of_a_kind() -> None:
    plain = torch.full((3, 5, 64, 96), 0.5)
    assert not is_hollow(plain)
    assert look(plain).kind is None
