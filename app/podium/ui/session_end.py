"""The desktop ends the session: with a clip at work the artist is asked, as when she closes the window."""

from __future__ import annotations

from PySide6.QtCore import QEventLoop, QObject, Slot
from PySide6.QtGui import QGuiApplication, QSessionManager

from podium.ui.state.session import SessionState
from podium.ui.views.main_window import MainWindow


class SessionEnd(QObject):
    """Answers the desktop's question whether the session may end.

    Where Qt has no word from the desktop, a sleep block asks in its place, and what ends the process is a signal.

    Args:
        application: Is asked.
        session: Knows of the clip at work.
        widget: The window.
    """

    def __init__(
        self,
        application: QGuiApplication,
        session: SessionState,
        widget: MainWindow,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._widget = widget
        application.commitDataRequest.connect(self.on_commit_data)

    @Slot(QSessionManager)
    def on_commit_data(self, manager: QSessionManager) -> None:
        """Ask if a clip is at work and the artist may be asked; the answer is due before this returns."""
        if not self._session.job.phase.is_active:
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
