"""One device of the fleet: which card it is, what its ranks do, and who holds its memory."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from podium.jobs import Phase
from podium.ui.state.cards import CardState, DeviceCard
from podium.ui.state.numbers import bytes_in_words, number_in_words, share_in_words
from podium.ui.state.phase_words import phase_words
from podium.ui.state.sentences import said
from podium.ui.state.values import RankRow
from podium.ui.theme import METRICS, Tint
from podium.ui.views.widgets.elided_label import ElidedLabel
from podium.ui.views.widgets.icon_label import IconLabel
from podium.ui.views.widgets.layouts import column, row
from podium.ui.views.widgets.memory_bar import MemoryBar
from podium.ui.views.widgets.meter import Meter
from podium.ui.views.widgets.roles import give, give_surface, make_label

_TONES = {CardState.WELL: "", CardState.WAITING: "warning"}
_TINTS = {"": Tint.MUTED, "warning": Tint.WARNING, "danger": Tint.DANGER}
_SEPARATOR = " · "
# What the driver takes for itself is nobody's.
_DRIVER_BYTES = 2**30


class GpuCard(QWidget):
    """Show a `DeviceCard`; the CPU's, too."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        give_surface(self, "card")
        self._ranks: list[RankLine] = []
        self._icon = IconLabel("gpu", Tint.MUTED)
        self._name = ElidedLabel("", "strong")
        self._place = make_label("", "caption")
        self._badge = make_label("", "badge")
        self._idle = make_label("", "caption")
        self._bar = MemoryBar(self.tr("Memory of the device"))
        self._memory = ElidedLabel("", "caption")
        self._figures = make_label("", "caption")
        self._figures.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.setLayout(self._lay_out())

    @property
    def rank_lines(self) -> list[RankLine]:
        """Return what shows each rank."""
        return self._ranks

    @property
    def bar(self) -> MemoryBar:
        """Return what shows the memory."""
        return self._bar

    @property
    def badge_text(self) -> str:
        """Return what is to be said of the device; empty if all is well."""
        return self._badge.text()

    @property
    def texts(self) -> tuple[str, ...]:
        """Return what is said of the device: its name, its place, its memory, its other figures."""
        return self._name.text(), self._place.text(), self._memory.text(), self._figures.text()

    def show_card(self, card: DeviceCard) -> None:
        """Show how a device is."""
        tone = _TONES.get(card.state, "danger")
        give(self, tone=tone)
        self._icon.show_icon("cpu" if card.index is None else "gpu", _TINTS[tone])
        self._name.show_text(self._name_of(card))
        self._place.setText("" if card.index is None or not card.name else self.tr("GPU {0}").format(card.index))
        self._place.setToolTip(card.bus_id)
        words = self._state_in_words(card)
        give(self._badge, tone=tone).setText(words)
        self._badge.setVisible(bool(words))
        is_blocked = card.state is CardState.BLOCKED
        self._idle.setText(self.tr("Held by the last fleet") if is_blocked else self.tr("Chosen for the next fleet"))
        self._show_ranks(card.ranks)
        self._bar.show_memory(card.ours_bytes, card.others_bytes, card.total_bytes)
        self._memory.show_text(self._memory_in_words(card), self._holders_in_words(card))
        self._figures.setText(_SEPARATOR.join(self._figures_of(card)))
        self._figures.setVisible(bool(self._figures.text()))
        told = (*self.texts, words, *(line.accessibleName() for line in self._ranks))
        self.setAccessibleName(", ".join(filter(None, told)))

    def _lay_out(self) -> QVBoxLayout:
        head = row(self._icon, spacing=METRICS.space_s)
        head.addWidget(self._name, 1)
        head.addWidget(self._place)
        head.addWidget(self._badge)
        self._list = column(spacing=METRICS.space_s)
        foot = row(spacing=METRICS.space_s)
        foot.addWidget(self._memory, 1)
        foot.addWidget(self._figures)
        memory = column(foot, self._bar, spacing=METRICS.space_xs)
        margins = (METRICS.space_m, METRICS.space_s, METRICS.space_m, METRICS.space_s)
        return column(head, self._idle, self._list, None, memory, spacing=METRICS.space_s, margins=margins)

    def _name_of(self, card: DeviceCard) -> str:
        if card.index is None:
            return self.tr("CPU")
        return card.name or self.tr("GPU {0}").format(card.index)

    def _state_in_words(self, card: DeviceCard) -> str:
        return {
            CardState.BLOCKED: self.tr("Blocked"),
            CardState.LOST: self.tr("Lost"),
            CardState.NOT_RESPONDING: self.tr("Not responding"),
            CardState.NO_ANSWER: self.tr("No answer"),
            CardState.WAITING: _begun_large(said(card.waiting_text)),
            CardState.WELL: "",
        }[card.state]

    def _show_ranks(self, ranks: tuple[RankRow, ...]) -> None:
        self._idle.setVisible(not ranks)
        while len(self._ranks) > len(ranks):
            line = self._ranks.pop()
            self._list.removeWidget(line)
            line.hide()
            line.deleteLater()
        while len(self._ranks) < len(ranks):
            line = RankLine(self)
            self._ranks.append(line)
            self._list.addWidget(line)
        for line, rank in zip(self._ranks, ranks, strict=True):
            line.show_rank(rank)

    def _memory_in_words(self, card: DeviceCard) -> str:
        ours, others, free = map(bytes_in_words, (card.ours_bytes, card.others_bytes, card.free_bytes))
        if not card.total_bytes:
            return self.tr("Memory: not known") if not card.ours_bytes else ours
        if card.index is None:
            return self.tr("{0} here · {1} elsewhere · {2} free").format(ours, others, free)
        if not card.ours_bytes:
            return self.tr("{0} in use · {1} free").format(others, free)
        if not card.others and card.others_bytes < _DRIVER_BYTES:
            return self.tr("{0} ours · {1} free").format(ours, free)
        return self.tr("{0} ours · {1} others’ · {2} free").format(ours, others, free)

    def _holders_in_words(self, card: DeviceCard) -> str:
        lines = [
            self.tr("{0} (process {1})").format(process.name, process.pid)
            if process.num_bytes is None
            else self.tr("{0} (process {1}): {2}").format(process.name, process.pid, bytes_in_words(process.num_bytes))
            for process in card.others
        ]
        return "\n".join(lines)

    def _figures_of(self, card: DeviceCard) -> list[str]:
        figures = []
        if card.utilisation is not None:
            figures.append(share_in_words(card.utilisation))
        if card.num_threads is not None:
            figures.append(self.tr("{0} threads").format(card.num_threads))
        if card.temperature_c is not None:
            figures.append(self.tr("{0} °C").format(card.temperature_c))
        if card.power_w is not None:
            figures.append(self.tr("{0} W").format(round(card.power_w)))
        return figures


class RankLine(QWidget):
    """Show one rank: its phase and step, its last sign of life, and a bar of the phase."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rank = make_label("", "caption")
        self._phase = ElidedLabel("", "")
        self._sign = make_label("", "caption")
        self._sign.setToolTip(self.tr("Its last sign of life"))
        self._meter = Meter(self.tr("Progress of the phase"))
        line = row(self._rank, spacing=METRICS.space_s)
        line.addWidget(self._phase, 1)
        line.addWidget(self._sign)
        self.setLayout(column(line, self._meter, spacing=METRICS.space_xs))

    @property
    def texts(self) -> tuple[str, ...]:
        """Return what is said, from left to right."""
        return self._rank.text(), self._phase.text(), self._sign.text()

    def show_rank(self, rank: RankRow) -> None:
        """Show how a rank is."""
        self._rank.setText(self.tr("Rank {0}").format(rank.rank))
        step = self._step_in_words(rank)
        self._phase.show_text(", ".join(filter(None, (phase_words(rank.phase), step))))
        self._sign.setText(self.tr("{0} s ago").format(number_in_words(rank.sign_age_s, 1)))
        give(self._sign, tone="" if rank.is_responding else "danger")
        self._meter.show_share(_share(rank), tone="" if rank.is_responding else "danger")
        self.setAccessibleName(", ".join(filter(None, (*self.texts, said(rank.text)))))

    def _step_in_words(self, rank: RankRow) -> str:
        if rank.phase is Phase.LOADING and rank.bytes_total:
            done, total = bytes_in_words(rank.bytes_done), bytes_in_words(rank.bytes_total)
            return self.tr("{0} of {1}").format(done, total)
        if rank.step is None or rank.num_steps is None:
            return ""
        return self.tr("step {0} of {1}").format(rank.step, rank.num_steps)


def _begun_large(words: str) -> str:
    """Return words as they begin where they stand alone."""
    return words[:1].upper() + words[1:]


def _share(rank: RankRow) -> float | None:
    if rank.phase is Phase.LOADING and rank.bytes_total:
        return rank.bytes_done / rank.bytes_total
    if rank.step is None or not rank.num_steps:
        return None
    return rank.step / rank.num_steps
