"""The fleet as the window sees it: how it is, and what each rank does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from podium.jobs import RankMemory
from podium.ui.state.cards import DeviceCard, make_cards
from podium.ui.state.events import (
    FleetEvent,
    FleetFailed,
    FleetReady,
    FleetStarting,
    FleetStopped,
    FleetStopping,
)
from podium.ui.state.force_timer import ForceTimer
from podium.ui.state.freeing import FIRST_READING, PATIENCE_READINGS, HeldMemory, Remainder, held_by, remainders
from podium.ui.state.links import FleetLinks
from podium.ui.state.numbers import bytes_in_words
from podium.ui.state.observable import ObservableState
from podium.ui.state.ports import FleetControls
from podium.ui.state.readings import MachineReading
from podium.ui.state.values import CancelPhase, DeviceRow, ErrorMessage, FleetPhase, FleetSpec, RankRow

POLL_MS = 250
DEAD = "dead"
_MAX_DEVICES_SAID = 2


class FleetState(ObservableState):
    """How the fleet is.

    Args:
        controls: Looks at the fleet that is there, and kills it.
    """

    phase_changed = Signal()
    rows_changed = Signal()
    cards_changed = Signal()
    reading_changed = Signal()
    watched_pids_changed = Signal()
    error_changed = Signal()
    note_changed = Signal()
    start_duration_s_changed = Signal()
    links_changed = Signal()
    stop_phase_changed = Signal()
    force_cost_changed = Signal()
    start_requested = Signal()
    """The artist wants a fleet before there is a job."""
    stop_requested = Signal()
    """The artist wants the fleet ended and its memory back."""
    check_requested = Signal()
    """A rank of an idle fleet seems to be gone."""

    def __init__(self, controls: FleetControls, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._controls = controls
        self._phase = FleetPhase.STOPPED
        self._rows: tuple[RankRow, ...] = ()
        self._error: ErrorMessage | None = None
        self._note = ""
        self._start_duration_s: float | None = None
        self._links = FleetLinks()
        self._stop_phase = CancelPhase.NONE
        self._force_cost = ""
        self._force_timer = ForceTimer(self)
        self._force_timer.timeout.connect(self._offer_force)
        self._spec: FleetSpec | None = None
        self._memory_bytes: dict[int, int] = {}
        self._devices: tuple[DeviceRow, ...] = ()
        self._reading: MachineReading | None = None
        self._cards: tuple[DeviceCard, ...] = ()
        self._watched_pids: frozenset[int] = frozenset()
        # What the fleet held when it was told to end, and how often devices were read since it has.
        self._held: tuple[HeldMemory, ...] = ()
        self._num_readings = 0
        self._poll_timer = QTimer(self)
        self._poll_timer.setInterval(POLL_MS)
        self._poll_timer.timeout.connect(self._poll)
        self.phase_changed.connect(self._on_phase_changed)

    @property
    def phase(self) -> FleetPhase:
        """Return how the fleet is."""
        return self._phase

    @property
    def rows(self) -> tuple[RankRow, ...]:
        """Return how each rank is, four times a second; empty without a fleet."""
        return self._rows

    @property
    def cards(self) -> tuple[DeviceCard, ...]:
        """Return the devices of the fleet with their ranks; without one, the GPUs that are chosen."""
        return self._cards

    @property
    def watched_pids(self) -> frozenset[int]:
        """Return the processes on the CPU that a monitor shall look at."""
        return self._watched_pids

    @property
    def reading(self) -> MachineReading | None:
        """Return what was last seen of the machine; None before the first look."""
        return self._reading

    @property
    def error(self) -> ErrorMessage | None:
        """Return why there is no fleet, if it failed."""
        return self._error

    @property
    def note(self) -> str:
        """Return a sentence on what happens by itself, such as that a new fleet starts; may be empty."""
        return self._note

    @property
    def start_duration_s(self) -> float | None:
        """Return how many seconds the last start took, weights included; None before the first."""
        return self._start_duration_s

    @property
    def links(self) -> FleetLinks:
        """Return how the GPUs of the fleet reach each other; nothing without a fleet."""
        return self._links

    @property
    def stop_phase(self) -> CancelPhase:
        """Return what the button is that ends the fleet: softly first, and by force where that is not heard."""
        return self._stop_phase

    @property
    def force_cost(self) -> str:
        """Return a sentence on what a force stop costs; empty while it is not offered."""
        return self._force_cost

    @property
    def spec(self) -> FleetSpec | None:
        """Return what the fleet was started with; None before the first."""
        return self._spec

    @property
    def can_start(self) -> bool:
        """Return whether a fleet can be asked for; it changes with `phase`."""
        return self._phase in (FleetPhase.STOPPED, FleetPhase.FAILED, FleetPhase.BLOCKED)

    @property
    def can_stop(self) -> bool:
        """Return whether there is a fleet to stop; it changes with `phase`."""
        return self._phase in (FleetPhase.STARTING, FleetPhase.READY, FleetPhase.BUSY)

    @property
    def can_unload(self) -> bool:
        """Return whether an idle fleet holds memory that it could give back; it changes with `phase`."""
        return self._phase is FleetPhase.READY

    def log_lines(self, rank: int) -> tuple[str, ...]:
        """Return the last lines that a rank logged, oldest first, also of a fleet that is gone."""
        return self._controls.log_lines(rank)

    def start(self) -> None:
        """Ask for a fleet before there is a job."""
        if self.can_start:
            self.start_requested.emit()

    def stop(self) -> None:
        """End the fleet: a job that runs is cancelled first; a fleet that starts is killed."""
        if not self.can_stop:
            return
        was_starting = self._phase is FleetPhase.STARTING
        self._held, self._num_readings = held_by(self._cards), 0
        self._update(phase=FleetPhase.STOPPING)
        self.stop_requested.emit()
        if was_starting:
            self._kill()

    def force_stop(self) -> None:
        """Kill a fleet that was told to end and does not; only where that is offered."""
        if self._stop_phase is CancelPhase.CAN_FORCE:
            self._kill()

    def unload(self) -> None:
        """Give the memory of an idle fleet back; `note` tells once it is free. The next clip loads weights again."""
        if self.can_unload:
            self.stop()

    @Slot(object)
    def apply(self, event: FleetEvent) -> None:
        """Take in what became of the fleet."""
        match event:
            case FleetStarting(spec):
                self._spec = spec
                self._memory_bytes.clear()
                self._held = ()
                # A fleet that comes by itself has said so; what was freed before it is old.
                note = self._note if self._phase in (FleetPhase.FAILED, FleetPhase.BLOCKED) else ""
                self._update(phase=FleetPhase.STARTING, error=None, note=note)
                self._poll_timer.start()
            case FleetReady(_, duration_s, links):
                self._force_timer.note_start_duration(duration_s)
                self._update(phase=FleetPhase.READY, start_duration_s=duration_s, links=links, note="")
            case FleetStopping():
                self._update(phase=FleetPhase.STOPPING)
            case FleetStopped():
                self._rest(FleetPhase.STOPPED)
            case FleetFailed(message, will_restart, is_blocked):
                self._rest(FleetPhase.BLOCKED if is_blocked else FleetPhase.FAILED)
                note = self.tr("A new fleet is started.") if will_restart else ""
                self._update(error=message, note=note)

    def set_busy(self, is_busy: bool) -> None:  # noqa: FBT001 - called with what it sets
        """Note that the ranks have a job, or none."""
        before, after = FleetPhase.READY, FleetPhase.BUSY
        if not is_busy:
            before, after = after, before
        if self._phase is before:
            self._update(phase=after)

    def note_memory(self, memory: RankMemory) -> None:
        """Note what a rank said of its memory."""
        self._memory_bytes[memory.rank] = memory.used_bytes

    def set_devices(self, devices: Sequence[DeviceRow]) -> None:
        """Note which GPUs there are, and which are chosen for the next fleet."""
        self._devices = tuple(devices)
        self._show_cards()

    @Slot(object)
    def take_reading(self, reading: MachineReading) -> None:
        """Take in what a monitor saw."""
        self._update(reading=reading)
        self._show_cards()
        if self._held and self._phase in (FleetPhase.STOPPED, FleetPhase.BLOCKED):
            self._num_readings += 1
            self._tell_freed(reading)

    def close(self) -> None:
        """Look no more: the window goes."""
        self._poll_timer.stop()
        self._force_timer.stop()

    def _kill(self) -> None:
        self._force_timer.stop()
        self._update(stop_phase=CancelPhase.FORCING, force_cost="")
        self._controls.force_stop()

    def _offer_force(self) -> None:
        if self._phase is FleetPhase.STOPPING:
            self._update(stop_phase=CancelPhase.CAN_FORCE, force_cost=self._force_timer.cost)

    def _on_phase_changed(self) -> None:
        if self._phase is FleetPhase.STOPPING:
            self._force_timer.begin()
            stop_phase = CancelPhase.CANCELLING
        else:
            self._force_timer.stop()
            stop_phase = CancelPhase.CAN_CANCEL if self.can_stop else CancelPhase.NONE
        self._update(stop_phase=stop_phase, force_cost="")

    def _rest(self, phase: FleetPhase) -> None:
        self._poll_timer.stop()
        self._update(phase=phase, rows=(), note="", error=None, links=FleetLinks())
        self._show_cards()

    def _poll(self) -> None:
        rows = self._controls.rank_rows()
        self._update(rows=tuple(replace(row, memory_bytes=self._memory_bytes.get(row.rank)) for row in rows))
        self._force_timer.note_ranks(self._rows)
        self._show_cards()
        if self._phase is FleetPhase.READY and any(row.text == DEAD for row in rows):
            self.check_requested.emit()

    def _show_cards(self) -> None:
        on_cpu = frozenset(row.pid for row in self._rows if row.pid is not None and row.device == "cpu")
        leaving = frozenset(pid for held in self._held if held.index is None for pid in held.pids)
        cards = make_cards(self._rows, self._devices, self._reading, self._phase)
        self._update(cards=cards, watched_pids=on_cpu | leaving)

    def _tell_freed(self, reading: MachineReading) -> None:
        if self._num_readings < FIRST_READING:
            return
        left = remainders(self._held, reading)
        if not left:
            self._update(note=self._freed_in_words(self._held))
            self._held = ()
            self._show_cards()
        elif self._num_readings >= PATIENCE_READINGS:
            self._update(note=" ".join(map(self._remainder_in_words, left)))

    def _freed_in_words(self, held: Sequence[HeldMemory]) -> str:
        if len(held) > _MAX_DEVICES_SAID:
            total = bytes_in_words(sum(one.num_bytes for one in held))
            return self.tr("{0} freed on {1} devices.").format(total, len(held))
        places = [self.tr("{0} freed on {1}").format(bytes_in_words(one.num_bytes), self._place(one)) for one in held]
        return self.tr("{0}.").format(", ".join(places))

    def _remainder_in_words(self, left: Remainder) -> str:
        place = self._place(left.held)
        if left.num_bytes is None:
            return self.tr("Whether the memory on {0} is free cannot be told: it gives no answer.").format(place)
        text = self.tr("{0} on {1} are held still, by {2}.")
        return text.format(bytes_in_words(left.num_bytes), place, "; ".join(left.holders))

    def _place(self, held: HeldMemory) -> str:
        return self.tr("the CPU") if held.index is None else self.tr("GPU {0}").format(held.index)
