"""Dialogs are as high as what they show: it may unfold, and its words may need other lines where it is narrower."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from podium.ui.views.widgets.fitted_dialog import FittedDialog
from podium.ui.views.widgets.layouts import column
from podium.ui.views.widgets.roles import make_label

LEAST_PX = 300
WORDS = "Words that take several lines where there is little room for them. " * 4


class Shown(FittedDialog):
    """Two labels that wrap, one of them hidden."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(LEAST_PX, parent)
        self.words = make_label(WORDS, wraps=True)
        self.more = make_label(WORDS, wraps=True)
        self.more.hide()
        self.fill(column(self.words, self.more))


@pytest.fixture
def dialog(qapp: QApplication, qtbot: QtBot) -> Iterator[Shown]:
    parent = QWidget()
    qtbot.addWidget(parent)
    parent.show()
    dialog = Shown(parent)
    dialog.open()
    QApplication.processEvents()
    yield dialog
    dialog.close()


def lines_px(label: QLabel, width_px: int) -> int:
    return label.heightForWidth(width_px)


def test_it_opens_as_high_as_its_words(dialog: Shown) -> None:
    assert dialog.width() == LEAST_PX
    assert dialog.height() == lines_px(dialog.words, LEAST_PX)
    assert dialog.words.height() == dialog.height()


def test_it_grows_and_shrinks_with_what_it_shows(dialog: Shown) -> None:
    before_px = dialog.height()
    dialog.more.show()
    QApplication.processEvents()
    assert dialog.height() > 2 * before_px
    dialog.more.hide()
    QApplication.processEvents()
    assert dialog.height() == before_px


def test_a_wider_one_needs_fewer_lines_and_none_is_ever_too_low(dialog: Shown) -> None:
    before_px = dialog.height()
    dialog.resize(2 * LEAST_PX, before_px)
    QApplication.processEvents()
    assert dialog.height() == lines_px(dialog.words, 2 * LEAST_PX) < before_px
    dialog.resize(dialog.width(), 1)
    assert dialog.height() == lines_px(dialog.words, dialog.width())


def test_height_that_was_added_stays(dialog: Shown) -> None:
    before_px = dialog.height()
    dialog.resize(LEAST_PX, before_px + 50)
    dialog.more.show()
    QApplication.processEvents()
    dialog.more.hide()
    QApplication.processEvents()
    assert dialog.height() == before_px + 50
