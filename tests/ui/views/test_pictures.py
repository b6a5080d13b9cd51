"""The window looks as it was judged to look."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from podium.jobs import ClipFinished
from podium.ui.theme import apply_theme
from podium.ui.views.main_window import MainWindow

from tests.ui.views import scenes
from tests.ui.views.pictures import FOLDER, MAX_SHARE, check_picture, share_that_differs
from tests.ui.views.scenes import Scene, World

STILL = ("empty", "welcomed", "composed", "running", "stuck", "failed")
THEMES = ("dark", "light")


@pytest.fixture(params=THEMES)
def theme_name(request: pytest.FixtureRequest, qapp: QApplication, dressed: None) -> Iterator[str]:
    apply_theme(qapp, request.param)
    yield request.param
    apply_theme(qapp, "dark")


@pytest.mark.parametrize("name", STILL)
def test_the_window_looks_as_stored(name: str, theme_name: str, open_window: Callable[[Scene], MainWindow]) -> None:
    check_picture(open_window(getattr(scenes, name)).grab(), f"{name}-{theme_name}")


def test_a_finished_clip_looks_as_stored(
    theme_name: str, open_window: Callable[[Scene], MainWindow], evening_clip: ClipFinished, qtbot: QtBot
) -> None:
    def finished(world: World) -> None:
        scenes.finish(world, evening_clip)

    window = open_window(finished)
    window.tabs.setCurrentWidget(window.history)
    qtbot.waitUntil(lambda: not window.stage.picture.image.isNull())
    QApplication.processEvents()
    check_picture(window.grab(), f"finished-{theme_name}")


def test_a_patch_of_another_colour_is_found() -> None:
    stored = np.full((900, 1440, 3), 40, np.uint8)
    new = stored.copy()
    new[100:140, 100:140] = 200
    assert share_that_differs(new, stored) > MAX_SHARE
    assert share_that_differs(stored, stored) == 0
    assert share_that_differs(stored[1:], stored) == 1


def test_the_stored_pictures_are_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.glob("*.png")) < 6_000_000
