"""What is to be said of a clip without refusing it: a sentence or several behind one icon."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from podium.ui.theme import METRICS, Tint
from podium.ui.views.widgets.icon_label import IconLabel
from podium.ui.views.widgets.layouts import row
from podium.ui.views.widgets.roles import give, make_label


class NoteRow(QWidget):
    """Show sentences in the tone of a warning; without any it takes no room."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        icon = IconLabel("warning", Tint.WARNING)
        self._label = give(make_label("", "caption", wraps=True), tone="warning")
        line = row(icon, spacing=METRICS.space_s)
        line.addWidget(self._label, 1)
        line.setAlignment(icon, Qt.AlignmentFlag.AlignTop)
        self.setLayout(line)
        self.show_notes(())

    @property
    def text(self) -> str:
        """Return what is said."""
        return self._label.text()

    def show_notes(self, notes: Sequence[str]) -> None:
        """Show sentences, one a line."""
        self._label.setText("\n".join(notes))
        self.setVisible(bool(notes))
