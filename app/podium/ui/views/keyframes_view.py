"""How many key frames the model shall make by itself; there is no such row for models that make none."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from podium.ui.state.keyframes import KeyframesState
from podium.ui.views.widgets.layouts import row
from podium.ui.views.widgets.number_field import NumberField
from podium.ui.views.widgets.roles import make_label


class KeyframesView(QWidget):
    """Show and change a `KeyframesState`."""

    def __init__(self, state: KeyframesState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        words = self.tr("Key frames made by the model")
        name = make_label(words, "field", wraps=True)
        self._count = NumberField(words, (0, 0))
        name.setBuddy(self._count)
        line = row()
        line.addWidget(name, 1)
        line.addWidget(self._count)
        self.setLayout(line)
        self._count.chosen.connect(self._on_chosen)
        state.changed.connect(self._show)
        self._show()

    @property
    def count(self) -> NumberField:
        """Return where it is typed how many."""
        return self._count

    def _on_chosen(self, count: float) -> None:
        self._state.set_count(round(count))

    def _show(self) -> None:
        state = self._state
        self._count.show_ends(0, state.most)
        self._count.show_number(state.count)
        self._count.setToolTip(self.tr("0 to {0}, spread evenly over the clip").format(state.most))
        self.setVisible(state.is_available)
