"""The one thread that owns a fleet: it starts it, hands it jobs, and reads each to its end. No Qt event loop.

Rule for callers: everything but `quit` and `join` is a command in its queue; what becomes of it comes back through
`OwnerSignals`, whose receivers are methods of QObjects in the window's thread, marked as slots.
"""

from __future__ import annotations

import itertools
import logging
import queue
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from types import ModuleType
from typing import Protocol

from PySide6.QtCore import QObject, Signal

from podium.jobs import ClipFinished, JobEvent
from podium.ui.baton import Baton, Controller, Ticket
from podium.ui.mailbox import Mailbox
from podium.ui.state.events import (
    FleetFailed,
    FleetReady,
    FleetStarting,
    FleetStopped,
    FleetStopping,
    JobEnded,
    JobStarted,
    JobTaken,
    OwnerEvent,
)
from podium.ui.state.values import ErrorMessage, FleetSpec, JobOrder, JobPhase

MAX_FAILURES = 2
STOP_LIMIT_S = 20.0
_log = logging.getLogger(__name__)


class OwnerSignals(QObject):
    """What the owner emits; it lives in the window's thread."""

    told = Signal(object)
    """An `OwnerEvent`; none is ever dropped."""
    posted = Signal()
    """The mailbox was empty and is no more."""


class FleetMaker(Protocol):
    """Makes controllers, and knows what their ranks are started with."""

    def preload(self) -> None:
        """Begin to load what ranks need, and return at once."""

    def make(self, spec: FleetSpec) -> Controller:
        """Return a controller that is not started."""

    def setup_kwargs(self, spec: FleetSpec) -> dict[str, object]:
        """Return what each rank is set up with."""


class _Prepare:
    """Load what fleets need."""


@dataclass(frozen=True, slots=True)
class _Start:
    key: int
    spec: FleetSpec
    ticket: Ticket


@dataclass(frozen=True, slots=True)
class _Run:
    order: JobOrder
    ticket: Ticket


class _Stop:
    """End the fleet."""


class _Check:
    """See whether an idle fleet still lives."""


class _Quit:
    """End the thread."""


class _WithdrawnError(Exception):
    """A wish was taken back before there was anything to stop."""


_Command = _Prepare | _Start | _Run | _Stop | _Check | _Quit


class Owner:
    """Own the fleet of one window.

    Args:
        maker: Makes controllers.
        baton: Where the window looks for what is there.
        mailbox: Where the ranks' words go.
        signals: Where everything else goes.
    """

    def __init__(self, maker: FleetMaker, baton: Baton, mailbox: Mailbox, signals: OwnerSignals) -> None:
        self._maker = maker
        self._baton = baton
        self._mailbox = mailbox
        self._signals = signals
        self._commands: queue.SimpleQueue[_Command] = queue.SimpleQueue()
        # Not a daemon's work, but a thread that a stuck driver holds must not keep the process.
        self._thread = threading.Thread(target=self._run, name="fleet-owner", daemon=True)
        self._controller: Controller | None = None
        self._spec: FleetSpec | None = None
        # What is gone but whose processes may not be yet.
        self._leaving: Controller | None = None
        self._restart: FleetSpec | None = None
        self._num_failures = 0
        # Jobs have keys from 1 up; what is no job gets one below.
        self._own_keys = itertools.count(-1, -1)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def prepare(self) -> None:
        """Have what fleets need loaded in the background."""
        self._commands.put(_Prepare())

    def submit(self, order: JobOrder) -> None:
        """Have a job made; a fleet is started for it where there is none that serves it."""
        self._commands.put(_Run(order, self._baton.open_ticket(order.key)))

    def start_fleet(self, spec: FleetSpec) -> None:
        """Have a fleet up before there is a job."""
        key = next(self._own_keys)
        self._commands.put(_Start(key, spec, self._baton.open_ticket(key)))

    def stop_fleet(self) -> None:
        """End the fleet once the job at work is over."""
        self._commands.put(_Stop())

    def check_fleet(self) -> None:
        """See whether an idle fleet still lives, and tell if it does not."""
        self._commands.put(_Check())

    def quit(self) -> None:
        """Kill what runs or starts, and end the thread; returns at once."""
        self._baton.close()
        self._commands.put(_Quit())

    def join(self, timeout_s: float) -> bool:
        """Wait for the thread; return whether it ended in time."""
        if self._thread.ident is not None:
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while not self._baton.is_closing:
            command = self._next_command()
            if isinstance(command, _Quit):
                break
            try:
                self._handle(command)
            # The border of the thread: whatever went wrong, the next command has its turn.
            except Exception:  # noqa: BLE001
                _log.exception("The fleet's owner failed at %s", type(command).__name__)
        for controller in (self._controller, self._leaving):
            if controller is not None:
                # The window killed it already; this waits until its processes are gone.
                controller.shutdown(graceful_timeout=1.0)
        self._baton.clear_controller()

    def _next_command(self) -> _Command:
        """Return the next command; a fleet that is to come back comes after what was asked for meanwhile."""
        if self._restart is None:
            return self._commands.get()
        try:
            return self._commands.get_nowait()
        except queue.Empty:
            spec, self._restart = self._restart, None
            key = next(self._own_keys)
            return _Start(key, spec, self._baton.open_ticket(key))

    def _handle(self, command: _Command) -> None:
        if isinstance(command, _Run):
            self._handle_job(command.order, command.ticket)
        elif isinstance(command, _Start):
            try:
                self._ensure_fleet(command.spec, command.ticket)
            except Exception as error:  # noqa: BLE001 - a border: told to the window as it is
                self._tell_failed_start(error, command.spec, command.ticket)
            finally:
                self._baton.close_ticket(command.key)
        elif isinstance(command, _Stop):
            self._restart = None
            self._stop_fleet()
            self._tell(FleetStopped())
        elif isinstance(command, _Check):
            self._check_fleet()
        elif isinstance(command, _Prepare):
            self._maker.preload()

    def _handle_job(self, order: JobOrder, ticket: Ticket) -> None:
        self._tell(JobTaken(order.key))
        try:
            self._ensure_fleet(order.spec, ticket)
        except Exception as error:  # noqa: BLE001 - a border: told to the window as it is
            was_stopped = ticket.is_withdrawn
            message = None if was_stopped else _messages().message_of(error)
            self._tell(JobEnded(order.key, JobPhase.STOPPED if was_stopped else JobPhase.FAILED, message=message))
            self._tell_failed_start(error, order.spec, ticket)
        else:
            self._run_job(order, ticket)
        finally:
            self._baton.close_ticket(order.key)

    def _ensure_fleet(self, spec: FleetSpec, ticket: Ticket) -> None:
        """Have a fleet that serves `spec`.

        Raises:
            Exception: It could not be started, or the wish was taken back; there is no fleet then.
        """
        if self._controller is not None and self._spec is not None:
            if self._controller.is_alive and self._spec.serves(spec):
                return
            self._stop_fleet()
        self._restart = None
        begun_s = time.monotonic()
        controller = self._maker.make(spec)
        if not self._baton.publish_controller(controller, ticket):
            raise _WithdrawnError
        self._tell(FleetStarting(spec))
        try:
            controller.start(**self._maker.setup_kwargs(spec))
        except Exception:
            self._leaving = controller
            self._baton.clear_controller()
            raise
        self._controller, self._spec = controller, spec
        self._tell(FleetReady(spec, time.monotonic() - begun_s))

    def _run_job(self, order: JobOrder, ticket: Ticket) -> None:
        try:
            clip = self._make_clip(order)
        except Exception as error:  # noqa: BLE001 - a border: every error of a job becomes an event
            self._end_badly(order, ticket, error)
        else:
            self._num_failures = 0
            self._tell(_ended(order.key, clip))

    def _make_clip(self, order: JobOrder) -> ClipFinished | None:
        assert self._controller is not None, "a fleet was made sure of"
        stream = self._controller.stream(request=order.request, parameters=order.parameters)
        self._baton.publish_stream(order.key, stream)
        self._tell(JobStarted(order.key))
        clip: ClipFinished | None = None
        try:
            for event in _items(stream):
                if isinstance(event, ClipFinished):
                    clip = event
                elif self._mailbox.put(order.key, event):
                    self._signals.posted.emit()
        finally:
            self._baton.clear_stream()
        return clip

    def _end_badly(self, order: JobOrder, ticket: Ticket, error: Exception) -> None:
        multigpu = _multigpu()
        is_cancelled = isinstance(error.__cause__, multigpu.JobCancelled)
        if ticket.is_withdrawn or is_cancelled:
            self._tell(JobEnded(order.key, JobPhase.STOPPED))
        else:
            # All ranks alike refuse only what is wrong with the request.
            outcome = JobPhase.REFUSED if isinstance(error, multigpu.SymmetricRunnerError) else JobPhase.FAILED
            _log.error("The job failed", exc_info=error)
            self._tell(JobEnded(order.key, outcome, message=_messages().message_of(error)))
        if self._controller is not None and not self._controller.is_alive:
            self._lose_fleet(error, order.spec, was_forced=ticket.is_withdrawn)

    def _lose_fleet(self, error: Exception, spec: FleetSpec, *, was_forced: bool) -> None:
        """Let go of a fleet that is gone, and have another come, unless it was the second in a row to fail."""
        self._let_go()
        if was_forced:
            self._tell(FleetStopped())
            self._restart = spec
            return
        self._num_failures += 1
        will_restart = self._num_failures < MAX_FAILURES
        self._tell(FleetFailed(self._failure_message(error), will_restart=will_restart))
        self._restart = spec if will_restart else None

    def _tell_failed_start(self, error: Exception, spec: FleetSpec, ticket: Ticket) -> None:
        if ticket.is_withdrawn:
            self._tell(FleetStopped())
            return
        multigpu = _multigpu()
        _log.error("The fleet did not start", exc_info=error)
        is_blocked = isinstance(error, multigpu.PlacementError)
        # What a rank refuses in words it refuses the next time, too; only a fleet that broke may do better.
        will_restart = isinstance(error, multigpu.FleetError) and self._num_failures + 1 < MAX_FAILURES
        self._num_failures += 1
        message = self._failure_message(error)
        self._tell(FleetFailed(message, will_restart=will_restart, is_blocked=is_blocked))
        self._restart = spec if will_restart else None

    def _failure_message(self, error: Exception) -> ErrorMessage:
        message: ErrorMessage = _messages().message_of(error)
        if self._num_failures < MAX_FAILURES or not isinstance(error, _multigpu().FleetError):
            return message
        text = f"{message.sentence} That is the second failure in a row, so no new fleet is started by itself."
        return ErrorMessage(text, message.details)

    def _check_fleet(self) -> None:
        controller, spec = self._controller, self._spec
        if controller is None or spec is None or controller.is_alive:
            return
        try:
            controller.stream()
        except Exception as error:  # noqa: BLE001 - a dead fleet takes no job, and says of what it died
            cause = error.__cause__
            self._lose_fleet(cause if isinstance(cause, Exception) else error, spec, was_forced=False)

    def _stop_fleet(self) -> None:
        if self._controller is None:
            return
        self._tell(FleetStopping())
        self._controller.shutdown(graceful_timeout=STOP_LIMIT_S)
        self._let_go()

    def _let_go(self) -> None:
        self._baton.clear_controller()
        self._leaving = self._controller
        self._controller = self._spec = None

    def _tell(self, event: OwnerEvent) -> None:
        self._signals.told.emit(event)


def _items(stream: object) -> Iterable[JobEvent]:
    assert isinstance(stream, Iterable), "a stream can be iterated"
    return stream


def _ended(key: int, clip: ClipFinished | None) -> JobEnded:
    if clip is not None:
        return JobEnded(key, JobPhase.FINISHED, clip=clip)
    message = ErrorMessage("The job ended without a clip. That is a fault in Podium.")
    return JobEnded(key, JobPhase.FAILED, message=message)


def _multigpu() -> ModuleType:
    # The border to the fleet: loading it costs a tenth of a second that the window's start has not.
    from podium import multigpu  # noqa: PLC0415

    return multigpu


def _messages() -> ModuleType:
    # It names the fleet's errors: the same border.
    from podium.ui import messages  # noqa: PLC0415

    return messages
