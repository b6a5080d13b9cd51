"""Details that are folded away until they are asked for, and can be copied."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPlainTextEdit, QPushButton, QWidget

from podium.ui.theme import METRICS, load_icon
from podium.ui.views.widgets.buttons import make_button
from podium.ui.views.widgets.layouts import column, row

_NUM_LINES_SHOWN = 8


class DetailsFold(QWidget):
    """A *Details* switch, the text beneath it, and *Copy*.

    Args:
        parent: Qt's.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._copied = ""
        self._switch = make_button(self.tr("Details"), kind="link", icon="chevron-right")
        self._switch.setIconSize(QSize(METRICS.icon_small, METRICS.icon_small))
        self._switch.setCheckable(True)
        self._copy = make_button(self.tr("Copy"), kind="link", icon="copy")
        self._copy.setIconSize(QSize(METRICS.icon_small, METRICS.icon_small))
        self._copy.setToolTip(self.tr("Copy the message and its details"))
        self._text = QPlainTextEdit()
        self._text.setReadOnly(True)
        self._text.setTabChangesFocus(True)
        self._text.setAccessibleName(self.tr("Details"))
        self._text.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self._text.setFixedHeight(_NUM_LINES_SHOWN * self._text.fontMetrics().lineSpacing())
        self._text.hide()
        self.setLayout(column(row(self._switch, self._copy, None), self._text))
        self._switch.toggled.connect(self._on_toggled)
        self._copy.clicked.connect(self._on_copy)

    @property
    def switch(self) -> QPushButton:
        """Return what unfolds it."""
        return self._switch

    def show_details(self, details: str, *, copied: str = "") -> None:
        """Show lines; without any there is nothing to unfold.

        Args:
            details: The lines.
            copied: What *Copy* takes, if more than the lines.
        """
        self._copied = copied or details
        self._switch.setVisible(bool(details))
        self._text.setVisible(bool(details) and self._switch.isChecked())
        if self._text.toPlainText() != details:
            self._text.setPlainText(details)

    def _on_toggled(self, is_open: bool) -> None:  # noqa: FBT001 - Qt's signature
        self._switch.setIcon(load_icon("chevron-down" if is_open else "chevron-right"))
        self._text.setVisible(is_open)

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self._copied)
