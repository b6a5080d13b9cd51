"""A window without widgets: states, link and owner, over fleets of real ranks without a model."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Slot

from podium.jobs import ClipFormat, EnhanceRequest, GenerationRequest
from podium.models.paths import ModelPaths
from podium.models.residency import ResidencyPlan
from podium.ui.baton import Baton, Controller
from podium.ui.fleet_maker import RunnerFleetMaker
from podium.ui.mailbox import Mailbox
from podium.ui.owner import Owner, OwnerSignals
from podium.ui.state.events import OwnerEvent
from podium.ui.state.orders import JobOrder, PromptOrder
from podium.ui.state.values import DeviceChoice, FleetSpec

CLIP = ClipFormat(192, 256, 25, Fraction(24))
RUNNER = "tests.fakes.ui_runner:UiRunner"


def spec(setup: str = "", *, num_ranks: int = 2) -> FleetSpec:
    """Return a fleet whose ranks do `setup` (hang, die, refuse) when they are set up."""
    models = ModelPaths(Path(setup or "fine"), Path("gemma"), Path("upscaler"))
    return FleetSpec(models, DeviceChoice(cpu_ranks=num_ranks), "float32", 1000)


@dataclass
class ShutdownCall:
    thread_id: int
    called_at_s: float
    took_s: float
    graceful_timeout: float


@dataclass
class WatchedController:
    """A controller that notes which thread shut it down, when, and how long that took."""

    inner: Any
    shutdowns: list[ShutdownCall] = field(default_factory=list)
    start_failed_at_s: float = 0.0
    set_up_with: dict[str, Any] = field(default_factory=dict)
    called_with: list[dict[str, Any]] = field(default_factory=list)

    @property
    def is_alive(self) -> bool:
        return bool(self.inner.is_alive)

    def start(self, **setup_kwargs: Any) -> None:
        self.set_up_with = setup_kwargs
        try:
            self.inner.start(**setup_kwargs)
        except Exception:
            self.start_failed_at_s = time.monotonic()
            raise

    def stream(self, **kwargs: Any) -> Any:
        self.called_with.append(kwargs)
        return self.inner.stream(**kwargs)

    def shutdown(self, *, graceful_timeout: float = 60.0) -> None:
        called_at_s = time.monotonic()
        self.inner.shutdown(graceful_timeout=graceful_timeout)
        took_s = time.monotonic() - called_at_s
        self.shutdowns.append(ShutdownCall(threading.get_ident(), called_at_s, took_s, graceful_timeout))

    @property
    def links(self) -> Any:
        return self.inner.links

    def rank_status(self) -> Any:
        return self.inner.rank_status()


class WatchedMaker:
    """Makes watched fleets of the tests' runner."""

    def __init__(self, folder: Path) -> None:
        self._maker = RunnerFleetMaker(folder / "previews", folder / "logs", runner=RUNNER)
        self.made: list[WatchedController] = []

    def preload(self) -> None:
        """Do nothing: the tests' forkserver is warm."""

    def make(self, spec: FleetSpec) -> Controller:
        self.made.append(WatchedController(self._maker.make(spec)))
        return self.made[-1]

    def setup_kwargs(self, spec: FleetSpec) -> dict[str, object]:
        return self._maker.setup_kwargs(spec) | {"checkpoint_path": spec.models.checkpoint_path.name}


class Listener(QObject):
    """Hears what the owner tells, in the thread it was made in."""

    def __init__(self, signals: OwnerSignals) -> None:
        super().__init__()
        self.events: list[OwnerEvent] = []
        self.heard_at_s: list[float] = []
        self.thread_ids: set[int] = set()
        signals.told.connect(self._on_told)

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    @Slot(object)
    def _on_told(self, event: OwnerEvent) -> None:
        self.events.append(event)
        self.heard_at_s.append(time.monotonic())
        self.thread_ids.add(threading.get_ident())


class OwnerBench:
    """An owner at work, with all that it tells."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.maker = WatchedMaker(folder)
        self.baton = Baton()
        self.mailbox = Mailbox()
        self.signals = OwnerSignals()
        self.listener = Listener(self.signals)
        self.owner = Owner(self.maker, self.baton, self.mailbox, self.signals)
        self._last_key = self._last_prompt_key = 0

    def order(self, prompt: str, fleet: FleetSpec | None = None, residency: ResidencyPlan | None = None) -> JobOrder:
        """Submit a job that does what the prompt says."""
        self._last_key += 1
        path = self.folder / "clips" / f"{self._last_key}.mp4"
        request = GenerationRequest(prompt, 1, CLIP, path)
        order = JobOrder(self._last_key, fleet or spec(), request, {"podium": 1}, residency)
        self.owner.submit(order)
        return order

    def prompt_order(self, prompt: str, fleet: FleetSpec | None = None) -> PromptOrder:
        """Submit a prompt that shall be written out."""
        self._last_prompt_key -= 1
        order = PromptOrder(self._last_prompt_key, fleet or spec(), EnhanceRequest(prompt))
        self.owner.submit(order)
        return order

    def with_longer_clips(self) -> FleetSpec:
        """Return a fleet that the plain one does not serve."""
        return replace(spec(), max_tokens=2000)
