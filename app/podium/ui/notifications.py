"""The artist is told beside the window of what she waits for, while it is not the one she works in."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Slot

from podium.ui.desktop_bus import DesktopBus
from podium.ui.state.events import JobEnded
from podium.ui.state.session import SessionState
from podium.ui.state.values import JobPhase


class Notifications(QObject):
    """Tells of clips that are finished, and of a queue that is done or paused.

    Args:
        session: What happens.
        desktop: Shows it.
        is_away: Says whether the artist is at something else.
    """

    def __init__(
        self,
        session: SessionState,
        desktop: DesktopBus,
        is_away: Callable[[], bool],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._desktop = desktop
        self._is_away = is_away
        self._is_on = True
        self._num_finished = 0
        self._num_failed = 0
        session.job.ended.connect(self._on_ended)
        session.queue.pause_reason_changed.connect(self._on_paused)

    def set_on(self, is_on: bool) -> None:  # noqa: FBT001 - the slot of a toggle
        """Tell, or keep still."""
        self._is_on = is_on

    @Slot(object)
    def _on_ended(self, event: JobEnded) -> None:
        self._num_finished += event.outcome is JobPhase.FINISHED
        self._num_failed += event.outcome in (JobPhase.FAILED, JobPhase.REFUSED)
        queue = self._session.queue
        if queue.running is None and queue.num_pending == 0:
            self._tell_end(event)
            self._num_finished = self._num_failed = 0
        elif event.outcome is JobPhase.FINISHED:
            self._tell(self.tr("A clip is finished"), self._name_of(event))

    def _tell_end(self, event: JobEnded) -> None:
        """Tell that all is done, in the words of one clip where it was one."""
        if self._num_finished + self._num_failed > 1:
            text = self.tr("Finished: {0}. Not made: {1}.").format(self._num_finished, self._num_failed)
            self._tell(self.tr("The queue is done"), text)
        elif event.outcome is JobPhase.FINISHED:
            self._tell(self.tr("A clip is finished"), self._name_of(event))
        elif event.message is not None:
            self._tell(self.tr("A clip was not made"), event.message.sentence)

    @Slot()
    def _on_paused(self) -> None:
        # Who pauses it by hand is not away.
        if self._session.queue.pause_reason:
            self._tell(self.tr("The queue is paused"), self._session.queue.pause_reason)

    def _tell(self, title: str, text: str) -> None:
        if self._is_on and self._is_away():
            self._desktop.notify(title, text)

    def _name_of(self, event: JobEnded) -> str:
        return "" if event.clip is None else event.clip.path.name
