"""A slider over the frames of a clip that goes where it is pressed."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QSlider, QStyle, QStyleOptionSlider


class ScrubBar(QSlider):
    """A horizontal slider; a press anywhere on it takes the handle there, to be dragged on."""

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.setPageStep(8)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Take the handle to the pointer before Qt takes hold of it."""
        if event.button() is Qt.MouseButton.LeftButton:
            self.setSliderPosition(self._value_at(round(event.position().x())))
        super().mousePressEvent(event)

    def _value_at(self, x: int) -> int:
        option = QStyleOptionSlider()
        self.initStyleOption(option)
        control, part = QStyle.ComplexControl.CC_Slider, QStyle.SubControl.SC_SliderHandle
        handle_width = self.style().subControlRect(control, option, part, self).width()
        span = self.width() - handle_width
        return QStyle.sliderValueFromPosition(self.minimum(), self.maximum(), x - handle_width // 2, span)
