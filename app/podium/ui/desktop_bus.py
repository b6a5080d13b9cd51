"""What the window and the desktop say over D-Bus: it stays awake, tells the artist, says how it moves and when it ends.

One thread of its own does all of it, so that a bus that hangs stalls nothing. Without a bus nothing happens, and the
log says so. Rule for callers: everything may be asked in the window's thread and returns at once; what the desktop says
is told there, and never after `close`.
"""

from __future__ import annotations

import contextlib
import logging
import os
import selectors
import threading
from collections.abc import Iterator
from dataclasses import dataclass

from jeepney import DBusAddress
from PySide6.QtCore import QObject, Signal

from podium.ui.desktop_calls import (
    SESSION,
    SYSTEM,
    Bus,
    BusError,
    Notice,
    SleepBlock,
    answer_session,
    block_sleep,
    hear_notices,
    is_motion_reduced,
    join_session,
    open_bus,
    show_notice,
)
from podium.ui.thread_crossing import ThreadCrossing

JOIN_LIMIT_S = 0.5
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BusAddresses:
    """Where the buses are.

    Args:
        session: "SESSION" for the one of this login.
        system: "SYSTEM" for the one of this machine.
    """

    session: str = SESSION
    system: str = SYSTEM


class DesktopBus(ThreadCrossing):
    """The desktop, as far as it can be asked. `open`, and `close` at the end.

    Args:
        addresses: Of the buses.
    """

    motion_told = Signal(bool)
    """Whether the desktop wants nothing to move."""
    notice_chosen = Signal(str)
    """The artist chose a notification; with what lets a window come to the front, which may be empty."""
    session_ending = Signal()
    """The session ends now; the desktop waits for `close`, for some seconds."""

    def __init__(self, addresses: BusAddresses | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._addresses = addresses or BusAddresses()
        self._wishes = _Wishes()
        # A thread that a hung bus holds must not keep the process.
        self._thread = threading.Thread(target=self._run, name="desktop-bus", daemon=True)

    def open(self) -> None:
        """Begin to talk; what was asked before counts."""
        if not hasattr(os, "eventfd"):
            _log.info("This system has no D-Bus: it is not kept awake, and not told")
            return
        self._wishes.open()
        self._thread.start()

    def close(self) -> None:
        """End; what was asked ends with it, and what is on its way here is not told."""
        super().close()
        if self._wishes.wake_fd < 0:
            return
        self._wishes.change(is_closing=True)
        self._thread.join(JOIN_LIMIT_S)
        if self._thread.is_alive():
            _log.info("The desktop's bus does not answer and is left")
        else:
            self._wishes.close()

    def keep_awake(self, reason: str) -> None:
        """Keep the machine from falling asleep while nobody is there; an empty reason lets it.

        The reason is also what speaks against an end of the session.
        """
        self._wishes.change(reason=reason)

    def notify(self, title: str, text: str) -> None:
        """Tell the artist; it takes the place of what was told last."""
        self._wishes.change(notice=Notice(title, text))

    def _run(self) -> None:
        with contextlib.ExitStack() as stack:
            session = stack.enter_context(_bus_or_none(self._addresses.session))
            system = stack.enter_context(_bus_or_none(self._addresses.system))
            try:
                _Talk(self, self._wishes, session, system).run()
            except BusError as error:
                _log.info("The talk with the desktop has ended: %s", error)
            # The border of the thread: nothing that the desktop does may end more than the talk.
            except Exception:  # noqa: BLE001
                _log.warning("The talk with the desktop failed", exc_info=True)


class _Wishes:
    """What is asked for now; any thread may look, and is woken by a change."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.wake_fd = -1
        self._is_closing = False
        self._reason = ""
        self._notice: Notice | None = None

    @property
    def reason(self) -> str:
        """Return why to stay awake, as it is now."""
        with self._lock:
            return self._reason

    def open(self) -> None:
        self.wake_fd = os.eventfd(1, os.EFD_NONBLOCK | os.EFD_CLOEXEC)

    def close(self) -> None:
        os.close(self.wake_fd)
        self.wake_fd = -1

    def change(
        self, *, reason: str | None = None, notice: Notice | None = None, is_closing: bool | None = None
    ) -> None:
        with self._lock:
            self._reason = self._reason if reason is None else reason
            self._notice = self._notice if notice is None else notice
            self._is_closing = self._is_closing if is_closing is None else is_closing
        if self.wake_fd >= 0:
            os.eventfd_write(self.wake_fd, 1)

    def take(self) -> tuple[bool, str, Notice | None]:
        """Return whether to end, why to stay awake, and what to tell, which is not told twice."""
        with contextlib.suppress(BlockingIOError):
            os.eventfd_read(self.wake_fd)
        with self._lock:
            notice, self._notice = self._notice, None
            return self._is_closing, self._reason, notice


class _Talk:
    """The talk itself, in its thread."""

    def __init__(self, signals: DesktopBus, wishes: _Wishes, session: Bus | None, system: Bus | None) -> None:
        self._signals = signals
        self._wishes = wishes
        self._session = session
        self._system = system
        self._block: SleepBlock | None = None
        self._client: DBusAddress | None = None
        self._is_ending = False
        self._notice_id = 0
        self._token = ""

    def run(self) -> None:
        buses = [bus for bus in (self._session, self._system) if bus is not None]
        if self._session is not None:
            hear_notices(self._session)
            self._client = _joined(self._session)
            self._signals.tell(self._signals.motion_told, is_motion_reduced(self._session))
        with selectors.DefaultSelector() as selector:
            selector.register(self._wishes.wake_fd, selectors.EVENT_READ)
            for bus in buses:
                selector.register(bus, selectors.EVENT_READ)
            while True:
                selector.select()
                is_closing, reason, notice = self._wishes.take()
                if is_closing:
                    break
                self._set_block(reason)
                if notice is not None:
                    self._show(notice)
                # Whoever is ready: a signal may have come with the answer to a call.
                for bus in buses:
                    self._hear(bus)
        if self._is_ending:
            self._answer(objection="")

    def _set_block(self, reason: str) -> None:
        if bool(reason) == (self._block is not None):
            return
        if self._block is not None:
            self._block.release()
            self._block = None
        else:
            self._block = block_sleep(self._session, self._system, reason)
            _log.info("Kept awake by %s", ", ".join(self._block.names) or "nothing: nobody here can")

    def _show(self, notice: Notice) -> None:
        if self._session is None:
            return
        try:
            self._notice_id = show_notice(self._session, notice, replaces=self._notice_id)
        except BusError as error:
            _log.info("The desktop shows no notifications: %s", error)

    def _hear(self, bus: Bus) -> None:
        # Again after each answer: what follows from it may have come with it.
        while came := bus.take_signals():
            for name, body in came:
                self._take(name, body)

    def _take(self, name: str, body: tuple[object, ...]) -> None:
        if name == "QueryEndSession":
            # As it is now: a clip may have ended since its block was seen to.
            self._answer(objection=self._wishes.reason)
        elif name in ("EndSession", "Stop") and not self._is_ending:
            self._is_ending = True
            self._signals.tell(self._signals.session_ending)
        elif body and body[0] == self._notice_id:
            self._take_notice(name, body)

    def _take_notice(self, name: str, body: tuple[object, ...]) -> None:
        if name == "ActivationToken" and len(body) > 1:
            self._token = str(body[1])
        elif name == "ActionInvoked":
            self._signals.tell(self._signals.notice_chosen, self._token)
            self._token = ""

    def _answer(self, *, objection: str) -> None:
        if self._session is None or self._client is None:
            return
        try:
            answer_session(self._session, self._client, objection=objection)
        except BusError as error:
            _log.info("The desktop does not hear whether its session may end: %s", error)


def _joined(session: Bus) -> DBusAddress | None:
    try:
        return join_session(session)
    except BusError as error:
        _log.debug("Nobody here asks before the session ends: %s", error)
        return None


@contextlib.contextmanager
def _bus_or_none(address: str) -> Iterator[Bus | None]:
    try:
        bus = open_bus(address)
    except BusError as error:
        _log.info("There is no bus %s: %s", address, error)
        yield None
        return
    with contextlib.closing(bus):
        yield bus
