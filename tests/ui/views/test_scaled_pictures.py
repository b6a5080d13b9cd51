"""Nothing is cut, covered or outside its parent: at 100, 150 and 200 %, in a longer language, in a small window."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSlider,
    QSpinBox,
    QTabBar,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from podium.ui.views.widgets.elided_label import ElidedLabel

from tests.fakes.thorough import thorough
from tests.ui.views.layout_faults import find_faults
from tests.ui.views.other_views import OTHER_VIEWS
from tests.ui.views.pseudo_language import longer
from tests.ui.views.scaled_pictures import THEMES, VARIANTS, render_apart

# The largest scale, and the longest words; whatever has room there has room at the others, in all likelihood.
IN_THE_GATE = ("200", "longer")
WORDS = "a number of words that need more than they have"


@pytest.mark.slow
@pytest.mark.parametrize("name", [name if name in IN_THE_GATE else thorough(name) for name in VARIANTS])
def test_the_key_views_have_room_for_all_that_they_say(name: str, tmp_path: Path) -> None:
    # Themes differ in colours alone.
    faults = render_apart(name, tmp_path, THEMES[:1])
    num_others = len(OTHER_VIEWS) if VARIANTS[name].language else 0
    assert len(faults) == len(list(tmp_path.glob("*.png"))) == 6 + num_others
    assert {picture: found for picture, found in faults.items() if found} == {}


def shown(widget: QWidget, qtbot: QtBot) -> QWidget:
    qtbot.addWidget(widget)
    with qtbot.waitExposed(widget):
        widget.show()
    return widget


def narrow(child: QWidget, qtbot: QtBot, *, width_px: int = 40) -> list[str]:
    """Return the faults of a widget that has next to no room."""
    parent = QWidget()
    parent.resize(300, 100)
    child.setParent(parent)
    child.setGeometry(0, 0, width_px, 30)
    return find_faults(shown(parent, qtbot))


@pytest.mark.parametrize("kind", [QLabel, QPushButton, QToolButton])
def test_words_without_room_are_found(kind: type[QLabel | QPushButton | QToolButton], qtbot: QtBot) -> None:
    child = kind()
    child.setText(WORDS)
    (fault,) = narrow(child, qtbot)
    assert WORDS in fault
    assert "and has 40" in fault


def test_words_that_wrap_need_height_and_room_for_the_longest(qtbot: QtBot) -> None:
    label = QLabel("a Donaudampfschifffahrtsgesellschaft")
    label.setWordWrap(True)
    faults = narrow(label, qtbot)
    assert ["of height" in faults[0], "Donaudampf" in faults[1]] == [True, True]


def test_a_choice_a_hint_and_a_number_without_room_are_found(qtbot: QtBot) -> None:
    combo, field, box = QComboBox(), QLineEdit(), QSpinBox()
    combo.addItem(WORDS)
    field.setPlaceholderText(WORDS)
    box.setRange(0, 10**9)
    box.setValue(10**9)
    assert ["its choice" in fault for fault in narrow(combo, qtbot)] == [True]
    assert ["its hint" in fault for fault in narrow(field, qtbot)] == [True]
    assert ["its number" in fault for fault in narrow(box, qtbot)] == [True]


def test_tabs_and_sliders_without_room_are_found(qtbot: QtBot) -> None:
    tabs = QTabBar()
    tabs.addTab(WORDS)
    slider = QSlider(Qt.Orientation.Horizontal)
    assert len(narrow(tabs, qtbot)) == 1
    assert len(narrow(slider, qtbot)) == 1
    assert narrow(QSlider(Qt.Orientation.Horizontal), qtbot, width_px=200) == []


def test_a_line_may_end_in_an_ellipsis_if_its_tooltip_has_the_whole(qtbot: QtBot) -> None:
    assert narrow(ElidedLabel(WORDS), qtbot) == []
    label = ElidedLabel(WORDS)
    parent = QWidget()
    label.setParent(parent)
    label.setGeometry(0, 0, 40, 30)
    shown(parent, qtbot)
    label.setToolTip("")
    assert len(find_faults(parent)) == 1


def test_a_line_that_grows_out_of_its_room_by_another_font_tells_the_whole(qtbot: QtBot) -> None:
    label = ElidedLabel(WORDS)
    label.resize(label.fontMetrics().horizontalAdvance(WORDS) + 1, 30)
    shown(label, qtbot)
    assert label.toolTip() == ""
    font = label.font()
    font.setPointSizeF(2 * font.pointSizeF())
    label.setFont(font)
    assert label.toolTip() == WORDS


def test_what_reaches_out_of_its_parent_is_found_unless_it_scrolls(qtbot: QtBot) -> None:
    parent, child = QWidget(), QWidget()
    parent.resize(100, 100)
    child.setParent(parent)
    child.setGeometry(50, 50, 60, 20)
    (fault,) = find_faults(shown(parent, qtbot))
    assert "reaches out" in fault
    area, content = QScrollArea(), QWidget()
    content.setFixedSize(50, 900)
    area.setWidget(content)
    area.resize(100, 100)
    assert find_faults(shown(area, qtbot)) == []
    content.setFixedSize(500, 900)
    assert ["wider than its room" in fault for fault in find_faults(area)] == [True]


def test_what_lies_over_its_neighbour_is_found_however_deep_the_layout(qtbot: QtBot) -> None:
    parent, one, other = QWidget(), QWidget(), QWidget()
    whole, line = QVBoxLayout(), QHBoxLayout()
    for widget in (one, other):
        widget.setMinimumWidth(80)
        line.addWidget(widget)
    whole.addLayout(line)
    parent.setLayout(whole)
    parent.setMinimumSize(1, 1)
    parent.resize(400, 100)
    shown(parent, qtbot)
    assert find_faults(parent) == []
    other.setGeometry(one.geometry().adjusted(10, 0, 0, 0))
    assert ["lies over" in fault for fault in find_faults(parent)] == [True]


def test_the_longer_language_is_longer_by_its_share_and_leaves_what_is_filled_in() -> None:
    text = "Reading the prompt of {0} clips, step {1} of {2}"
    made = longer(text)
    words, places = "Reading the prompt of clips, step of", ("{0}", "{1}", "{2}")
    assert all(place in made for place in places)
    assert len(made) - len(text) == pytest.approx(0.4 * len(words.replace(" ", "").replace(",", "")), abs=1)
