"""How long things take on this machine, as its library remembers."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from podium.geometry import ClipFormat
from podium.jobs import GenerationRequest, Phase
from podium.library import Library, LibraryError
from podium.library.timings import PhaseTiming, TimedFleet
from podium.ui.state.devices import DevicesState
from podium.ui.state.values import FleetSpec, PhaseRow

_log = logging.getLogger(__name__)


class Timings:
    """What clips and fleets took, and what the next ones may take. All answers are None or empty while not known.

    Args:
        library: Remembers.
        devices: Knows the devices' names.
    """

    def __init__(self, library: Library, devices: DevicesState) -> None:
        self._store = library.timings
        self._devices = devices
        self._starts_s: dict[TimedFleet, float | None] = {}

    def start_s(self, spec: FleetSpec) -> float | None:
        """Return about how many seconds the start of a fleet takes, weights included."""
        fleet = self._fleet(spec)
        if fleet not in self._starts_s:
            try:
                self._starts_s[fleet] = self._store.start_s(fleet)
            except LibraryError as error:
                _log.info("%s", error.details)
                return None
        return self._starts_s[fleet]

    def phases_s(self, spec: FleetSpec, clip: ClipFormat, *, num_steps: int | None = None) -> dict[Phase, float]:
        """Return about how many seconds each phase of a clip takes on a fleet that is up."""
        try:
            return self._store.phases_s(self._fleet(spec), clip.latent_grid.num_tokens, num_steps=num_steps)
        except LibraryError as error:
            _log.info("%s", error.details)
            return {}

    def estimate(self, spec: FleetSpec, clip: ClipFormat, *, num_steps: int | None = None) -> float | None:
        """Return about how many seconds a clip takes on a fleet that is up."""
        known = self.phases_s(spec, clip, num_steps=num_steps)
        return sum(known.values()) if known else None

    def note_start(self, spec: FleetSpec, duration_s: float) -> None:
        """Remember what a fleet's start took."""
        fleet = self._fleet(spec)
        self._starts_s[fleet] = duration_s
        try:
            self._store.add_start(fleet, duration_s)
        except LibraryError as error:
            # No estimate is worth a sentence in the window.
            _log.info("%s", error.details)

    def note_clip(self, spec: FleetSpec, request: GenerationRequest, phases: Sequence[PhaseRow]) -> None:
        """Remember what the phases of a finished clip took."""
        timings = [
            PhaseTiming(row.phase, row.duration_s, row.num_steps) for row in phases if row.duration_s is not None
        ]
        try:
            self._store.add(self._fleet(spec), request.clip.latent_grid.num_tokens, timings)
        except LibraryError as error:
            _log.info("%s", error.details)

    def _fleet(self, spec: FleetSpec) -> TimedFleet:
        choice = spec.choice
        if choice.cpu_ranks is not None:
            devices: tuple[str, ...] = ("cpu",)
        else:
            names = {row.index: row.name for row in self._devices.devices}
            devices = tuple(names.get(index, f"cuda:{index}") for index in choice.devices)
        return TimedFleet(spec.pipeline, spec.models.checkpoint_path.name, devices, choice.num_ranks, spec.quantization)
