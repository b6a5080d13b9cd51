"""Where the prompt is written, with its length in tokens, the prompts of before, and what to stay away from."""

from __future__ import annotations

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QToolButton, QWidget

from podium.ui.state.compose import ComposeState
from podium.ui.state.enhance import EnhanceState
from podium.ui.state.prompts import PromptsState
from podium.ui.theme import METRICS, Tint
from podium.ui.views.enhance_dialog import EnhanceDialog
from podium.ui.views.prompt_popup import PromptPopup
from podium.ui.views.widgets.buttons import make_icon_button
from podium.ui.views.widgets.layouts import column, row
from podium.ui.views.widgets.prompt_editor import PromptEditor
from podium.ui.views.widgets.roles import give, make_label


class PromptView(QWidget):
    """Show and change both prompts of a `ComposeState`.

    Args:
        state: The form.
        prompts: The prompts of before.
        enhance: Writes the prompt out, where that can be had.
    """

    def __init__(
        self, state: ComposeState, prompts: PromptsState, enhance: EnhanceState, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._state = state
        self._enhance_state = enhance
        name = make_label(self.tr("Prompt"), "section")
        self._count = make_label("", "caption")
        self._enhance = make_icon_button("wand", self.tr("Enhance: have the prompt written out…"), tint=Tint.MUTED)
        self._history = make_icon_button("history", self.tr("Prompts of before"), tint=Tint.MUTED)
        self._editor = PromptEditor(self.tr("Prompt"), (METRICS.prompt_height, METRICS.prompt_max_height))
        self._editor.setPlaceholderText(
            self.tr("Describe the clip as one flowing paragraph: the scene, what moves, the camera, what is heard.")
        )
        name.setBuddy(self._editor)
        self._popup = PromptPopup(prompts, self)
        self._negative_name = make_label(self.tr("Negative prompt"), "field")
        self._negative = PromptEditor(self.tr("Negative prompt"), self._negative_ends())
        self._negative_name.setBuddy(self._negative)
        head = row(name, None, self._count, spacing=METRICS.space_xs)
        head.addWidget(self._enhance)
        head.addWidget(self._history)
        negative = column(self._negative_name, self._negative, spacing=METRICS.space_xs)
        whole = column(head, self._editor, spacing=METRICS.space_xs)
        whole.addSpacing(METRICS.space_s)
        whole.addLayout(negative)
        self.setLayout(whole)
        self._connect()
        self._show()
        self._show_negative()
        self._show_enhance()

    @property
    def editor(self) -> PromptEditor:
        """Return where the words are."""
        return self._editor

    @property
    def negative_editor(self) -> PromptEditor:
        """Return where the words are of what to stay away from."""
        return self._negative

    @property
    def count_text(self) -> str:
        """Return the token count as shown."""
        return self._count.text()

    @property
    def history_button(self) -> QToolButton:
        """Return what opens the prompts of before."""
        return self._history

    @property
    def enhance_button(self) -> QToolButton:
        """Return what has the prompt written out."""
        return self._enhance

    @property
    def popup(self) -> PromptPopup:
        """Return the prompts of before."""
        return self._popup

    def show_history(self) -> None:
        """Open the prompts of before."""
        below = self._editor.mapToGlobal(QPoint(0, 0))
        self._popup.open_at(below, self._editor.width())

    def _connect(self) -> None:
        state = self._state
        self._editor.textChanged.connect(self._on_edited)
        self._negative.textChanged.connect(self._on_negative_edited)
        self._history.clicked.connect(self.show_history)
        self._enhance.clicked.connect(self._on_enhance)
        for signal in (state.prompt_changed, state.num_tokens_changed, state.max_tokens_changed):
            signal.connect(self._show)
        state.prompt_changed.connect(self._show_enhance)
        state.negative_prompt_changed.connect(self._show_negative)
        state.pipeline_changed.connect(self._show_negative)
        self._enhance_state.is_available_changed.connect(self._show_enhance)

    def _on_edited(self) -> None:
        self._state.set_prompt(self._editor.toPlainText())

    def _on_negative_edited(self) -> None:
        self._state.set_negative_prompt(self._negative.toPlainText())

    def _on_enhance(self) -> None:
        EnhanceDialog(self._enhance_state, self.window()).open()
        self._enhance_state.enhance()

    def _negative_ends(self) -> tuple[int, int]:
        is_usable = self._state.pipeline.is_guided
        least = METRICS.negative_prompt_height if is_usable else METRICS.line_field_height
        return least, METRICS.prompt_height if is_usable else METRICS.line_field_height

    def _show(self) -> None:
        self._editor.show_text(self._state.prompt)
        count, most = self._state.num_tokens, self._state.max_tokens
        if count is None or most is None:
            self._count.setText("")
            return
        self._count.setText(self.tr("{0} of {1} tokens").format(count, most))
        give(self._count, tone="danger" if count > most else "")

    def _show_negative(self) -> None:
        is_usable = self._state.pipeline.is_guided
        self._negative.show_text(self._state.negative_prompt)
        self._negative.setEnabled(is_usable)
        self._negative_name.setEnabled(is_usable)
        self._negative.set_ends(self._negative_ends())
        reason = self.tr("Fast knows none. Quality and HQ do.")
        self._negative.setPlaceholderText(self.tr("What to stay away from") if is_usable else reason)
        self._negative.setToolTip("" if is_usable else reason)
        self._negative.setAccessibleDescription("" if is_usable else reason)

    def _show_enhance(self) -> None:
        self._enhance.setVisible(self._enhance_state.is_available)
        self._enhance.setEnabled(bool(self._state.prompt.strip()))
