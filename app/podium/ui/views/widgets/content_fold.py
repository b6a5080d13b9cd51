"""A heading under which something is folded away."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from podium.ui.theme import METRICS, load_icon
from podium.ui.views.widgets.buttons import make_button
from podium.ui.views.widgets.layouts import column, row


class ContentFold(QWidget):
    """A switch with words, and a widget that is shown while it is on.

    Args:
        title: The words.
        content: What is folded away.
        kind: How the switch looks: "link", or "section" for a part of a form.
        aside: What stands at the right of the switch.
    """

    toggled = Signal(bool)

    def __init__(self, title: str, content: QWidget, *, kind: str = "link", aside: QWidget | None = None) -> None:
        super().__init__()
        self._content = content
        self._switch = make_button(title, kind=kind, icon="chevron-right")
        self._switch.setIconSize(QSize(METRICS.icon_small, METRICS.icon_small))
        self._switch.setCheckable(True)
        content.setVisible(False)
        head = row(self._switch, None)
        if aside is not None:
            head.addWidget(aside)
        self.setLayout(column(head, content, spacing=METRICS.space_xs if kind == "link" else METRICS.space_m))
        self._switch.toggled.connect(self._on_toggled)

    @property
    def switch(self) -> QPushButton:
        """Return what unfolds it."""
        return self._switch

    @property
    def is_open(self) -> bool:
        """Return whether it is unfolded."""
        return self._switch.isChecked()

    def set_open(self, is_open: bool) -> None:  # noqa: FBT001 - a toggle's own value
        """Unfold it, or fold it away."""
        self._switch.setChecked(is_open)

    def _on_toggled(self, is_open: bool) -> None:  # noqa: FBT001 - Qt's signature
        self._switch.setIcon(load_icon("chevron-down" if is_open else "chevron-right"))
        self._content.setVisible(is_open)
        self.toggled.emit(is_open)
