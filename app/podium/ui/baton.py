"""What the owner's thread and the window's share of a fleet: the owner publishes, the window looks and stops.

The window's half (`rank_rows`, `log_lines`, `cancel`, `force_stop`, `close`) calls nothing of a fleet but
`rank_status`, `Stream.cancel` and `shutdown`, and never waits.
"""

from __future__ import annotations

import logging
import threading
from collections import defaultdict, deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from podium.ui.state.values import RankRow

if TYPE_CHECKING:
    # Importing the fleet costs a tenth of a second that a window has not before it is shown.
    from podium.multigpu.links import FleetLinks
    from podium.multigpu.status import RankStatus

NUM_LOG_LINES = 500
_RESPONDING = frozenset({"alive", "waiting"})


class JobStream(Protocol):
    """What is used of a stream."""

    def __next__(self) -> Any:  # noqa: ANN401 - the pickle border
        """Return the next item."""

    def cancel(self) -> None:
        """Ask the ranks to end the job."""


class Controller(Protocol):
    """What is used of a controller."""

    @property
    def is_alive(self) -> bool:
        """Return whether it can take a job."""

    @property
    def links(self) -> FleetLinks:
        """Return how its GPUs reach each other, once it has started."""

    def start(self, **setup_kwargs: Any) -> None:  # noqa: ANN401 - the pickle border
        """Start the ranks."""

    def stream(self, **kwargs: Any) -> JobStream:  # noqa: ANN401 - the pickle border
        """Dispatch a job."""

    def shutdown(self, *, graceful_timeout: float = ...) -> None:
        """Stop the fleet."""

    def rank_status(self) -> Sequence[RankStatus]:
        """Return how every rank is."""


@dataclass(slots=True)
class Ticket:
    """A wish that the owner has not fulfilled yet, and that the window may take back.

    Args:
        is_cancelled: Softly: as soon as there is a stream.
        is_withdrawn: By force: whatever stands for it is killed, and nothing is started for it any more.
    """

    is_cancelled: bool = False
    is_withdrawn: bool = False


class Baton:
    """The fleet that runs or starts, and the wishes that wait."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._controller: Controller | None = None
        self._stream: JobStream | None = None
        self._stream_key: int | None = None
        self._tickets: dict[Hashable, Ticket] = {}
        self._is_closing = False
        self.logs = RankLogs()

    @property
    def is_closing(self) -> bool:
        """Return whether the window goes."""
        return self._is_closing

    def rank_rows(self) -> tuple[RankRow, ...]:
        """Return how every rank is; empty without a fleet."""
        controller = self._controller
        return () if controller is None else tuple(map(_row, controller.rank_status()))

    def log_lines(self, rank: int) -> tuple[str, ...]:
        """Return the last lines that a rank logged, oldest first."""
        return self.logs.lines(rank)

    def cancel(self, job_key: int) -> None:
        """Ask the ranks to end a job at their next step; one that they do not have yet is not begun."""
        with self._lock:
            if job_key in self._tickets:
                self._tickets[job_key].is_cancelled = True
            stream = self._stream if self._stream_key == job_key else None
        if stream is not None:
            stream.cancel()

    def force_stop(self) -> None:
        """Kill the fleet that runs or starts, and take back every wish that waits for one."""
        with self._lock:
            for ticket in self._tickets.values():
                ticket.is_withdrawn = True
            controller = self._controller
        if controller is not None:
            controller.shutdown(graceful_timeout=0)

    def close(self) -> None:
        """Kill the fleet, and let no other come."""
        self._is_closing = True
        self.force_stop()

    def open_ticket(self, key: Hashable) -> Ticket:
        """Note a wish, from whichever thread it comes."""
        with self._lock:
            ticket = self._tickets[key] = Ticket()
            ticket.is_withdrawn = self._is_closing
            return ticket

    def close_ticket(self, key: Hashable) -> None:
        """Forget a wish: it was fulfilled, or cannot be."""
        with self._lock:
            self._tickets.pop(key, None)

    def publish_controller(self, controller: Controller, ticket: Ticket) -> bool:
        """Show a controller before it starts; False if the wish behind it was taken back, and it must not start."""
        with self._lock:
            if ticket.is_withdrawn or self._is_closing:
                return False
            self._controller = controller
        self.logs.note_new_fleet()
        return True

    def publish_stream(self, key: int, stream: JobStream) -> None:
        """Show a stream at dispatch; a cancel that came before reaches it now."""
        with self._lock:
            self._stream, self._stream_key = stream, key
            ticket = self._tickets.get(key)
            is_cancelled = ticket is not None and ticket.is_cancelled
        if is_cancelled:
            stream.cancel()

    def clear_stream(self) -> None:
        """Show no stream any more."""
        with self._lock:
            self._stream = self._stream_key = None

    def clear_controller(self) -> None:
        """Show no controller any more."""
        with self._lock:
            self._controller = None


class RankLogs(logging.Handler):
    """Keeps the last lines that each rank logged, also of fleets that are gone."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s", "%H:%M:%S"))
        self._lines: dict[int, deque[str]] = defaultdict(lambda: deque(maxlen=NUM_LOG_LINES))
        self._lines_lock = threading.Lock()

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record that comes from a rank."""
        rank = getattr(record, "rank", None)
        if isinstance(rank, int):
            line = self.format(record)
            with self._lines_lock:
                self._lines[rank].append(line)

    def lines(self, rank: int) -> tuple[str, ...]:
        """Return a rank's lines, oldest first."""
        with self._lines_lock:
            return tuple(self._lines[rank]) if rank in self._lines else ()

    def note_new_fleet(self) -> None:
        """Part the lines of one fleet from those of the next."""
        with self._lines_lock:
            for lines in self._lines.values():
                lines.append("")


def _row(status: RankStatus) -> RankRow:
    return RankRow(
        rank=status.rank,
        device=status.device,
        text=status.text,
        is_responding=status.state.value in _RESPONDING,
        phase=status.phase,
        step=status.step,
        num_steps=status.num_steps,
        bytes_done=status.bytes_done,
        bytes_total=status.bytes_total,
        # Tenths: what changes faster is read by nobody and would repaint the row at every look.
        sign_age_s=round(status.sign_age_s, 1),
        pid=status.pid,
    )
