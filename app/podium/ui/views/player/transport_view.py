"""The player's controls: play, step, scrub, speed, loop, sound."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QLabel, QSizePolicy, QSlider, QToolButton, QWidget

from podium.ui.state.numbers import number_in_words
from podium.ui.theme import METRICS
from podium.ui.views.player.clip_player import ClipPlayer
from podium.ui.views.player.scrub_bar import ScrubBar
from podium.ui.views.player.speed_button import SpeedButton
from podium.ui.views.widgets.buttons import make_icon_button, show_icon
from podium.ui.views.widgets.layouts import column, row
from podium.ui.views.widgets.roles import give_surface, make_label

_MAX_VOLUME = 100


class TransportView(QWidget):
    """Show where a `ClipPlayer` is, and steer it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._player: ClipPlayer | None = None
        self._plays_on = False
        self._is_held = False
        give_surface(self, "transport")
        self._back = make_icon_button("frame-back", self.tr("One frame back"))
        self._play = make_icon_button("play", self.tr("Play"))
        self._forward = make_icon_button("frame-forward", self.tr("One frame on"))
        self._scrub = ScrubBar()
        self._scrub.setAccessibleName(self.tr("Frame"))
        self._time = make_label("", "timecode")
        self._frame = make_label("", "caption")
        self._speed = SpeedButton()
        self._loop = make_icon_button("loop", self.tr("Loop"), is_checkable=True)
        self._loop.setChecked(True)
        self._mute = make_icon_button("volume", self.tr("Mute"), is_checkable=True)
        self._volume = QSlider(Qt.Orientation.Horizontal)
        self._volume.setRange(0, _MAX_VOLUME)
        self._volume.setValue(_MAX_VOLUME)
        self._volume.setFixedWidth(METRICS.number_width)
        self._volume.setAccessibleName(self.tr("Volume"))
        for label in (self._time, self._frame):
            label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._badge = make_label("", "badge")
        self._badge.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._badge.hide()
        self._note = make_label("", "caption", wraps=True)
        self._lay_out()
        self._connect()
        self.set_player(None)

    @property
    def scrub(self) -> ScrubBar:
        """Return the slider over the frames."""
        return self._scrub

    @property
    def play_button(self) -> QToolButton:
        """Return what plays and pauses."""
        return self._play

    @property
    def loop_button(self) -> QToolButton:
        """Return what makes it loop."""
        return self._loop

    @property
    def mute_button(self) -> QToolButton:
        """Return what silences it."""
        return self._mute

    @property
    def speed_button(self) -> SpeedButton:
        """Return what shows and chooses the speed."""
        return self._speed

    @property
    def volume_slider(self) -> QSlider:
        """Return how loud it is."""
        return self._volume

    @property
    def time_text(self) -> str:
        """Return the time and the frame as shown."""
        return f"{self._time.text()} {self._frame.text()}"

    def set_player(self, player: ClipPlayer | None) -> None:
        """Steer this player from now on."""
        self._player = player
        self.setEnabled(player is not None)
        self._note.setText(player.note if player else "")
        self._note.setVisible(bool(player and player.note))
        if player is None:
            return
        player.frame_shown.connect(self._on_frame)
        player.playing_changed.connect(self._show_playing)
        player.set_looping(self._loop.isChecked())
        player.set_speed(self._speed.speed)
        player.set_volume(self._volume.value() / _MAX_VOLUME)
        player.set_muted(self._mute.isChecked())

    def add_buttons(self, *buttons: QWidget) -> None:
        """Add what else can be done with the clip, at the right."""
        self._line.addSpacing(METRICS.space_s)
        for button in buttons:
            self._line.addWidget(button)

    def show_badge(self, text: str) -> None:
        """Say what kind of clip it is where that has to be known; an empty text says nothing."""
        self._badge.setText(text)
        self._badge.setVisible(bool(text))

    def toggle_play(self) -> None:
        """Play or pause."""
        if self._player is not None:
            self._player.toggle()

    def step(self, num_frames: int) -> None:
        """Stand still, so many frames further."""
        if self._player is not None:
            self._player.step(num_frames)

    def go_to(self, frame: int) -> None:
        """Stand still at a frame; one outside the clip becomes the nearest."""
        if self._player is not None:
            self._player.pause()
            self._player.seek(frame)

    def _lay_out(self) -> None:
        margins = (METRICS.space_m, METRICS.space_s, METRICS.space_l, METRICS.space_s)
        line = row(self._back, self._play, self._forward, spacing=METRICS.space_xs)
        line.addSpacing(METRICS.space_s)
        line.addWidget(self._badge)
        line.addWidget(self._scrub, 1)
        line.addSpacing(METRICS.space_s)
        for part in (self._time, self._frame, self._speed, self._loop, self._mute, self._volume):
            line.addWidget(part)
        self._line = line
        self.setLayout(column(line, self._note, spacing=METRICS.space_xs, margins=margins))

    def _connect(self) -> None:
        self._back.clicked.connect(self._on_back)
        self._forward.clicked.connect(self._on_forward)
        self._play.clicked.connect(self.toggle_play)
        self._scrub.sliderPressed.connect(self._on_pressed)
        self._scrub.sliderReleased.connect(self._on_released)
        self._scrub.valueChanged.connect(self._on_scrubbed)
        self._loop.toggled.connect(self._on_loop)
        self._mute.toggled.connect(self._on_mute)
        self._volume.valueChanged.connect(self._on_volume)
        self._speed.chosen.connect(self._on_speed)

    def _on_back(self) -> None:
        self.step(-1)

    def _on_forward(self) -> None:
        self.step(1)

    def _on_pressed(self) -> None:
        if self._player is not None:
            self._is_held = True
            self._plays_on = self._player.is_playing
            self._player.pause()

    def _on_released(self) -> None:
        self._is_held = False
        if self._player is not None and self._plays_on:
            self._player.play()

    def _on_scrubbed(self, frame: int) -> None:
        if self._player is not None:
            self._player.seek(frame)

    def _on_loop(self, is_looping: bool) -> None:  # noqa: FBT001 - Qt's signature
        if self._player is not None:
            self._player.set_looping(is_looping)

    def _on_mute(self, is_muted: bool) -> None:  # noqa: FBT001 - Qt's signature
        show_icon(self._mute, *(("volume-off", self.tr("Sound on")) if is_muted else ("volume", self.tr("Mute"))))
        if self._player is not None:
            self._player.set_muted(is_muted)

    def _on_volume(self, volume: int) -> None:
        if self._player is not None:
            self._player.set_volume(volume / _MAX_VOLUME)

    def _on_speed(self, speed: float) -> None:
        if self._player is not None:
            self._player.set_speed(speed)

    def _on_frame(self, _image: QImage, frame: int) -> None:
        player = self._player
        if player is None or player.clip is None:
            return
        # While the handle is held it is the artist's: a frame that comes late must not pull it back.
        if not self._is_held:
            with QSignalBlocker(self._scrub):
                self._scrub.setRange(0, player.num_frames - 1)
                self._scrub.setValue(frame)
        duration_s = float(player.clip.duration_s)
        self._show_line(
            self._time, number_in_words(float(frame / player.clip.fps), 2), number_in_words(duration_s, 2), " / {0} s"
        )
        self._show_line(self._frame, str(frame + 1), str(player.num_frames), self.tr(" of {0} frames"))

    def _show_line(self, label: QLabel, now: str, most: str, rest: str) -> None:
        """Show a number that rises to `most`; the label is as wide as it will ever be, so that nothing moves."""
        rest = rest.format(most)
        label.setMinimumWidth(label.fontMetrics().horizontalAdvance(most + rest) + METRICS.space_xs)
        label.setText(now + rest)

    def _show_playing(self) -> None:
        is_playing = self._player is not None and self._player.is_playing
        show_icon(self._play, *(("pause", self.tr("Pause")) if is_playing else ("play", self.tr("Play"))))
