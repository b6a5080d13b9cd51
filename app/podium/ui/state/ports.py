"""What states need of the world outside: a helper process to ask, a fleet to look at and to stop, and a trash."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeVar

from podium.helper.requests import Answer, Request
from podium.ui.state.values import RankRow

AnswerT = TypeVar("AnswerT")


class HelperPort(Protocol):
    """Ask the helper process; answers come back in the window's thread, never before `ask` has returned."""

    def ask(self, request: Request[AnswerT], on_answer: Callable[[Answer[AnswerT]], None]) -> None:
        """Send a request and return at once."""


class FleetControls(Protocol):
    """All that the window's thread may do with a fleet; every call returns at once."""

    def rank_rows(self) -> tuple[RankRow, ...]:
        """Return how every rank is; empty without a fleet."""

    def log_lines(self, rank: int) -> tuple[str, ...]:
        """Return the last lines that a rank logged, oldest first."""

    def cancel(self, job_key: int) -> None:
        """Ask the ranks to end a job at their next step."""

    def force_stop(self) -> None:
        """Kill the fleet that runs or starts."""


class TrashPort(Protocol):
    """The system's trash, out of which files can be taken back."""

    def take(self, path: Path) -> bool:
        """Move a file there, and return whether that worked; it lies where it lay if not."""
