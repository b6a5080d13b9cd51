"""The middle of the window: the Stage, or the comparison of two clips in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget

from podium.ui.state.history import HistoryState
from podium.ui.views.player.transport_view import TransportView
from podium.ui.views.stage_view import StageView

if TYPE_CHECKING:
    from podium.ui.views.compare_view import CompareView


class StageArea(QStackedWidget):
    """Show the Stage, and a comparison while a `HistoryState` has one.

    Args:
        stage: The Stage.
        history: Says what is compared.
        is_motion_reduced: Nothing moves unless it is asked to.
    """

    transport_changed = Signal()
    """Other controls steer what is shown now."""

    def __init__(self, stage: StageView, history: HistoryState, *, is_motion_reduced: bool) -> None:
        super().__init__()
        self._stage = stage
        self._history = history
        self._is_motion_reduced = is_motion_reduced
        self._compare: CompareView | None = None
        self.addWidget(stage)
        history.compared_changed.connect(self._show)
        self._show()

    @property
    def compare(self) -> CompareView | None:
        """Return the comparison; None before the first."""
        return self._compare

    @property
    def is_comparing(self) -> bool:
        """Return whether two clips are compared."""
        return self._history.compared is not None

    @property
    def transport(self) -> TransportView:
        """Return the controls of what is shown."""
        return self._compare.transport if self.is_comparing and self._compare is not None else self._stage.transport

    def set_motion_reduced(self, is_reduced: bool) -> None:  # noqa: FBT001 - the slot of a toggle
        """Choose whether nothing moves unless it is asked to."""
        self._is_motion_reduced = is_reduced
        self._stage.set_motion_reduced(is_reduced)
        if self._compare is not None:
            self._compare.set_motion_reduced(is_reduced)

    def close_players(self) -> None:
        """Let all clips go: the window does."""
        self._stage.close_player()
        if self._compare is not None:
            self._compare.close_player()

    def _show(self) -> None:
        if self.is_comparing and self._compare is None:
            # The border to PyAV: FFmpeg and numpy take a fifth of a window's start, and most days compare nothing.
            from podium.ui.views.compare_view import CompareView  # noqa: PLC0415

            self._compare = CompareView(self._history, is_motion_reduced=self._is_motion_reduced)
            self.addWidget(self._compare)
        if self.is_comparing and self._compare is not None:
            if self._stage.player is not None:
                self._stage.player.pause()
            self.setCurrentWidget(self._compare)
            self._compare.wipe.setFocus()
        else:
            self.setCurrentWidget(self._stage)
        self.transport_changed.emit()
