"""A sentence that has to be seen, with its details and what to do about it."""

from __future__ import annotations

from PySide6.QtGui import QAccessible, QAccessibleEvent
from PySide6.QtWidgets import QPushButton, QWidget

from podium.ui.theme import METRICS, Tint
from podium.ui.views.widgets.fold import DetailsFold
from podium.ui.views.widgets.icon_label import IconLabel
from podium.ui.views.widgets.layouts import around, column, row
from podium.ui.views.widgets.roles import give, give_surface, make_label

_ICONS = {"danger": ("error", Tint.DANGER), "warning": ("warning", Tint.WARNING), "accent": ("info", Tint.ACCENT)}


class Banner(QWidget):
    """A sentence in a tone, a fold beneath it if there are details, and buttons if any are added.

    Args:
        tone: "danger", "warning" or "accent".
        has_buttons_beside: Buttons stand beside the sentence, where there is little height, and not beneath.
    """

    def __init__(self, tone: str = "danger", *, has_buttons_beside: bool = False) -> None:
        super().__init__()
        give_surface(self, "banner")
        self._icon = IconLabel()
        self._sentence = make_label(wraps=True)
        self._fold = DetailsFold()
        self._buttons = row()
        self._actions = row(self._buttons) if has_buttons_beside else row(self._buttons, None)
        self._column = column(self._sentence, self._fold, spacing=METRICS.space_s)
        icon = column(self._icon, None, margins=(0, 1, 0, 0))
        whole = row(icon, spacing=METRICS.space_m, margins=around(METRICS.space_m))
        whole.addLayout(self._column, 1)
        (whole if has_buttons_beside else self._column).addLayout(self._actions)
        self.setLayout(whole)
        self._tone = ""
        self.set_tone(tone)
        self.show_message("")

    @property
    def sentence(self) -> str:
        """Return the sentence shown."""
        return self._sentence.text()

    @property
    def fold(self) -> DetailsFold:
        """Return the details beneath."""
        return self._fold

    def set_tone(self, tone: str) -> None:
        """Take another tone."""
        if tone != self._tone:
            self._tone = tone
            give(self, tone=tone)
            self._icon.show_icon(*_ICONS[tone])

    def show_message(self, sentence: str, details: str = "") -> None:
        """Show a sentence, or nothing at all; screen readers are told of a new one."""
        self._fold.setVisible(bool(details))
        self._fold.show_details(details, copied=f"{sentence}\n\n{details}")
        self.setVisible(bool(sentence))
        if sentence != self._sentence.text():
            self._sentence.setText(sentence)
            self.setAccessibleName(sentence)
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))

    def add_button(self, button: QPushButton) -> None:
        """Add what can be done about it."""
        self._buttons.addWidget(button)
