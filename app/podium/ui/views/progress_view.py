"""How far the job is: its phases, what is left, and the button that ends it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget

from podium.jobs import Phase
from podium.ui.state.job import JobState
from podium.ui.state.numbers import seconds_in_words
from podium.ui.state.phase_words import phase_words
from podium.ui.state.progress import PHASE_ORDER
from podium.ui.state.values import JobPhase, PhaseRow
from podium.ui.theme import METRICS
from podium.ui.views.cancel_button import CancelButton
from podium.ui.views.note_row import NoteRow
from podium.ui.views.widgets.elided_label import ElidedLabel
from podium.ui.views.widgets.layouts import column, row
from podium.ui.views.widgets.meter import Meter
from podium.ui.views.widgets.roles import give, give_surface, make_label


class ProgressView(QWidget):
    """Show the progress of a `JobState`, and cancel it or stop it by force."""

    def __init__(self, state: JobState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        give_surface(self, "transport")
        self._title = make_label("", "strong")
        self._left = make_label("", "muted")
        self._cost = give(ElidedLabel("", "caption"), tone="warning")
        self._cost.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        hint = self.tr("End this clip at its next step (Esc)")
        self._cancel = CancelButton(self.tr("Cancel"), hint, self.tr("Cancelling…"))
        self._notes = NoteRow()
        self._segments = {phase: PhaseSegment(phase_words(phase)) for phase in PHASE_ORDER}
        head = row(self._title, self._left, spacing=METRICS.space_m)
        # Only where there is no cost to tell.
        head.addStretch(0)
        head.addWidget(self._cost, 1)
        head.addWidget(self._cancel)
        strip = row(spacing=METRICS.space_s)
        for segment in self._segments.values():
            strip.addWidget(segment, 1)
        margins = (METRICS.space_l, METRICS.space_m, METRICS.space_l, METRICS.space_m)
        self.setLayout(column(head, strip, self._notes, spacing=METRICS.space_m, margins=margins))
        self._cancel.cancel_pressed.connect(state.cancel)
        self._cancel.force_pressed.connect(state.force_stop)
        state.changed.connect(self._show)
        self._show()

    @property
    def cancel_button(self) -> QPushButton:
        """Return what cancels, and then stops by force."""
        return self._cancel

    @property
    def title_text(self) -> str:
        """Return what is being done."""
        return self._title.text()

    @property
    def left_text(self) -> str:
        """Return how long it may still take."""
        return self._left.text()

    @property
    def cost_text(self) -> str:
        """Return what a force stop costs."""
        return self._cost.text()

    @property
    def note_text(self) -> str:
        """Return what the check of the clip had to say."""
        return self._notes.text

    def _show(self) -> None:
        state = self._state
        self._title.setText(self._headline())
        left_s = state.time_left_s
        self._left.setText("" if left_s is None else self.tr("about {0} left").format(seconds_in_words(left_s)))
        self._show_phases({row.phase: row for row in state.phases})
        self._show_cancel()

    def _headline(self) -> str:
        if self._state.phase is JobPhase.CHECKING:
            return self.tr("Checking the request…")
        if self._state.phase is JobPhase.WAITING:
            return self.tr("Starting the devices and loading the model…")
        current = next((row for row in reversed(self._state.phases) if not row.is_done), None)
        if current is None:
            return self.tr("Working…")
        if current.step is None or current.num_steps is None:
            return f"{phase_words(current.phase)}…"
        return self.tr("{0}, step {1} of {2}").format(phase_words(current.phase), current.step, current.num_steps)

    def _show_phases(self, rows: dict[Phase, PhaseRow]) -> None:
        for phase, segment in self._segments.items():
            segment.show_row(rows.get(phase))
        # Most clips have no LoRA: a phase that does not come is not announced.
        self._segments[Phase.SWAPPING].setVisible(Phase.SWAPPING in rows)

    def _show_cancel(self) -> None:
        cost = self._state.force_cost
        self._cancel.show_phase(self._state.cancel_phase, cost)
        self._cost.show_text(cost)
        self._cost.setVisible(bool(cost))
        self._notes.show_notes(self._state.notes)


class PhaseSegment(QWidget):
    """Show one phase: its words over a bar.

    Args:
        words: What it is called.
    """

    def __init__(self, words: str) -> None:
        super().__init__()
        self._words = words
        self._label = ElidedLabel(words, "phase")
        self._meter = Meter(words)
        self.setLayout(column(self._meter, self._label, spacing=METRICS.space_xs))

    def show_row(self, phase: PhaseRow | None) -> None:
        """Show how far the phase is; None is still to come."""
        if phase is None:
            self._meter.show_share(None)
            give(self._label, progress="ahead").show_text(self._words)
        elif phase.is_done:
            self._meter.show_share(1.0)
            took = "" if phase.duration_s is None else f"{self._words}: {seconds_in_words(phase.duration_s)}"
            give(self._label, progress="done").show_text(self._words, took)
        else:
            # A phase that cannot be measured is seen to be at work, and neither untouched nor done.
            is_measured = phase.fraction is not None
            self._meter.show_share(phase.fraction if is_measured else 1.0, tone="" if is_measured else "muted")
            give(self._label, progress="running").show_text(self._words)
