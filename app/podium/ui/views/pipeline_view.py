"""The way to make the clip: Fast, Quality or HQ, and what one of them lacks."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from podium.jobs import PipelineKind
from podium.ui.state.compose import ComposeState
from podium.ui.state.pack import PackState
from podium.ui.theme import METRICS
from podium.ui.views.widgets.buttons import make_button
from podium.ui.views.widgets.layouts import column, row
from podium.ui.views.widgets.roles import give, make_label
from podium.ui.views.widgets.segmented import Segmented

KINDS = tuple(PipelineKind)


class PipelineView(QWidget):
    """Show and change the pipeline of a `ComposeState`; a `PackState` says what it lacks.

    Args:
        state: The form.
        pack: The model's files.
        aside: What stands at the right of the heading.
    """

    model_requested = Signal()
    """The artist wants to choose the file that is missing."""

    def __init__(
        self, state: ComposeState, pack: PackState, *, aside: QWidget | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._state = state
        self._pack = pack
        self._choice = Segmented(self.tr("Pipeline"))
        self._words = make_label("", "caption", wraps=True)
        self._mend = make_button(self.tr("Choose the file…"), kind="link")
        head = row(make_label(self.tr("Pipeline"), "section"), None)
        if aside is not None:
            head.addWidget(aside)
        self.setLayout(column(head, self._choice, self._words, row(self._mend, None), spacing=METRICS.space_s))
        self._choice.chosen.connect(self._on_chosen)
        self._mend.clicked.connect(self.model_requested)
        state.pipeline_changed.connect(self._show)
        pack.files_changed.connect(self._show)
        pack.is_demo_changed.connect(self._show)
        self._show()

    @property
    def choice(self) -> Segmented:
        """Return where it is chosen."""
        return self._choice

    @property
    def words_text(self) -> str:
        """Return what is said of the chosen one."""
        return self._words.text()

    @property
    def mend_button(self) -> QPushButton:
        """Return what leads to the file that is missing."""
        return self._mend

    def _on_chosen(self, place: int) -> None:
        self._state.set_pipeline(KINDS[place])

    def _show(self) -> None:
        pipeline = self._state.pipeline
        names = (self.tr("Fast"), self.tr("Quality"), self.tr("HQ"))
        self._choice.show_options(names, KINDS.index(pipeline))
        # The whole sentence stands beside Generate.
        lack = self.tr("Needs your model's distilled LoRA.") if self._pack.pipeline_problem(pipeline) else ""
        words = {
            PipelineKind.FAST: self.tr("Few steps, no guidance: made for distilled checkpoints."),
            PipelineKind.QUALITY: self.tr(
                "Guided, with a negative prompt: follows the prompt closely, several times slower."
            ),
            PipelineKind.HQ: self.tr("Guided by a finer sampler, in fewer and slower steps."),
        }
        give(self._words, tone="warning" if lack else "").setText(lack or words[pipeline])
        self._mend.setVisible(bool(lack))
