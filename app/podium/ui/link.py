"""Where the owner's thread meets the window's: the one receiver of all that the owner tells."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Slot

from podium.ui.mailbox import Mailbox
from podium.ui.owner import Owner, OwnerSignals
from podium.ui.state.events import JobNews, OwnerEvent
from podium.ui.state.orders import JobOrder
from podium.ui.state.session import SessionState
from podium.ui.state.values import FleetSpec

NEWS_INTERVAL_MS = 50


class OwnerLink(QObject):
    """Carries the session's wishes to the owner, and the owner's words to the session, at 20 Hz at most.

    Args:
        session: The window's states.
        owner: The thread that owns the fleet.
        signals: What it emits.
        mailbox: What it fills.
    """

    def __init__(
        self,
        session: SessionState,
        owner: Owner,
        signals: OwnerSignals,
        mailbox: Mailbox,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._owner = owner
        self._mailbox = mailbox
        self._is_due = False
        self._is_closed = False
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(NEWS_INTERVAL_MS)
        self._pause.timeout.connect(self._on_pause_over)
        signals.told.connect(self._on_told)
        signals.posted.connect(self._on_posted)
        session.job_ordered.connect(self._on_job_ordered)
        session.fleet_ordered.connect(self._on_fleet_ordered)
        session.fleet_stop_ordered.connect(owner.stop_fleet)
        session.fleet.check_requested.connect(owner.check_fleet)

    def close(self) -> None:
        """Carry nothing any more: the window goes."""
        # What another thread emitted before a disconnection is delivered after it all the same.
        self._is_closed = True
        self._pause.stop()

    @Slot(object)
    def _on_told(self, event: OwnerEvent) -> None:
        if self._is_closed:
            return
        # What was said before it comes first.
        self._empty_mailbox()
        self._session.apply(event)

    @Slot()
    def _on_posted(self) -> None:
        if self._is_closed:
            return
        if self._pause.isActive():
            self._is_due = True
        else:
            self._empty_mailbox()
            self._pause.start()

    @Slot()
    def _on_pause_over(self) -> None:
        if self._is_due:
            self._empty_mailbox()
            self._pause.start()

    @Slot(object)
    def _on_job_ordered(self, order: JobOrder) -> None:
        self._owner.submit(order)

    @Slot(object)
    def _on_fleet_ordered(self, spec: FleetSpec) -> None:
        self._owner.start_fleet(spec)

    def _empty_mailbox(self) -> None:
        self._is_due = False
        for mail in self._mailbox.take():
            if mail.events:
                self._session.take_news(JobNews(mail.key, mail.events))
            for preview in mail.previews:
                self._session.job.take_preview(mail.key, preview)
