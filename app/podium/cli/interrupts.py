"""What Ctrl+C does to a command that drives a fleet: the first cancels softly, the second kills."""

from __future__ import annotations

import queue
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Self

from podium.cli.terminal import say

_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


class Interrupts:
    """Turns signals into two calls, made on a thread of their own.

    A handler runs inside whatever the main thread does, perhaps while it holds the very lock that a cancel takes; so
    the handler only passes the signal on.

    Args:
        cancel: Ask the job to end; called at the first signal.
        kill: End everything at once; called at the second.
    """

    def __init__(self, cancel: Callable[[], None], kill: Callable[[], None]) -> None:
        self._cancel = cancel
        self._kill = kill
        self._arrived: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._serve, name="interrupts", daemon=True)
        self._before: dict[int, object] = {}
        self.num_seen = 0

    def __enter__(self) -> Self:
        """Take the signals over; those that were ignored (nohup) stay so."""
        self._thread.start()
        for number in (getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)):
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the signals back."""
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type] # what `signal` itself had returned
        self._arrived.put(False)
        self._thread.join()

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Let a signal interrupt the main thread itself for a while, where it waits for an answer and no job runs."""
        for number in self._before:
            signal.signal(number, signal.default_int_handler)
        try:
            yield
        finally:
            for number in self._before:
                signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self.num_seen += 1
        self._arrived.put(True)

    def _serve(self) -> None:
        actions = iter((self._ask, self._kill))
        while self._arrived.get():
            action = next(actions, None)
            if action is not None:
                action()

    def _ask(self) -> None:
        self._cancel()
        say("Stopping at the next step. Ctrl+C again stops at once.")
