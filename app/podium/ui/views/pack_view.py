"""Choose the model's files: what each place is for, what was found in it, and what is wrong."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QWidget

from podium.jobs import Quantization
from podium.ui.state.pack import PackState
from podium.ui.state.values import PackSlot
from podium.ui.theme import METRICS
from podium.ui.views.pack_file_view import PackFileView
from podium.ui.views.widgets.content_fold import ContentFold
from podium.ui.views.widgets.layouts import column, row
from podium.ui.views.widgets.roles import make_label
from podium.ui.views.widgets.segmented import Segmented

CHOOSABLE = (Quantization.NONE, Quantization.FP8_CAST)


class PackView(QWidget):
    """Show and change the files of a `PackState`."""

    def __init__(self, state: PackState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._files = {slot: PackFileView(slot) for slot in PackSlot}
        self.quantization = QuantizationView(state)
        self._fold = ContentFold(self.tr("Advanced"), self.quantization)
        self._fold.set_open(state.quantization is not Quantization.NONE)
        whole = column(spacing=METRICS.space_s)
        for slot in _ORDER:
            whole.addWidget(self._files[slot])
        whole.addWidget(self._fold)
        whole.addStretch(1)
        self.setLayout(whole)
        for slot, view in self._files.items():
            view.chosen.connect(partial(self._on_chosen, slot))
            view.cleared.connect(partial(state.clear_file, slot))
        state.files_changed.connect(self._show)
        state.is_split_changed.connect(self._show)
        self._show()

    def file_view(self, slot: PackSlot) -> PackFileView:
        """Return what shows a place."""
        return self._files[slot]

    @property
    def fold(self) -> ContentFold:
        """Return the fold around what few need."""
        return self._fold

    def _on_chosen(self, slot: PackSlot, path: object) -> None:
        assert isinstance(path, Path)
        self._state.choose_file(slot, path)

    def _show(self) -> None:
        for file in self._state.files:
            view = self._files[file.slot]
            view.show_file(file, is_split=self._state.is_split)
            view.setVisible(file.slot in self._state.slots)


# The distilled LoRA comes last: a model can do without it.
_ORDER = (*(slot for slot in PackSlot if slot is not PackSlot.DISTILLED_LORA), PackSlot.DISTILLED_LORA)


class QuantizationView(QWidget):
    """Show and change how a `PackState` holds the transformer's weights."""

    def __init__(self, state: PackState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._choice = Segmented(self.tr("Weights"))
        self._words = make_label("", "caption", wraps=True)
        name = make_label(self.tr("Weights"), "field")
        line = row(name, spacing=METRICS.space_m)
        line.addWidget(self._choice, 1)
        self.setLayout(column(line, self._words, spacing=METRICS.space_xs))
        self._choice.chosen.connect(self._on_chosen)
        state.quantization_changed.connect(self._show)
        self._show()

    @property
    def choice(self) -> Segmented:
        """Return where it is chosen."""
        return self._choice

    @property
    def words_text(self) -> str:
        """Return what is said of the choice."""
        return self._words.text()

    def _on_chosen(self, place: int) -> None:
        self._state.set_quantization(CHOOSABLE[place])

    def _show(self) -> None:
        if self._state.is_quantization_fixed:
            self._choice.show_options((self.tr("fp8, with the file's scales"),), 0)
            self._choice.setEnabled(False)
            self._words.setText(self.tr("This checkpoint is stored so, and stays so."))
            return
        place = CHOOSABLE.index(self._state.quantization)
        self._choice.setEnabled(True)
        self._choice.show_options((self.tr("As stored"), self.tr("fp8")), place)
        words = (
            self.tr("The weights keep their full precision."),
            self.tr("The weights take half the memory, and fine detail may suffer."),
        )
        self._words.setText(words[place])
