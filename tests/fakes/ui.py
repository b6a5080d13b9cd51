"""The world outside the window's states, played by the test: a helper that answers when told, a fleet of notes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from podium.errors import PodiumError
from podium.helper.requests import Answer, Request
from podium.models.paths import ModelPaths
from podium.ui.state.session import Places, SessionState
from podium.ui.state.values import DeviceChoice, FleetSpec, RankRow

MODELS = ModelPaths(Path("/models/ltx.safetensors"), Path("/models/gemma"), Path("/models/upscaler.safetensors"))
SPEC = FleetSpec(MODELS, DeviceChoice(cpu_ranks=2), "float32", 124_440)


class FakeHelper:
    """Keeps what it was asked until the test answers."""

    def __init__(self) -> None:
        self.asked: list[tuple[Request[Any], Callable[[Answer[Any]], None]]] = []

    def ask(self, request: Request[Any], on_answer: Callable[[Answer[Any]], None]) -> None:
        self.asked.append((request, on_answer))

    def requests(self, kind: type[Request[Any]]) -> list[Any]:
        """Return the requests of a kind that wait for an answer, oldest first."""
        return [request for request, _ in self.asked if isinstance(request, kind)]

    def answer(self, kind: type[Request[Any]], value: object = None, *, error: PodiumError | None = None) -> Any:
        """Answer the oldest request of a kind, and return it."""
        for place, (request, on_answer) in enumerate(self.asked):
            if isinstance(request, kind):
                del self.asked[place]
                on_answer(Answer(value, error))
                return request
        raise AssertionError(f"nobody asked for {kind.__name__}")


@dataclass
class FakeControls:
    """Notes what the window does with the fleet."""

    rows: tuple[RankRow, ...] = ()
    logs: dict[int, tuple[str, ...]] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)

    def rank_rows(self) -> tuple[RankRow, ...]:
        return self.rows

    def log_lines(self, rank: int) -> tuple[str, ...]:
        return self.logs.get(rank, ())

    def cancel(self, job_key: int) -> None:
        self.calls.append(f"cancel {job_key}")

    def force_stop(self) -> None:
        self.calls.append("force_stop")


def make_session(folder: Path) -> tuple[SessionState, FakeHelper, FakeControls]:
    """Return a window's states in a world of fakes."""
    helper, controls = FakeHelper(), FakeControls()
    return SessionState(helper, controls, Places(clips=folder / "clips", cache=folder / "cache")), helper, controls
