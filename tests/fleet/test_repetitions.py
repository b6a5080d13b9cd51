"""What holds once has to hold a thousand times. These take minutes: `packaging/dev faults` runs them."""

from __future__ import annotations

import hashlib
import os
import random
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import psutil
import pytest

from podium.geometry import ClipFormat
from podium.jobs import ClipFinished, GenerationRequest, Phase, PhaseStarted
from podium.models.paths import ModelPaths
from podium.multigpu import (
    ControllerStoppedError,
    JobCancelled,
    MGPUController,
    RunnerRef,
    Stream,
    SymmetricRunnerError,
)
from podium.pipelines.parameters import clip_parameters

from tests.fakes.processes import is_running, wait_until
from tests.fakes.runners import ScriptedRunner
from tests.fleet.conftest import FleetPool

pytestmark = [pytest.mark.faults, pytest.mark.timeout(900)]

NUM_CANCELS, NUM_STOPS, NUM_JOBS = 1000, 50, 1000
ALL_GONE_S = 2.0
STEPS = {"action": "steps", "num_steps": 3}
Record = Callable[[str, object], None]


class LateCanceller:
    """Cancels from a thread of its own, at a moment or as soon as it is told."""

    def __init__(self) -> None:
        self._go = threading.Event()
        self._done = threading.Event()
        self._stream: Stream | None = None
        self._at_s = 0.0
        threading.Thread(target=self._run, daemon=True).start()

    def cancel(self, stream: Stream, at_s: float = 0.0) -> None:
        """Cancel at a moment in monotonic seconds; returns before."""
        self._stream, self._at_s = stream, at_s
        self._done.clear()
        self._go.set()

    def wait(self) -> None:
        """Wait until it has been cancelled."""
        assert self._done.wait(10)

    def _run(self) -> None:
        while True:
            self._go.wait()
            self._go.clear()
            while time.monotonic() < self._at_s:
                pass
            if self._stream is not None:
                self._stream.cancel()
            self._done.set()


def test_a_cancel_in_the_last_millisecond_of_a_job_is_never_seen_by_the_next(
    fleets: FleetPool, record_property: Record
) -> None:
    fleet, canceller, chance = fleets.get(), LateCanceller(), random.Random(0)
    durations_s, num_too_late = [], 0
    for _ in range(50):
        begun_s = time.monotonic()
        assert list(fleet.stream(**STEPS)) == [1, 2, 3]
        durations_s.append(time.monotonic() - begun_s)
    for k in range(NUM_CANCELS):
        stream, items = fleet.stream(**STEPS), []
        if k % 2:
            # Timed by how long such a job takes: some hit the middle of its end, some the next job's beginning.
            canceller.cancel(stream, time.monotonic() + statistics.median(durations_s) - chance.uniform(0, 0.001))
        causes: list[type[Exception]] = []
        try:
            for item in stream:
                items.append(item)
                if not k % 2 and item == 3:
                    canceller.cancel(stream)
        except SymmetricRunnerError as error:
            causes = [type(cause) for cause in error.errors]
        assert causes == [JobCancelled] * 2 or (causes == [] and items == [1, 2, 3])
        num_too_late += not causes
        assert list(fleet.stream(**STEPS)) == [1, 2, 3]
        canceller.wait()
    assert num_too_late
    text = f"never seen by the next job; {NUM_CANCELS - num_too_late} ended their own, {num_too_late} came too late"
    record_property("figure", (f"{NUM_CANCELS:,} cancels in the last millisecond of a job, 2 ranks", text))


def test_a_force_stop_returns_at_once_and_a_new_fleet_is_ready_soon(tmp_path: Path, record_property: Record) -> None:
    def new_fleet() -> MGPUController:
        fleet = MGPUController(ScriptedRunner, cpu_ranks=2, log_folder=tmp_path)
        fleet.start(timeout=60)
        return fleet

    fleet = new_fleet()
    returned_s, known_s, ready_s = [], [], []
    for _ in range(NUM_STOPS):
        stream = fleet.stream(action="wait")
        pids = [status.pid or 0 for status in fleet.rank_status()]
        stopping = threading.Thread(target=_time, args=(lambda f=fleet: f.shutdown(graceful_timeout=0), returned_s))
        begun_s = time.monotonic()
        stopping.start()
        with pytest.raises(ControllerStoppedError):
            next(stream)
        known_s.append(time.monotonic() - begun_s)
        fleet = new_fleet()
        ready_s.append(time.monotonic() - begun_s)
        stopping.join()
        assert wait_until(lambda left=pids: not any(map(is_running, left)), ALL_GONE_S)
    fleet.shutdown(graceful_timeout=5)
    for name, limit_s, times_s in (
        ("returns", 0.1, returned_s),
        ("is known to who iterates", 0.5, known_s),
        ("to a new fleet ready", 4.0, ready_s),
    ):
        seen = f"median {statistics.median(times_s):.3f} s, worst {max(times_s):.3f} s"
        record_property("figure", (f"force stop {name}, {NUM_STOPS} times, 2 ranks", seen))
        assert max(times_s) < limit_s


def _time(action: Callable[[], None], times_s: list[float]) -> None:
    begun_s = time.monotonic()
    action()
    times_s.append(time.monotonic() - begun_s)


def test_a_thousand_jobs_leave_memory_descriptors_and_threads_as_they_were(
    fleets: FleetPool, record_property: Record
) -> None:
    fleet = fleets.get()
    processes = [psutil.Process(pid) for pid in (os.getpid(), *(status.pid or 0 for status in fleet.rank_status()))]

    def run(num_jobs: int) -> list[float]:
        times_s: list[float] = []
        for _ in range(num_jobs):
            _time(lambda: fleet.stream(action="nothing").drain(), times_s)
        return times_s

    run(200)
    before = [(p.num_fds(), p.num_threads(), p.memory_info().rss) for p in processes]
    times_s = run(NUM_JOBS)
    after = [(p.num_fds(), p.num_threads(), p.memory_info().rss) for p in processes]
    assert [row[:2] for row in after] == [row[:2] for row in before]
    growth_bytes = [new[2] - old[2] for old, new in zip(before, after, strict=True)]
    median_ms = statistics.median(times_s) * 1000
    seen = f"median {median_ms:.2f} ms; memory grew by {', '.join(f'{n / 2**20:.1f}' for n in growth_bytes)} MiB"
    record_property("figure", (f"{NUM_JOBS:,} empty jobs, 2 ranks (driver, rank 0, rank 1)", seen))
    assert max(growth_bytes) < 4 * 2**20
    assert median_ms < 5


PHASES = (Phase.ENCODING, Phase.SWAPPING, Phase.STAGE_1, Phase.UPSAMPLING, Phase.STAGE_2, Phase.DECODING, Phase.WRITING)


class DistilledFleet:
    """A fleet of the shipped runner on the tiny pack.

    Args:
        folder: For logs and clips.
        tiny_pack: The model.
    """

    def __init__(self, folder: Path, tiny_pack: Path) -> None:
        self._folder = folder
        self._models = ModelPaths(
            tiny_pack / "ltx-2.3-tiny.safetensors", tiny_pack / "gemma3", tiny_pack / "spatial-upscaler-x2.safetensors"
        )
        runner = RunnerRef("podium.multigpu.runners.distilled_mgpu:DistilledRunner")
        self.controller = MGPUController(runner, cpu_ranks=2, log_folder=folder)
        self.controller.start(
            timeout=120,
            checkpoint_path=self._models.checkpoint_path,
            gemma_root=self._models.gemma_root,
            spatial_upsampler_path=self._models.spatial_upsampler_path,
            dtype="float32",
        )

    def dispatch(self) -> Stream:
        """Start the one clip that all fleets make here."""
        (self._folder / "clip.mp4").unlink(missing_ok=True)
        (self._folder / "clip.json").unlink(missing_ok=True)
        request = GenerationRequest("a red fox", 7, ClipFormat(64, 64, 17, Fraction(24)), self._folder / "clip.mp4")
        parameters = clip_parameters(request, self._models, dtype="float32")
        return self.controller.stream(request=request, parameters=parameters)

    def digest(self) -> str:
        """Make the clip and return a digest of the file."""
        finished: Any = list(self.dispatch())[-1]
        assert isinstance(finished, ClipFinished)
        return hashlib.sha256(finished.path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def clips(
    _warm_forkserver: None, tiny_pack: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[DistilledFleet]:
    fleet = DistilledFleet(tmp_path_factory.mktemp("clips"), tiny_pack)
    yield fleet
    fleet.controller.shutdown(graceful_timeout=10)


@pytest.fixture(scope="module")
def fresh_digest(_warm_forkserver: None, tiny_pack: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the digest of the clip as a fleet makes it that has made nothing before."""
    fleet = DistilledFleet(tmp_path_factory.mktemp("fresh"), tiny_pack)
    digest = fleet.digest()
    fleet.controller.shutdown(graceful_timeout=10)
    return digest


@pytest.mark.parametrize("phase", PHASES)
def test_after_a_soft_cancel_in_any_phase_the_next_clip_is_that_of_a_fresh_fleet_bit_for_bit(
    clips: DistilledFleet, fresh_digest: str, phase: Phase, record_property: Record
) -> None:
    fleet = clips.controller
    stream = clips.dispatch()
    for event in stream:
        if isinstance(event, PhaseStarted) and event.phase is phase:
            break
    cancelled_s, causes = time.monotonic(), list[type[Exception]]()
    canceller = threading.Thread(target=stream.cancel)
    canceller.start()
    try:
        list(stream)
    except SymmetricRunnerError as error:
        causes = [type(cause) for cause in error.errors]
    assert wait_until(lambda: all(status.phase is Phase.IDLE for status in fleet.rank_status()))
    idle_s = time.monotonic() - cancelled_s
    canceller.join()
    # The clip is whole by the time it is written: only there may a cancel come too late.
    assert causes == [JobCancelled] * 2 or (causes == [] and phase is Phase.WRITING)
    outcome = "cancelled" if causes else "ended its clip first"
    record_property("figure", (f"soft cancel while {phase}, 2 ranks, to idle", f"{idle_s:.2f} s, {outcome}"))
    assert fleet.is_alive
    assert clips.digest() == fresh_digest
