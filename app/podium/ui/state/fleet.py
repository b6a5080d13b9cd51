"""The fleet as the window sees it: how it is, and what each rank does."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from podium.jobs import RankMemory
from podium.ui.state.events import (
    FleetEvent,
    FleetFailed,
    FleetReady,
    FleetStarting,
    FleetStopped,
    FleetStopping,
)
from podium.ui.state.observable import ObservableState
from podium.ui.state.ports import FleetControls
from podium.ui.state.values import ErrorMessage, FleetPhase, FleetSpec, RankRow

POLL_MS = 250
DEAD = "dead"


class FleetState(ObservableState):
    """How the fleet is.

    Args:
        controls: Looks at the fleet that is there, and kills it.
    """

    phase_changed = Signal()
    rows_changed = Signal()
    error_changed = Signal()
    note_changed = Signal()
    start_duration_s_changed = Signal()
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
        self._spec: FleetSpec | None = None
        self._memory_bytes: dict[int, int] = {}
        self._poll_timer = QTimer(self)
        self._poll_timer.setInterval(POLL_MS)
        self._poll_timer.timeout.connect(self._poll)

    @property
    def phase(self) -> FleetPhase:
        """Return how the fleet is."""
        return self._phase

    @property
    def rows(self) -> tuple[RankRow, ...]:
        """Return how each rank is, four times a second; empty without a fleet."""
        return self._rows

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
        self._update(phase=FleetPhase.STOPPING)
        self.stop_requested.emit()
        if was_starting:
            self._controls.force_stop()

    def unload(self) -> None:
        """Give the memory of an idle fleet back; the next clip loads the weights again."""
        if self.can_unload:
            self.stop()

    @Slot(object)
    def apply(self, event: FleetEvent) -> None:
        """Take in what became of the fleet."""
        match event:
            case FleetStarting(spec):
                self._spec = spec
                self._memory_bytes.clear()
                self._update(phase=FleetPhase.STARTING, error=None)
                self._poll_timer.start()
            case FleetReady(_, duration_s):
                self._update(phase=FleetPhase.READY, start_duration_s=duration_s, note="")
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

    def close(self) -> None:
        """Look no more: the window goes."""
        self._poll_timer.stop()

    def _rest(self, phase: FleetPhase) -> None:
        self._poll_timer.stop()
        self._update(phase=phase, rows=(), note="", error=None)

    def _poll(self) -> None:
        rows = self._controls.rank_rows()
        self._update(rows=tuple(replace(row, memory_bytes=self._memory_bytes.get(row.rank)) for row in rows))
        if self._phase is FleetPhase.READY and any(row.text == DEAD for row in rows):
            self.check_requested.emit()
