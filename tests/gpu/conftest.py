"""Fleets on real GPUs: one rank over NCCL, and two ranks that share a GPU over gloo."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pynvml
import pytest

from podium.multigpu import MGPUController, RunnerRef, preload_forkserver
from podium.multigpu.forkserver import SHARED

PLACEMENTS: dict[str, dict[str, Any]] = {
    "one rank on NCCL": {"devices": [0]},
    "two ranks share a GPU over gloo": {"devices": [0, 0], "share_devices": True},
}


@pytest.fixture(scope="session", autouse=True)
def _warm_forkserver(_session_environment: None) -> Iterator[None]:
    preload_forkserver()
    yield
    SHARED.close()


@pytest.fixture(params=list(PLACEMENTS), scope="module")
def placement(request: pytest.FixtureRequest) -> dict[str, Any]:
    return PLACEMENTS[request.param]


@pytest.fixture(scope="module")
def make_fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., MGPUController]]:
    made: list[MGPUController] = []

    def make(runner: type | RunnerRef, placement: dict[str, Any], **setup: Any) -> MGPUController:
        fleet = MGPUController(runner, log_folder=tmp_path_factory.mktemp("logs"), **placement)
        made.append(fleet)
        fleet.start(timeout=180, **setup)
        return fleet

    yield make
    for fleet in made:
        fleet.shutdown(graceful_timeout=10)


def gpu_memory_bytes(pids: set[int]) -> int:
    """Return what NVML says these processes hold on the first GPU."""
    pynvml.nvmlInit()
    try:
        handle = pynvml.nvmlDeviceGetHandleByIndex(0)
        processes = pynvml.nvmlDeviceGetComputeRunningProcesses(handle)
        return sum(process.usedGpuMemory or 0 for process in processes if process.pid in pids)
    finally:
        pynvml.nvmlShutdown()


def used_gpu_bytes() -> int:
    """Return what NVML says is in use on the first GPU, by anyone."""
    pynvml.nvmlInit()
    try:
        return int(pynvml.nvmlDeviceGetMemoryInfo(pynvml.nvmlDeviceGetHandleByIndex(0)).used)
    finally:
        pynvml.nvmlShutdown()


def seconds_until(condition: Callable[[], bool], limit_s: float) -> float:
    """Return how long a condition took to come true; NVML has nothing to wait on."""
    began_s = time.monotonic()
    while not condition() and time.monotonic() - began_s < limit_s:
        os.sched_yield()
    return time.monotonic() - began_s


def pack_arguments(tiny_pack: Path) -> dict[str, Path]:
    """Return the setup arguments that name the tiny pack's files."""
    return {
        "checkpoint_path": tiny_pack / "ltx-2.3-tiny.safetensors",
        "gemma_root": tiny_pack / "gemma3",
        "spatial_upsampler_path": tiny_pack / "spatial-upscaler-x2.safetensors",
    }
