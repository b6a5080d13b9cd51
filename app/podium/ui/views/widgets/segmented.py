"""A choice of few, all seen at once."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QPushButton, QSizePolicy, QWidget

from podium.ui.views.widgets.buttons import make_button
from podium.ui.views.widgets.layouts import row
from podium.ui.views.widgets.roles import give


class Segmented(QWidget):
    """Buttons side by side of which one is chosen; the arrow keys move between them.

    Args:
        name: What is chosen, for screen readers.
    """

    chosen = Signal(int)
    """The artist chose the option at this place."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self._options: tuple[str, ...] = ()
        self._buttons: list[QPushButton] = []
        self._group = QButtonGroup(self)
        self._group.setExclusive(True)
        self._row = row(spacing=0)
        self.setLayout(self._row)
        self._group.idClicked.connect(self.chosen)

    @property
    def buttons(self) -> list[QPushButton]:
        """Return the buttons in their order."""
        return list(self._buttons)

    def show_options(self, options: Sequence[str], chosen: int) -> None:
        """Show these options, and which is chosen."""
        if tuple(options) != self._options:
            self._fill(options)
        self._buttons[chosen].setChecked(True)

    def _fill(self, options: Sequence[str]) -> None:
        for button in self._buttons:
            self._group.removeButton(button)
            self._row.removeWidget(button)
            button.deleteLater()
        self._options = tuple(options)
        self._buttons = []
        for index, option in enumerate(options):
            button = make_button(option, kind="segment")
            button.setCheckable(True)
            button.setSizePolicy(QSizePolicy.Policy.MinimumExpanding, QSizePolicy.Policy.Fixed)
            button.setAccessibleName(f"{self.accessibleName()}: {option}")
            places = {0: "first", len(options) - 1: "last"}
            give(button, place="only" if len(options) == 1 else places.get(index, "middle"))
            self._group.addButton(button, index)
            self._row.addWidget(button, 1)
            self._buttons.append(button)
