"""One LoRA of the stack."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QLabel, QWidget

from podium.jobs import BranchStrengths
from podium.models.lora_keys import LoraReport
from podium.ui.state.loras import USUAL_STRENGTH
from podium.ui.state.numbers import factor_in_words
from podium.ui.state.sentences import said
from podium.ui.state.values import LoraItem
from podium.ui.theme import METRICS, Tint
from podium.ui.views.branch_view import BranchView
from podium.ui.views.widgets.buttons import make_icon_button
from podium.ui.views.widgets.content_fold import ContentFold
from podium.ui.views.widgets.elided_label import ElidedLabel
from podium.ui.views.widgets.fold import DetailsFold
from podium.ui.views.widgets.grip import Grip
from podium.ui.views.widgets.layouts import around, column, row
from podium.ui.views.widgets.roles import give, give_surface, make_label
from podium.ui.views.widgets.strength_field import StrengthField

_USUAL = (0.0, 2.0)
_MOST = 100.0


class LoraItemView(QWidget):
    """Show one `LoraItem` and say what the artist wants of it."""

    toggled = Signal(bool)
    strength_changed = Signal(float)
    branches_changed = Signal(object)
    """A `BranchStrengths`."""
    remove_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        give_surface(self, "item")
        self._grip = Grip(self.tr("Move it: drag, or press the arrow keys"))
        self._is_on = QCheckBox()
        self._name = ElidedLabel("", "strong", mode=Qt.TextElideMode.ElideMiddle)
        self._trained_for = make_label("", "badge")
        self._remove = make_icon_button("close", self.tr("Take out of the stack"), tint=Tint.MUTED)
        self._strength = StrengthField("", slider_range=_USUAL, number_range=(-_MOST, _MOST))
        self._warning = make_label("", "caption", wraps=True)
        give(self._warning, tone="warning")
        self._summary = make_label("", "caption", wraps=True)
        self._fold = DetailsFold()
        self._branches = BranchView()
        self._branch_fold = ContentFold(self.tr("Strengths by branch"), self._branches)
        head = row(spacing=METRICS.space_xs)
        head.addWidget(self._grip)
        head.addWidget(self._is_on)
        head.addWidget(self._name, 1)
        head.addWidget(self._trained_for)
        head.addWidget(self._remove)
        parts = (head, self._strength, self._warning, self._summary, self._fold, self._branch_fold)
        self.setLayout(column(*parts, spacing=METRICS.space_xs, margins=around(METRICS.space_s)))
        self._is_on.toggled.connect(self.toggled)
        self._strength.changed.connect(self.strength_changed)
        self._branches.changed.connect(self.branches_changed)
        self._remove.clicked.connect(self.remove_requested)

    @property
    def grip(self) -> Grip:
        """Return what it is moved by."""
        return self._grip

    @property
    def strength(self) -> StrengthField:
        """Return where its strength is chosen."""
        return self._strength

    @property
    def switch(self) -> QCheckBox:
        """Return what puts it on or off."""
        return self._is_on

    @property
    def summary_text(self) -> str:
        """Return what is said of its keys."""
        return self._summary.text()

    @property
    def warning(self) -> QLabel:
        """Return what is said of its strength."""
        return self._warning

    @property
    def fold(self) -> DetailsFold:
        """Return the details of its keys."""
        return self._fold

    @property
    def branch_fold(self) -> ContentFold:
        """Return the fold around its strengths by branch."""
        return self._branch_fold

    @property
    def branches(self) -> BranchView:
        """Return its strengths by branch."""
        return self._branches

    @property
    def trained_for_text(self) -> str:
        """Return which models it was made for, as far as its file tells."""
        return self._trained_for.text()

    def show_item(self, item: LoraItem) -> None:
        """Show an item."""
        self._is_on.setChecked(item.is_on)
        self._is_on.setAccessibleName(self.tr("Apply {0}").format(item.name))
        self._is_on.setToolTip(self.tr("Apply to the next clip"))
        self._grip.setAccessibleName(self.tr("Move {0}: press the arrow keys").format(item.name))
        self._name.show_text(item.name, str(item.path))
        self._name.setEnabled(item.is_on)
        name = self.tr("Strength of {0}").format(item.name)
        self._strength.slider.setAccessibleName(name)
        self._strength.number.setAccessibleName(name)
        self._strength.setEnabled(item.is_on)
        self._strength.show_value(item.strength)
        self._show_warning(item)
        self._show_report(item)
        self._branches.setEnabled(item.is_on)
        self._branches.show_branches(item.branches)
        is_own = item.branches != BranchStrengths()
        words = self.tr("Strengths by branch: changed") if is_own else self.tr("Strengths by branch")
        self._branch_fold.switch.setText(words)

    def _show_warning(self, item: LoraItem) -> None:
        is_beyond = item.is_on and abs(item.strength) > USUAL_STRENGTH
        self._warning.setVisible(is_beyond)
        text = self.tr("Beyond ±{0} most LoRAs only break the picture.")
        self._warning.setText(text.format(factor_in_words(USUAL_STRENGTH)) if is_beyond else "")

    def _show_report(self, item: LoraItem) -> None:
        trained_for = "" if item.report is None else item.report.trained_for
        self._trained_for.setText(trained_for)
        self._trained_for.setToolTip(self.tr("The model it was trained for, as its file tells"))
        self._trained_for.setVisible(bool(trained_for))
        give(self._trained_for, tone="warning" if item.is_for_another and item.is_on else "")
        sentence, tone, details = self._words(item)
        give(self._summary, tone=tone).setText(sentence)
        self._summary.setVisible(bool(sentence))
        self._fold.setVisible(bool(details))
        self._fold.show_details(details, copied=f"{sentence}\n{details}")

    def _words(self, item: LoraItem) -> tuple[str, str, str]:
        """Return a sentence on an item, its tone, and its details."""
        if item.problem:
            return item.problem, "danger" if item.is_on else "", item.details
        if item.is_reading:
            return self.tr("Being read…"), "", ""
        if item.report is None:
            return "", "", ""
        left_out = item.report.left_out()
        if not left_out:
            return self.tr("All of its {0} layers match this model.").format(item.report.applied.num_layers), "", ""
        sentence = self.tr("{0} layers match this model; others are left out.")
        return sentence.format(item.report.applied.num_layers), "warning", _left_out_lines(item.report)


def _left_out_lines(report: LoraReport) -> str:
    return "\n".join(
        f"{count.num_layers} {said(reason)}:\n  " + "\n  ".join(count.first) for reason, count in report.left_out()
    )
