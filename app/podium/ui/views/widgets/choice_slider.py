"""A slider that stands only on values that can be had."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QLabel, QSlider, QWidget

from podium.ui.theme import METRICS
from podium.ui.views.widgets.layouts import column, row
from podium.ui.views.widgets.roles import make_label
from podium.ui.views.widgets.wheel import leave_wheel


class ChoiceSlider(QWidget):
    """A named slider over the places of a list, with the chosen value in words.

    Args:
        name: What is chosen.
    """

    chosen = Signal(int)
    """The artist moved it to this place."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = make_label(name, "field")
        self._value = make_label()
        self._note = make_label("", "caption")
        self._slider = leave_wheel(QSlider(Qt.Orientation.Horizontal))
        self._slider.setAccessibleName(name)
        self._name.setBuddy(self._slider)
        head = row(self._name, None, self._value, self._note, spacing=METRICS.space_s)
        self.setLayout(column(head, self._slider, spacing=METRICS.space_xs))
        self._slider.valueChanged.connect(self.chosen)

    @property
    def slider(self) -> QSlider:
        """Return the slider itself."""
        return self._slider

    @property
    def value_label(self) -> QLabel:
        """Return where the chosen value stands in words."""
        return self._value

    def show_choice(self, num_choices: int, chosen: int, value: str, note: str = "") -> None:
        """Show how many places there are, which one is chosen and what that is."""
        with QSignalBlocker(self._slider):
            self._slider.setRange(0, num_choices - 1)
            self._slider.setValue(chosen)
        self._value.setText(value)
        self._note.setText(note)
        self._note.setVisible(bool(note))
        self._slider.setAccessibleDescription(f"{value} {note}".strip())
