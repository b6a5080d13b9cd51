"""Shape, size, length and frame rate of the clip: only what can be made can be chosen."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from PySide6.QtWidgets import QComboBox, QWidget

from podium.geometry import TIME_FACTOR
from podium.ui.state.compose import COMMON_FPS, MAX_NUM_FRAMES, ComposeState
from podium.ui.state.numbers import fps_in_words, number_in_words
from podium.ui.state.sizes import ASPECTS, MAX_SIDE_PX, MIN_SIDE_PX, ratio_in_words
from podium.ui.theme import METRICS
from podium.ui.views.suggest_view import SuggestView
from podium.ui.views.widgets.choice_slider import ChoiceSlider
from podium.ui.views.widgets.layouts import column, row
from podium.ui.views.widgets.number_field import NumberField
from podium.ui.views.widgets.roles import make_label
from podium.ui.views.widgets.wheel import leave_wheel

MEGAPIXELS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0, 1.2, 1.6, 2.1, 2.6, 3.1, 3.7, 4.4, 6.3, 8.3)
"""Areas the slider stands on, in millions of pixels."""

NUM_FRAMES = tuple(range(9, 482, TIME_FACTOR))
"""Lengths the slider stands on, in frames; longer ones can be typed, and show at the slider's end."""

MIN_NUM_FRAMES = TIME_FACTOR + 1


class FormatView(QWidget):
    """Show and change the clip's format in a `ComposeState`.

    Args:
        suggest: Has the model suggest the length.
    """

    def __init__(
        self, state: ComposeState, parent: QWidget | None = None, *, suggest: SuggestView | None = None
    ) -> None:
        super().__init__(parent)
        self._state = state
        self._aspect = _combo(self.tr("Shape"))
        self._aspect.addItem("")
        for aspect in ASPECTS:
            self._aspect.addItem(aspect.text)
        self._width = NumberField(self.tr("Width in pixels"), (MIN_SIDE_PX, MAX_SIDE_PX))
        self._height = NumberField(self.tr("Height in pixels"), (MIN_SIDE_PX, MAX_SIDE_PX))
        self._fps = _combo(self.tr("Frames per second"))
        for fps in COMMON_FPS:
            self._fps.addItem(self.tr("{0} fps").format(fps_in_words(fps)))
        self._area = ChoiceSlider(self.tr("Size"))
        self._length = ChoiceSlider(self.tr("Length"))
        self._seconds = NumberField(self.tr("Length in seconds"), (0, 1), num_decimals=2, suffix=self.tr(" s"))
        self._frames = NumberField(
            self.tr("Length in frames: 8 times a whole number, plus 1"),
            (MIN_NUM_FRAMES, MAX_NUM_FRAMES),
            step=TIME_FACTOR,
            suffix=self.tr(" frames"),
        )
        self._lay_out(suggest)
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

    @property
    def sides(self) -> tuple[NumberField, NumberField]:
        """Return where width and height are typed."""
        return self._width, self._height

    @property
    def seconds(self) -> NumberField:
        """Return where the length is typed in seconds."""
        return self._seconds

    @property
    def frames(self) -> NumberField:
        """Return where the length is typed in frames."""
        return self._frames

    @property
    def fps(self) -> QComboBox:
        """Return where the frame rate is chosen."""
        return self._fps

    def _lay_out(self, suggest: SuggestView | None) -> None:
        size = row(spacing=METRICS.space_s)
        size.addWidget(self._aspect, 3)
        size.addWidget(self._width, 2)
        size.addWidget(make_label("×", "muted"))
        size.addWidget(self._height, 2)
        length = row(spacing=METRICS.space_s)
        for field in (self._seconds, self._frames, self._fps):
            length.addWidget(field, 1)
        title = make_label(self.tr("Format"), "section")
        whole = column(title, size, self._area, spacing=METRICS.space_s)
        whole.addSpacing(METRICS.space_xs)
        whole.addWidget(self._length)
        whole.addLayout(length)
        if suggest is not None:
            length.addWidget(suggest.button)
            whole.addWidget(suggest)
        self.setLayout(whole)

    def _connect(self) -> None:
        state = self._state
        self._aspect.activated.connect(self._on_aspect)
        self._fps.activated.connect(self._on_fps)
        self._area.chosen.connect(self._on_area)
        self._length.chosen.connect(self._on_length)
        self._width.chosen.connect(self._on_width)
        self._height.chosen.connect(self._on_height)
        self._seconds.chosen.connect(self._on_seconds)
        self._frames.chosen.connect(self._on_frames)
        for signal in (
            *(state.width_changed, state.height_changed, state.aspect_changed, state.size_step_px_changed),
            *(state.num_frames_changed, state.fps_changed),
        ):
            signal.connect(self._show)

    def _on_aspect(self, index: int) -> None:
        # The first entry only tells the shape of a size of the artist's own.
        if index > 0:
            self._state.set_aspect(ASPECTS[index - 1])
        self._show()

    def _on_fps(self, index: int) -> None:
        self._state.set_fps(COMMON_FPS[index])

    def _on_area(self, place: int) -> None:
        self._state.set_megapixels(MEGAPIXELS[place])

    def _on_length(self, place: int) -> None:
        self._state.set_num_frames(NUM_FRAMES[place])

    def _on_width(self, width: float) -> None:
        self._state.set_width(round(width))
        self._show()

    def _on_height(self, height: float) -> None:
        self._state.set_height(round(height))
        self._show()

    def _on_seconds(self, duration_s: float) -> None:
        self._state.set_duration_s(duration_s)
        # What was typed may have become what stood there before.
        self._show()

    def _on_frames(self, num_frames: float) -> None:
        self._state.set_num_frames(round(num_frames))
        self._show()

    def _show(self) -> None:
        self._show_size()
        self._show_fps()
        state = self._state
        shortest, longest = (float(num_frames / state.fps) for num_frames in (MIN_NUM_FRAMES, MAX_NUM_FRAMES))
        self._seconds.show_ends(shortest, longest)
        self._seconds.setSingleStep(float(TIME_FACTOR / state.fps))
        self._seconds.show_number(state.duration_s)
        self._frames.show_number(state.num_frames)
        self._length.show_choice(len(NUM_FRAMES), _nearest(NUM_FRAMES, state.num_frames), "")
        self._length.slider.setAccessibleDescription(f"{self._seconds.text()}, {self._frames.text()}")

    def _show_size(self) -> None:
        state = self._state
        self._aspect.setItemText(0, ratio_in_words(state.width, state.height))
        self._aspect.setCurrentIndex(0 if state.aspect is None else 1 + ASPECTS.index(state.aspect))
        for field, side_px in ((self._width, state.width), (self._height, state.height)):
            field.setSingleStep(state.size_step_px)
            field.show_number(side_px)
        megapixels = self.tr("{0} MP").format(number_in_words(state.megapixels, 2))
        self._area.show_choice(len(MEGAPIXELS), _nearest(MEGAPIXELS, state.megapixels), megapixels)

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
    combo = leave_wheel(QComboBox())
    combo.setAccessibleName(name)
    combo.setToolTip(name)
    combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    combo.setMinimumContentsLength(4)
    return combo
