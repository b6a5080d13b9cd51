"""A number that is typed, in one look: no arrows, and named for screen readers."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QDoubleSpinBox

from podium.ui.theme import METRICS
from podium.ui.views.widgets.roles import give
from podium.ui.views.widgets.wheel import leave_wheel


class NumberField(QDoubleSpinBox):
    """A number; the arrow keys and the wheel step it. It is blank, and cannot be used, while it is not known.

    Args:
        name: What it is, for the tooltip and for screen readers.
        ends: Lowest and highest.
        step: Of the arrow keys.
        num_decimals: Digits behind the point; 0 for whole numbers.
        suffix: Such as " s".
    """

    chosen = Signal(float)
    """The artist chose this number."""

    def __init__(
        self, name: str, ends: tuple[float, float], *, step: float = 1.0, num_decimals: int = 0, suffix: str = ""
    ) -> None:
        super().__init__()
        self.setDecimals(num_decimals)
        self.setRange(*ends)
        self.setSingleStep(step)
        self.setSuffix(suffix)
        self.setKeyboardTracking(False)
        self.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.setMinimumWidth(METRICS.number_width)
        self.setAccessibleName(name)
        self.setToolTip(name)
        give(self, buttons="none")
        leave_wheel(self)
        self.valueChanged.connect(self.chosen)

    def show_number(self, number: float | None) -> None:
        """Show a number without saying that the artist chose it; None leaves it blank."""
        with QSignalBlocker(self):
            if number is None:
                self.clear()
            # Setting the same again would move the caret of who is typing.
            elif number != self.value() or not self.text():
                self.setValue(number)

    def show_ends(self, low: float, high: float) -> None:
        """Take other ends without saying that the artist chose what lies between them now."""
        with QSignalBlocker(self):
            self.setRange(low, high)
