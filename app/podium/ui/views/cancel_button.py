"""The button that ends something at work: softly first, and by force where that is not heard."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton

from podium.ui.state.values import CancelPhase
from podium.ui.theme import Tint, load_icon
from podium.ui.views.widgets.roles import give


class CancelButton(QPushButton):
    """Show a `CancelPhase`, and say what was pressed.

    Args:
        words: While it can be asked softly, such as "Cancel".
        hint: What that does.
        asked_words: While that is waited for, such as "Cancelling…".
    """

    cancel_pressed = Signal()
    force_pressed = Signal()

    def __init__(self, words: str, hint: str, asked_words: str) -> None:
        super().__init__(words)
        self._words = words
        self._asked_words = asked_words
        self._hint = hint
        self._phase = CancelPhase.NONE
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAutoDefault(False)
        self.clicked.connect(self._on_pressed)

    def show_phase(self, phase: CancelPhase, cost: str) -> None:
        """Show what a press does now.

        Args:
            cost: Of a force stop.
        """
        self._phase = phase
        words = {
            CancelPhase.CANCELLING: self._asked_words,
            CancelPhase.CAN_FORCE: self.tr("Force stop"),
            CancelPhase.FORCING: self.tr("Stopping…"),
        }
        is_force = phase is CancelPhase.CAN_FORCE
        self.setText(words.get(phase, self._words))
        self.setEnabled(phase in (CancelPhase.CAN_CANCEL, CancelPhase.CAN_FORCE))
        self.setIcon(load_icon("stop", Tint.ON_DANGER if is_force else Tint.TEXT))
        self.setToolTip(cost if is_force else self._hint)
        give(self, kind="danger" if is_force else "")

    def _on_pressed(self) -> None:
        if self._phase is CancelPhase.CAN_FORCE:
            self.force_pressed.emit()
        else:
            self.cancel_pressed.emit()
