"""The left panel: what the artist asks for, and *Generate*."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QPushButton, QScrollArea, QSizePolicy, QWidget

from podium.ui.state.compose import MAX_NUM_SEEDS
from podium.ui.state.session import SessionState
from podium.ui.theme import METRICS, Tint
from podium.ui.views.estimate_view import EstimateView
from podium.ui.views.format_view import FormatView
from podium.ui.views.guidance_view import GuidanceView
from podium.ui.views.image_view import ImageView
from podium.ui.views.keyframes_view import KeyframesView
from podium.ui.views.lora_stack_view import LoraStackView
from podium.ui.views.note_row import NoteRow
from podium.ui.views.pipeline_view import PipelineView
from podium.ui.views.preset_view import PresetView
from podium.ui.views.prompt_view import PromptView
from podium.ui.views.seed_view import SeedView
from podium.ui.views.suggest_view import SuggestView
from podium.ui.views.widgets.buttons import make_button, tell_shortcut
from podium.ui.views.widgets.icon_label import IconLabel
from podium.ui.views.widgets.layouts import column, row
from podium.ui.views.widgets.number_field import NumberField
from podium.ui.views.widgets.roles import give, give_surface, make_label
from podium.ui.views.widgets.tab_order import order_tabs


class ComposeView(QWidget):
    """Show what a `SessionState` is asked for, and why it cannot be made where it cannot."""

    generate_requested = Signal()
    model_requested = Signal()
    """The artist wants to choose a model file that is missing."""

    def __init__(self, session: SessionState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        compose = session.compose
        give_surface(self, "panel")
        self.presets = PresetView(session.presets)
        self.pipeline = PipelineView(compose, session.pack, aside=self.presets)
        self.prompt = PromptView(compose, session.prompts, session.enhance)
        self.image = ImageView(compose.images)
        self.keyframes = KeyframesView(compose.keyframes)
        self.suggest = SuggestView(session.length)
        self.format = FormatView(compose, suggest=self.suggest)
        self.seed = SeedView(compose)
        self.loras = LoraStackView(session.loras)
        self.guidance = GuidanceView(compose.guidance)
        self.estimate = EstimateView(session.estimate)
        self.setLayout(column(self._make_form(), self._make_footer(), spacing=0))
        self.setMinimumWidth(METRICS.compose_width)
        self.pipeline.model_requested.connect(self.model_requested)
        session.problem_changed.connect(self._show)
        session.notes_changed.connect(self._show)
        compose.num_seeds_changed.connect(self._show)
        session.queue.edited_key_changed.connect(self._show)
        for signal in (compose.images.items_changed, session.loras.items_changed):
            signal.connect(self._order_tabs)
        self._show()
        self._order_tabs()

    @property
    def generate(self) -> QPushButton:
        """Return the button."""
        return self._generate

    @property
    def num_seeds(self) -> NumberField:
        """Return where it is typed how many clips to ask for at once."""
        return self._num_seeds

    @property
    def leave_button(self) -> QPushButton:
        """Return what leaves the edited entry of the queue as it was."""
        return self._leave

    @property
    def note_text(self) -> str:
        """Return what is to be said of the form without refusing it."""
        return self._note.text

    @property
    def problem_text(self) -> str:
        """Return what is said beside the button."""
        return self._problem.text()

    def tell_shortcut(self, action: QAction) -> None:
        """Say in the button's tooltip which keys do the same."""
        tell_shortcut(self._generate, action)

    def _make_form(self) -> QScrollArea:
        form = give(QWidget(), surface="scrolled")
        margin = METRICS.space_l
        parts = (
            *(self.pipeline, self.prompt, column(self.image, self.keyframes), self.format),
            *(self.seed, self.loras, self.guidance, None),
        )
        # The bar's own width is part of the margin, so that form and footer end on one line.
        right = margin - METRICS.scroll_bar
        form.setLayout(column(*parts, spacing=METRICS.space_xl, margins=(margin, margin, right, margin)))
        area = QScrollArea()
        area.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(form)
        return area

    def _make_footer(self) -> QWidget:
        footer = give_surface(QWidget(), "footer")
        self._generate = make_button(self.tr("Generate"), kind="primary", icon="generate", tint=Tint.ON_ACCENT)
        give(self._generate, measure="large")
        self._num_seeds = NumberField(self.tr("How many clips, with one seed after another"), (1, MAX_NUM_SEEDS))
        self._num_seeds.setPrefix("× ")
        give(self._num_seeds, measure="large")
        # As high as the button beside it.
        self._num_seeds.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Ignored)
        self._note = NoteRow()
        self._problem_icon = IconLabel("info", Tint.MUTED)
        self._problem = make_label("", "caption", wraps=True)
        self._problem_row = QWidget()
        line = row(self._problem_icon, spacing=METRICS.space_s)
        line.addWidget(self._problem, 1)
        line.setAlignment(self._problem_icon, Qt.AlignmentFlag.AlignTop)
        self._problem_row.setLayout(line)
        margin = METRICS.space_l
        press = row(spacing=METRICS.space_s)
        press.addWidget(self._num_seeds)
        press.addWidget(self._generate, 1)
        whole = (self._make_edit_row(), self._note, self.estimate, self._problem_row, press)
        footer.setLayout(column(*whole, spacing=METRICS.space_m, margins=(margin, METRICS.space_m, margin, margin)))
        self._generate.clicked.connect(self.generate_requested)
        self._num_seeds.chosen.connect(self._on_num_seeds)
        return footer

    def _make_edit_row(self) -> QWidget:
        self._edit_row = QWidget()
        self._leave = make_button(self.tr("Leave it as it was"), kind="link")
        line = row(IconLabel("edit", Tint.ACCENT), spacing=METRICS.space_s)
        line.addWidget(make_label(self.tr("An entry of the queue is edited."), "caption", wraps=True), 1)
        line.addWidget(self._leave)
        self._edit_row.setLayout(line)
        self._leave.clicked.connect(self._session.queue.stop_editing)
        return self._edit_row

    def _on_num_seeds(self, num_seeds: float) -> None:
        self._session.compose.set_num_seeds(round(num_seeds))

    def _order_tabs(self) -> None:
        order_tabs(self)

    def _show(self) -> None:
        problem, notes = self._session.problem, self._session.notes
        self._note.show_notes(notes)
        self._generate.setEnabled(self._session.can_generate)
        self._generate.setAccessibleDescription(problem or " ".join(notes))
        self._problem.setText(problem)
        self._problem_row.setVisible(bool(problem))
        self._num_seeds.show_number(self._session.compose.num_seeds)
        is_editing = self._session.queue.edited_key is not None
        self._edit_row.setVisible(is_editing)
        self._generate.setText(self._generate_words(is_editing=is_editing))

    def _generate_words(self, *, is_editing: bool) -> str:
        if is_editing:
            return self.tr("Put back into the queue")
        num_seeds = self._session.compose.num_seeds
        return self.tr("Generate") if num_seeds == 1 else self.tr("Generate {0}").format(num_seeds)
