"""Rows and columns in the window's measures."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLayout, QVBoxLayout, QWidget

from podium.ui.theme import METRICS

BoxT = TypeVar("BoxT", bound=QBoxLayout)

Item = QWidget | QLayout | int | None
"""A widget, a layout, a gap in pixels, or None for room that stretches."""


def row(*items: Item, spacing: int = METRICS.space_s, margins: tuple[int, int, int, int] = (0, 0, 0, 0)) -> QHBoxLayout:
    """Return items side by side."""
    return _fill(QHBoxLayout(), items, spacing, margins)


def column(
    *items: Item, spacing: int = METRICS.space_s, margins: tuple[int, int, int, int] = (0, 0, 0, 0)
) -> QVBoxLayout:
    """Return items one below another."""
    return _fill(QVBoxLayout(), items, spacing, margins)


def around(size: int) -> tuple[int, int, int, int]:
    """Return the same margin on every side."""
    return (size, size, size, size)


def _fill(box: BoxT, items: tuple[Item, ...], spacing: int, margins: tuple[int, ...]) -> BoxT:
    box.setSpacing(spacing)
    box.setContentsMargins(*margins)
    for item in items:
        if item is None:
            box.addStretch(1)
        elif isinstance(item, int):
            box.addSpacing(item)
        elif isinstance(item, QLayout):
            box.addLayout(item)
        else:
            box.addWidget(item)
    return box
