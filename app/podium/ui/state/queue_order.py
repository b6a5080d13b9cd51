"""What the queue's order says: what comes next, what needs another fleet, and how entries for one stand together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from podium.ui.state.values import EntryStatus, FleetSpec, QueueEntry

Entries = tuple[QueueEntry, ...]


def find(entries: Entries, key: int | None) -> QueueEntry | None:
    """Return the entry of a key."""
    return next((entry for entry in entries if entry.key == key), None)


def find_running(entries: Entries) -> QueueEntry | None:
    """Return the entry at work."""
    return next((entry for entry in entries if entry.status is EntryStatus.RUNNING), None)


def front_place(entries: Entries) -> int:
    """Return the place of an entry that is to run next: behind the one at work, before all others."""
    running = find_running(entries)
    return 0 if running is None else entries.index(running) + 1


def with_moved(entries: Entries, key: int, place: int) -> Entries:
    """Return the entries with one of them at another place, counted among the others; the nearest that there is."""
    moved = [entry for entry in entries if entry.key == key]
    others = [entry for entry in entries if entry.key != key]
    place = min(len(others), max(0, place))
    return (*others[:place], *moved, *others[place:])


def grouped(entries: Entries, fleet: FleetSpec | None) -> Entries:
    """Return the entries with those for one fleet behind each other, first those for the fleet that is up.

    Entries that are over or at work keep their place before those that wait; within a group the order stays.
    """
    waiting = [entry for entry in entries if entry.status.is_waiting]
    others = [entry for entry in entries if not entry.status.is_waiting]
    groups: list[FleetSpec] = [] if fleet is None else [fleet]
    numbers: dict[int, int] = {}
    for entry in waiting:
        number = next((n for n, spec in enumerate(groups) if _is_same(spec, entry.spec)), len(groups))
        if number == len(groups):
            groups.append(entry.spec)
        numbers[entry.key] = number
    return (*others, *sorted(waiting, key=lambda entry: numbers[entry.key]))


def with_switches(entries: Entries, fleet: FleetSpec | None, start_s: Callable[[FleetSpec], float | None]) -> Entries:
    """Return the entries with what each says of the fleet it needs.

    Args:
        fleet: The one that is up or starts; None if there is none.
        start_s: Gives the seconds that a start takes, as far as that is known.
    """
    running = find_running(entries)
    current = fleet
    if running is not None and (fleet is None or not fleet.serves(running.spec)):
        current = running.spec
    told = []
    for entry in entries:
        if not entry.status.is_waiting:
            told.append(_with_switch(entry, needs_other=False, switch_s=None))
            continue
        needs_other = current is not None and not current.serves(entry.spec)
        told.append(_with_switch(entry, needs_other=needs_other, switch_s=start_s(entry.spec) if needs_other else None))
        # One that is passed over switches nothing for those behind it.
        if entry.status is EntryStatus.PENDING and (needs_other or current is None):
            current = entry.spec
    return tuple(told)


def replaced(entries: Entries, entry: QueueEntry) -> Entries:
    """Return the entries with one as it is now."""
    return tuple(entry if other.key == entry.key else other for other in entries)


def next_pending(entries: Entries, *, held: int | None) -> QueueEntry | None:
    """Return the first entry whose turn it can be; not the one that is held back."""
    return next((e for e in entries if e.status is EntryStatus.PENDING and e.key != held), None)


def keys_of(entries: Sequence[QueueEntry]) -> tuple[int, ...]:
    """Return the entries' keys in their order."""
    return tuple(entry.key for entry in entries)


def _is_same(spec: FleetSpec, wanted: FleetSpec) -> bool:
    """Return whether one fleet could be started for both."""
    return replace(spec, max_tokens=wanted.max_tokens) == wanted


def _with_switch(entry: QueueEntry, *, needs_other: bool, switch_s: float | None) -> QueueEntry:
    if (entry.needs_other_fleet, entry.switch_s) == (needs_other, switch_s):
        return entry
    return replace(entry, needs_other_fleet=needs_other, switch_s=switch_s)
