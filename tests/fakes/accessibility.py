"""What a screen reader sees of a program: its accessible tree, over a bus of the test's own (AT-SPI, by jeepney)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from jeepney import DBusAddress, HeaderFields, MessageType, new_method_call
from jeepney.io.blocking import DBusConnection, open_dbus_connection

from tests.fakes.desktop import FakeDesktop

BUS, REGISTRY = "org.a11y.Bus", "org.a11y.atspi.Registry"
ROOT = "/org/a11y/atspi/accessible/root"
# Numbers of AtspiStateType.
ENABLED, SENSITIVE, SHOWING, VISIBLE, FOCUSED, CHECKED = 8, 24, 25, 30, 12, 4
_LIMIT_S = 20.0


class GoneError(Exception):
    """What was looked at is not there any more, or the program is not."""


@dataclass(frozen=True)
class Node:
    """A thing in a program's window, as it was when it was looked at."""

    reader: Reader
    path: str
    name: str
    states: frozenset[int]

    @property
    def role(self) -> str:
        return self.reader.role_of(self.path)

    @property
    def is_usable(self) -> bool:
        return {ENABLED, SENSITIVE, SHOWING} <= self.states

    def value_now(self) -> float:
        """Return how far it is moved."""
        (value,) = self.reader.call(
            self.path, "org.freedesktop.DBus.Properties", "Get", "ss", "org.a11y.atspi.Value", "CurrentValue"
        )
        return float(value[1])

    def do(self) -> None:
        """Do what it is for, as a tool for whoever has no mouse does."""
        self.reader.call(self.path, "Action", "DoAction", "i", 0)

    def middle(self) -> tuple[int, int]:
        """Return the middle of it on the screen."""
        ((x, y, width, height),) = self.reader.call(self.path, "Component", "GetExtents", "u", 0)
        return x + width // 2, y + height // 2

    def name_now(self) -> str:
        """Return what it is called now."""
        return self.reader.name_of(self.path)


class Reader:
    """Reads the tree of the program that came to the registry last.

    Args:
        desktop: Whose bus it is on; it plays the registry.
    """

    def __init__(self, desktop: FakeDesktop) -> None:
        self._desktop = desktop
        self._connection: DBusConnection = open_dbus_connection(desktop.address)
        desktop.answers |= {
            "Bus.GetAddress": lambda _: ("s", (desktop.address,)),
            "Properties.Get": lambda _: ("v", (("b", True),)),
            "Socket.Embed": lambda _: ("(so)", ((REGISTRY, ROOT),)),
            "Registry.GetRegisteredEvents": lambda _: ("a(ss)", ([],)),
            "DeviceEventController.NotifyListenersSync": lambda _: ("b", (False,)),
            "DeviceEventController.NotifyListenersAsync": lambda _: ("", ()),
        }

    @property
    def has_program(self) -> bool:
        return bool(self._desktop.named("Socket.Embed"))

    def forget(self) -> None:
        """Wait for another program."""
        self._desktop.calls.clear()

    def close(self) -> None:
        self._connection.close()

    def call(self, path: str, interface: str, method: str, signature: str = "", *arguments: object) -> tuple[Any, ...]:
        ((program, _),) = self._desktop.named("Socket.Embed")[-1]
        full = interface if "." in interface else f"org.a11y.atspi.{interface}"
        address = DBusAddress(path, program, full)
        message = new_method_call(address, method, signature or None, arguments)
        try:
            reply = self._connection.send_and_get_reply(message, timeout=_LIMIT_S)
        except TimeoutError as error:
            raise GoneError(f"{method} of {path}") from error
        if reply.header.message_type is MessageType.error:
            raise GoneError(f"{method} of {path}: {reply.header.fields.get(HeaderFields.error_name)}")
        return tuple(reply.body)

    def name_of(self, path: str) -> str:
        """Return what a node is called."""
        (name,) = self.call(path, "org.freedesktop.DBus.Properties", "Get", "ss", "org.a11y.atspi.Accessible", "Name")
        return str(name[1])

    def role_of(self, path: str) -> str:
        """Return what kind of thing a node is."""
        (role,) = self.call(path, "Accessible", "GetRoleName")
        return str(role)

    def text_of(self, path: str) -> str:
        """Return what is written in a field."""
        (text,) = self.call(path, "Text", "GetText", "ii", 0, -1)
        return str(text)

    def walk(self, path: str = ROOT, depth: int = 0, *, shown_only: bool = True) -> Iterator[Node]:
        """Return what is there, from the outside in; by default only what is shown."""
        ((low, high),) = self.call(path, "Accessible", "GetState")
        states = frozenset(bit for bit in range(64) if (low | high << 32) >> bit & 1)
        # A window that another one covers is there all the same.
        if shown_only and depth > 1 and VISIBLE not in states:
            return
        yield Node(self, path, self.name_of(path), states)
        (children,) = self.call(path, "Accessible", "GetChildren")
        for _, child in children:
            try:
                yield from self.walk(child, depth + 1, shown_only=shown_only)
            except GoneError:
                continue
