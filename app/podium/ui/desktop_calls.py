"""The calls that the desktop's services take, and nothing of when they are made. No Qt: one thread talks to a bus.

By jeepney, since PySide6's own D-Bus cannot say which width an integer has, and services refuse the wrong one.
"""

from __future__ import annotations

import html
import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from jeepney import DBusAddress, HeaderFields, MatchRule, MessageType, message_bus, new_method_call
from jeepney.io.blocking import DBusConnection, open_dbus_connection

from podium.ui.runtime_folder import runtime_folder

SESSION, SYSTEM = "SESSION", "SYSTEM"
ANSWER_LIMIT_S = 5.0
# Source: the portal's documentation of org.freedesktop.portal.Inhibit: 1 logout, 2 user switch, 4 suspend, 8 idle. With
# 1 the desktop asks before it ends the session; without 8 the screen may go dark.
_PORTAL_FLAGS = 1 | 4
_PORTAL = "org.freedesktop.portal.Desktop"
_PORTAL_PATH = "/org/freedesktop/portal/desktop"
_NOTICES = DBusAddress(
    "/org/freedesktop/Notifications", "org.freedesktop.Notifications", "org.freedesktop.Notifications"
)
# Source: gnome-session's documentation of org.gnome.SessionManager; Cinnamon, MATE and Budgie speak it, too.
_MANAGER_NAME = "org.gnome.SessionManager"
_MANAGER = DBusAddress("/org/gnome/SessionManager", _MANAGER_NAME, _MANAGER_NAME)
_NAME = "Podium"
# Where a desktop keeps whether things move, and what it says where they do not.
_MOTION_KEYS: tuple[tuple[str, str, Callable[[Any], bool]], ...] = (
    ("org.freedesktop.appearance", "reduced-motion", lambda value: value == 1),
    ("org.gnome.desktop.interface", "enable-animations", lambda value: value is False),
    ("org.kde.kdeglobals.KDE", "AnimationDurationFactor", lambda value: str(value) in ("0", "0.0")),
)
_log = logging.getLogger(__name__)
_Ask = Callable[["Bus", str], tuple[str, Callable[[], object]]]


class BusError(Exception):
    """A bus, or a service on it, is not there or does not do what it was asked."""


@dataclass(frozen=True, slots=True)
class Notice:
    """What the artist is told beside the window."""

    title: str
    text: str


class Bus:
    """A connection to a bus, used in one thread.

    Args:
        connection: Open.
    """

    def __init__(self, connection: DBusConnection) -> None:
        self._connection = connection
        self._signals: deque[Any] = deque()

    def fileno(self) -> int:
        """Return what becomes readable when somebody says something."""
        return int(self._connection.sock.fileno())

    def close(self) -> None:
        """Leave the bus; services take back what was asked for then."""
        self._connection.close()

    def call(self, address: DBusAddress, method: str, signature: str = "", *arguments: object) -> tuple[Any, ...]:
        """Call a method and return what it answers.

        Raises:
            BusError: It failed, or nobody answered in time.
        """
        message = new_method_call(address, method, signature or None, arguments)
        try:
            reply = self._connection.send_and_get_reply(message, timeout=ANSWER_LIMIT_S)
        except (OSError, RuntimeError) as error:
            raise BusError(f"{address.interface}.{method}: {error!r}") from error
        if reply.header.message_type is MessageType.error:
            raise BusError(f"{address.interface}.{method}: {reply.header.fields.get(HeaderFields.error_name)}")
        return tuple(reply.body)

    def hear(self, address: DBusAddress) -> None:
        """Hear the signals of something from now on."""
        rule = MatchRule(type="signal", interface=address.interface, path=address.object_path)
        # It is heard until the bus is left.
        self._connection.filter(rule, queue=self._signals)
        try:
            self._connection.send_and_get_reply(message_bus.AddMatch(rule), timeout=ANSWER_LIMIT_S)
        except (OSError, RuntimeError) as error:
            _log.info("What %s says is not heard: %r", address.interface, error)

    def take_signals(self) -> list[tuple[str, tuple[Any, ...]]]:
        """Return the signals that came, by name, with what they say.

        Raises:
            BusError: The bus has left.
        """
        try:
            while True:
                self._connection.recv_messages(timeout=0)
        except TimeoutError:
            # All that came whole was taken.
            pass
        except (OSError, RuntimeError) as error:
            raise BusError(f"the bus has left: {error!r}") from error
        came = [(message.header.fields[HeaderFields.member], tuple(message.body)) for message in self._signals]
        self._signals.clear()
        return came


@dataclass(slots=True)
class SleepBlock:
    """What keeps the machine awake.

    Args:
        names: Who does.
        releases: Let each go.
    """

    names: list[str] = field(default_factory=list)
    releases: list[Callable[[], object]] = field(default_factory=list)

    def release(self) -> None:
        """Let the machine fall asleep."""
        for release in self.releases:
            try:
                release()
            except (BusError, OSError) as error:
                _log.info("What kept the machine awake is gone already: %s", error)


def open_bus(address: str) -> Bus:
    """Connect to a bus.

    Args:
        address: Of it; `SESSION` or `SYSTEM` for the usual ones.

    Raises:
        BusError: There is none, or it does not answer.
    """
    try:
        # By itself a bus has one second to greet, which one on a busy machine may not keep to.
        return Bus(open_dbus_connection(address, enable_fds=True, auth_timeout=ANSWER_LIMIT_S))
    except KeyError:
        # No address in the environment; a login's bus has a usual place.
        usual = runtime_folder() / "bus"
        if address != SESSION or not usual.exists():
            raise BusError("the environment names none") from None
        return open_bus(f"unix:path={usual}")
    except (OSError, RuntimeError, ValueError) as error:
        raise BusError(repr(error)) from error


def block_sleep(session: Bus | None, system: Bus | None, reason: str) -> SleepBlock:
    """Keep the machine from falling asleep by itself, with the help of whoever there is."""
    block = SleepBlock()
    _add_first(block, system, (_ask_logind,), reason)
    # Of a login's services one suffices.
    _add_first(block, session, (_ask_portal, _ask_power, _ask_saver), reason)
    return block


def hear_notices(session: Bus) -> None:
    """Hear what becomes of notifications from now on."""
    session.hear(_NOTICES)


def join_session(session: Bus) -> DBusAddress:
    """Be asked before the session ends and told when it does, and return where the answers go.

    Raises:
        BusError: This desktop asks nobody by this way.
    """
    (path,) = session.call(_MANAGER, "RegisterClient", "ss", "podium", "")
    client = DBusAddress(path, _MANAGER_NAME, f"{_MANAGER_NAME}.ClientPrivate")
    session.hear(client)
    return client


def answer_session(session: Bus, client: DBusAddress, *, objection: str = "") -> None:
    """Answer the desktop that asks whether the session may end, or waits until it can.

    Args:
        client: Where the answer goes.
        objection: Why it should not, as the desktop may show it; empty if it may.

    Raises:
        BusError: The desktop does not hear it.
    """
    session.call(client, "EndSessionResponse", "bs", not objection, objection)


def show_notice(session: Bus, notice: Notice, *, replaces: int = 0) -> int:
    """Show a notification and return its number.

    Raises:
        BusError: Nobody shows any.
    """
    (abilities,) = session.call(_NOTICES, "GetCapabilities")
    text = html.escape(notice.text, quote=False) if "body-markup" in abilities else notice.text
    hints = {"desktop-entry": ("s", "podium"), "category": ("s", "transfer.complete")}
    # An action without words is what a click does.
    actions = ["default", ""] if "actions" in abilities else []
    arguments = (_NAME, replaces, "podium", notice.title, text, actions, hints, -1)
    (number,) = session.call(_NOTICES, "Notify", "susssasa{sv}i", *arguments)
    return int(number)


def is_motion_reduced(session: Bus) -> bool:
    """Return whether the desktop wants nothing to move; False where it does not say."""
    settings = DBusAddress(_PORTAL_PATH, _PORTAL, "org.freedesktop.portal.Settings")
    for namespace, key, is_reduced in _MOTION_KEYS:
        try:
            # Not ReadOne, which portals have since 2023 only.
            (value,) = session.call(settings, "Read", "ss", namespace, key)
        except BusError as error:
            _log.debug("The desktop does not say whether things move: %s", error)
            continue
        # Variants, one in another.
        while isinstance(value, tuple) and len(value) == 2:
            value = value[1]
        if is_reduced(value):
            return True
    return False


def _add_first(block: SleepBlock, bus: Bus | None, services: Sequence[_Ask], reason: str) -> None:
    if bus is None:
        return
    for ask in services:
        try:
            name, release = ask(bus, reason)
        except BusError as error:
            _log.debug("Not kept awake by one of the desktop's services: %s", error)
            continue
        block.names.append(name)
        block.releases.append(release)
        return


def _ask_logind(system: Bus, reason: str) -> tuple[str, Callable[[], object]]:
    address = DBusAddress("/org/freedesktop/login1", "org.freedesktop.login1", "org.freedesktop.login1.Manager")
    (descriptor,) = system.call(address, "Inhibit", "ssss", "idle", _NAME, reason, "block")
    return "logind", descriptor.close


def _ask_portal(session: Bus, reason: str) -> tuple[str, Callable[[], object]]:
    address = DBusAddress(_PORTAL_PATH, _PORTAL, "org.freedesktop.portal.Inhibit")
    (handle,) = session.call(address, "Inhibit", "sua{sv}", "", _PORTAL_FLAGS, {"reason": ("s", reason)})
    request = DBusAddress(handle, _PORTAL, "org.freedesktop.portal.Request")
    return "portal", lambda: session.call(request, "Close")


def _ask_power(session: Bus, reason: str) -> tuple[str, Callable[[], object]]:
    name = "org.freedesktop.PowerManagement"
    address = DBusAddress("/org/freedesktop/PowerManagement/Inhibit", name, f"{name}.Inhibit")
    (cookie,) = session.call(address, "Inhibit", "ss", _NAME, reason)
    return "power management", lambda: session.call(address, "UnInhibit", "u", cookie)


def _ask_saver(session: Bus, reason: str) -> tuple[str, Callable[[], object]]:
    address = DBusAddress("/org/freedesktop/ScreenSaver", "org.freedesktop.ScreenSaver", "org.freedesktop.ScreenSaver")
    (cookie,) = session.call(address, "Inhibit", "ss", _NAME, reason)
    return "screen saver", lambda: session.call(address, "UnInhibit", "u", cookie)
