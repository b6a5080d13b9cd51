"""A desktop of the test's own: a private bus, and on it whichever services a test wants, which note their calls."""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jeepney import (
    DBusAddress,
    HeaderFields,
    MessageType,
    message_bus,
    new_error,
    new_method_return,
    new_signal,
)
from jeepney.io.blocking import DBusConnection, open_dbus_connection

CONFIG = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path={path}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
<allow own="*"/><allow user="*"/></policy>
</busconfig>"""
LOGIND = "org.freedesktop.login1"
NOTICES = "org.freedesktop.Notifications"
PORTAL = "org.freedesktop.portal.Desktop"
POWER = "org.freedesktop.PowerManagement"
SAVER = "org.freedesktop.ScreenSaver"
SESSIONS = "org.gnome.SessionManager"
GREETS_S = 20.0
_CLIENT = "/org/gnome/SessionManager/Client7"

Answer = Callable[[tuple[Any, ...]], tuple[str, tuple[Any, ...]]]


@dataclass
class FakeDesktop:
    """Services on a bus.

    Args:
        address: Of the bus.
        calls: What was called, with what, in order.
        answers: What methods return, by name: a signature and values. What is not listed is unknown.
    """

    address: str
    calls: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list)
    answers: dict[str, Answer] = field(default_factory=dict)
    blocks: list[int] = field(default_factory=list)
    connection: DBusConnection | None = None

    def named(self, method: str) -> list[tuple[Any, ...]]:
        """Return what a method was called with, in order."""
        return [arguments for name, arguments in list(self.calls) if name == method]

    def is_blocked(self) -> bool:
        """Return whether somebody holds what logind handed out last."""
        if not self.blocks:
            return False
        with contextlib.suppress(BlockingIOError):
            return os.read(self.blocks[-1], 1) != b""
        return True

    def choose_notice(self, number: int, token: str) -> None:
        """Do what a desktop does when its user clicks on a notification."""
        address = DBusAddress("/org/freedesktop/Notifications", None, NOTICES)
        assert self.connection is not None
        self.connection.send(new_signal(address, "ActivationToken", "us", (number, token)))
        self.connection.send(new_signal(address, "ActionInvoked", "us", (number, "default")))

    def play_sessions(self) -> None:
        """Ask programs before the session ends, as GNOME does, whose name has to be on the bus."""
        self.answers |= {
            "SessionManager.RegisterClient": lambda _: ("o", (_CLIENT,)),
            "ClientPrivate.EndSessionResponse": lambda _: ("", ()),
        }

    def tell_client(self, name: str, *values: int) -> None:
        """Say to the program that registered last what becomes of the session, such as "EndSession"."""
        assert self.connection is not None
        address = DBusAddress(_CLIENT, None, f"{SESSIONS}.ClientPrivate")
        self.connection.send(new_signal(address, name, "u" * len(values) or None, values))

    def serve(self) -> None:
        """Answer until the bus ends."""
        connection = self.connection
        assert connection is not None
        while True:
            try:
                message = connection.receive()
            except (OSError, RuntimeError, ValueError):
                return
            if message.header.message_type is not MessageType.method_call:
                continue
            method = message.header.fields[HeaderFields.member]
            interface = str(message.header.fields.get(HeaderFields.interface, "")).rpartition(".")[2]
            name = f"{interface}.{method}"
            self.calls.append((name, tuple(message.body)))
            answer = self.answers.get(name)
            signature, values = ("", ()) if answer is None else answer(tuple(message.body))
            reply = new_method_return(message, signature or None, values)
            if answer is None:
                reply = new_error(message, "org.freedesktop.DBus.Error.UnknownMethod")
            # The bus may end while somebody is answered.
            with contextlib.suppress(OSError):
                connection.send(reply)
            # Whoever asked has descriptors of its own now.
            for value in values:
                if hasattr(value, "close"):
                    value.close()

    def hand_out_block(self, _arguments: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
        """Answer as logind does: with a descriptor that blocks while it is open."""
        read_end, write_end = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self.blocks.append(read_end)
        return "h", (os.fdopen(write_end, "wb", buffering=0),)


@contextlib.contextmanager
def open_bus_daemon(folder: Path) -> Iterator[str]:
    """Run a bus and give its address."""
    config = folder / "bus.conf"
    config.write_text(CONFIG.format(path=folder / "bus"), encoding="utf-8")
    command = ["dbus-daemon", "--nofork", "--nopidfile", "--nosyslog", f"--config-file={config}", "--print-address=1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as daemon:
        assert daemon.stdout is not None
        address = daemon.stdout.readline().strip()
        try:
            yield address
        finally:
            daemon.kill()


@contextlib.contextmanager
def open_desktop(folder: Path, *names: str) -> Iterator[FakeDesktop]:
    """Run a bus with services under these names, which end with it."""
    with open_bus_daemon(folder) as address:
        desktop = FakeDesktop(address)
        desktop.connection = open_dbus_connection(address, enable_fds=True, auth_timeout=GREETS_S)
        for name in names:
            desktop.connection.send_and_get_reply(message_bus.RequestName(name))
        thread = threading.Thread(target=desktop.serve, name="fake-desktop")
        thread.start()
        yield desktop
    thread.join()
    desktop.connection.close()
    for read_end in desktop.blocks:
        os.close(read_end)
