"""How fast a clip plays: a button that shows it and a menu to choose."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QToolButton

from podium.ui.state.numbers import factor_in_words
from podium.ui.views.player.clip_player import SPEEDS
from podium.ui.views.widgets.roles import give


class SpeedButton(QToolButton):
    """Show the speed and choose among `SPEEDS`."""

    chosen = Signal(float)

    def __init__(self) -> None:
        super().__init__()
        self._speed = 1.0
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        give(self, kind="quiet")
        group = QActionGroup(self)
        menu = QMenu(self)
        self._actions: dict[float, QAction] = {}
        for speed in SPEEDS:
            action = menu.addAction(speed_in_words(speed))
            action.setCheckable(True)
            action.setData(speed)
            group.addAction(action)
            self._actions[speed] = action
        group.triggered.connect(self._on_triggered)
        self.setMenu(menu)
        widest = max(self.fontMetrics().horizontalAdvance(speed_in_words(speed)) for speed in SPEEDS)
        self.setMinimumWidth(widest + 2 * self.fontMetrics().averageCharWidth())
        self._show()

    @property
    def speed(self) -> float:
        """Return the speed shown."""
        return self._speed

    def set_speed(self, speed: float) -> None:
        """Choose a speed of `SPEEDS`."""
        if speed != self._speed:
            self._speed = speed
            self._show()
            self.chosen.emit(speed)

    def step(self, num_places: int) -> None:
        """Choose a speed so many places further on; the ends stay the ends."""
        place = SPEEDS.index(self._speed) + num_places
        self.set_speed(SPEEDS[min(len(SPEEDS) - 1, max(0, place))])

    def _on_triggered(self, action: QAction) -> None:
        self.set_speed(action.data())

    def _show(self) -> None:
        words = speed_in_words(self._speed)
        self.setText(words)
        self.setAccessibleName(self.tr("Speed: {0}").format(words))
        self.setToolTip(self.tr("How fast it plays"))
        self._actions[self._speed].setChecked(True)


def speed_in_words(speed: float) -> str:
    """Return a speed as “0.5×” or “1×”."""
    return f"{factor_in_words(speed)}×"
