"""The seed, with its lock and its dice."""

from __future__ import annotations

from PySide6.QtCore import QRegularExpression
from PySide6.QtGui import QRegularExpressionValidator
from PySide6.QtWidgets import QLineEdit, QToolButton, QWidget

from podium.ui.state.compose import ComposeState
from podium.ui.theme import METRICS, Tint
from podium.ui.views.widgets.buttons import make_icon_button, show_icon
from podium.ui.views.widgets.layouts import column, row
from podium.ui.views.widgets.roles import give, make_label

_MAX_DIGITS = 20


class SeedView(QWidget):
    """Show and change the seed of a `ComposeState`."""

    def __init__(self, state: ComposeState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        name = make_label(self.tr("Seed"), "section")
        # A seed has up to 64 bits, which is more than a spin box holds.
        self._field = give(QLineEdit(), kind="field")
        self._field.setValidator(
            QRegularExpressionValidator(QRegularExpression(rf"\d{{1,{_MAX_DIGITS}}}"), self._field)
        )
        self._field.setAccessibleName(self.tr("Seed"))
        name.setBuddy(self._field)
        self._lock = make_icon_button("unlock", self.tr("Keep this seed"), is_checkable=True)
        self._dice = make_icon_button("dice", self.tr("Throw the dice: another seed"))
        line = row(spacing=METRICS.space_xs)
        line.addWidget(self._field, 1)
        line.addWidget(self._lock)
        line.addWidget(self._dice)
        self.setLayout(column(name, line))
        self._field.editingFinished.connect(self._on_edited)
        self._lock.toggled.connect(state.set_seed_locked)
        self._dice.clicked.connect(state.roll_seed)
        state.seed_changed.connect(self._show)
        state.is_seed_locked_changed.connect(self._show)
        self._show()

    @property
    def field(self) -> QLineEdit:
        """Return where the seed is typed."""
        return self._field

    @property
    def lock(self) -> QToolButton:
        """Return what keeps the seed."""
        return self._lock

    @property
    def dice(self) -> QToolButton:
        """Return what throws another."""
        return self._dice

    def _on_edited(self) -> None:
        if self._field.text():
            self._state.set_seed(int(self._field.text()))
        self._show()

    def _show(self) -> None:
        seed = str(self._state.seed)
        if self._field.text() != seed:
            # `setText` would forget what can be undone.
            self._field.selectAll()
            self._field.insert(seed)
            self._field.deselect()
        is_locked = self._state.is_seed_locked
        self._lock.setChecked(is_locked)
        if is_locked:
            show_icon(
                self._lock, "lock", self.tr("The seed is kept; press to draw a new one each time"), tint=Tint.ACCENT
            )
        else:
            show_icon(self._lock, "unlock", self.tr("A new seed for each clip; press to keep this one"))
