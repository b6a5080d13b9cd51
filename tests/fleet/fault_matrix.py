"""One cell of the fault matrix: a fleet, a fault at a site of it, and everything that has to be true after."""

from __future__ import annotations

import os
import re
import signal
import tempfile
import threading
import time
import uuid
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import torch

from podium.geometry import ClipFormat
from podium.jobs import ClipFinished, GenerationRequest
from podium.models.paths import ModelPaths
from podium.multigpu import (
    AsymmetricRunnerError,
    ControllerStoppedError,
    FleetError,
    JobTimeoutError,
    MGPUController,
    RunnerCrashedError,
    RunnerError,
    RunnerRef,
    StartTimeoutError,
    SymmetricRunnerError,
    WorkerDiedError,
)
from podium.multigpu.forkserver import SharedForkServer
from podium.multigpu.messages import EXIT_LINK_BROKEN, EXIT_NOT_BORN
from podium.pipelines.parameters import clip_parameters

from tests.fakes.faults import FILE_VARIABLE, Fault, FaultSpec, Site, struck_at_s
from tests.fakes.processes import MARK, is_running, num_descriptors, processes_with, wait_until

KNOWN_LIMIT_S, GONE_LIMIT_S = 1.0, 3.0
TIMEOUT_S = 1.5
# The process groups of a fleet that ends are given this long; then they are left to the end of the process.
LEAVE_S = 5.0
START_SITES = (Site.FORKSERVER, Site.FORK, Site.RENDEZVOUS, Site.SETUP)
MODEL_SITES = (Site.STEP, Site.COLLECTIVE, Site.DECODE)
# Where the first rank is the one at work, and the only one that yields.
FIRST_RANK_CELLS = {(Site.DECODE, fault) for fault in Fault} | {(Site.STEP, Fault.UNPICKLABLE)}
CLIP = ClipFormat(64, 64, 9, Fraction(24))
STEPPING = RunnerRef("tests.fakes.faulty_runners:SteppingRunner")
DISTILLED = RunnerRef("tests.fakes.faulty_runners:FaultyDistilledRunner")
MODULES = ("torch", "diffusers", "transformers", "tests.fakes.faulty_runners")

_NO_RUNNER = "no runner runs there"
_NOTHING_YIELDED = "nothing is yielded there"
_CANNOT_OCCUR = {
    **{
        (site, Fault.UNPICKLABLE): _NOTHING_YIELDED for site in Site if site not in (Site.STEP, Site.DECODE, Site.YIELD)
    },
    **{(site, fault): _NO_RUNNER for site in START_SITES[:2] for fault in (Fault.VALUE_ERROR, Fault.RUNNER_ERROR)},
}


def why_not(site: Site, fault: Fault) -> str | None:
    """Return why a cell cannot occur; None if it can."""
    return _CANNOT_OCCUR.get((site, fault))


def victim(site: Site, fault: Fault, num_ranks: int) -> int:
    """Return whom the fault strikes: the last rank, or the first where only that is at work."""
    return 0 if (site, fault) in FIRST_RANK_CELLS else num_ranks - 1


@dataclass(frozen=True)
class Expected:
    """What the caller has to get.

    Args:
        kind: The class of the error, exactly; None for no error.
        ranks: Any of these has to be named; empty where the error has none.
        words: In the message.
        lives: The fleet goes on.
    """

    kind: type[Exception] | None
    ranks: tuple[int, ...] = ()
    exitcode: int | None = None
    signal: int | None = None
    words: str = ""
    lives: bool = False


def expect(site: Site, fault: Fault, num_ranks: int) -> Expected:
    """Return what a fault has to lead to."""
    rank = victim(site, fault, num_ranks)
    if site is Site.SHUTDOWN:
        return Expected(None)
    if fault is Fault.SIGSTOP:
        words = "" if site is Site.FORKSERVER else rf"[Rr]ank {rank} \(cpu\) is stopped"
        return Expected(StartTimeoutError if site in START_SITES else JobTimeoutError, words=words)
    if site is Site.FORKSERVER:
        return Expected(FleetError, words="process that starts")
    return {
        Fault.SIGKILL: Expected(WorkerDiedError, (rank,), signal=signal.SIGKILL, words="killed by the system"),
        Fault.SEGFAULT: Expected(WorkerDiedError, (rank,), signal=signal.SIGSEGV),
        Fault.EXIT: Expected(WorkerDiedError, (rank,), exitcode=0),
        Fault.CLOSED_PIPE: Expected(WorkerDiedError, (rank,), exitcode=EXIT_LINK_BROKEN, words="lost its connection"),
        Fault.UNPICKLABLE: Expected(RunnerCrashedError, (rank,), words="cannot be sent"),
        Fault.VALUE_ERROR: _expect_value_error(site, num_ranks),
        Fault.RUNNER_ERROR: _expect_refusal(site, rank),
        Fault.EXCEPTION: Expected(WorkerDiedError, (rank,), exitcode=EXIT_NOT_BORN)
        if site is Site.FORK
        else Expected(RunnerCrashedError, (rank,), words="this fault"),
    }[fault]


def _expect_value_error(site: Site, num_ranks: int) -> Expected:
    if site in (*MODEL_SITES, Site.YIELD):
        return Expected(SymmetricRunnerError, words="this value", lives=True)
    # Outside a job of the runner it refuses nothing.
    return Expected(RunnerCrashedError, ranks=tuple(range(num_ranks)), words="this value")


def _expect_refusal(site: Site, rank: int) -> Expected:
    if site in (Site.RENDEZVOUS, Site.SETUP):
        # An answer to the artist, as it would be without a fleet.
        return Expected(RunnerError, words="This refusal")
    if site is Site.YIELD:
        # After the last collective: the others end well.
        return Expected(AsymmetricRunnerError, words=f"rank {rank} of", lives=True)
    # The others are in a collective that this rank will never join.
    return Expected(RunnerCrashedError, (rank,), words="This refusal")


@dataclass(frozen=True)
class Outcome:
    """What was seen of a cell.

    Args:
        text: For the table: the error; seconds from the strike, or from the timeout, until the caller knew; seconds
            from then until nothing was left.
    """

    text: str


@dataclass
class Held:
    """What this machine holds of ours."""

    shared_memory: set[str] = field(default_factory=lambda: {path.name for path in Path("/dev/shm").iterdir()})
    folders: set[str] = field(default_factory=lambda: {p.name for p in Path(tempfile.gettempdir()).glob("podium-fl*")})
    num_descriptors: int = field(default_factory=num_descriptors)
    num_threads: int = field(default_factory=threading.active_count)


class FaultBench:
    """Runs cells, one after another, on fleets of one forkserver.

    Args:
        folder: For the faults and what fleets write.
        tiny_pack: The model.
    """

    def __init__(self, folder: Path, tiny_pack: Path) -> None:
        self._folder = folder
        self._models = ModelPaths(
            tiny_pack / "ltx-2.3-tiny.safetensors", tiny_pack / "gemma3", tiny_pack / "spatial-upscaler-x2.safetensors"
        )
        self._file = folder / "fault.json"
        os.environ[FILE_VARIABLE] = str(self._file)
        # Where only what is of these fleets is left behind.
        self._tempdir, tempfile.tempdir = tempfile.tempdir, str(folder)
        self._forkserver = SharedForkServer()
        self._forkserver.get(MODULES)

    def close(self) -> None:
        """End the forkserver."""
        self._forkserver.close()
        del os.environ[FILE_VARIABLE]
        tempfile.tempdir = self._tempdir

    def run(self, site: Site, fault: Fault, num_ranks: int) -> Outcome:
        """Run a cell and check everything.

        Raises:
            AssertionError: Something is not as it has to be.
        """
        self._warm_up()
        spec, expected = FaultSpec(site, fault, victim(site, fault, num_ranks)), expect(site, fault, num_ranks)
        spec.write(self._file)
        self._file.with_suffix(".struck").unlink(missing_ok=True)
        mark, before = uuid.uuid4().hex, Held()
        os.environ[MARK] = mark
        runner = DISTILLED if site in MODEL_SITES else STEPPING
        fleet = MGPUController(
            runner, cpu_ranks=num_ranks, log_folder=self._folder / "logs", forkserver=self._forkserver
        )
        try:
            error, known_s = self._strike(fleet, spec)
            _check_error(error, expected, num_ranks)
            assert known_s < KNOWN_LIMIT_S, f"the caller knew after {known_s:.2f} s"
            assert fleet.is_alive is expected.lives
            if expected.lives:
                self._check_lives(fleet, site)
            gone_s = _check_gone(fleet, mark, before)
        finally:
            fleet.shutdown(graceful_timeout=0)
            self._file.unlink()
            del os.environ[MARK]
        return Outcome(f"{'no error' if error is None else _text(error)}, {known_s:.2f} s, {gone_s:.2f} s")

    def _warm_up(self) -> None:
        """Wait until the forkserver is ready: what it takes for that is no part of a cell."""
        others = set(threading.enumerate())
        with MGPUController(
            STEPPING, cpu_ranks=1, log_folder=self._folder / "logs", forkserver=self._forkserver
        ) as fleet:
            fleet.start(timeout=100)
        # Its guard is ended last, and its thread with that.
        assert wait_until(lambda: set(threading.enumerate()) <= others)

    def _strike(self, fleet: MGPUController, spec: FaultSpec) -> tuple[Exception | None, float]:
        try:
            self._live(fleet, spec)
        except Exception as error:  # noqa: BLE001 - it is what the cell is about
            return error, self._seconds_since(spec)
        return None, self._seconds_since(spec)

    def _live(self, fleet: MGPUController, spec: FaultSpec) -> None:
        is_stop = spec.fault is Fault.SIGSTOP
        start_s = TIMEOUT_S if is_stop and spec.site in START_SITES else 60.0
        setup = self._setup_arguments() if spec.site in MODEL_SITES else {}
        self._deadline_s = time.monotonic() + start_s
        fleet.start(timeout=start_s, **setup)
        job = self._job(spec.site)
        if spec.site in (Site.BETWEEN_JOBS, Site.SHUTDOWN):
            assert len(list(fleet.stream(**job))) == 4 * len(fleet.rank_status())
        if spec.site is Site.SHUTDOWN:
            self._deadline_s = time.monotonic() + TIMEOUT_S
            fleet.shutdown(graceful_timeout=TIMEOUT_S if is_stop else LEAVE_S)
            return
        if spec.site is Site.BETWEEN_JOBS and not is_stop:
            assert wait_until(lambda: not fleet.is_alive, 5)
        # Models take longer to come to their site than the rest.
        timeout_s = 15.0 if spec.site in MODEL_SITES else TIMEOUT_S
        self._deadline_s = time.monotonic() + timeout_s
        try:
            for _item in fleet.stream(timeout=timeout_s if is_stop else None, **job):
                pass
        except ControllerStoppedError as error:
            raise error.__cause__ if isinstance(error.__cause__, Exception) else error from None

    def _seconds_since(self, spec: FaultSpec) -> float:
        """Return how long ago it struck; of a stopped process that is known when the time is up."""
        if spec.fault is Fault.SIGSTOP:
            return time.monotonic() - self._deadline_s
        return time.monotonic() - struck_at_s(self._file)

    def _check_lives(self, fleet: MGPUController, site: Site) -> None:
        items = list(fleet.stream(**self._job(site)))
        if site in MODEL_SITES:
            assert isinstance(items[-1], ClipFinished)
        else:
            num_ranks = len(fleet.rank_status())
            assert sorted(items) == sorted([2.0 * num_ranks**k for k in range(1, 5)] * num_ranks)

    def _setup_arguments(self) -> dict[str, Any]:
        return {
            "checkpoint_path": self._models.checkpoint_path,
            "gemma_root": self._models.gemma_root,
            "spatial_upsampler_path": self._models.spatial_upsampler_path,
            "dtype": "float32",
        }

    def _job(self, site: Site) -> dict[str, Any]:
        if site not in MODEL_SITES:
            return {"tensor": torch.ones(2)}
        request = GenerationRequest("a red fox", 7, CLIP, self._folder / f"{uuid.uuid4().hex}.mp4")
        return {"request": request, "parameters": clip_parameters(request, self._models, dtype="float32")}


def _check_error(error: Exception | None, expected: Expected, num_ranks: int) -> None:
    if expected.kind is None:
        assert error is None, repr(error)
        return
    assert type(error) is expected.kind, repr(error)
    assert re.search(expected.words, str(error)), str(error)
    if isinstance(error, WorkerDiedError):
        assert error.rank in expected.ranks
        assert (error.exitcode, error.signal) == (expected.exitcode, expected.signal)
    elif isinstance(error, FleetError):
        assert error.ranks == tuple(range(num_ranks))
        assert len(error.phases) == num_ranks


def _check_gone(fleet: MGPUController, mark: str, before: Held) -> float:
    begun_s = time.monotonic()
    pids = [status.pid for status in fleet.rank_status() if status.pid is not None]
    if fleet.is_alive:
        fleet.shutdown(graceful_timeout=LEAVE_S)

    def left() -> list[int]:
        return [pid for pid in {*pids, *processes_with(mark)} - {os.getpid()} if is_running(pid)]

    assert wait_until(lambda: not left(), GONE_LIMIT_S), left()
    gone_s = time.monotonic() - begun_s
    assert wait_until(lambda: _no_more(Held(), before), GONE_LIMIT_S), (Held(), before)
    return gone_s


def _no_more(now: Held, before: Held) -> bool:
    return (
        now.shared_memory <= before.shared_memory
        and now.folders <= before.folders
        and now.num_descriptors <= before.num_descriptors
        and now.num_threads <= before.num_threads
    )


def _text(error: Exception) -> str:
    name = type(error).__name__
    return f"{name}, rank {error.rank}" if isinstance(error, WorkerDiedError) else name
