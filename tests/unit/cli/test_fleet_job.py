"""A command's fleet keeps off GPUs that another Podium has."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from podium.cli import fleet_job
from podium.cli.errors import ExitCode, exit_code_of
from podium.cli.fleet_job import FleetOptions, JobPlan, run_job
from podium.cli.options import DeviceOptions
from podium.geometry import ClipFormat
from podium.jobs import GenerationRequest
from podium.multigpu.device_locks import DeviceHeldError, DeviceLocks

from tests.tiny_pack import TinyPack

GPUS = {"GPU-of-a-test": "GPU 0 (NVIDIA H200)"}


def test_a_gpu_that_the_window_has_is_refused_by_name_before_a_rank_starts(
    tiny_pack_2_3: TinyPack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fleet_job, "gpus_of", lambda _plan: GPUS)
    request = GenerationRequest("a fox", 7, ClipFormat(64, 64, 9, Fraction(24)), tmp_path / "a.mp4")
    options = FleetOptions(DeviceOptions(cpu_ranks=1), "float32")
    job = run_job(JobPlan(request), tiny_pack_2_3.model_paths, options, accept=lambda _enhanced: True)
    with DeviceLocks("podium").take(GPUS), pytest.raises(DeviceHeldError, match=r"GPU 0 .* is used by another") as held:
        next(job)
    assert exit_code_of(held.value) is ExitCode.REFUSED
