"""Has the fleet answer what the form asks about its prompt: between two clips, and before the next one."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Signal, Slot

from podium.jobs import DurationRequest, EnhanceRequest, StepDone
from podium.ui.state.events import JobEnded, JobNews
from podium.ui.state.fleet import FleetState
from podium.ui.state.job import JobState
from podium.ui.state.orders import PromptOrder
from podium.ui.state.ports import FleetControls
from podium.ui.state.prompt_task import PromptTaskState
from podium.ui.state.values import FleetPhase, FleetSpec, JobPhase


class PromptRunner(QObject):
    """Has prompts' tasks done, one after another.

    The fleet's owner takes what it is asked for in turn, and the queue asks for its next clip only when one has ended:
    so an order that is given at once comes before the next clip.

    Args:
        controls: Cancels.
        fleet: Is waited for.
        job: The clip at work, which is waited for.
        find_spec: Gives the fleet that the form asks for, or a sentence on why there is none.
    """

    ordered = Signal(object)
    """A `PromptOrder` for the owner."""

    def __init__(
        self,
        controls: FleetControls,
        fleet: FleetState,
        job: JobState,
        find_spec: Callable[[], FleetSpec | str],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._controls = controls
        self._fleet = fleet
        self._job = job
        self._find_spec = find_spec
        # Clips have keys from 1 up.
        self._keys = itertools.count(-1, -1)
        self._tasks: dict[int, PromptTaskState] = {}
        self._started: int | None = None
        job.phase_changed.connect(self._show_waiting)
        fleet.phase_changed.connect(self._show_waiting)
        fleet.rows_changed.connect(self._on_rows_changed)

    def serve(self, task: PromptTaskState) -> None:
        """Have this task done whenever it is asked for."""
        task.ordered.connect(partial(self._order, task))
        task.cancel_requested.connect(partial(self._cancel, task))
        task.stop_requested.connect(partial(self._stop, task))
        task.force_requested.connect(self._controls.force_stop)

    def cancel_all(self) -> None:
        """Ask softly that what waits or runs ends; who waits for it is told."""
        for key in self._tasks:
            self._controls.cancel(key)

    def start(self, key: int) -> None:
        """Note that the ranks have an order."""
        if key in self._tasks:
            self._started = key
            task = self._tasks[key]
            task.note_start_duration(self._fleet.start_duration_s)
            task.note_ranks(self._fleet.rows)
            task.show_status("")

    def take_news(self, news: JobNews) -> None:
        """Take in what the ranks said."""
        task = self._tasks.get(news.key)
        for event in news.events:
            if task is not None and isinstance(event, StepDone):
                task.note_step(event)

    def end(self, event: JobEnded) -> None:
        """Hand on what came of an order, if anybody still waits for it."""
        if event.key == self._started:
            self._started = None
        task = self._tasks.pop(event.key, None)
        if task is None:
            return
        if event.answer is not None:
            task.take(event.answer)
        elif event.message is not None:
            task.refuse(event.message.sentence)
        else:
            task.refuse(self.tr("This was stopped before it was done."))

    def _order(self, task: PromptTaskState, request: EnhanceRequest | DurationRequest) -> None:
        spec = self._find_spec()
        if isinstance(spec, str):
            task.refuse(spec)
            return
        key = next(self._keys)
        self._tasks[key] = task
        self._show_waiting()
        self.ordered.emit(PromptOrder(key, spec, request))

    def _cancel(self, task: PromptTaskState) -> None:
        for key in [key for key, other in self._tasks.items() if other is task]:
            del self._tasks[key]
            self._controls.cancel(key)

    def _stop(self, task: PromptTaskState) -> None:
        """End a task softly; what no rank has yet is not waited for."""
        for key in [key for key, other in self._tasks.items() if other is task]:
            self._controls.cancel(key)
            if key != self._started:
                del self._tasks[key]
                task.refuse(self.tr("This was stopped before it was done."))

    @Slot()
    def _on_rows_changed(self) -> None:
        for task in self._tasks.values():
            task.note_ranks(self._fleet.rows)

    @Slot()
    def _show_waiting(self) -> None:
        """Say what is waited for by whatever the ranks do not have yet."""
        status = ""
        if self._fleet.phase is FleetPhase.STARTING:
            status = self.tr("The fleet starts first.")
        elif self._started is not None or self._job.phase is JobPhase.RUNNING:
            status = self.tr("It waits for what is at work.")
        for key, task in self._tasks.items():
            if key != self._started:
                task.show_status(status)
