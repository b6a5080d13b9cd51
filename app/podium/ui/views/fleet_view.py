"""The fleet: how it is, and on one line each, what its ranks do."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from podium.jobs import PHASE_WORDS, Phase
from podium.ui.state.fleet import FleetState
from podium.ui.state.values import FleetPhase, RankRow
from podium.ui.theme import METRICS, Tint
from podium.ui.views.widgets.banner import Banner
from podium.ui.views.widgets.buttons import make_button
from podium.ui.views.widgets.icon_label import IconLabel
from podium.ui.views.widgets.layouts import column, row
from podium.ui.views.widgets.meter import Meter
from podium.ui.views.widgets.roles import give, give_surface, make_label
from podium.ui.views.widgets.words import bytes_in_words

_GPU_PREFIX = "cuda:"


class FleetView(QWidget):
    """Show a `FleetState`; start it, stop it, unload it."""

    def __init__(self, state: FleetState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._rows: list[RankRowView] = []
        give_surface(self, "panel")
        self._headline = make_label("", "strong")
        self._note = make_label("", "muted")
        self._start = make_button(self.tr("Start"), icon="power")
        self._start.setToolTip(self.tr("Load the model now, so that the first clip begins at once"))
        self._unload = make_button(self.tr("Unload"))
        self._unload.setToolTip(self.tr("Give the memory back; the next clip loads the model again"))
        self._stop = make_button(self.tr("Stop"))
        self._stop.setToolTip(self.tr("End the fleet; a clip at work is cancelled first"))
        self._banner = Banner("danger")
        self._empty = make_label("", "muted", wraps=True)
        self.setLayout(self._lay_out())
        self._start.clicked.connect(state.start)
        self._unload.clicked.connect(state.unload)
        self._stop.clicked.connect(state.stop)
        state.changed.connect(self._show)
        self._show()

    @property
    def row_views(self) -> list[RankRowView]:
        """Return what shows each rank."""
        return self._rows

    @property
    def headline_text(self) -> str:
        """Return how the fleet is, in words."""
        return self._headline.text()

    @property
    def banner(self) -> Banner:
        """Return what shows why there is no fleet."""
        return self._banner

    @property
    def start_button(self) -> QPushButton:
        """Return what starts a fleet."""
        return self._start

    @property
    def stop_button(self) -> QPushButton:
        """Return what ends it."""
        return self._stop

    @property
    def unload_button(self) -> QPushButton:
        """Return what gives its memory back."""
        return self._unload

    def _lay_out(self) -> QVBoxLayout:
        margin = METRICS.space_l
        head = row(self._headline, self._note, None, self._start, self._unload, self._stop, spacing=METRICS.space_m)
        self._list = column(spacing=0)
        content = give(QWidget(), surface="scrolled")
        content.setLayout(column(self._banner, self._empty, self._list, None, spacing=METRICS.space_s))
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(content)
        whole = column(head, spacing=METRICS.space_s, margins=(margin, METRICS.space_s, margin, METRICS.space_s))
        whole.addWidget(area, 1)
        return whole

    def _show(self) -> None:
        state = self._state
        headline, empty = self._words(state.phase)
        silent = [rank.rank for rank in state.rows if not rank.is_responding]
        if silent:
            ranks = ", ".join(map(str, silent))
            headline = self.tr("Rank {0} does not respond").format(ranks)
        is_bad = bool(silent) or state.phase in (FleetPhase.FAILED, FleetPhase.BLOCKED)
        give(self._headline, tone="danger" if is_bad else "").setText(headline)
        self._note.setText(state.note)
        self._start.setVisible(state.can_start)
        self._stop.setVisible(state.can_stop)
        self._unload.setVisible(state.can_unload)
        error = state.error
        self._banner.show_message(error.sentence if error else "", error.details if error else "")
        self._empty.setText(empty)
        self._empty.setVisible(not state.rows and error is None)
        self._show_rows(state.rows)

    def _show_rows(self, rows: tuple[RankRow, ...]) -> None:
        while len(self._rows) > len(rows):
            view = self._rows.pop()
            self._list.removeWidget(view)
            view.hide()
            view.deleteLater()
        while len(self._rows) < len(rows):
            view = RankRowView(self)
            self._rows.append(view)
            self._list.addWidget(view)
        for view, rank_row in zip(self._rows, rows, strict=True):
            view.show_rank(rank_row)

    def _words(self, phase: FleetPhase) -> tuple[str, str]:
        """Return how the fleet is, and what to say where no rank can be shown."""
        return {
            FleetPhase.STOPPED: (
                self.tr("No fleet"),
                self.tr("The model loads with the first clip and stays loaded after it. Start loads it now."),
            ),
            FleetPhase.STARTING: (self.tr("Starting"), self.tr("The ranks are being started…")),
            FleetPhase.READY: (self.tr("Ready"), ""),
            FleetPhase.BUSY: (self.tr("At work"), ""),
            FleetPhase.STOPPING: (self.tr("Stopping"), self.tr("The ranks are being ended…")),
            FleetPhase.FAILED: (self.tr("Failed"), ""),
            FleetPhase.BLOCKED: (self.tr("Blocked"), ""),
        }[phase]


class RankRowView(QWidget):
    """Show one rank on one line."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        give_surface(self, "row")
        self._icon = IconLabel("done", Tint.SUCCESS, size=METRICS.icon)
        self._rank = _cell("strong", METRICS.column_s)
        self._device = _cell("muted", METRICS.column_s)
        self._state = make_label("", "badge")
        self._phase = _cell("", METRICS.column_l)
        self._meter = Meter(self.tr("Progress of the phase"))
        self._step = _cell("muted", METRICS.column_l)
        self._memory = _cell("muted", METRICS.column_m)
        self._sign = _cell("muted", METRICS.column_l)
        for cell in (self._step, self._memory, self._sign):
            cell.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        margins = (METRICS.space_s, METRICS.space_s, METRICS.space_s, METRICS.space_s)
        line = row(self._icon, self._rank, self._device, self._phase, spacing=METRICS.space_m, margins=margins)
        line.addWidget(self._meter, 1)
        # The badge is as wide as its words, its column always the same: what stands left of it stays in line.
        badge = QWidget()
        badge.setFixedWidth(METRICS.column_badge)
        badge.setLayout(row(None, self._state))
        for part in (self._step, self._memory, self._sign, badge):
            line.addWidget(part)
        self.setLayout(line)

    @property
    def texts(self) -> tuple[str, ...]:
        """Return what is said, from left to right."""
        cells = (self._rank, self._device, self._phase, self._step, self._memory, self._sign, self._state)
        return tuple(cell.text() for cell in cells)

    def show_rank(self, rank: RankRow) -> None:
        """Show how a rank is."""
        self._rank.setText(self.tr("Rank {0}").format(rank.rank))
        self._device.setText(self._device_in_words(rank.device))
        self._phase.setText(PHASE_WORDS[rank.phase])
        self._step.setText(self._step_in_words(rank))
        self._meter.show_share(self._share(rank), tone="" if rank.is_responding else "danger")
        self._memory.setText("" if rank.memory_bytes is None else bytes_in_words(rank.memory_bytes))
        self._memory.setToolTip(self.tr("Memory held on its device"))
        self._sign.setText(self.tr("{0} s ago").format(f"{rank.sign_age_s:.1f}"))
        self._sign.setToolTip(self.tr("Its last sign of life"))
        self._show_state(rank)
        self.setAccessibleName(", ".join(text for text in self.texts if text))

    def _show_state(self, rank: RankRow) -> None:
        # A row that does not respond is red from end to end: colour, icon and words say the same.
        give(self, tone="" if rank.is_responding else "danger")
        is_waiting = rank.is_responding and rank.text.startswith("waiting")
        self._state.setText(rank.text if rank.is_responding else rank.text.upper())
        # That all is well is said by the icon: only what is not has words of its own.
        self._state.setVisible(is_waiting or not rank.is_responding)
        give(self._state, tone="" if rank.is_responding and not is_waiting else "warning" if is_waiting else "danger")
        icon = ("done", Tint.SUCCESS) if rank.is_responding else ("error", Tint.DANGER)
        self._icon.show_icon(*(("warning", Tint.WARNING) if is_waiting else icon))

    def _device_in_words(self, device: str) -> str:
        if device.startswith(_GPU_PREFIX):
            return self.tr("GPU {0}").format(device.removeprefix(_GPU_PREFIX))
        return device.upper()

    def _step_in_words(self, rank: RankRow) -> str:
        if rank.phase is Phase.LOADING and rank.bytes_total:
            done, total = bytes_in_words(rank.bytes_done), bytes_in_words(rank.bytes_total)
            return self.tr("{0} of {1}").format(done, total)
        if rank.step is None or rank.num_steps is None:
            return ""
        return self.tr("step {0} of {1}").format(rank.step, rank.num_steps)

    def _share(self, rank: RankRow) -> float | None:
        if rank.phase is Phase.LOADING and rank.bytes_total:
            return rank.bytes_done / rank.bytes_total
        if rank.step is None or not rank.num_steps:
            return None
        return rank.step / rank.num_steps


def _cell(role: str, width: int) -> QLabel:
    label = make_label("", role)
    label.setFixedWidth(width)
    return label
