"""The one thread that owns a fleet: it starts it, hands it jobs, and reads each to its end. No Qt event loop.

Rule for callers: everything but `quit` and `join` is a command in its queue; what becomes of it comes back through
`OwnerSignals`, whose receivers are methods of QObjects in the window's thread, marked as slots.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Iterable
from types import ModuleType
from typing import Protocol

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, QObject, Signal

from podium.jobs import ClipFinished, DurationPredicted, JobEvent, PromptEnhanced
from podium.ui.baton import Baton, Controller, Ticket
from podium.ui.commands import Check, Command, Exercise, Prepare, Quit, Run, Start, Stop, WithdrawnError
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
from podium.ui.state.links import FleetLinks, LinkWay
from podium.ui.state.orders import FleetOrder
from podium.ui.state.sentences import said
from podium.ui.state.values import ErrorMessage, FleetSpec, JobPhase

MAX_FAILURES = 2
STOP_LIMIT_S = 20.0
EXERCISE_LIMIT_S = 30.0
JobResult = ClipFinished | PromptEnhanced | DurationPredicted
"""What a job ends with."""
_SECOND_FAILURE = QT_TRANSLATE_NOOP(
    "Messages", "{0} That is the second failure in a row, so no new fleet is started by itself."
)
_ANOTHER_FAILURE = QT_TRANSLATE_NOOP(
    "Messages", "{0} That is another failure in a row, so no new fleet is started by itself."
)
_NO_RESULT = QT_TRANSLATE_NOOP("Messages", "The job ended without a result. That is a fault in Podium.")
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
        self._commands: queue.SimpleQueue[Command] = queue.SimpleQueue()
        # Not a daemon's work, but a thread that a stuck driver holds must not keep the process.
        self._thread = threading.Thread(target=self._run, name="fleet-owner", daemon=True)
        self._controller: Controller | None = None
        self._spec: FleetSpec | None = None
        # What is gone but whose processes may not be yet.
        self._leaving: Controller | None = None
        self._restart: FleetSpec | None = None
        self._num_failures = 0

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def prepare(self) -> None:
        """Have what fleets need loaded in the background."""
        self._commands.put(Prepare())

    def submit(self, order: FleetOrder) -> None:
        """Have a job done, after those before it; a fleet is started for it where there is none that serves it."""
        self._commands.put(Run(order, self._baton.open_ticket(order.key)))

    def start_fleet(self, spec: FleetSpec) -> None:
        """Have a fleet up before there is a job."""
        self._commands.put(self._new_start(spec))

    def stop_fleet(self) -> None:
        """End the fleet once the job at work is over."""
        self._commands.put(Stop())

    def check_fleet(self) -> None:
        """See whether an idle fleet still lives, and tell if it does not."""
        self._commands.put(Check())

    def exercise_fleet(self) -> None:
        """Have the ranks of an idle fleet do one thing together, and tell if they cannot: the machine has slept."""
        self._commands.put(Exercise())

    def quit(self) -> None:
        """Kill what runs or starts, and end the thread; returns at once."""
        self._baton.close()
        self._commands.put(Quit())

    def join(self, timeout_s: float) -> bool:
        """Wait for the thread; return whether it ended in time."""
        if self._thread.ident is not None:
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while not self._baton.is_closing:
            command = self._next_command()
            if isinstance(command, Quit):
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

    def _next_command(self) -> Command:
        """Return the next command; a fleet that is to come back comes after what was asked for meanwhile."""
        if self._restart is None:
            return self._commands.get()
        try:
            return self._commands.get_nowait()
        except queue.Empty:
            spec, self._restart = self._restart, None
            return self._new_start(spec)

    def _new_start(self, spec: FleetSpec) -> Start:
        # Nobody else has to name it, and so it has no number that a job might have.
        key = object()
        return Start(key, spec, self._baton.open_ticket(key))

    def _handle(self, command: Command) -> None:
        if isinstance(command, Run):
            self._handle_job(command)
        elif isinstance(command, Start):
            try:
                self._ensure_fleet(command)
            except Exception as error:  # noqa: BLE001 - a border: told to the window as it is
                self._tell_failed_start(error, command.spec, command.ticket)
            finally:
                self._baton.close_ticket(command.key)
        elif isinstance(command, Stop):
            self._restart = None
            self._stop_fleet()
            self._tell(FleetStopped())
        elif isinstance(command, Check):
            self._check_fleet()
        elif isinstance(command, Exercise):
            self._exercise_fleet()
        elif isinstance(command, Prepare):
            self._maker.preload()

    def _handle_job(self, command: Run) -> None:
        order, ticket = command.order, command.ticket
        try:
            if ticket.is_withdrawn or ticket.is_cancelled:
                self._drop_job(order, ticket)
            else:
                self._do_job(command)
        finally:
            self._baton.close_ticket(order.key)

    def _drop_job(self, order: FleetOrder, ticket: Ticket) -> None:
        """Begin nothing for a job that was taken back before its turn came."""
        if ticket.is_withdrawn and self._controller is not None and not self._controller.is_alive:
            # What took it back killed an idle fleet.
            self._lose_fleet(WithdrawnError(), order.spec, was_forced=True)
        self._tell(JobEnded(order.key, JobPhase.STOPPED))

    def _do_job(self, command: Run) -> None:
        order, ticket = command.order, command.ticket
        self._tell(JobTaken(order.key))
        try:
            self._ensure_fleet(command)
        except Exception as error:  # noqa: BLE001 - a border: told to the window as it is
            # First what became of the fleet: whether the next job begins hangs on it.
            self._tell_failed_start(error, order.spec, ticket)
            self._tell(_ended_without_clip(order.key, error, JobPhase.FAILED, was_stopped=ticket.is_withdrawn))
        else:
            self._run_job(order, ticket)

    def _ensure_fleet(self, wish: Start | Run) -> None:
        """Have a fleet that serves a wish.

        Raises:
            Exception: It could not be started, or the wish was taken back; there is no fleet then.
        """
        ticket, spec = wish.ticket, wish.spec
        if self._controller is not None and self._spec is not None:
            if self._controller.is_alive and wish.is_served_by(self._spec):
                return
            self._stop_fleet()
        self._restart = None
        begun_s = time.monotonic()
        controller = self._maker.make(spec)
        if not self._baton.publish_controller(controller, ticket):
            raise WithdrawnError
        self._tell(FleetStarting(spec))
        try:
            controller.start(**self._maker.setup_kwargs(spec), **wish.setup)
        except Exception:
            self._leaving = controller
            self._baton.clear_controller()
            raise
        self._controller, self._spec = controller, spec
        self._tell(FleetReady(spec, time.monotonic() - begun_s, _links_of(controller, spec)))

    def _run_job(self, order: FleetOrder, ticket: Ticket) -> None:
        try:
            result = self._drain(order)
        except Exception as error:  # noqa: BLE001 - a border: every error of a job becomes an event
            self._end_badly(order, ticket, error)
        else:
            self._num_failures = 0
            self._tell(_ended(order.key, result))

    def _drain(self, order: FleetOrder) -> JobResult | None:
        """Hand a job to the ranks, and return what came of it when it is over."""
        assert self._controller is not None, "a fleet was made sure of"
        stream = self._controller.stream(**order.arguments)
        self._baton.publish_stream(order.key, stream)
        self._tell(JobStarted(order.key))
        result: JobResult | None = None
        try:
            for event in _items(stream):
                if isinstance(event, JobResult):
                    result = event
                elif self._mailbox.put(order.key, event):
                    self._signals.posted.emit()
        finally:
            self._baton.clear_stream()
        return result

    def _end_badly(self, order: FleetOrder, ticket: Ticket, error: Exception) -> None:
        multigpu = _multigpu()
        was_stopped = ticket.is_withdrawn or isinstance(error.__cause__, multigpu.JobCancelled)
        if not was_stopped:
            _log.error("The job failed", exc_info=error)
        if self._controller is not None and not self._controller.is_alive:
            self._lose_fleet(error, order.spec, was_forced=ticket.is_withdrawn)
        # All ranks alike refuse only what is wrong with the request.
        outcome = JobPhase.REFUSED if isinstance(error, multigpu.SymmetricRunnerError) else JobPhase.FAILED
        self._tell(_ended_without_clip(order.key, error, outcome, was_stopped=was_stopped))

    def _lose_fleet(self, error: Exception, spec: FleetSpec, *, was_forced: bool) -> None:
        """Let go of a fleet that is gone, and have another come, unless it was the second in a row to fail."""
        self._let_go()
        if was_forced:
            self._tell(FleetStopped())
            self._restart = spec
            return
        self._tell_failure(error, spec, may_restart=True)

    def _tell_failed_start(self, error: Exception, spec: FleetSpec, ticket: Ticket) -> None:
        if ticket.is_withdrawn:
            self._tell(FleetStopped())
            return
        multigpu = _multigpu()
        _log.error("The fleet did not start", exc_info=error)
        is_blocked = isinstance(error, multigpu.PlacementError)
        # What a rank refuses in words it refuses the next time, too; only a fleet that broke may do better.
        may_restart = isinstance(error, multigpu.FleetError)
        self._tell_failure(error, spec, may_restart=may_restart, is_blocked=is_blocked)

    def _tell_failure(self, error: Exception, spec: FleetSpec, *, may_restart: bool, is_blocked: bool = False) -> None:
        """Tell that a fleet failed, and have another come, unless it was the second in a row."""
        self._num_failures += 1
        is_end = self._num_failures >= MAX_FAILURES
        will_restart = may_restart and not is_end
        self._tell(
            FleetFailed(
                self._failure_message(error),
                will_restart=will_restart,
                is_blocked=is_blocked,
                is_end=is_end,
            )
        )
        self._restart = spec if will_restart else None

    def _failure_message(self, error: Exception) -> ErrorMessage:
        message: ErrorMessage = _messages().message_of(error)
        if self._num_failures < MAX_FAILURES or not isinstance(error, _multigpu().FleetError):
            return message
        text = _SECOND_FAILURE if self._num_failures == MAX_FAILURES else _ANOTHER_FAILURE
        sentence = QCoreApplication.translate("Messages", str(text)).format(message.sentence)
        return ErrorMessage(sentence, message.details)

    def _check_fleet(self) -> None:
        controller, spec = self._controller, self._spec
        if controller is None or spec is None or controller.is_alive:
            return
        try:
            controller.stream()
        except Exception as error:  # noqa: BLE001 - a dead fleet takes no job, and says of what it died
            cause = error.__cause__
            known = cause if isinstance(cause, Exception) else error
            # Only the artist stops it past the owner: by force, when its job had just ended.
            was_forced = isinstance(known, _multigpu().ControllerStoppedError)
            self._lose_fleet(known, spec, was_forced=was_forced)

    def _exercise_fleet(self) -> None:
        controller, spec, key = self._controller, self._spec, object()
        if controller is None or spec is None:
            return
        ticket = self._baton.open_ticket(key)
        try:
            for _ in _items(controller.stream(timeout=EXERCISE_LIMIT_S, is_exercise=True)):
                pass
        except Exception as error:  # noqa: BLE001 - a border: what an idle fleet died of is told, and another comes
            _log.warning("The fleet did not outlive the sleep", exc_info=error)
            if not controller.is_alive:
                cause = error.__cause__
                known = cause if isinstance(cause, Exception) else error
                self._lose_fleet(known, spec, was_forced=ticket.is_withdrawn)
        finally:
            self._baton.close_ticket(key)

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


def _links_of(controller: Controller, spec: FleetSpec) -> FleetLinks:
    weakest = controller.links.weakest(spec.choice.num_ranks)
    return FleetLinks(
        None if weakest is None else LinkWay(weakest.value), tuple(map(said, controller.links.sentences()))
    )


def _ended_without_clip(key: int, error: Exception, outcome: JobPhase, *, was_stopped: bool) -> JobEnded:
    if was_stopped:
        return JobEnded(key, JobPhase.STOPPED)
    place = _messages().place_of(error)
    message = _messages().message_of(error)
    return JobEnded(key, outcome, message=message, rank=place.rank, phase=place.phase, log_lines=place.log_lines)


def _ended(key: int, result: JobResult | None) -> JobEnded:
    if isinstance(result, ClipFinished):
        return JobEnded(key, JobPhase.FINISHED, clip=result)
    if result is not None:
        return JobEnded(key, JobPhase.FINISHED, answer=result)
    message = ErrorMessage(QCoreApplication.translate("Messages", str(_NO_RESULT)))
    return JobEnded(key, JobPhase.FAILED, message=message)


def _multigpu() -> ModuleType:
    # The border to the fleet: loading it costs a tenth of a second that the window's start has not.
    from podium import multigpu  # noqa: PLC0415

    return multigpu


def _messages() -> ModuleType:
    # It names the fleet's errors: the same border.
    from podium.ui import messages  # noqa: PLC0415

    return messages
