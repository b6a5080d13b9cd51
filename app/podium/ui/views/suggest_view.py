"""The button that has the model tell how long the clip should be, and what is said of that."""

from __future__ import annotations

from PySide6.QtWidgets import QToolButton, QWidget

from podium.ui.state.length import LengthState
from podium.ui.theme import Tint
from podium.ui.views.widgets.buttons import make_icon_button, show_icon
from podium.ui.views.widgets.layouts import column
from podium.ui.views.widgets.roles import give, make_label


class SuggestView(QWidget):
    """Show a `LengthState`: a line while it is waited for, or why it did not come. The button stands elsewhere."""

    def __init__(self, state: LengthState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._button = make_icon_button("wand", self._words(), tint=Tint.MUTED)
        self._line = make_label("", "caption", wraps=True)
        self.setLayout(column(self._line))
        self._button.clicked.connect(self._on_pressed)
        state.changed.connect(self._show)
        self._show()

    @property
    def button(self) -> QToolButton:
        """Return what asks; while the answer is waited for it leaves it."""
        return self._button

    @property
    def line_text(self) -> str:
        """Return what is said."""
        return self._line.text()

    def _on_pressed(self) -> None:
        if self._state.is_busy:
            self._state.leave()
        else:
            self._state.suggest()

    def _words(self) -> str:
        if self._state.is_busy:
            return self.tr("Wait for the length no more")
        return self.tr("Have the model suggest the length")

    def _show(self) -> None:
        state = self._state
        self._button.setVisible(state.is_available)
        show_icon(self._button, "close" if state.is_busy else "wand", self._words(), tint=Tint.MUTED)
        status = (state.status or self.tr("The model reads the prompt.")) if state.is_busy else ""
        self._line.setText(status or state.problem)
        give(self._line, tone="danger" if state.problem else "")
        self.setVisible(bool(self._line.text()))
