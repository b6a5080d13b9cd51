"""What ranks say, on its way from the owner's thread to the window's: it never queues up.

Of previews only the newest of each kind is kept, of steps only the last of each phase; nothing else is dropped.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace

from podium.jobs import JobEvent, MotionPreview, PreviewPicture, RankMemory, StepDone

Preview = PreviewPicture | MotionPreview


@dataclass(frozen=True, slots=True)
class Mail:
    """What came of one job since the mailbox was last emptied.

    Args:
        key: The job's.
        events: In order, coalesced.
        previews: The newest of each kind.
    """

    key: int
    events: tuple[JobEvent, ...]
    previews: tuple[Preview, ...]


class Mailbox:
    """A box that any thread fills and the window's empties."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._events: dict[int, list[JobEvent]] = {}
        self._previews: dict[int, dict[type[Preview], Preview]] = {}

    def put(self, key: int, event: JobEvent) -> bool:
        """Put in what was said of a job, and return whether the box was empty: then somebody has to be told."""
        with self._lock:
            was_empty = not self._events and not self._previews
            if isinstance(event, PreviewPicture | MotionPreview):
                self._previews.setdefault(key, {})[type(event)] = event
            else:
                _coalesce(self._events.setdefault(key, []), event)
            return was_empty

    def take(self) -> tuple[Mail, ...]:
        """Empty the box."""
        with self._lock:
            events, self._events = self._events, {}
            previews, self._previews = self._previews, {}
        keys = dict.fromkeys((*events, *previews))
        return tuple(Mail(key, tuple(events.get(key, ())), tuple(previews.get(key, {}).values())) for key in keys)


def _coalesce(events: list[JobEvent], event: JobEvent) -> None:
    for place, earlier in enumerate(events):
        if isinstance(event, RankMemory) and isinstance(earlier, RankMemory) and earlier.rank == event.rank:
            events[place] = event
            return
    last = events[-1] if events else None
    if isinstance(event, StepDone) and isinstance(last, StepDone) and last.phase is event.phase:
        events[-1] = replace(event, duration_s=last.duration_s + event.duration_s)
    else:
        events.append(event)
