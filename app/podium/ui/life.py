"""What a window owes to the desktop it lives on: it keeps it awake, tells of what is done, and hears of its ends."""

from __future__ import annotations

import os

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QApplication, QWidget

from podium.ui.desktop_bus import BusAddresses, DesktopBus
from podium.ui.notifications import Notifications
from podium.ui.session_end import SessionEnd
from podium.ui.sleep_inhibitor import SleepInhibitor, SleepWatch
from podium.ui.state.session import SessionState
from podium.ui.views.main_window import MainWindow

_TOKEN_NAME = "XDG_ACTIVATION_TOKEN"


class WindowLife(QObject):
    """The life of one window among others. `open`, and `close` at the end.

    Args:
        application: The process's.
        session: What happens in the window.
        widget: The window.
        addresses: Of the desktop's buses.
    """

    woken = Signal()
    """The machine has slept."""
    motion_told = Signal(bool)
    """Whether the desktop wants nothing to move."""

    def __init__(
        self,
        application: QApplication,
        session: SessionState,
        widget: MainWindow,
        *,
        addresses: BusAddresses | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._widget = widget
        self.desktop = DesktopBus(addresses, self)
        self.notifications = Notifications(session, self.desktop, self._is_away, self)
        self._inhibitor = SleepInhibitor(session.job, session.exports, self.desktop, self)
        self._session_end = SessionEnd(application, session, widget, self.desktop, self)
        self._watch = SleepWatch(self)
        self._watch.woken.connect(self.woken)
        self.desktop.motion_told.connect(self.motion_told)
        self.desktop.notice_chosen.connect(self.show_in_front)

    def open(self) -> None:
        """Begin."""
        self.desktop.open()
        self._watch.open()

    def close(self) -> None:
        """End; the machine may sleep, and the session end."""
        self._watch.close()
        self.desktop.close()

    @Slot(str)
    def show_in_front(self, activation_token: str) -> None:
        """Bring the window to the front, as far as the desktop lets it."""
        bring_to_front(self._widget, activation_token)

    def _is_away(self) -> bool:
        return not self._widget.isActiveWindow() and QApplication.activeWindow() is None


def bring_to_front(widget: QWidget, activation_token: str = "") -> None:
    """Bring a window to the front; where the desktop asks for a token, it comes no further without one."""
    if activation_token:
        # Where Qt looks for it.
        os.environ[_TOKEN_NAME] = activation_token
    widget.setWindowState(widget.windowState() & ~Qt.WindowState.WindowMinimized)
    widget.show()
    widget.raise_()
    widget.activateWindow()
    os.environ.pop(_TOKEN_NAME, None)
