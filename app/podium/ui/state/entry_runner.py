"""Has the queue's entries made, one after another: each is checked when its turn comes, and then goes to the fleet."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, Signal, Slot

from podium.helper.requests import Answer, CheckedJob, CheckRequest, ClipContents, ReadClip
from podium.ui.state.devices import DevicesState
from podium.ui.state.events import JobEnded
from podium.ui.state.history import HistoryState
from podium.ui.state.job import JobState
from podium.ui.state.orders import JobOrder
from podium.ui.state.ports import HelperPort
from podium.ui.state.queue import QueueState
from podium.ui.state.sentences import said, said_of
from podium.ui.state.timing import Timings
from podium.ui.state.values import EntryStatus, ErrorMessage, FleetSpec, JobPhase, QueueEntry

NUM_LOG_LINES = 200
_OUTCOMES = {
    JobPhase.FAILED: EntryStatus.FAILED,
    JobPhase.REFUSED: EntryStatus.REFUSED,
    JobPhase.STOPPED: EntryStatus.STOPPED,
}


class EntryRunner(QObject):
    """Has the queue's entries made.

    Args:
        queue: Says whose turn it is.
        job: Shows the one at work.
        history: Takes what was made.
        devices: Knows the devices that are here.
        helper: Checks.
        timings: Remembers what things took.
        now_s: A clock, in seconds.
    """

    job_ordered = Signal(object)
    """A checked `JobOrder` for the owner."""

    def __init__(
        self,
        queue: QueueState,
        job: JobState,
        history: HistoryState,
        devices: DevicesState,
        *,
        helper: HelperPort,
        timings: Timings,
        parent: QObject | None = None,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(parent)
        self._queue = queue
        self._job = job
        self._history = history
        self._devices = devices
        self._helper = helper
        self._timings = timings
        self._now_s = now_s
        self._begun_s = 0.0
        self._is_held = False
        self._is_advancing = False
        queue.changed.connect(self.advance)
        queue.cancel_requested.connect(job.cancel_soon)
        devices.changed.connect(self.advance)
        job.phase_changed.connect(self._on_phase_changed)
        job.ended.connect(self._on_ended)

    def hold(self, is_held: bool) -> None:  # noqa: FBT001 - called with what it sets
        """Begin no further entry, or go on."""
        self._is_held = is_held
        self.advance()

    def close(self) -> None:
        """Begin nothing any more: the window goes.

        What is at work stays so in the library. It may yet be finished, and the next window looks whether it was
        before it puts it back.
        """
        self._is_held = True

    @Slot()
    def advance(self) -> None:
        """Begin the entry whose turn it is, if none is at work."""
        # Refusing an entry changes the queue, which leads here again: a loop takes a thousand of them, calls do not.
        if self._is_advancing:
            return
        self._is_advancing = True
        try:
            while self._begin_next():
                pass
        finally:
            self._is_advancing = False

    def recover(self, entry: QueueEntry) -> None:
        """Look whether an interrupted entry's clip is there after all; it is not made twice then."""
        self._helper.ask(ReadClip(entry.request.output_path), partial(self._take_recovered, entry))

    def _begin_next(self) -> bool:
        """Begin the next entry; return whether it was refused on the spot, and another has to be looked for."""
        entry = None if self._is_held or self._job.phase.is_active else self._queue.next_entry()
        if entry is None or (entry.spec.choice.uuids and not self._devices.has_listed):
            return False
        spec = self._placed(entry.spec)
        if spec is None:
            message = ErrorMessage(
                self.tr("A GPU that this clip was meant for is not here any more. Edit the entry to take another."),
                ", ".join(entry.spec.choice.uuids),
            )
            self._queue.end(replace(entry, status=EntryStatus.REFUSED, error=message))
            return True
        self._queue.begin(entry.key)
        self._begun_s = self._now_s()
        request = entry.request
        known_s = self._timings.phases_s(spec, request.clip, num_steps=request.num_inference_steps)
        self._job.begin(entry.key, request.clip, known_s)
        check = CheckRequest(
            request,
            spec.models,
            spec.choice.num_ranks,
            spec.dtype,
            quantization=spec.quantization,
            files=entry.files,
            is_on_cpu=spec.choice.cpu_ranks is not None,
            devices=spec.choice.devices if spec.choice.cpu_ranks is None else (),
        )
        self._helper.ask(check, partial(self._take_check, JobOrder(entry.key, spec, request)))
        return False

    def _placed(self, spec: FleetSpec) -> FleetSpec | None:
        """Return a fleet with its GPUs' numbers as they are now; None if one of them is gone."""
        choice = spec.choice
        numbers = {row.uuid: row.index for row in self._devices.devices}
        if any(uuid not in numbers for uuid in choice.uuids):
            return None
        if not choice.uuids:
            return spec
        return replace(spec, choice=replace(choice, devices=tuple(numbers[uuid] for uuid in choice.uuids)))

    def _take_check(self, order: JobOrder, answer: Answer[CheckedJob]) -> None:
        # It may have been cancelled while it was checked.
        if self._job.key != order.key or self._job.phase is not JobPhase.CHECKING:
            return
        if answer.value is None:
            self._job.refuse(ErrorMessage("") if answer.error is None else said_of(answer.error))
            return
        notes = tuple(map(said, answer.value.notes))
        self._queue.note_check(order.key, notes)
        self._job.wait_for_fleet(notes)
        self.job_ordered.emit(replace(order, parameters=answer.value.parameters, residency=answer.value.residency))

    def _take_recovered(self, entry: QueueEntry, answer: Answer[ClipContents]) -> None:
        current = next((other for other in self._queue.entries if other.key == entry.key), None)
        if answer.value is None or current is None or current.status is not EntryStatus.PENDING:
            return
        self._history.add(answer.value.clip, entry.request, spec=entry.spec, queue_key=entry.key)
        self._queue.drop(entry.key)

    @Slot()
    def _on_phase_changed(self) -> None:
        if self._job.phase is JobPhase.RUNNING:
            # Waiting for a fleet is no part of making a clip.
            self._begun_s = self._now_s()

    @Slot(object)
    def _on_ended(self, event: JobEnded) -> None:
        entry = self._queue.running
        if entry is None or entry.key != event.key:
            return
        if event.clip is not None:
            duration_s = self._now_s() - self._begun_s
            self._timings.note_clip(entry.spec, entry.request, self._job.phases)
            self._history.add(event.clip, entry.request, spec=entry.spec, duration_s=duration_s, queue_key=entry.key)
            self._queue.drop(entry.key)
        else:
            self._queue.end(self._ended_badly(entry, event))

    def _ended_badly(self, entry: QueueEntry, event: JobEnded) -> QueueEntry:
        status = _OUTCOMES.get(event.outcome, EntryStatus.FAILED)
        if status is not EntryStatus.FAILED:
            return replace(entry, status=status, error=event.message)
        lines = event.log_lines or self._job.log_lines(event.rank or 0)
        return replace(
            entry,
            status=status,
            error=event.message,
            failed_rank=event.rank,
            failed_phase=event.phase or self._job.current_phase,
            log_lines=lines[-NUM_LOG_LINES:],
        )
