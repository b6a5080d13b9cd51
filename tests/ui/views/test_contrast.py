"""What is written can be read, and what is drawn be seen: WCAG 2.2 AA, of roles and of the window as it is painted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtCore import QPoint
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QWidget

import podium_resources
from podium.ui.theme import STYLE_AREAS, THEMES, Theme, Tint, apply_theme
from podium.ui.views.main_window import MainWindow

from tests.ui.views import scenes, work_scenes
from tests.ui.views.scenes import Scene

STYLES = Path(podium_resources.__file__).parent / "styles"
# 1.4.3 and 1.4.11; what is disabled, and what only decorates, is exempt.
TEXT, LARGE, GRAPHIC = 4.5, 3.0, 3.0
DECORATION = {"line", "track", "control_line", "text_disabled", "name"}
SURFACES = ("window", "panel", "raised", "field", "stage")
# Where each tint of an icon stands; those of text stand wherever text does.
TINT_SURFACES = {
    Tint.TEXT: (*SURFACES, "control", "control_hover", "raised_hover", "accent_soft"),
    Tint.MUTED: (*SURFACES, "accent_soft"),
    Tint.ACCENT: ("window", "panel", "raised", "accent_soft"),
    Tint.ON_ACCENT: ("accent", "accent_hover", "accent_pressed"),
    Tint.ON_DANGER: ("danger", "danger_hover"),
    Tint.DANGER: ("window", "panel", "raised", "danger_soft"),
    Tint.WARNING: ("window", "panel", "raised", "warning_soft"),
    Tint.SUCCESS: ("window", "panel", "raised"),
}
# Painted at this scale, the middle of a stem has the whole colour of its text.
SCALE = 3
# What hinting and rounding may take from a ratio that is just reached.
SLACK = 0.15
SHOWN: dict[str, Scene] = {
    "welcomed": scenes.welcomed,
    "guided": scenes.guided,
    "running": scenes.running,
    "failed": scenes.failed,
    "queued": work_scenes.queued,
    "paused": work_scenes.paused,
}


def luminance(colour: QColor) -> float:
    """Return the relative luminance of a colour."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour.getRgbF()[:3]]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: QColor, other: QColor) -> float:
    """Return the contrast ratio of two colours."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def ratio(theme: Theme, one: str, other: str) -> float:
    """Return the contrast ratio of two roles."""
    return contrast(QColor(getattr(theme, one)), QColor(getattr(theme, other)))


def rules() -> Iterator[tuple[str, dict[str, str]]]:
    """Return every rule of the style sheets: what it is for, and what it says."""
    for area in STYLE_AREAS:
        # Where placeholders stand, no brace is a rule's.
        sheet = (STYLES / f"{area}.qss").read_text(encoding="utf-8").replace("${", "$(").replace("}px", ")px")
        for selector, body in re.findall(r"([^{}]+)\{([^{}]*)\}", sheet):
            said = (item.partition(":") for item in body.split(";") if ":" in item)
            yield selector.strip(), {name.strip(): value.strip() for name, _, value in said}


def role_in(value: str) -> str:
    """Return the role that a value of a style sheet names; empty if it names none."""
    names = {field.name for field in fields(Theme)}
    return next((name for name in re.findall(r"\$(\w+)", value) if name in names), "")


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_a_rule_that_says_text_and_ground_says_two_that_can_be_told_apart(theme: Theme) -> None:
    found = {}
    for selector, said in rules():
        for text, ground in (("color", "background"), ("selection-color", "selection-background-color")):
            pair = role_in(said.get(text, "")), role_in(said.get(ground, ""))
            if all(pair) and "text_disabled" not in pair:
                found[f"{selector}: {pair[0]} on {pair[1]}"] = ratio(theme, *pair)
    assert len(found) > 20
    assert {rule: round(value, 2) for rule, value in found.items() if value < TEXT} == {}


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_a_control_can_be_told_from_what_it_stands_on(theme: Theme) -> None:
    lines = {
        (line, ground) for line in ("edge", "focus", "accent") for ground in ("window", "panel", "raised", "field")
    }
    assert {pair: round(ratio(theme, *pair), 2) for pair in lines if ratio(theme, *pair) < GRAPHIC} == {}


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_an_icon_of_every_tint_can_be_seen_where_it_stands(theme: Theme) -> None:
    pairs = [(tint.value, ground) for tint, grounds in TINT_SURFACES.items() for ground in grounds]
    assert {tint for tint in Tint if tint is not Tint.DISABLED} == set(TINT_SURFACES)
    assert {pair: round(ratio(theme, *pair), 2) for pair in pairs if ratio(theme, *pair) < GRAPHIC} == {}


def test_every_role_of_the_theme_is_held_against_another() -> None:
    used = {role_in(value) for _, said in rules() for value in said.values()}
    tinted = {tint.value for tint in Tint} | {ground for grounds in TINT_SURFACES.values() for ground in grounds}
    known = used | tinted | DECORATION
    assert {field.name for field in fields(Theme)} - known == set()


@pytest.fixture
def themed(qapp: QApplication) -> Iterator[Callable[[str], None]]:
    yield lambda name: apply_theme(qapp, name)
    apply_theme(qapp, "dark")


def painted(window: QWidget) -> NDArray[np.uint32]:
    """Return how a window looks, large enough for its words to have their colours whole: a number a pixel."""
    image = QImage(window.size() * SCALE, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(SCALE)
    window.render(image)
    return np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), image.width()).copy()


def cut_out(pixels: NDArray[np.uint32], window: QWidget, widget: QWidget) -> NDArray[np.uint32]:
    """Return a widget's part of its window."""
    place = widget.mapTo(window, QPoint(0, 0)) * SCALE
    return pixels[place.y() : place.y() + SCALE * widget.height(), place.x() : place.x() + SCALE * widget.width()]


def text_ratio(pixels: NDArray[np.uint32]) -> float:
    """Return the contrast of a text with its ground: the commonest colour, and what differs most from it."""
    colours, numbers = np.unique(pixels, return_counts=True)
    ground = QColor(int(colours[numbers.argmax()]))
    # A colour of one pixel may be an edge's.
    return max(contrast(QColor(int(ink)), ground) for ink in colours[numbers > 4])


def texts(window: MainWindow) -> list[QWidget]:
    """Return what shows words in a window and is not disabled."""
    kinds = (QLabel, QAbstractButton)
    shown = [one for kind in kinds for one in window.findChildren(kind) if one.isVisible() and one.isEnabled()]
    return [one for one in shown if one.text().strip() and not one.visibleRegion().isEmpty() and is_whole(one)]


def is_whole(widget: QWidget) -> bool:
    """Return whether nothing cuts a widget off."""
    return widget.visibleRegion().boundingRect().size() == widget.size()


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize("scene", SHOWN)
def test_every_word_in_the_window_can_be_read(
    open_window: Callable[[Scene], MainWindow], themed: Callable[[str], None], scene: str, theme: str
) -> None:
    themed(theme)
    window = open_window(SHOWN[scene])
    QApplication.processEvents()
    found, pixels = {}, painted(window)
    for widget in texts(window):
        text = widget.property("text")
        is_large = widget.font().pointSizeF() >= 14 and widget.font().bold()
        least = LARGE if is_large else TEXT
        value = text_ratio(cut_out(pixels, window, widget))
        if value < least - SLACK:
            found[f"{type(widget).__name__} “{text}”"] = round(value, 2)
    assert len(texts(window)) > 10
    assert found == {}
