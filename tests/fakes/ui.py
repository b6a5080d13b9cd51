"""The world outside the window's states, played by the test: a helper that answers when told, a fleet of notes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from podium.errors import PodiumError
from podium.helper.requests import Answer, CheckedJob, CheckRequest, Request, WriteDemoPack
from podium.jobs import ClipFinished
from podium.library import Library
from podium.models.demo_pack import DemoModel
from podium.models.paths import ModelPaths
from podium.ui.state.events import FleetReady, FleetStarting, JobEnded, JobStarted
from podium.ui.state.session import Places, SessionState
from podium.ui.state.values import DeviceChoice, FleetPhase, FleetSpec, JobPhase, RankRow

MODELS = ModelPaths(Path("/models/ltx.safetensors"), Path("/models/gemma"), Path("/models/upscaler.safetensors"))
DEMO = DemoModel(MODELS, ())
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


@dataclass
class FakeTrash:
    """Notes what is thrown away; it takes nothing that it is told not to."""

    refused: set[Path] = field(default_factory=set)
    taken: list[Path] = field(default_factory=list)

    def take(self, path: Path) -> bool:
        if path in self.refused:
            return False
        self.taken.append(path)
        return True


def make_session(
    folder: Path, library: Library | None = None, trash: FakeTrash | None = None
) -> tuple[SessionState, FakeHelper, FakeControls]:
    """Return a window's states in a world of fakes, with a library that is gone with them unless one is given."""
    helper, controls = FakeHelper(), FakeControls()
    session = SessionState(
        helper,
        controls,
        Places(clips=folder / "clips", cache=folder / "cache", data=folder / "data"),
        library=library or Library.in_memory(),
        trash=trash or FakeTrash(),
    )
    return session, helper, controls


def make_ready(session: SessionState, helper: FakeHelper, *, prompt: str = "") -> None:
    """Bring a window to where Generate can be pressed."""
    if prompt:
        session.compose.set_prompt(prompt)
    session.try_demo()
    helper.answer(WriteDemoPack, DEMO)
    session.devices.use_cpu(2)


def run_next(session: SessionState, helper: FakeHelper) -> int:
    """Have the entry at work checked and begun, and return its key."""
    helper.answer(CheckRequest, CheckedJob(5, (), {"podium": 1}))
    running = session.queue.running
    assert running is not None
    if session.fleet.phase not in (FleetPhase.READY, FleetPhase.BUSY):
        session.apply(FleetStarting(running.spec))
        session.apply(FleetReady(running.spec, 2.0))
    session.apply(JobStarted(running.key))
    return running.key


def finish(session: SessionState, key: int) -> ClipFinished:
    """Have the entry at work end in a clip."""
    running = session.queue.running
    assert running is not None
    path = running.request.output_path
    clip = ClipFinished(path, path.with_suffix(".json"), running.request.clip, 24_000, 4)
    session.apply(JobEnded(key, JobPhase.FINISHED, clip=clip))
    return clip
