"""The menu's actions of playing, on whatever is shown: the clip on the Stage, or two that are compared."""

from __future__ import annotations

from PySide6.QtCore import QObject, QSignalBlocker, Qt
from PySide6.QtWidgets import QAbstractButton

from podium.ui.views.actions import WindowActions
from podium.ui.views.stage_area import StageArea
from podium.ui.views.stage_view import StageView


class Playback(QObject):
    """Lead the actions to the controls that are shown, and back.

    Args:
        actions: The window's.
        stage: Where a clip is shown.
        area: Says which controls those are.
    """

    def __init__(self, actions: WindowActions, stage: StageView, area: StageArea, parent: QObject) -> None:
        super().__init__(parent)
        self._actions = actions
        self._stage = stage
        self._area = area
        for action, slot in (
            (actions.play, self._on_play),
            (actions.frame_back, self._on_frame_back),
            (actions.frame_forward, self._on_frame_forward),
            (actions.slower, self._on_slower),
            (actions.faster, self._on_faster),
            (actions.loop, self._on_loop),
            (actions.mute, self._on_mute),
        ):
            action.triggered.connect(slot)
        for button in (stage.transport.loop_button, stage.transport.mute_button):
            button.toggled.connect(self.show)
        area.transport_changed.connect(self._on_transport_changed)

    def show(self) -> None:
        """Show in the actions what can be done, and what is chosen."""
        actions, transport = self._actions, self._area.transport
        has_clip = self._area.is_comparing or self._stage.shown is not None
        for action in (actions.play, actions.frame_back, actions.frame_forward, actions.slower, actions.faster):
            action.setEnabled(has_clip)
        for action, button in ((actions.loop, transport.loop_button), (actions.mute, transport.mute_button)):
            with QSignalBlocker(action):
                action.setChecked(button.isChecked())

    def _on_play(self) -> None:
        self._area.transport.toggle_play()

    def _on_frame_back(self) -> None:
        self._area.transport.step(-1)

    def _on_frame_forward(self) -> None:
        self._area.transport.step(1)

    def _on_slower(self) -> None:
        self._area.transport.speed_button.step(-1)

    def _on_faster(self) -> None:
        self._area.transport.speed_button.step(1)

    def _on_loop(self) -> None:
        _click(self._area.transport.loop_button)

    def _on_mute(self) -> None:
        _click(self._area.transport.mute_button)

    def _on_transport_changed(self) -> None:
        compare = self._area.compare
        if compare is not None:
            for button in (compare.transport.loop_button, compare.transport.mute_button):
                button.toggled.connect(self.show, Qt.ConnectionType.UniqueConnection)
        self.show()


def _click(button: QAbstractButton) -> None:
    """Press a button whether it can be seen or not."""
    button.setChecked(not button.isChecked())
