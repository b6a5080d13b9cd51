"""A LoRA's strengths by branch of the model, folded away under it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from podium.jobs import BranchStrengths
from podium.ui.theme import METRICS
from podium.ui.views.widgets.number_field import NumberField
from podium.ui.views.widgets.roles import make_label

BRANCHES = ("video", "audio", "audio_to_video", "video_to_audio")
_MOST = 100.0


class BranchView(QWidget):
    """Show and change four factors; 1 leaves a branch as the LoRA's strength has it."""

    changed = Signal(object)
    """The `BranchStrengths` that the artist chose."""

    def __init__(self) -> None:
        super().__init__()
        self._branches = BranchStrengths()
        self._fields: dict[str, NumberField] = {}
        grid = QGridLayout()
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(METRICS.space_s)
        grid.setVerticalSpacing(METRICS.space_xs)
        grid.setColumnStretch(0, 1)
        words = {
            "video": self.tr("Picture"),
            "audio": self.tr("Sound"),
            "audio_to_video": self.tr("Sound to picture"),
            "video_to_audio": self.tr("Picture to sound"),
        }
        for line, name in enumerate(BRANCHES):
            field = NumberField(words[name], (-_MOST, _MOST), step=0.05, num_decimals=2)
            label = make_label(words[name], "field")
            label.setBuddy(field)
            grid.addWidget(label, line, 0)
            grid.addWidget(field, line, 1)
            field.chosen.connect(partial(self._on_chosen, name))
            self._fields[name] = field
        self.setLayout(grid)

    def field(self, name: str) -> NumberField:
        """Return where a branch's factor is typed, by its name in `BranchStrengths`."""
        return self._fields[name]

    def show_branches(self, branches: BranchStrengths) -> None:
        """Show factors without saying that the artist chose them."""
        self._branches = branches
        for name, field in self._fields.items():
            field.show_number(getattr(branches, name))

    def _on_chosen(self, name: str, strength: float) -> None:
        self.changed.emit(replace(self._branches, **{name: strength}))
