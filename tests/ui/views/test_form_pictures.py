"""The whole form looks as it was judged to look: all of it unfolded, from top to bottom."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from podium.ui.theme import METRICS, apply_theme
from podium.ui.views.compose_view import ComposeView
from podium.ui.views.pack_view import PackView

from tests.ui.views import scenes
from tests.ui.views.pictures import check_picture
from tests.ui.views.scenes import World

FORM_HEIGHT_PX = 2480


@pytest.fixture(params=["dark", "light"])
def theme_name(request: pytest.FixtureRequest, qapp: QApplication, dressed: None) -> Iterator[str]:
    apply_theme(qapp, request.param)
    yield request.param
    apply_theme(qapp, "dark")


def test_the_form_looks_as_stored(world: World, theme_name: str, qtbot: QtBot) -> None:
    scenes.guided(world)
    view = ComposeView(world.session)
    qtbot.addWidget(view)
    view.guidance.fold.set_open(True)
    view.loras.item_views[0].branch_fold.set_open(True)
    view.image.item_views[0].fold.set_open(True)
    view.resize(METRICS.compose_width, FORM_HEIGHT_PX)
    view.prompt.editor.setFocus()
    with qtbot.waitExposed(view):
        view.show()
    QApplication.processEvents()
    check_picture(view.grab(), f"form-{theme_name}")


def test_the_files_of_a_model_look_as_stored(world: World, theme_name: str, qtbot: QtBot) -> None:
    scenes.guided(world)
    view = PackView(world.session.pack)
    qtbot.addWidget(view)
    view.fold.set_open(True)
    view.setFixedWidth(METRICS.dialog_width)
    with qtbot.waitExposed(view):
        view.show()
    QApplication.processEvents()
    check_picture(view.grab(), f"pack-{theme_name}")
