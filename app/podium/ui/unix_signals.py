"""SIGTERM, SIGINT and SIGHUP in an idle Qt loop: a Python handler alone would run at the next event, hours later."""

from __future__ import annotations

import contextlib
import signal
import socket
from types import FrameType
from typing import Any

from PySide6.QtCore import QObject, QSocketNotifier, Signal, Slot

_NAMES = ("SIGTERM", "SIGINT", "SIGHUP")


class UnixSignals(QObject):
    """Emits `received` in the window's thread when the process is asked to end."""

    received = Signal(int)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._read_end, self._write_end = socket.socketpair()
        self._notifier: QSocketNotifier | None = None
        self._before: dict[int, Any] = {}
        self._fd_before = -1

    def open(self) -> None:
        """Take the signals over; one that was ignored (nohup) stays so."""
        for end in (self._read_end, self._write_end):
            end.setblocking(False)
        self._fd_before = signal.set_wakeup_fd(self._write_end.fileno(), warn_on_full_buffer=False)
        self._notifier = QSocketNotifier(self._read_end.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._on_activated)
        for number in (getattr(signal, name) for name in _NAMES if hasattr(signal, name)):
            if signal.getsignal(number) is not signal.SIG_IGN:
                # Without a handler of Python's the number would not be written to the socket.
                self._before[number] = signal.signal(number, _note)

    def close(self) -> None:
        """Give the signals back."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()
        if self._notifier is not None:
            signal.set_wakeup_fd(self._fd_before)
            self._notifier.setEnabled(False)
            self._notifier.deleteLater()
            self._notifier = None
        self._read_end.close()
        self._write_end.close()

    @Slot()
    def _on_activated(self) -> None:
        with contextlib.suppress(BlockingIOError):
            for number in self._read_end.recv(64):
                if number in self._before:
                    self.received.emit(number)


def _note(_number: int, _frame: FrameType | None) -> None:
    """Do nothing: the socket tells."""
