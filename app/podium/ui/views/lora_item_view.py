"""One LoRA of the stack."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QWidget

from podium.models.lora_keys import LoraReport
from podium.ui.state.values import LoraItem
from podium.ui.theme import METRICS, Tint
from podium.ui.views.widgets.buttons import make_icon_button
from podium.ui.views.widgets.elided_label import ElidedLabel
from podium.ui.views.widgets.fold import DetailsFold
from podium.ui.views.widgets.layouts import around, column, row
from podium.ui.views.widgets.roles import give, give_surface, make_label
from podium.ui.views.widgets.strength_field import StrengthField

_USUAL = (0.0, 2.0)
_MOST = 100.0


class LoraItemView(QWidget):
    """Show one `LoraItem` and say what the artist wants of it."""

    toggled = Signal(bool)
    strength_changed = Signal(float)
    up_requested = Signal()
    down_requested = Signal()
    remove_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        give_surface(self, "item")
        self._is_on = QCheckBox()
        self._name = ElidedLabel("", "strong", mode=Qt.TextElideMode.ElideMiddle)
        self._up = make_icon_button("arrow-up", self.tr("Earlier"), tint=Tint.MUTED)
        self._down = make_icon_button("arrow-down", self.tr("Later"), tint=Tint.MUTED)
        self._remove = make_icon_button("close", self.tr("Take out of the stack"), tint=Tint.MUTED)
        self._strength = StrengthField("", slider_range=_USUAL, number_range=(-_MOST, _MOST))
        self._summary = make_label("", "caption", wraps=True)
        self._fold = DetailsFold()
        head = row(spacing=METRICS.space_xs)
        head.addWidget(self._is_on)
        head.addWidget(self._name, 1)
        for button in (self._up, self._down, self._remove):
            head.addWidget(button)
        parts = (head, self._strength, self._summary, self._fold)
        self.setLayout(column(*parts, spacing=METRICS.space_xs, margins=around(METRICS.space_s)))
        self._is_on.toggled.connect(self.toggled)
        self._strength.changed.connect(self.strength_changed)
        self._up.clicked.connect(self.up_requested)
        self._down.clicked.connect(self.down_requested)
        self._remove.clicked.connect(self.remove_requested)

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
    def fold(self) -> DetailsFold:
        """Return the details of its keys."""
        return self._fold

    def show_item(self, item: LoraItem, *, is_first: bool, is_last: bool) -> None:
        """Show an item and where it can go."""
        self._is_on.setChecked(item.is_on)
        self._is_on.setAccessibleName(self.tr("Apply {0}").format(item.name))
        self._is_on.setToolTip(self.tr("Apply to the next clip"))
        self._name.show_text(item.name, str(item.path))
        self._name.setEnabled(item.is_on)
        name = self.tr("Strength of {0}").format(item.name)
        self._strength.slider.setAccessibleName(name)
        self._strength.number.setAccessibleName(name)
        self._strength.setEnabled(item.is_on)
        self._strength.show_value(item.strength)
        self._up.setEnabled(not is_first)
        self._down.setEnabled(not is_last)
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
        f"{count.num_layers} {reason}:\n  " + "\n  ".join(count.first) for reason, count in report.left_out()
    )
