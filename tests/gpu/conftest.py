"""Fleets on real GPUs: one rank over NCCL, two ranks that share a GPU over gloo, and a rank on each of several GPUs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from podium.multigpu import MGPUController, RunnerRef, preload_forkserver
from podium.multigpu.forkserver import SHARED

from tests.gpu.places import Place, all_places


@pytest.fixture(scope="session", autouse=True)
def _warm_forkserver(_session_environment: None) -> Iterator[None]:
    preload_forkserver()
    yield
    SHARED.close()


@pytest.fixture(params=list(all_places()), scope="module")
def place(request: pytest.FixtureRequest) -> Place:
    return all_places()[request.param]


@pytest.fixture(scope="module")
def make_fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., MGPUController]]:
    made: list[MGPUController] = []

    def make(runner: type | RunnerRef, place: Place, **setup: object) -> MGPUController:
        fleet = MGPUController(runner, log_folder=tmp_path_factory.mktemp("logs"), **place)
        made.append(fleet)
        fleet.start(timeout=180, **setup)
        return fleet

    yield make
    for fleet in made:
        fleet.shutdown(graceful_timeout=10)


def pack_arguments(tiny_pack: Path) -> dict[str, Path]:
    """Return the setup arguments that name the tiny pack's files."""
    return {
        "checkpoint_path": tiny_pack / "ltx-2.3-tiny.safetensors",
        "gemma_root": tiny_pack / "gemma3",
        "spatial_upsampler_path": tiny_pack / "spatial-upscaler-x2.safetensors",
    }
