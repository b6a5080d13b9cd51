"""The way of the Tab key through a form whose parts come and go."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractSpinBox, QLayout, QScrollArea, QStackedLayout, QWidget


def order_tabs(root: QWidget) -> None:
    """Have Tab go through everything in a widget as it is laid out: what is added later would come last."""
    for before, after in itertools.pairwise(_fields(root)):
        QWidget.setTabOrder(before, after)


def _fields(widget: QWidget) -> Iterator[QWidget]:
    if widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
        yield widget
    if isinstance(widget, QAbstractSpinBox):
        return
    if isinstance(widget, QScrollArea) and (inner := widget.widget()) is not None:
        yield from _fields(inner)
    layout = widget.layout()
    if layout is not None and not isinstance(layout, QStackedLayout):
        yield from _fields_in(layout)


def _fields_in(layout: QLayout) -> Iterator[QWidget]:
    for place in range(layout.count()):
        item = layout.itemAt(place)
        if item is None:
            continue
        if (widget := item.widget()) is not None:
            yield from _fields(widget)
        elif (inner := item.layout()) is not None:
            yield from _fields_in(inner)
