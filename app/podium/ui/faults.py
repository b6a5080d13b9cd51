"""What was raised where nobody catches it: in a slot of Qt's, in a thread. It is logged and told, and nothing ends."""

from __future__ import annotations

import logging
import sys
import threading
import traceback
from collections.abc import Callable
from types import TracebackType

from PySide6.QtCore import QMessageLogContext, QObject, QtMsgType, Signal, qInstallMessageHandler

from podium.ui.state.values import ErrorMessage

_log = logging.getLogger(__name__)
ExceptHook = Callable[[type[BaseException], BaseException, TracebackType | None], object]


class FaultReports(QObject):
    """Hears of every fault from `open` to `close`."""

    found = Signal(object)
    """An `ErrorMessage`; in the window's thread, wherever the fault was."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._hook_before: ExceptHook | None = None
        self._thread_hook_before: Callable[[threading.ExceptHookArgs], object] | None = None

    def open(self) -> None:
        """Begin to hear."""
        self._hook_before, sys.excepthook = sys.excepthook, self._on_fault
        self._thread_hook_before, threading.excepthook = threading.excepthook, self._on_thread_fault
        qInstallMessageHandler(_log_qt_message)

    def close(self) -> None:
        """Give back to whoever heard before."""
        if self._hook_before is not None:
            sys.excepthook = self._hook_before
        if self._thread_hook_before is not None:
            threading.excepthook = self._thread_hook_before
        self._hook_before = self._thread_hook_before = None
        # Some handler stays for the life of the process: threads of the media libraries outlive their player, and a
        # message of theirs would be given to one that is no longer there.
        qInstallMessageHandler(_print_qt_message)

    def _on_fault(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """Tell what a slot raised: the border between Qt and Python, where it would only be printed."""
        _log.error("A fault in Podium", exc_info=(kind, error, trace))
        self._tell(error)

    def _on_thread_fault(self, arguments: threading.ExceptHookArgs) -> None:
        error = arguments.exc_value
        _log.error("A fault in the thread %s", arguments.thread and arguments.thread.name, exc_info=error)
        if error is not None:
            self._tell(error)

    def _tell(self, error: BaseException) -> None:
        if isinstance(error, Exception):
            text = self.tr(
                "Something went wrong that should not ({0}). You can go on, but some of what is shown may be "
                "wrong until Podium is started again."
            )
            details = "".join(traceback.format_exception(error))
            self.found.emit(ErrorMessage(text.format(type(error).__name__), details))


def _log_qt_message(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
    """Log what Qt would print; what its multimedia libraries find missing on the way is nobody's business."""
    category = context.category or ""
    is_chatter = kind in (QtMsgType.QtDebugMsg, QtMsgType.QtInfoMsg) or category.startswith("qt.multimedia")
    level = logging.DEBUG if is_chatter else logging.WARNING if kind is QtMsgType.QtWarningMsg else logging.ERROR
    _log.log(level, "Qt, %s: %s", category, message)


def _print_qt_message(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
    """Print what Qt says, as it does by itself."""
    del kind, context
    sys.stderr.write(f"{message}\n")
