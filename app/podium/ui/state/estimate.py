"""What the clip that is composed will take: tokens, memory of each device, time; and what is wrong with that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal

from podium.helper.requests import Answer, DeviceNeed, EstimateJob, JobEstimate
from podium.jobs import GuidanceMode, GuidanceSpec
from podium.models.residency import ResidencyPlan
from podium.ui.state.compose import ComposeState
from podium.ui.state.devices import DevicesState
from podium.ui.state.fleet import FleetState
from podium.ui.state.loras import LoraStackState
from podium.ui.state.observable import ObservableState
from podium.ui.state.ports import HelperPort
from podium.ui.state.timing import Timings
from podium.ui.state.values import DeviceRow, FleetPhase, FleetSpec

DELAY_MS = 250
# Other programs' memory goes up and down; a change of less than this is no reason to ask anew.
_STEP_BYTES = 256 << 20
_UP = (FleetPhase.STARTING, FleetPhase.READY, FleetPhase.BUSY)


@dataclass(frozen=True, slots=True)
class MemoryEstimate:
    """What a clip takes of a device.

    Args:
        index: Of the GPU, as a fleet counts; None on the CPU, where it is of all ranks together.
        need: What its rank will hold.
        room_bytes: What there is for it; 0 where that is not known.
    """

    index: int | None
    need: DeviceNeed
    room_bytes: int

    @property
    def fits(self) -> bool:
        """Return whether there is as much."""
        return not self.room_bytes or self.need.num_bytes <= self.room_bytes


class EstimateState(ObservableState):
    """What the clip that is composed will take. It asks once typing rests, and never twice at a time.

    Args:
        helper: Reads the model's headers.
        compose, loras, devices, fleet: What it hangs on.
        timings: What clips took on this machine.
        spec: Gives the fleet that the form asks for.
    """

    num_tokens_changed = Signal()
    memory_changed = Signal()
    residency_changed = Signal()
    duration_s_changed = Signal()
    start_s_changed = Signal()
    problem_changed = Signal()
    is_asking_changed = Signal()

    def __init__(
        self,
        helper: HelperPort,
        compose: ComposeState,
        loras: LoraStackState,
        devices: DevicesState,
        fleet: FleetState,
        *,
        timings: Timings,
        spec: Callable[[], FleetSpec | None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._helper = helper
        self._compose, self._loras, self._devices, self._fleet = compose, loras, devices, fleet
        self._timings = timings
        self._spec = spec
        self._num_tokens = compose.clip.latent_grid.num_tokens
        self._memory: tuple[MemoryEstimate, ...] = ()
        self._residency = ResidencyPlan()
        self._duration_s: float | None = None
        self._start_s: float | None = None
        self._problem = ""
        self._is_asking = False
        self._asked: EstimateJob | None = None
        self._timed: tuple[object, ...] = ()
        self._is_watching = self._is_closed = False
        self._timer = QTimer(self, singleShot=True, interval=DELAY_MS)
        self._timer.timeout.connect(self.refresh)

    @property
    def num_tokens(self) -> int:
        """Return the video tokens of the clip, at once."""
        return self._num_tokens

    @property
    def memory(self) -> tuple[MemoryEstimate, ...]:
        """Return what it takes of each device; empty while that is not known."""
        return self._memory

    @property
    def most(self) -> MemoryEstimate | None:
        """Return the device that has least to spare; it changes with `memory`."""
        return min(self._memory, key=lambda one: one.room_bytes - one.need.num_bytes, default=None)

    @property
    def residency(self) -> ResidencyPlan:
        """Return where the parts of the model will live; it counts once `memory` is known."""
        return self._residency

    @property
    def duration_s(self) -> float | None:
        """Return about how many seconds it will take on a fleet that is up; None while nothing like it was made."""
        return self._duration_s

    @property
    def start_s(self) -> float | None:
        """Return about how many seconds a fleet for it takes to start; None where there is one, or nobody knows."""
        return self._start_s

    @property
    def problem(self) -> str:
        """Return why it will not fit, and what would; empty if it will, or while that is not known."""
        return self._problem

    @property
    def is_asking(self) -> bool:
        """Return whether the memory that is shown is of another clip."""
        return self._is_asking

    def watch(self) -> None:
        """Follow what is composed from now on; once is enough."""
        if self._is_watching:
            return
        self._is_watching = True
        self._compose.changed.connect(self._on_changed)
        for signal in (self._compose.images.items_changed, self._compose.guidance.changed, self._loras.items_changed):
            signal.connect(self._on_changed)
        for signal in (self._devices.changed, self._fleet.phase_changed, self._fleet.reading_changed):
            signal.connect(self._on_changed)
        self._on_changed()

    def refresh(self) -> None:
        """Estimate what is composed now."""
        self._timer.stop()
        spec = self._spec()
        if spec is None:
            self._asked, self._timed = None, ()
            self._update(memory=(), duration_s=None, start_s=None, problem="", is_asking=False)
            return
        self._show_times(spec)
        request = self._request(spec)
        if request != self._asked and not self._is_asking:
            self._asked = request
            self._update(is_asking=True)
            self._helper.ask(request, partial(self._take_estimate, request, spec))

    def close(self) -> None:
        """Estimate nothing any more: the window goes."""
        self._is_closed = True
        self._timer.stop()

    def _on_changed(self) -> None:
        self._update(num_tokens=self._compose.clip.latent_grid.num_tokens)
        if not self._is_closed and not self._timer.isActive():
            self._timer.start()

    def _show_times(self, spec: FleetSpec) -> None:
        compose, fleet = self._compose, self._fleet
        num_steps = compose.guidance.num_steps if compose.pipeline.is_guided else None
        # What was timed is read from the library, and a clip at work changes nothing of it.
        timed = (spec, compose.clip, num_steps, fleet.phase, fleet.spec)
        if timed == self._timed:
            return
        self._timed = timed
        serves = fleet.phase in _UP and fleet.spec is not None and fleet.spec.serves(spec)
        self._update(
            duration_s=self._timings.estimate(spec, compose.clip, num_steps=num_steps),
            start_s=None if serves else self._timings.start_s(spec),
        )

    def _request(self, spec: FleetSpec) -> EstimateJob:
        chosen = [self._row(index) for index in spec.choice.devices]
        num_free = sum(row.is_choosable and not row.is_chosen for row in self._devices.devices)
        held_bytes = sum(card.ours_bytes for card in self._fleet.cards) if spec.choice.cpu_ranks is not None else 0
        return EstimateJob(
            spec.models,
            self._compose.clip,
            spec.pipeline,
            spec.quantization,
            spec.dtype,
            spec.choice.num_ranks,
            num_images=self._num_images(),
            num_loras=len(self._loras.specs),
            num_prompt_tokens=self._compose.num_tokens,
            device_bytes=tuple(self._room_bytes(row) for row in chosen if row is not None),
            held_bytes=held_bytes // _STEP_BYTES * _STEP_BYTES,
            names=tuple(self.tr("GPU {0}").format(row.index) for row in chosen if row is not None),
            num_more=num_free if chosen else 0,
            guidance=self._guidance(),
        )

    def _guidance(self) -> tuple[GuidanceMode, GuidanceSpec, GuidanceSpec] | None:
        guidance = self._compose.guidance
        if not self._compose.pipeline.is_guided or guidance.video is None or guidance.audio is None:
            return None
        return guidance.choice.mode, guidance.video, guidance.audio

    def _num_images(self) -> int:
        """Return the pictures; key frames that the model makes itself take the room of as many."""
        num_behind = self._compose.num_frames_behind
        return num_behind + 1 if num_behind else len(self._compose.images.specs)

    def _row(self, index: int) -> DeviceRow | None:
        return next((row for row in self._devices.devices if row.index == index), None)

    def _room_bytes(self, row: DeviceRow) -> int:
        """Return what a fleet of ours may take of a GPU: all that nobody else holds."""
        reading = self._fleet.reading
        gpu = reading.gpu(row.uuid) if reading is not None else None
        if gpu is not None and gpu.total_bytes:
            return gpu.total_bytes - -(-gpu.others_bytes // _STEP_BYTES) * _STEP_BYTES
        return row.total_bytes - row.used_bytes

    def _take_estimate(self, request: EstimateJob, spec: FleetSpec, answer: Answer[JobEstimate]) -> None:
        self._update(is_asking=False)
        estimate = answer.value
        if estimate is None:
            # What is wrong with the files is said where they are chosen.
            self._update(memory=(), problem="")
        else:
            memory = self._memory_of(estimate, request, spec)
            self._update(memory=memory, residency=estimate.residency, problem=estimate.problem)
        self._on_changed()

    def _memory_of(self, estimate: JobEstimate, request: EstimateJob, spec: FleetSpec) -> tuple[MemoryEstimate, ...]:
        if spec.choice.cpu_ranks is None:
            of_ranks = zip(spec.choice.devices, estimate.needs, request.device_bytes, strict=True)
            return tuple(MemoryEstimate(index, need, room) for index, need, room in of_ranks)
        by_phase = tuple(
            (phase, sum(dict(need.by_phase).get(phase, 0) for need in estimate.needs))
            for phase, _ in estimate.needs[0].by_phase
        )
        largest = max(estimate.needs, key=lambda need: need.num_bytes)
        together = DeviceNeed(sum(need.num_bytes for need in estimate.needs), largest.phase, by_phase)
        reading = self._fleet.reading
        room = 0 if reading is None else reading.total_bytes - reading.used_bytes + request.held_bytes
        return (MemoryEstimate(None, together, room),)
