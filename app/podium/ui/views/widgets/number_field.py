"""A number that is typed, in one look: no arrows, and named for screen readers."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QValidator
from PySide6.QtWidgets import QDoubleSpinBox

from podium.ui.state.sentences import locale
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
        # Whatever the machine's language is, the window's writes its numbers.
        self.setLocale(locale())
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

    def validate(self, text: str, place: int) -> tuple[QValidator.State, str, int]:
        """Take a point for a comma and a comma for a point: neither groups digits here."""
        return super().validate(self._with_own_point(text), place)

    def valueFromText(self, text: str) -> float:  # noqa: N802 - Qt's name
        """Return the number that was typed."""
        return super().valueFromText(self._with_own_point(text))

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

    def _with_own_point(self, text: str) -> str:
        point = self.locale().decimalPoint()
        return text.replace("," if point == "." else ".", point) if self.decimals() else text
