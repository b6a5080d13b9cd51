"""The window's end of the helper process. Nothing here waits, except `close`, and that with a limit.

Rule for callers: answers come in the window's thread, and never before `ask` has returned.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from PySide6.QtCore import QByteArray, QObject, QProcess, Qt, Signal, Slot

from podium.helper.framing import FrameReader, frame
from podium.helper.requests import Answer, HelperError, Request

AnswerT = TypeVar("AnswerT")
_log = logging.getLogger(__name__)

COMMAND = (sys.executable, "-m", "podium.helper.process")
MAX_DEATHS = 2
EXIT_LIMIT_MS = 2000


@dataclass(slots=True)
class _Pending:
    request: Request[Any]
    on_answer: Callable[[Answer[Any]], None]
    num_deaths: int = 0


class HelperClient(QObject):
    """Ask one helper process; it is started at the first request, and again after it died.

    A request over which it died is asked once more, and then answered with a `HelperError`.

    Args:
        command: Starts the process.
        is_held: Keep what is asked until `start` is called.
    """

    _ended = Signal()

    def __init__(
        self, command: Sequence[str] = COMMAND, *, is_held: bool = False, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._command = tuple(command)
        self._process: QProcess | None = None
        self._reader = FrameReader()
        self._pending: dict[int, _Pending] = {}
        self._last_number = 0
        self._is_closed = False
        self._is_held = is_held
        # A start that fails says so from within the call that asked.
        self._ended.connect(self._on_ended, Qt.ConnectionType.QueuedConnection)

    @property
    def pid(self) -> int | None:
        """Return the process's pid; None while there is no process."""
        return self._process.processId() or None if self._process is not None else None

    def ask(self, request: Request[AnswerT], on_answer: Callable[[Answer[AnswerT]], None]) -> None:
        """Send a request and return at once."""
        if self._is_closed:
            return
        self._last_number += 1
        self._pending[self._last_number] = _Pending(request, on_answer)
        if not self._is_held:
            self._send(self._last_number)

    def start(self) -> None:
        """Start the process now, so that the first request finds it ready; what was held back is asked."""
        self._start_process()
        if self._is_held:
            self._is_held = False
            for number in self._pending:
                self._send(number)

    def close(self) -> None:
        """End the process; what was asked is answered no more."""
        self._is_closed = True
        self._pending.clear()
        process, self._process = self._process, None
        if process is None:
            return
        process.readyReadStandardOutput.disconnect(self._on_output)
        process.finished.disconnect(self._ended)
        process.errorOccurred.disconnect(self._ended)
        if process.state() is not QProcess.ProcessState.NotRunning:
            process.closeWriteChannel()
            if not process.waitForFinished(EXIT_LIMIT_MS):
                process.kill()
                process.waitForFinished(EXIT_LIMIT_MS)
        process.deleteLater()

    def _start_process(self) -> None:
        if self._process is not None or self._is_closed:
            return
        process = QProcess(self)
        process.setProcessChannelMode(QProcess.ProcessChannelMode.ForwardedErrorChannel)
        process.readyReadStandardOutput.connect(self._on_output)
        process.finished.connect(self._ended)
        process.errorOccurred.connect(self._ended)
        self._reader = FrameReader()
        self._process = process
        process.start(self._command[0], list(self._command[1:]))

    def _send(self, number: int) -> None:
        self._start_process()
        assert self._process is not None, "it was just started"
        self._process.write(QByteArray(frame((number, self._pending[number].request))))

    @Slot()
    def _on_output(self) -> None:
        if self._process is None:
            return
        data = self._process.readAllStandardOutput().data()
        for message in self._reader.feed(bytes(data)):
            assert isinstance(message, tuple), "the helper answers with a number and an answer"
            number, answer = message
            pending = self._pending.pop(number, None)
            if pending is not None:
                pending.on_answer(answer)

    @Slot()
    def _on_ended(self) -> None:
        process = self._process
        if process is None or process.state() is not QProcess.ProcessState.NotRunning:
            return
        self._process = None
        _log.warning("The helper process ended (exit code %d, %s)", process.exitCode(), process.errorString())
        process.deleteLater()
        for number, pending in list(self._pending.items()):
            # Whoever was answered may have closed this.
            if self._is_closed:
                return
            pending.num_deaths += 1
            if pending.num_deaths < MAX_DEATHS:
                self._send(number)
            else:
                del self._pending[number]
                pending.on_answer(Answer(error=_death(pending.request)))


def _death(request: Request[Any]) -> HelperError:
    return HelperError(
        "Podium's helper process ended twice over the same question. Restarting Podium may help.",
        details=repr(request)[:2000],
    )
