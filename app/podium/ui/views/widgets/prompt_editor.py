"""Where a prompt is written: it grows with its text, and what is put into it can be undone."""

from __future__ import annotations

from PySide6.QtCore import QSizeF
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QPlainTextEdit

from podium.ui.theme import METRICS


class PromptEditor(QPlainTextEdit):
    """A plain text whose height follows its lines.

    Args:
        name: What is written here, for screen readers.
        ends: Least and greatest height in pixels.
    """

    def __init__(self, name: str, ends: tuple[int, int]) -> None:
        super().__init__()
        self._ends = ends
        self.setAccessibleName(name)
        self.setTabChangesFocus(True)
        self.setFixedHeight(ends[0])
        self.document().documentLayout().documentSizeChanged.connect(self._on_size)

    def show_text(self, text: str) -> None:
        """Show a text; what stood here comes back with the platform's keys for undoing."""
        # Writing the same words again would move the caret.
        if self.toPlainText() == text:
            return
        # `setPlainText` would forget everything that can be undone.
        cursor = self.textCursor()
        cursor.beginEditBlock()
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.insertText(text)
        cursor.endEditBlock()

    def set_ends(self, ends: tuple[int, int]) -> None:
        """Take other least and greatest heights."""
        self._ends = ends
        self._on_size(self.document().size())

    def _on_size(self, size: QSizeF) -> None:
        # A plain text document counts its height in lines.
        wanted = round((size.height() + 1) * self.fontMetrics().lineSpacing()) + METRICS.space_m
        self.setFixedHeight(min(self._ends[1], max(self._ends[0], wanted)))
