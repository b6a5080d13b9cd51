"""The left panel: what the artist asks for, and *Generate*."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QPushButton, QScrollArea, QWidget

from podium.ui.state.session import SessionState
from podium.ui.theme import METRICS, Tint
from podium.ui.views.format_view import FormatView
from podium.ui.views.image_view import ImageView
from podium.ui.views.lora_stack_view import LoraStackView
from podium.ui.views.prompt_view import PromptView
from podium.ui.views.seed_view import SeedView
from podium.ui.views.widgets.buttons import make_button, tell_shortcut
from podium.ui.views.widgets.icon_label import IconLabel
from podium.ui.views.widgets.layouts import column, row
from podium.ui.views.widgets.roles import give, give_surface, make_label


class ComposeView(QWidget):
    """Show what a `SessionState` is asked for, and why it cannot be made where it cannot."""

    generate_requested = Signal()

    def __init__(self, session: SessionState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        give_surface(self, "panel")
        self.prompt = PromptView(session.compose)
        self.image = ImageView(session.compose)
        self.format = FormatView(session.compose)
        self.seed = SeedView(session.compose)
        self.loras = LoraStackView(session.loras)
        self.setLayout(column(self._make_form(), self._make_footer(), spacing=0))
        self.setMinimumWidth(METRICS.compose_width)
        session.problem_changed.connect(self._show)
        self._show()

    @property
    def generate(self) -> QPushButton:
        """Return the button."""
        return self._generate

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
        parts = (self.prompt, self.image, self.format, self.seed, self.loras, None)
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
        give(self._generate, size="large")
        self._problem_icon = IconLabel("info", Tint.MUTED)
        self._problem = make_label("", "caption", wraps=True)
        self._problem_row = QWidget()
        line = row(self._problem_icon, spacing=METRICS.space_s)
        line.addWidget(self._problem, 1)
        line.setAlignment(self._problem_icon, Qt.AlignmentFlag.AlignTop)
        self._problem_row.setLayout(line)
        margin = METRICS.space_l
        footer.setLayout(
            column(
                self._problem_row,
                self._generate,
                spacing=METRICS.space_m,
                margins=(margin, METRICS.space_m, margin, margin),
            )
        )
        self._generate.clicked.connect(self.generate_requested)
        return footer

    def _show(self) -> None:
        problem = self._session.problem
        self._generate.setEnabled(self._session.can_generate)
        self._generate.setAccessibleDescription(problem)
        self._problem.setText(problem)
        self._problem_row.setVisible(bool(problem))
