"""The fleet: how it is, and a card for each of its devices."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from podium.ui.state.cards import DeviceCard
from podium.ui.state.fleet import FleetState
from podium.ui.state.values import CancelPhase, FleetPhase
from podium.ui.theme import METRICS
from podium.ui.views.cancel_button import CancelButton
from podium.ui.views.gpu_card import GpuCard
from podium.ui.views.links_view import LinksBadge, LinksView
from podium.ui.views.widgets.banner import Banner
from podium.ui.views.widgets.buttons import make_button
from podium.ui.views.widgets.elided_label import ElidedLabel
from podium.ui.views.widgets.layouts import column, row
from podium.ui.views.widgets.roles import give, give_surface, make_label


class FleetView(QWidget):
    """Show a `FleetState`; start it, stop it, unload it."""

    def __init__(self, state: FleetState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._cards: list[GpuCard] = []
        self._num_columns = 0
        give_surface(self, "panel")
        self._headline = make_label("", "strong")
        self._note = ElidedLabel("", "muted")
        self._start = make_button(self.tr("Start"), icon="power")
        self._start.setToolTip(self.tr("Load the model now, so that the first clip begins at once"))
        self._unload = make_button(self.tr("Unload"))
        self._unload.setToolTip(self.tr("Give the memory back; the next clip loads the model again"))
        hint = self.tr("End the fleet; a clip at work is cancelled first")
        self._stop = CancelButton(self.tr("Stop"), hint, self.tr("Stopping…"))
        self._cost = give(ElidedLabel("", "caption"), tone="warning")
        self._cost.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._badge = LinksBadge()
        self._links = LinksView()
        self._banner = Banner("danger")
        self._empty = make_label("", "muted", wraps=True)
        self.setLayout(self._lay_out())
        self._start.clicked.connect(state.start)
        self._unload.clicked.connect(state.unload)
        self._stop.cancel_pressed.connect(state.stop)
        self._stop.force_pressed.connect(state.force_stop)
        state.changed.connect(self._show)
        self._show()

    @property
    def cards(self) -> list[GpuCard]:
        """Return what shows each device."""
        return self._cards

    @property
    def note_text(self) -> str:
        """Return what is said beside the headline."""
        return self._note.text()

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
    def links_badge(self) -> LinksBadge:
        """Return what says in a few words how the GPUs reach each other."""
        return self._badge

    @property
    def links_view(self) -> LinksView:
        """Return what holds all that is known of that."""
        return self._links

    @property
    def cost_text(self) -> str:
        """Return what a force stop costs, where one is offered."""
        return self._cost.text()

    @property
    def unload_button(self) -> QPushButton:
        """Return what gives its memory back."""
        return self._unload

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Have as many cards side by side as there is room for."""
        if watched is self._area.viewport() and event.type() is QEvent.Type.Resize:
            self._arrange()
        return False

    def _lay_out(self) -> QVBoxLayout:
        margin = METRICS.space_l
        head = row(self._headline, spacing=METRICS.space_m)
        head.addWidget(self._badge)
        head.addWidget(self._note, 1)
        head.addWidget(self._cost, 1)
        for button in (self._start, self._unload, self._stop):
            head.addWidget(button)
        self._grid = QGridLayout()
        self._grid.setSpacing(METRICS.space_s)
        content = give(QWidget(), surface="scrolled")
        content.setLayout(column(self._banner, self._empty, self._grid, self._links, None, spacing=METRICS.space_s))
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setWidget(content)
        self._area.viewport().installEventFilter(self)
        whole = column(head, spacing=METRICS.space_s, margins=(margin, METRICS.space_s, margin, METRICS.space_s))
        whole.addWidget(self._area, 1)
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
        self._note.show_text(state.note)
        self._note.setVisible(not state.force_cost)
        self._start.setVisible(state.can_start)
        self._show_stop()
        self._unload.setVisible(state.can_unload)
        error = state.error
        self._banner.show_message(error.sentence if error else "", error.details if error else "")
        self._empty.setText(empty)
        self._empty.setVisible(not state.rows and error is None and bool(empty))
        self._show_cards(state.cards)

    def _show_stop(self) -> None:
        state = self._state
        self._stop.setVisible(state.stop_phase is not CancelPhase.NONE)
        self._stop.show_phase(state.stop_phase, state.force_cost)
        self._cost.show_text(state.force_cost)
        self._cost.setVisible(bool(state.force_cost))
        self._badge.show_links(state.links)
        self._links.show_links(state.links)

    def _show_cards(self, cards: tuple[DeviceCard, ...]) -> None:
        has_changed = len(cards) != len(self._cards)
        while len(self._cards) > len(cards):
            view = self._cards.pop()
            self._grid.removeWidget(view)
            view.hide()
            view.deleteLater()
        while len(self._cards) < len(cards):
            self._cards.append(GpuCard(self))
        for view, card in zip(self._cards, cards, strict=True):
            view.show_card(card)
        if has_changed:
            self._num_columns = 0
            self._arrange()

    def _arrange(self) -> None:
        fitting = max(1, self._area.viewport().width() // METRICS.card_width)
        num_columns = min(fitting, max(1, len(self._cards)))
        if num_columns == self._num_columns:
            return
        for place in range(max(num_columns, self._grid.columnCount())):
            self._grid.setColumnStretch(place, 1 if place < num_columns else 0)
        self._num_columns = num_columns
        for place, view in enumerate(self._cards):
            self._grid.addWidget(view, place // num_columns, place % num_columns)
            view.show()

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
