"""What a fleet may take of its GPUs, as NVML tells, and where a model's parts are planned in it."""

from __future__ import annotations

import logging
import os
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from podium.errors import JobRefusedError
from podium.geometry import ClipFormat
from podium.jobs import GenerationRequest, GuidanceMode, GuidanceSpec, ImageSpec, LoraSpec, PipelineKind
from podium.models.residency import Place, ResidencyPlan
from podium.multigpu import device_room, placement
from podium.multigpu.device_room import find_room, plan_residency
from podium.multigpu.memory_activations import MAX_PROMPT_TOKENS, PlannedJob
from podium.multigpu.memory_plan import CONTEXT_BYTES
from podium.multigpu.placement import FleetPlan, Placement
from podium.pipelines.checks import CheckedRequest, check_request

from tests.fakes.nvml import FakeGpu, FakeNvml, FakeProcess, lost
from tests.tiny_pack import TinyPack

GB = 2**30
NOBODY = 2**22 + 1
"""More than any process number here: what a container sees of processes outside."""


@pytest.fixture
def nvml(monkeypatch: pytest.MonkeyPatch) -> FakeNvml:
    fake = FakeNvml([FakeGpu("GPU-a", 48 * GB, 8 * GB), FakeGpu("GPU-b", 24 * GB, GB), FakeGpu("GPU-c", 24 * GB, 0)])
    by_uuid = {gpu.uuid: gpu for gpu in fake.gpus}
    for name in ("nvmlInit", "nvmlShutdown", "nvmlDeviceGetMemoryInfo", "nvmlDeviceGetComputeRunningProcesses"):
        monkeypatch.setattr(device_room.pynvml, name, getattr(fake, name))
    monkeypatch.setattr(device_room.pynvml, "nvmlDeviceGetHandleByUUID", by_uuid.__getitem__)
    gpus = tuple(placement.Gpu(gpu.uuid, "A card") for gpu in fake.gpus)
    monkeypatch.setattr(device_room, "visible_gpus", lambda _environment: gpus)
    return fake


def on(*uuids: str | None) -> FleetPlan:
    return FleetPlan(tuple(Placement(rank, rank, uuid) for rank, uuid in enumerate(uuids)), "nccl")


def test_a_rank_has_what_is_free_on_its_gpu(nvml: FakeNvml) -> None:
    room = find_room(on("GPU-a", "GPU-b"), host_bytes=5)
    assert room is not None
    assert (room.device_bytes, room.host_bytes, room.num_more) == ((40 * GB, 23 * GB), 5, 1)
    assert room.names == ("GPU 0", "GPU 1")
    assert nvml.num_open == 0


def test_what_the_fleet_itself_holds_is_free_to_it(nvml: FakeNvml) -> None:
    nvml.gpus[0].compute = [FakeProcess(os.getpid(), 3 * GB), FakeProcess(os.getppid(), 2 * GB)]
    rooms = [find_room(on("GPU-a"), pids) for pids in ((), (os.getpid(),))]
    assert [room and room.device_bytes for room in rooms] == [(40 * GB,), (43 * GB,)]


def test_a_process_that_this_container_does_not_see_may_be_the_fleet_itself(nvml: FakeNvml) -> None:
    nvml.gpus[0].compute = [FakeProcess(NOBODY, 3 * GB)]
    rooms = [find_room(on("GPU-a"), pids) for pids in ((), (os.getpid(),))]
    assert [room and room.device_bytes for room in rooms] == [(40 * GB,), (43 * GB,)]


def test_two_ranks_on_one_gpu_share_its_room(nvml: FakeNvml) -> None:
    room = find_room(on("GPU-a", "GPU-a"))
    assert room is not None
    assert room.device_bytes == (20 * GB, 20 * GB)


@pytest.mark.parametrize("spoil", ["no driver", "lost", "own memory untold", "another order", "cpu"])
def test_where_nvml_does_not_tell_there_is_no_room_to_plan_in(nvml: FakeNvml, spoil: str) -> None:
    fleet = on("GPU-a", None if spoil in ("another order", "cpu") else "GPU-b")
    nvml.has_driver = spoil != "no driver"
    if spoil == "lost":
        nvml.gpus[1].errors["ComputeRunningProcesses"] = lost()
    if spoil == "own memory untold":
        nvml.gpus[1].compute = [FakeProcess(os.getpid(), None)]
    assert find_room(fleet, (os.getpid(),)) is None
    assert nvml.num_open == 0


@pytest.fixture
def checked(tiny_pack_2_3: TinyPack, tmp_path: Path) -> CheckedRequest:
    request = GenerationRequest("a fox", 7, ClipFormat(64, 64, 9, Fraction(24)), tmp_path / "a.mp4")
    return check_request(request, tiny_pack_2_3.model_paths)


def planned_with(nvml: FakeNvml, checked: CheckedRequest, free_bytes: int) -> ResidencyPlan | str | None:
    """Return the plan for a GPU of which so much is free, or the words of its refusal."""
    nvml.gpus[0].used = nvml.gpus[0].total - free_bytes
    try:
        return plan_residency(checked, on("GPU-a"), "bfloat16", host_bytes=100 * GB)
    except JobRefusedError as error:
        return error.message


def test_with_room_everything_stays_and_with_less_parts_leave_and_with_none_it_is_refused(
    nvml: FakeNvml, checked: CheckedRequest
) -> None:
    mib = 2**20
    too_few, enough = 1, 400
    assert planned_with(nvml, checked, CONTEXT_BYTES + enough * mib) == ResidencyPlan()
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        stays = planned_with(nvml, checked, CONTEXT_BYTES + middle * mib) == ResidencyPlan()
        too_few, enough = (too_few, middle) if stays else (middle, enough)
    with_less = planned_with(nvml, checked, CONTEXT_BYTES + too_few * mib)
    assert isinstance(with_less, ResidencyPlan)
    assert with_less.text_encoder is not Place.DEVICE
    refusal = planned_with(nvml, checked, CONTEXT_BYTES + mib)
    assert isinstance(refusal, str)
    assert "on GPU 0" in refusal


def test_a_plan_is_logged_in_words(nvml: FakeNvml, checked: CheckedRequest, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger=plan_residency.__module__):
        plan_residency(checked, on("GPU-a"), "bfloat16", host_bytes=100 * GB)
    assert "Residency of the clip: everything stays on the devices." in caplog.text


def test_nothing_is_planned_on_the_cpu(nvml: FakeNvml, checked: CheckedRequest) -> None:
    fleet = FleetPlan((Placement(0, None),), "gloo")
    assert plan_residency(checked, fleet, "float32") is None


CLIP = ClipFormat(64, 64, 17, Fraction(24))
REQUEST = GenerationRequest("a fox", 7, CLIP, Path("a.mp4"), pipeline=PipelineKind.QUALITY)


@pytest.mark.parametrize(
    ("changes", "planned"),
    [
        ({}, {}),
        ({"images": (ImageSpec(Path("a.png")),)}, {"num_images": 1}),
        ({"images": (ImageSpec(Path("a.png"), 8),)}, {"num_images": 2}),
        ({"generated_keyframes": 2}, {"num_images": 3}),
        ({"generated_keyframes": (8,), "images": (ImageSpec(Path("a.png")),)}, {"num_images": 2}),
        ({"loras": (LoraSpec(Path("a")), LoraSpec(Path("b")))}, {"num_loras": 2}),
        ({"negative_prompt": "blurry"}, {"num_prompt_tokens": MAX_PROMPT_TOKENS}),
        ({"guidance_mode": GuidanceMode.BATCHED, "video_guidance": GuidanceSpec(cfg=3, stg=1)}, {"num_batched": 3}),
        ({"guidance_mode": GuidanceMode.MESH, "audio_guidance": GuidanceSpec(cfg=3)}, {"num_batched": 2}),
        ({"guidance_mode": GuidanceMode.SEQUENTIAL, "audio_guidance": GuidanceSpec(cfg=3)}, {}),
    ],
)
def test_what_memory_hangs_on_is_read_off_a_request(changes: dict[str, object], planned: dict[str, object]) -> None:
    plain = PlannedJob(REQUEST.clip, 2, PipelineKind.QUALITY, num_prompt_tokens=5)
    request = replace(REQUEST, **changes)  # type: ignore[arg-type] # any field of a request
    assert PlannedJob.of(request, 2, 5) == replace(plain, **planned)  # type: ignore[arg-type] # the same
