"""The bar at the top: which model, which devices, and how the fleet is."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from podium.ui.state.session import SessionState
from podium.ui.state.values import DeviceChoice, FleetPhase
from podium.ui.theme import METRICS, Tint, load_icon
from podium.ui.views.widgets.buttons import make_button
from podium.ui.views.widgets.icon_label import IconLabel
from podium.ui.views.widgets.layouts import row
from podium.ui.views.widgets.roles import give_surface, make_label


class HeaderView(QWidget):
    """Show what a `SessionState` works with; each of its chips leads to where that is changed."""

    model_requested = Signal()
    devices_requested = Signal()
    fleet_requested = Signal()

    def __init__(self, session: SessionState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        give_surface(self, "header")
        self.setFixedHeight(METRICS.header_height)
        self._model = make_button("", kind="chip", icon="cube", tint=Tint.MUTED)
        self._model.setToolTip(self.tr("Choose the model"))
        self._devices = make_button("", kind="chip", icon="gpu", tint=Tint.MUTED)
        self._devices.setToolTip(self.tr("Choose the devices"))
        self._fleet = make_button("", kind="chip", icon="power", tint=Tint.MUTED)
        self._fleet.setToolTip(self.tr("Show the fleet"))
        name = make_label("Podium", "title")
        mark = IconLabel("podium", Tint.ACCENT, size=METRICS.space_xl)
        margins = (METRICS.space_l, 0, METRICS.space_l, 0)
        parts = (mark, name, None, self._model, self._devices, self._fleet)
        self.setLayout(row(*parts, spacing=METRICS.space_s, margins=margins))
        self._model.clicked.connect(self.model_requested)
        self._devices.clicked.connect(self.devices_requested)
        self._fleet.clicked.connect(self.fleet_requested)
        for state in (session.pack, session.devices, session.fleet):
            state.changed.connect(self._show)
        self._show()

    @property
    def model_chip(self) -> QPushButton:
        """Return what shows the model."""
        return self._model

    @property
    def device_chip(self) -> QPushButton:
        """Return what shows the devices."""
        return self._devices

    @property
    def fleet_chip(self) -> QPushButton:
        """Return what shows how the fleet is."""
        return self._fleet

    def _show(self) -> None:
        pack = self._session.pack
        fallback = self.tr("Looking at the model…") if pack.is_busy else self.tr("No model chosen")
        self._model.setText(self.tr("Demo model") if pack.is_demo and pack.models else pack.summary or fallback)
        choice = self._session.devices.choice
        self._devices.setText(self._choice_in_words(choice))
        is_cpu = choice is not None and choice.cpu_ranks is not None
        self._devices.setIcon(load_icon("cpu" if is_cpu else "gpu", Tint.MUTED))
        fleet = self._session.fleet
        words, icon, tint = self._fleet_in_words(fleet.phase)
        if not all(rank.is_responding for rank in fleet.rows):
            words, icon, tint = self.tr("Not responding"), "error", Tint.DANGER
        self._fleet.setText(words)
        self._fleet.setIcon(load_icon(icon, tint))

    def _choice_in_words(self, choice: DeviceChoice | None) -> str:
        if choice is None:
            return self.tr("No device chosen")
        if choice.cpu_ranks is not None:
            return self.tr("CPU, ranks: {0}").format(choice.cpu_ranks)
        return self.tr("GPUs: {0}").format(len(choice.devices))

    def _fleet_in_words(self, phase: FleetPhase) -> tuple[str, str, Tint]:
        return {
            FleetPhase.STOPPED: (self.tr("Not loaded"), "power", Tint.MUTED),
            FleetPhase.STARTING: (self.tr("Loading…"), "refresh", Tint.ACCENT),
            FleetPhase.READY: (self.tr("Ready"), "done", Tint.SUCCESS),
            FleetPhase.BUSY: (self.tr("At work"), "generate", Tint.ACCENT),
            FleetPhase.STOPPING: (self.tr("Stopping…"), "power", Tint.WARNING),
            FleetPhase.FAILED: (self.tr("Failed"), "error", Tint.DANGER),
            FleetPhase.BLOCKED: (self.tr("Blocked"), "error", Tint.DANGER),
        }[phase]
