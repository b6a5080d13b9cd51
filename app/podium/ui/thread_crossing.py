"""Where what other threads say crosses to the window's: it comes to nobody once this is closed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Signal, SignalInstance, Slot


class ThreadCrossing(QObject):
    """Has its own signals emitted in the thread that it lives in, whichever thread has something to tell.

    What another thread emitted before a disconnection is delivered after it all the same; here it is dropped.
    """

    _came = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._is_closed = False
        self._came.connect(self._on_came)

    def tell(self, signal: SignalInstance, *values: object) -> None:
        """Have one of the signals emitted, from any thread."""
        # Nobody is told any more where a slow thread comes here when the other half is gone.
        with contextlib.suppress(RuntimeError):
            self._came.emit(partial(signal.emit, *values))

    def close(self) -> None:
        """Tell of nothing any more, not even of what is on its way."""
        self._is_closed = True

    @Slot(object)
    def _on_came(self, emit: Callable[[], None]) -> None:
        if not self._is_closed:
            emit()
