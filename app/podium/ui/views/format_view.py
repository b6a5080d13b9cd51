"""Shape, size, length and frame rate of the clip: only what can be made can be chosen."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QComboBox, QSpinBox, QWidget

from podium.geometry import SIZE_STEP_PX, TIME_FACTOR
from podium.ui.state.compose import COMMON_FPS, ComposeState
from podium.ui.state.sizes import ASPECTS, MAX_SIDE_PX, MIN_SIDE_PX
from podium.ui.theme import METRICS
from podium.ui.views.widgets.choice_slider import ChoiceSlider
from podium.ui.views.widgets.layouts import column, row
from podium.ui.views.widgets.roles import give, make_label
from podium.ui.views.widgets.words import fps_in_words, seconds_in_words

MEGAPIXELS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0, 1.2, 1.6, 2.1, 2.6, 3.1, 3.7, 4.4, 6.3, 8.3)
"""Areas the slider stands on, in millions of pixels."""

NUM_FRAMES = tuple(range(9, 482, TIME_FACTOR))
"""Lengths the slider stands on, in frames; longer ones can be had by the state, and show at the slider's end."""


class FormatView(QWidget):
    """Show and change the clip's format in a `ComposeState`."""

    def __init__(self, state: ComposeState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._aspect = _combo(self.tr("Shape"))
        self._aspect.addItem(self.tr("Own"))
        for aspect in ASPECTS:
            self._aspect.addItem(aspect.text)
        self._width = _side_field(self.tr("Width in pixels"))
        self._height = _side_field(self.tr("Height in pixels"))
        self._fps = _combo(self.tr("Frames per second"))
        for fps in COMMON_FPS:
            self._fps.addItem(self.tr("{0} fps").format(fps_in_words(fps)))
        self._area = ChoiceSlider(self.tr("Size"))
        self._length = ChoiceSlider(self.tr("Length"))
        times = make_label("×", "muted")
        line = row(spacing=METRICS.space_s)
        line.addWidget(self._aspect, 3)
        line.addWidget(self._width, 2)
        line.addWidget(times)
        line.addWidget(self._height, 2)
        line.addWidget(self._fps, 3)
        title = make_label(self.tr("Format"), "section")
        self.setLayout(column(title, line, self._area, self._length, spacing=METRICS.space_m))
        self._connect()
        self._show()

    @property
    def length(self) -> ChoiceSlider:
        """Return where the length is chosen."""
        return self._length

    @property
    def area(self) -> ChoiceSlider:
        """Return where the area is chosen."""
        return self._area

    @property
    def aspect(self) -> QComboBox:
        """Return where the shape is chosen."""
        return self._aspect

    def _connect(self) -> None:
        self._aspect.activated.connect(self._on_aspect)
        self._fps.activated.connect(self._on_fps)
        self._area.chosen.connect(self._on_area)
        self._length.chosen.connect(self._on_length)
        self._width.valueChanged.connect(self._state.set_width)
        self._height.valueChanged.connect(self._state.set_height)
        for signal in (
            self._state.width_changed,
            self._state.height_changed,
            self._state.aspect_changed,
            self._state.num_frames_changed,
            self._state.fps_changed,
        ):
            signal.connect(self._show)

    def _on_aspect(self, index: int) -> None:
        # The first entry only tells that width and height are the artist's own.
        if index > 0:
            self._state.set_aspect(ASPECTS[index - 1])
        self._show()

    def _on_fps(self, index: int) -> None:
        self._state.set_fps(COMMON_FPS[index])

    def _on_area(self, place: int) -> None:
        self._state.set_megapixels(MEGAPIXELS[place])

    def _on_length(self, place: int) -> None:
        self._state.set_num_frames(NUM_FRAMES[place])

    def _show(self) -> None:
        state = self._state
        self._aspect.setCurrentIndex(0 if state.aspect is None else 1 + ASPECTS.index(state.aspect))
        self._show_fps()
        for field, side_px in ((self._width, state.width), (self._height, state.height)):
            with QSignalBlocker(field):
                field.setValue(side_px)
        megapixels = self.tr("{0} MP").format(f"{state.megapixels:.2f}")
        self._area.show_choice(len(MEGAPIXELS), _nearest(MEGAPIXELS, state.megapixels), megapixels)
        length = seconds_in_words(state.duration_s)
        frames = self.tr("{0} frames").format(state.num_frames)
        self._length.show_choice(len(NUM_FRAMES), _nearest(NUM_FRAMES, state.num_frames), length, frames)

    def _show_fps(self) -> None:
        """Show the rate, also one that is not in the list."""
        fps = self._state.fps
        self._fps.setPlaceholderText(self.tr("{0} fps").format(fps_in_words(fps)))
        self._fps.setCurrentIndex(COMMON_FPS.index(fps) if fps in COMMON_FPS else -1)


def _nearest(choices: Sequence[float], value: float) -> int:
    """Return the place of the choice next to a value; `choices` rise."""
    above = min(bisect_left(choices, value), len(choices) - 1)
    below = max(0, above - 1)
    return below if value - choices[below] < choices[above] - value else above


def _combo(name: str) -> QComboBox:
    combo = QComboBox()
    combo.setAccessibleName(name)
    combo.setToolTip(name)
    combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    combo.setMinimumContentsLength(4)
    return combo


def _side_field(name: str) -> QSpinBox:
    field = QSpinBox()
    field.setRange(MIN_SIDE_PX, MAX_SIDE_PX)
    field.setSingleStep(SIZE_STEP_PX)
    field.setKeyboardTracking(False)
    give(field, buttons="none")
    field.setAlignment(Qt.AlignmentFlag.AlignHCenter)
    field.setAccessibleName(name)
    field.setToolTip(name)
    field.setMinimumWidth(METRICS.space_xxl)
    return field
