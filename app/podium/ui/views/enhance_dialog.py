"""A prompt written out, beside the one it is made of: nothing is taken over unseen."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QPlainTextEdit, QWidget

from podium.ui.state.enhance import EnhanceState
from podium.ui.theme import METRICS
from podium.ui.views.cancel_button import CancelButton
from podium.ui.views.widgets.banner import Banner
from podium.ui.views.widgets.buttons import make_button
from podium.ui.views.widgets.layouts import around, column, row
from podium.ui.views.widgets.roles import give, make_label


class EnhanceDialog(QDialog):
    """Show an `EnhanceState`: the original, what was written, *Use* and *Discard*; end what does not come."""

    def __init__(self, state: EnhanceState, parent: QWidget) -> None:
        super().__init__(parent)
        self._state = state
        self.setWindowTitle(self.tr("Enhance the Prompt"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._original = _page(self.tr("Your prompt"))
        self._enhanced = _page(self.tr("Written out"))
        self._problem = Banner("danger")
        self._note = Banner("accent")
        self.use = make_button(self.tr("Use"), kind="primary")
        self.again = make_button(self.tr("Write again"), icon="refresh")
        self.discard = make_button(self.tr("Discard"))
        self.stop = CancelButton(self.tr("Stop writing"), self.tr("End it at its next word"), self.tr("Being stopped…"))
        self._cost = give(make_label("", "caption", wraps=True), tone="warning")
        self.use.setDefault(True)
        both = row(spacing=METRICS.space_l)
        for title, page in ((self.tr("Your prompt"), self._original), (self.tr("Written out"), self._enhanced)):
            both.addLayout(column(make_label(title, "field"), page, spacing=METRICS.space_xs), 1)
        head = make_label(self.tr("Enhance the Prompt"), "headline")
        foot = row(self.stop, self.again)
        foot.addWidget(self._cost, 1)
        foot.addWidget(self.discard)
        foot.addWidget(self.use)
        whole = column(
            head, self._problem, both, self._note, foot, spacing=METRICS.space_l, margins=around(METRICS.space_xl)
        )
        self.setLayout(whole)
        self.resize(METRICS.dialog_width + METRICS.popup_width // 2, METRICS.popup_height)
        self.use.clicked.connect(self._on_use)
        self.again.clicked.connect(state.enhance)
        self.stop.cancel_pressed.connect(state.cancel)
        self.stop.force_pressed.connect(state.force_stop)
        self.discard.clicked.connect(self.reject)
        self.rejected.connect(state.discard)
        state.changed.connect(self._show)
        self._show()

    @property
    def original_text(self) -> str:
        """Return the prompt as shown."""
        return self._original.toPlainText()

    @property
    def enhanced_text(self) -> str:
        """Return what was written, as shown."""
        return self._enhanced.toPlainText()

    @property
    def problem_text(self) -> str:
        """Return why it was not written."""
        return self._problem.sentence

    @property
    def note_text(self) -> str:
        """Return what was left aside in writing."""
        return self._note.sentence

    @property
    def cost_text(self) -> str:
        """Return what a force stop costs, where one is offered."""
        return self._cost.text()

    @property
    def status_text(self) -> str:
        """Return how far the writing is, as shown where the text will be."""
        return self._enhanced.placeholderText()

    def _on_use(self) -> None:
        # In this order: what is used is forgotten by the state, and shown as nothing.
        self.accept()
        self._state.use()

    def _show(self) -> None:
        state = self._state
        if self._original.toPlainText() != state.original:
            self._original.setPlainText(state.original)
        if self._enhanced.toPlainText() != state.enhanced:
            self._enhanced.setPlainText(state.enhanced)
        status = (state.status or self.tr("Being written…")) if state.is_busy else ""
        self._enhanced.setPlaceholderText(status)
        self._enhanced.setAccessibleDescription(status)
        self._problem.show_message(state.problem)
        self._note.show_message(state.note)
        self.use.setEnabled(bool(state.enhanced))
        self.again.setVisible(not state.is_busy)
        self.stop.setVisible(state.is_busy)
        self.stop.show_phase(state.cancel_phase, state.force_cost)
        self._cost.setText(state.force_cost)


def _page(name: str) -> QPlainTextEdit:
    page = QPlainTextEdit()
    page.setReadOnly(True)
    page.setTabChangesFocus(True)
    page.setAccessibleName(name)
    return page
