"""The desktop ends the session: the artist is asked if anything is at work, and whatever she says the queue is kept.

Two ways lead here. Desktops of GNOME's kind ask over D-Bus and allow no question in a window: what is at work is our
objection, and the desktop puts it to the artist itself. Where Qt speaks X11's protocol of sessions, the window asks as
when it is closed; the Qt in PySide6's wheels does not. Where neither is, what ends the process is a signal.
"""

from __future__ import annotations

import logging

from PySide6.QtCore import QEventLoop, QObject, Slot
from PySide6.QtGui import QGuiApplication, QSessionManager

from podium.ui.desktop_bus import DesktopBus
from podium.ui.state.session import SessionState
from podium.ui.views.main_window import MainWindow

_log = logging.getLogger(__name__)


class SessionEnd(QObject):
    """Answers the desktop's question whether the session may end, and ends with it.

    Args:
        application: Is asked.
        session: Knows what is at work.
        widget: The window.
        desktop: Says when the session ends.
    """

    def __init__(
        self,
        application: QGuiApplication,
        session: SessionState,
        widget: MainWindow,
        desktop: DesktopBus,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._application = application
        self._session = session
        self._widget = widget
        application.commitDataRequest.connect(self.on_commit_data)
        desktop.session_ending.connect(self.on_session_ending)

    @Slot()
    def on_session_ending(self) -> None:
        """End: the artist has been asked, and the desktop waits."""
        _log.info("The session ends: closing")
        self._widget.allow_closing()
        # Not quit(): a dialog that is open would have to be answered first.
        self._application.exit(0)

    @Slot(QSessionManager)
    def on_commit_data(self, manager: QSessionManager) -> None:
        """Ask if anything is at work and the artist may be asked; the answer is due before this returns."""
        if not self._session.is_at_work:
            return
        if not manager.allowsInteraction():
            # The session ends whatever the answer; the queue is kept.
            self._widget.allow_closing()
            return
        dialog = self._widget.ask_about_closing()
        loop = QEventLoop(self)
        dialog.finished.connect(loop.quit)
        loop.exec()
        if self._widget.may_close:
            manager.release()
        else:
            manager.cancel()
