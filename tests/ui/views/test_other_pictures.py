"""Dialogs, menus, the log, and the Stage without a clip: all has room, and looks as it was judged to look."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from podium.ui.views.main_window import MainWindow

from tests.ui.views.layout_faults import find_faults
from tests.ui.views.other_views import OTHER_VIEWS
from tests.ui.views.pictures import check_picture
from tests.ui.views.scenes import Scene, World


@pytest.mark.parametrize("name", OTHER_VIEWS)
def test_it_looks_as_stored(name: str, world: World, open_window: Callable[[Scene], MainWindow], qtbot: QtBot) -> None:
    window = open_window(lambda world: None)
    window.show_workspace()
    view = OTHER_VIEWS[name](world, window)
    qtbot.waitUntil(view.isVisible)
    for _ in range(5):
        QApplication.processEvents()
    # Which only a loop of its own would do otherwise.
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    try:
        assert find_faults(view) == []
        check_picture(view.grab(), f"other-{name}")
    finally:
        if view.isWindow():
            view.close()
