"""Where the prompt is written, with its length in tokens."""

from __future__ import annotations

from PySide6.QtCore import QSizeF
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from podium.ui.state.compose import ComposeState
from podium.ui.theme import METRICS
from podium.ui.views.widgets.layouts import column, row
from podium.ui.views.widgets.roles import give, make_label


class PromptView(QWidget):
    """Show and change the prompt of a `ComposeState`."""

    def __init__(self, state: ComposeState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        name = make_label(self.tr("Prompt"), "section")
        self._count = make_label("", "caption")
        self._editor = QPlainTextEdit()
        self._editor.setAccessibleName(self.tr("Prompt"))
        self._editor.setPlaceholderText(
            self.tr("Describe the clip as one flowing paragraph: the scene, what moves, the camera, what is heard.")
        )
        self._editor.setTabChangesFocus(True)
        self._editor.setFixedHeight(METRICS.prompt_height)
        name.setBuddy(self._editor)
        self.setLayout(column(row(name, None, self._count), self._editor, spacing=METRICS.space_s))
        self._editor.textChanged.connect(self._on_edited)
        self._editor.document().documentLayout().documentSizeChanged.connect(self._on_size)
        state.prompt_changed.connect(self._show)
        state.num_tokens_changed.connect(self._show)
        state.max_tokens_changed.connect(self._show)
        self._show()

    @property
    def editor(self) -> QPlainTextEdit:
        """Return where the words are."""
        return self._editor

    @property
    def count_text(self) -> str:
        """Return the token count as shown."""
        return self._count.text()

    def _on_edited(self) -> None:
        self._state.set_prompt(self._editor.toPlainText())

    def _on_size(self, size: QSizeF) -> None:
        # A plain text document counts its height in lines.
        wanted = round((size.height() + 1) * self._editor.fontMetrics().lineSpacing()) + METRICS.space_m
        self._editor.setFixedHeight(min(METRICS.prompt_max_height, max(METRICS.prompt_height, wanted)))

    def _show(self) -> None:
        # Writing the same words again would move the cursor.
        if self._editor.toPlainText() != self._state.prompt:
            self._editor.setPlainText(self._state.prompt)
        count, most = self._state.num_tokens, self._state.max_tokens
        if count is None or most is None:
            self._count.setText("")
            return
        self._count.setText(self.tr("{0} of {1} tokens").format(count, most))
        give(self._count, tone="danger" if count > most else "")
