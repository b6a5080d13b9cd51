"""The fleet: one worker a GPU, driven from one process, all on one clip.

Rule for callers: importing the package starts nothing and loads no torch; only workers do.
"""

from podium.multigpu.controller import MGPUController
from podium.multigpu.errors import (
    AsymmetricRunnerError,
    ControllerBusyError,
    ControllerStoppedError,
    FleetError,
    JobCancelled,
    JobTimeoutError,
    PlacementError,
    RunnerCrashedError,
    RunnerError,
    StartTimeoutError,
    SymmetricRunnerError,
    WorkerDiedError,
)
from podium.multigpu.forkserver import preload_forkserver
from podium.multigpu.groups import NCCLGroups
from podium.multigpu.job import JobContext
from podium.multigpu.runner import MGPURunner, RunnerRef
from podium.multigpu.status import RankState, RankStatus
from podium.multigpu.stream import Stream

__all__ = [
    "AsymmetricRunnerError",
    "ControllerBusyError",
    "ControllerStoppedError",
    "FleetError",
    "JobCancelled",
    "JobContext",
    "JobTimeoutError",
    "MGPUController",
    "MGPURunner",
    "NCCLGroups",
    "PlacementError",
    "RankState",
    "RankStatus",
    "RunnerCrashedError",
    "RunnerError",
    "RunnerRef",
    "StartTimeoutError",
    "Stream",
    "SymmetricRunnerError",
    "WorkerDiedError",
    "preload_forkserver",
]
