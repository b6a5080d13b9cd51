"""What is wrong with how a window is laid out, without anybody looking: words cut, things over each other or outside.

An `ElidedLabel` may end in an ellipsis, as long as its tooltip has the whole; nothing else may be cut.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import combinations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFontMetricsF, QTextDocument
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QCheckBox,
    QComboBox,
    QLabel,
    QLayout,
    QLineEdit,
    QMenuBar,
    QPushButton,
    QRadioButton,
    QScrollArea,
    QSlider,
    QStackedLayout,
    QStyle,
    QStyleOptionComboBox,
    QStyleOptionFrame,
    QTabBar,
    QToolButton,
    QWidget,
)

from podium.ui.views.widgets.elided_label import ElidedLabel

# Hinting rounds each letter of a text its own way.
SLACK_PX = 1.5
MIN_SLIDER_PX = 60


def find_faults(window: QWidget) -> list[str]:
    """Return a line on each fault of what is seen of a window."""
    faults = []
    for widget in (window, *window.findChildren(QWidget)):
        if widget.isVisible() and not widget.size().isEmpty() and not _is_part(widget):
            faults += [f"{name_of(widget)}: {fault}" for fault in _faults_of(widget)]
    return faults


def name_of(widget: QWidget) -> str:
    """Return a widget's kind, its words, and the views it lies in."""
    text = next((str(words()) for words in _words_of(widget) if words()), widget.accessibleName())
    ours, parent = [], widget.parentWidget()
    while parent is not None:
        if type(parent).__module__.startswith("podium"):
            ours.append(type(parent).__name__)
        parent = parent.parentWidget()
    return f"{type(widget).__name__} “{text[:60]}” in {' < '.join(ours[:3])}"


def _is_part(widget: QWidget) -> bool:
    """Return whether a widget is a part of one of Qt's, which places it itself."""
    return isinstance(widget.parentWidget(), QAbstractSpinBox | QComboBox | QLineEdit | QTabBar | QMenuBar)


def _words_of(widget: QWidget) -> Iterator[object]:
    for name in ("text", "currentText", "windowTitle"):
        words = getattr(widget, name, None)
        if callable(words):
            yield words


def _faults_of(widget: QWidget) -> Iterator[str]:
    yield from _cut_words(widget)
    yield from _outside(widget)
    yield from _over_each_other(widget)
    if isinstance(widget, QScrollArea):
        bar = widget.horizontalScrollBar()
        if bar.maximum() > 0:
            yield f"what scrolls is {bar.maximum()} px wider than its room"


def _cut_words(widget: QWidget) -> Iterator[str]:
    for kind, find in _CUTS:
        if isinstance(widget, kind):
            yield from find(widget)
            return


def _cut_line(label: ElidedLabel) -> Iterator[str]:
    shown = label.fontMetrics().elidedText(label.text(), Qt.TextElideMode.ElideRight, label.contentsRect().width())
    if shown != label.text() and not label.toolTip():
        yield "cut, and its tooltip does not tell the whole"


def _cut_bar(bar: QTabBar | QMenuBar) -> Iterator[str]:
    if bar.sizeHint().width() > bar.width() + SLACK_PX:
        yield f"needs {bar.sizeHint().width()} px and has {bar.width()}"


def _cut_slider(slider: QSlider) -> Iterator[str]:
    if slider.orientation() is Qt.Orientation.Horizontal and slider.width() < MIN_SLIDER_PX:
        yield f"has {slider.width()} px, in which nothing can be pulled"


def _cut_label(label: QLabel) -> Iterator[str]:
    text, room = label.text(), label.contentsRect()
    if not text:
        return
    if label.wordWrap():
        wanted = label.heightForWidth(label.width())
        if wanted > label.height() + SLACK_PX:
            yield f"needs {wanted} px of height and has {label.height()}"
        longest = max(_plain(label).split(), key=lambda word: _width_of(word, label), default="")
        if _width_of(longest, label) > room.width() + SLACK_PX:
            yield f"the word “{longest}” needs {_width_of(longest, label):.0f} px and has {room.width()}"
        return
    width = max(_width_of(line, label) for line in _plain(label).splitlines() or [""])
    if width > room.width() + SLACK_PX:
        yield f"needs {width:.0f} px and has {room.width()}"
    if label.fontMetrics().height() > label.height() + SLACK_PX:
        yield f"needs {label.fontMetrics().height()} px of height and has {label.height()}"


def _cut_button(button: QAbstractButton) -> Iterator[str]:
    shows_icon = isinstance(button, QToolButton) and not button.icon().isNull()
    is_icon = shows_icon and button.toolButtonStyle() is Qt.ToolButtonStyle.ToolButtonIconOnly
    has_words = bool(button.text()) and not is_icon
    wanted = button.sizeHint()
    if has_words and wanted.width() > button.width() + SLACK_PX:
        yield f"needs {wanted.width()} px and has {button.width()}"
    if wanted.height() > button.height() + SLACK_PX:
        yield f"needs {wanted.height()} px of height and has {button.height()}"


def _cut_combo(combo: QComboBox) -> Iterator[str]:
    option = QStyleOptionComboBox()
    combo.initStyleOption(option)
    control, part = QStyle.ComplexControl.CC_ComboBox, QStyle.SubControl.SC_ComboBoxEditField
    room = combo.style().subControlRect(control, option, part, combo)
    width = _width_of(combo.currentText(), combo)
    if width > room.width() + SLACK_PX and not combo.toolTip():
        yield f"its choice needs {width:.0f} px and has {room.width()}"


def _cut_hint(field: QLineEdit) -> Iterator[str]:
    width = _width_of(field.placeholderText(), field)
    option = QStyleOptionFrame()
    field.initStyleOption(option)
    inner = field.style().subElementRect(QStyle.SubElement.SE_LineEditContents, option, field)
    # Its icons are buttons within it; the one that clears it has its place while there is nothing to clear, too.
    icons = sum(button.width() for button in field.findChildren(QToolButton))
    room = inner.width() - icons
    if not field.text() and width > room + SLACK_PX:
        yield f"its hint needs {width:.0f} px and has {room}"


def _cut_spin_box(box: QAbstractSpinBox) -> Iterator[str]:
    width, room = _width_of(box.text(), box), box.lineEdit().contentsRect().width()
    if box.sizeHint().width() > box.width() + SLACK_PX and width > room + SLACK_PX:
        yield f"its number needs {width:.0f} px and has {room}"


_CUTS: tuple[tuple[type | tuple[type, ...], Callable[..., Iterator[str]]], ...] = (
    (ElidedLabel, _cut_line),
    (QLabel, _cut_label),
    ((QCheckBox, QRadioButton, QPushButton, QToolButton), _cut_button),
    (QComboBox, _cut_combo),
    ((QTabBar, QMenuBar), _cut_bar),
    (QLineEdit, _cut_hint),
    (QAbstractSpinBox, _cut_spin_box),
    (QSlider, _cut_slider),
)
"""The first kind that a widget is of counts."""


def _outside(widget: QWidget) -> Iterator[str]:
    parent = widget.parentWidget()
    # What scrolls may be larger than what is seen of it.
    if parent is None or widget.isWindow() or isinstance(parent.parentWidget(), QAbstractScrollArea):
        return
    if not parent.rect().contains(widget.geometry()):
        yield f"{_corners(widget.geometry())} reaches out of its parent {parent.width()} x {parent.height()}"


def _over_each_other(parent: QWidget) -> Iterator[str]:
    # What no layout has placed lies where it is meant to lie.
    layout = parent.layout()
    if layout is None:
        return
    placed = [widget for widget in _placed_by(layout) if widget.isVisible()]
    for one, other in combinations(placed, 2):
        if one.geometry().intersects(other.geometry()):
            yield f"{name_of(one)} lies over {name_of(other)}"


def _placed_by(layout: QLayout) -> Iterator[QWidget]:
    """Yield what a layout and those within it place; what lies in a stack takes turns."""
    if isinstance(layout, QStackedLayout):
        return
    for place in range(layout.count()):
        item = layout.itemAt(place)
        widget, inner = (None, None) if item is None else (item.widget(), item.layout())
        if widget is not None:
            yield widget
        elif inner is not None:
            yield from _placed_by(inner)


def _corners(rect: QRect) -> str:
    return f"({rect.left()}, {rect.top()}) to ({rect.right()}, {rect.bottom()})"


def _plain(label: QLabel) -> str:
    if label.textFormat() is Qt.TextFormat.RichText or re.search(r"<\w+", label.text()):
        document = QTextDocument()
        document.setHtml(label.text())
        return document.toPlainText()
    return label.text()


def _width_of(text: str, widget: QWidget) -> float:
    return QFontMetricsF(widget.font(), widget).horizontalAdvance(text)
