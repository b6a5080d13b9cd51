"""A strength, by slider and by number."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QSlider, QWidget

from podium.ui.theme import METRICS
from podium.ui.views.widgets.layouts import row
from podium.ui.views.widgets.number_field import NumberField
from podium.ui.views.widgets.wheel import leave_wheel

_TICKS = 100


class StrengthField(QWidget):
    """A slider over the usual range beside a number that may leave it.

    Args:
        name: What it is the strength of, for screen readers.
        slider_range: Ends of the slider.
        number_range: Ends of the number.
    """

    changed = Signal(float)
    """The artist chose this strength."""

    def __init__(
        self,
        name: str,
        *,
        slider_range: tuple[float, float] = (0.0, 1.0),
        number_range: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        super().__init__()
        low, high = slider_range
        self._slider = leave_wheel(QSlider(Qt.Orientation.Horizontal))
        self._slider.setRange(round(low * _TICKS), round(high * _TICKS))
        self._slider.setPageStep(_TICKS // 10)
        self._slider.setAccessibleName(name)
        self._number = NumberField(name, number_range, step=0.05, num_decimals=2)
        self._number.setFixedWidth(METRICS.number_width)
        whole = row(spacing=METRICS.space_m)
        whole.addWidget(self._slider, 1)
        whole.addWidget(self._number)
        self.setLayout(whole)
        self._slider.valueChanged.connect(self._on_slider)
        self._number.valueChanged.connect(self._on_number)

    @property
    def slider(self) -> QSlider:
        """Return the slider."""
        return self._slider

    @property
    def number(self) -> NumberField:
        """Return the number."""
        return self._number

    def show_value(self, strength: float) -> None:
        """Show a strength without saying that the artist chose it."""
        with QSignalBlocker(self._slider), QSignalBlocker(self._number):
            self._slider.setValue(round(strength * _TICKS))
            self._number.setValue(strength)

    def _on_slider(self, ticks: int) -> None:
        self.changed.emit(ticks / _TICKS)

    def _on_number(self, strength: float) -> None:
        self.changed.emit(strength)
