"""What the composed clip will take, beside Generate: tokens, memory of a device, time."""

from __future__ import annotations

from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from podium.models.residency import Place, ResidencyPlan
from podium.ui.state.estimate import EstimateState, MemoryEstimate
from podium.ui.state.numbers import bytes_in_words, number_in_words, seconds_in_words
from podium.ui.state.phase_words import phase_words
from podium.ui.theme import METRICS
from podium.ui.views.note_row import NoteRow
from podium.ui.views.widgets.elided_label import ElidedLabel
from podium.ui.views.widgets.layouts import column, row
from podium.ui.views.widgets.roles import give

_GB = 2**30


class EstimateView(QWidget):
    """Show an `EstimateState`, which follows the form from then on."""

    def __init__(self, state: EstimateState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._tokens = _make_cell()
        self._memory_title = _make_cell("caption")
        self._memory = _make_cell()
        self._time = _make_cell()
        self._problem = NoteRow()
        self.setLayout(self._lay_out())
        state.changed.connect(self._show)
        state.watch()
        self._show()

    @property
    def texts(self) -> tuple[str, str, str]:
        """Return what is said of tokens, memory and time."""
        return self._tokens.text(), self._memory.text(), self._time.text()

    @property
    def problem_text(self) -> str:
        """Return why it does not fit, and what would."""
        return self._problem.text

    def _lay_out(self) -> QVBoxLayout:
        figures = row(spacing=METRICS.space_m)
        pairs = (
            (_make_cell("caption", self.tr("Video tokens")), self._tokens),
            (self._memory_title, self._memory),
            (_make_cell("caption", self.tr("Time")), self._time),
        )
        for title, value in pairs:
            figures.addLayout(column(title, value, spacing=0), 1)
        return column(self._problem, figures, spacing=METRICS.space_s)

    def _show(self) -> None:
        state = self._state
        self._tokens.show_text(number_in_words(state.num_tokens))
        self._show_memory(state.most)
        self._show_time(state.duration_s, state.start_s)
        self._problem.show_notes((state.problem,) if state.problem else ())
        said = (
            self.tr("Video tokens: {0}").format(self._tokens.text()),
            f"{self._memory_title.text()}: {self._memory.text()}",
            self.tr("Time: {0}").format(self._time.text()),
            state.problem,
        )
        self.setAccessibleName(". ".join(filter(None, said)))

    def _show_memory(self, most: MemoryEstimate | None) -> None:
        is_on_gpus = most is None or most.index is not None
        self._memory_title.show_text(self.tr("Memory per GPU") if is_on_gpus else self.tr("Memory"))
        give(self._memory, role="muted" if most is None else "", tone="" if most is None or most.fits else "warning")
        if most is None:
            text = self.tr("not known yet")
        elif most.room_bytes:
            need, room = _gigabytes(most.need.num_bytes), bytes_in_words(most.room_bytes)
            text = self.tr("{0} of {1}").format(need, room)
        else:
            text = bytes_in_words(most.need.num_bytes)
        self._memory.show_text(text, "\n".join(self._memory_lines(most)))

    def _show_time(self, duration_s: float | None, start_s: float | None) -> None:
        give(self._time, role="muted" if duration_s is None else "")
        if duration_s is None:
            hint = self.tr("No clip like it was made on this machine yet")
            self._time.show_text(self.tr("not known yet"), hint)
            return
        before = "" if start_s is None else self.tr("The fleet starts before, in about {0}")
        text = self.tr("about {0}").format(seconds_in_words(duration_s))
        self._time.show_text(text, before.format(seconds_in_words(start_s or 0)))

    def _memory_lines(self, most: MemoryEstimate | None) -> list[str]:
        """Return the phases with what each takes, and where parts wait that have no room to stay."""
        if most is None:
            return []
        phases = [f"{phase_words(phase)}: {bytes_in_words(num_bytes)}" for phase, num_bytes in most.need.by_phase]
        return phases if most.index is None else [*phases, *self._residency_lines(self._state.residency)]

    def _residency_lines(self, residency: ResidencyPlan) -> list[str]:
        lines = []
        if residency.text_encoder is not Place.DEVICE:
            lines.append(self.tr("The text encoder waits in this machine’s memory while it has nothing to do."))
        if residency.decoders is not Place.DEVICE:
            lines.append(self.tr("So do the decoders and the upscaler."))
        if residency.clean is not Place.DEVICE:
            lines.append(self.tr("Weights without LoRAs are kept in this machine’s memory."))
        return lines


def _make_cell(role: str = "", text: str = "") -> ElidedLabel:
    """Return one line of a figure: as wide as its words where there is room, and never wider than the form."""
    cell = ElidedLabel(text, role)
    cell.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
    return cell


def _gigabytes(num_bytes: int) -> str:
    """Return a count without its unit where that follows anyway; small ones keep theirs."""
    return number_in_words(num_bytes / _GB) if num_bytes >= 10 * _GB else bytes_in_words(num_bytes)
