"""The queue: what is made next, in the order shown. It outlives the window."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from PySide6.QtCore import QObject, Signal

from podium.jobs import FileIdentity, GenerationRequest
from podium.library import Library, LibraryError
from podium.ui.state.clip_paths import ClipPaths
from podium.ui.state.observable import ObservableState
from podium.ui.state.queue_order import (
    Entries,
    find,
    find_running,
    front_place,
    grouped,
    keys_of,
    next_pending,
    replaced,
    with_moved,
    with_switches,
)
from podium.ui.state.queue_rows import from_row, to_row
from podium.ui.state.sentences import said
from podium.ui.state.values import EntryStatus, FleetSpec, QueueEntry

_log = logging.getLogger(__name__)


def _never_known(_spec: FleetSpec) -> float | None:
    return None


class QueueState(ObservableState):
    """What is made next, in the order shown.

    Args:
        library: Keeps the entries. What cannot be kept stays here, `problem` tells, and the next change tries again.
        clip_paths: Names the clips of duplicates.
        now: Gives the time.
    """

    entries_changed = Signal()
    running_changed = Signal()
    is_paused_changed = Signal()
    pause_reason_changed = Signal()
    num_pending_changed = Signal()
    edited_key_changed = Signal()
    problem_changed = Signal()
    edit_requested = Signal(object)
    """The request of a `QueueEntry` shall go into the form."""
    cancel_requested = Signal()
    """The entry at work shall end softly."""
    restart_requested = Signal()
    """The fleet shall be killed, and a new one started."""

    def __init__(
        self,
        library: Library,
        parent: QObject | None = None,
        *,
        clip_paths: ClipPaths | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        super().__init__(parent)
        self._store = library.queue
        self._now = now
        self._clip_paths = clip_paths or ClipPaths(now)
        self._entries: Entries = ()
        self._running: QueueEntry | None = None
        self._is_paused = False
        self._pause_reason = ""
        self._num_pending = 0
        self._edited_key: int | None = None
        # What is wrong with the whole library stays wrong while the window is open.
        self._lasting_problem = "" if library.is_kept else said(library.problem)
        self._problem = self._lasting_problem
        self._fleet: FleetSpec | None = None
        self._start_s: Callable[[FleetSpec], float | None] = _never_known
        self._last_key = 0
        self._interrupted: QueueEntry | None = None
        # The one at work goes as soon as it has ended.
        self._drops_running = False
        self._load(was_left_open=library.was_left_open)

    @property
    def entries(self) -> Entries:
        """Return all entries in the order they run; those that are over stand where they stood."""
        return self._entries

    @property
    def running(self) -> QueueEntry | None:
        """Return the entry at work; it is among `entries`, too."""
        return self._running

    @property
    def is_paused(self) -> bool:
        """Return whether no further entry begins."""
        return self._is_paused

    @property
    def pause_reason(self) -> str:
        """Return a sentence on why the queue is paused; empty while it is not."""
        return self._pause_reason

    @property
    def num_pending(self) -> int:
        """Return how many entries will run; paused ones do not count."""
        return self._num_pending

    @property
    def edited_key(self) -> int | None:
        """Return the entry that is in the form, and does not run until it is back; None if there is none."""
        return self._edited_key

    @property
    def interrupted(self) -> QueueEntry | None:
        """Return the entry that was at work when the last window came to a sudden end; None if none was."""
        return self._interrupted

    @property
    def problem(self) -> str:
        """Return a sentence on why the queue is not kept on disk; empty while it is."""
        return self._problem

    def move(self, key: int, place: int) -> None:
        """Put an entry at another place, counted from 0; what lies outside becomes the nearest. One at work stays."""
        if self._running is None or self._running.key != key:
            self._take(with_moved(self._entries, key, place))

    def move_to_front(self, key: int) -> None:
        """Have an entry run next; the one at work stays where it is."""
        others = tuple(entry for entry in self._entries if entry.key != key)
        if len(others) < len(self._entries):
            self.move(key, front_place(others))

    def remove(self, key: int) -> None:
        """Take an entry out; the one at work is cancelled first."""
        if self._running is not None and key == self._running.key:
            self._drops_running = True
            self.cancel_requested.emit()
            return
        self._take(tuple(entry for entry in self._entries if entry.key != key))

    def duplicate(self, key: int) -> None:
        """Put the same once more behind an entry; its clip has a name of its own."""
        entry = find(self._entries, key)
        if entry is None:
            return
        path = self._clip_paths.new(entry.request.output_path.parent, entry.request.prompt)
        request = replace(entry.request, output_path=path)
        copies = self._make([request], entry.spec, entry.files)
        place = self._entries.index(entry) + 1
        self._take((*self._entries[:place], *copies, *self._entries[place:]))

    def edit(self, key: int) -> None:
        """Put an entry's request into the form: the next Generate takes its place, and until then it does not run."""
        entry = find(self._entries, key)
        if entry is not None and entry.status is not EntryStatus.RUNNING:
            self._update(edited_key=key)
            self.edit_requested.emit(entry)

    def stop_editing(self) -> None:
        """Leave the edited entry as it was."""
        self._update(edited_key=None)

    def retry(self, key: int) -> None:
        """Have an entry that is over run again when its turn comes."""
        entry = find(self._entries, key)
        if entry is not None and entry.status.is_over:
            self._take(replaced(self._entries, _renewed(entry)))

    def pause(self) -> None:
        """Begin no further entry; the one at work goes on."""
        self.pause_for(self.tr("The queue is paused. The clip at work is finished, and no other begun."))

    def resume(self) -> None:
        """Go on."""
        self._update(is_paused=False, pause_reason="")

    def set_entry_paused(self, key: int, is_paused: bool) -> None:  # noqa: FBT001 - the slot of a toggle
        """Choose whether an entry that waits is passed over."""
        entry = find(self._entries, key)
        if entry is not None and entry.status.is_waiting:
            status = EntryStatus.PAUSED if is_paused else EntryStatus.PENDING
            self._take(replaced(self._entries, replace(entry, status=status)))

    def group_by_model(self) -> None:
        """Put entries for the same fleet one after another, those for the fleet that is up first."""
        self._take(grouped(self._entries, self._fleet))

    def cancel_all(self) -> None:
        """Cancel the entry at work softly, and take out all that wait."""
        self._take(tuple(entry for entry in self._entries if not entry.status.is_waiting))
        if self._running is not None:
            self.cancel_requested.emit()

    def clear(self) -> None:
        """Take out all but the entry at work."""
        self._take(tuple(entry for entry in self._entries if entry.status is EntryStatus.RUNNING))

    def clear_and_restart(self) -> None:
        """Kill the fleet, take out all, and start a new fleet."""
        self._drops_running = self._running is not None
        self.clear()
        self.restart_requested.emit()

    def add(
        self,
        requests: Sequence[GenerationRequest],
        spec: FleetSpec,
        *,
        files: tuple[FileIdentity, ...] = (),
        in_front: bool = False,
    ) -> tuple[QueueEntry, ...]:
        """Put requests at the end, or in front of all that wait, and return their entries."""
        new = self._make(requests, spec, files)
        place = front_place(self._entries) if in_front else len(self._entries)
        self._take((*self._entries[:place], *new, *self._entries[place:]))
        return new

    def replace_edited(self, requests: Sequence[GenerationRequest], spec: FleetSpec) -> tuple[QueueEntry, ...]:
        """Put requests in the place of the entry that was edited, and return their entries."""
        entry = find(self._entries, self._edited_key)
        assert entry is not None, "what is edited is in the queue"
        first = replace(_renewed(entry), request=requests[0], spec=spec, files=())
        more = self._make(requests[1:], spec, ())
        place = self._entries.index(entry)
        self._take((*self._entries[:place], first, *more, *self._entries[place + 1 :]))
        self._update(edited_key=None)
        return (first, *more)

    def next_entry(self) -> QueueEntry | None:
        """Return the entry whose turn it is; None while one is at work or the queue is paused, or if none waits."""
        if self._is_paused or self._running is not None:
            return None
        return next_pending(self._entries, held=self._edited_key)

    def begin(self, key: int) -> None:
        """Note that an entry is at work."""
        self._set(key, status=EntryStatus.RUNNING)

    def end(self, entry: QueueEntry) -> None:
        """Note that the entry at work ended without a clip, and how."""
        if self._drops_running:
            self.drop(entry.key)
        else:
            self._take(replaced(self._entries, entry))

    def drop(self, key: int) -> None:
        """Take an entry out whose clip is made, or not wanted any more."""
        self._drops_running = False
        self._take(tuple(entry for entry in self._entries if entry.key != key))

    def pause_for(self, reason: str) -> None:
        """Begin no further entry, for a reason that is told."""
        self._update(is_paused=True, pause_reason=reason)

    def note_fleet(self, fleet: FleetSpec | None, start_s: Callable[[FleetSpec], float | None]) -> None:
        """Note which fleet is up or starts, and how long starts take: what entries say of theirs hangs on that."""
        self._fleet, self._start_s = fleet, start_s
        self._take(self._entries)

    def note_files(self, keys: Iterable[int], files: tuple[FileIdentity, ...]) -> None:
        """Note what the files of entries are that were frozen."""
        wanted = set(keys)
        self._take(tuple(replace(e, files=files) if e.key in wanted else e for e in self._entries))

    def note_check(self, key: int, notes: tuple[str, ...]) -> None:
        """Note what an entry's check had to say without refusing it."""
        entry = find(self._entries, key)
        if entry is not None:
            self._take(replaced(self._entries, replace(entry, notes=notes)))

    def keep(self) -> None:
        """Try once more to keep what could not be kept."""
        self._write(self._entries, self._entries)

    def _load(self, *, was_left_open: bool) -> None:
        try:
            rows = self._store.load()
            self._last_key = self._store.last_key()
        except LibraryError as error:
            self._problem = said(error.message)
            return
        entries: list[QueueEntry] = []
        for row in rows:
            try:
                entries.append(from_row(row))
            except (ValueError, KeyError) as error:
                _log.warning("The entry %d of the queue cannot be read and is left out: %s", row.key, error)
        self._entries = tuple(entries)
        self._interrupted = self._running = find_running(self._entries)
        self._put_back()
        self._take(self._entries)
        if self._num_pending:
            self._is_paused, self._pause_reason = True, self._start_reason(was_left_open=was_left_open)

    def _put_back(self) -> None:
        """Have the entry at work wait again, in front of all: the window went before it could end."""
        running = self._running
        if running is not None:
            waiting = replace(running, status=EntryStatus.PENDING)
            self._take(with_moved(replaced(self._entries, waiting), running.key, 0))

    def _start_reason(self, *, was_left_open: bool) -> str:
        if was_left_open:
            return self.tr(
                "Podium ended unexpectedly last time. Nothing of the queue is lost, and a clip that was being made is "
                "in front again. Resume the queue to go on."
            )
        return self.tr("These clips were left over when Podium was closed. Resume the queue to make them.")

    def _make(
        self, requests: Sequence[GenerationRequest], spec: FleetSpec, files: tuple[FileIdentity, ...]
    ) -> tuple[QueueEntry, ...]:
        first, added_at = self._last_key + 1, self._now()
        # One object for one fleet: what an entry says of its fleet is found out at every change, for all of them.
        spec = next((entry.spec for entry in self._entries if entry.spec == spec), spec)
        self._last_key += len(requests)
        return tuple(
            QueueEntry(first + number, request, spec, EntryStatus.PENDING, added_at, files=files)
            for number, request in enumerate(requests)
        )

    def _set(self, key: int, *, status: EntryStatus) -> None:
        entry = find(self._entries, key)
        if entry is not None:
            self._take(replaced(self._entries, replace(entry, status=status)))

    def _take(self, entries: Entries) -> None:
        """Show entries as they are now, and keep what is not as it was: one stroke, however many they are."""
        before = self._entries
        entries = with_switches(entries, self._fleet, self._start_s)
        if entries == before and self._running == find_running(entries):
            self._count()
            return
        self._write(before, entries)
        edited_key = self._edited_key if find(entries, self._edited_key) else None
        self._update(
            entries=entries,
            running=find_running(entries),
            num_pending=sum(entry.status is EntryStatus.PENDING for entry in entries),
            edited_key=edited_key,
        )

    def _count(self) -> None:
        self._update(num_pending=sum(entry.status is EntryStatus.PENDING for entry in self._entries))

    def _write(self, before: Entries, entries: Entries) -> None:
        known = {entry.key: entry for entry in before}
        saved = [to_row(entry) for entry in entries if _is_new(entry, known.get(entry.key))]
        removed = known.keys() - set(keys_of(entries))
        try:
            self._store.write(keys_of(entries), saved=saved, removed=tuple(removed))
        except LibraryError as error:
            self._update(problem=said(error.message))
        else:
            self._update(problem=self._lasting_problem)


def _renewed(entry: QueueEntry) -> QueueEntry:
    """Return an entry that waits, whatever it went through."""
    return replace(
        entry, status=EntryStatus.PENDING, error=None, failed_rank=None, failed_phase=None, log_lines=(), notes=()
    )


def _is_new(entry: QueueEntry, known: QueueEntry | None) -> bool:
    """Return whether an entry has to be kept anew."""
    if known is None or entry is known:
        return known is None
    return _lasting(entry) != _lasting(known)


def _lasting(entry: QueueEntry) -> QueueEntry:
    """Return an entry without what is found out again each time."""
    return replace(entry, needs_other_fleet=False, switch_s=None)
