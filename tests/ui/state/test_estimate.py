"""What the composed clip will take is asked once typing rests, and never twice at a time."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from podium.errors import JobRefusedError
from podium.helper.requests import (
    DeviceNeed,
    DeviceReport,
    EstimateJob,
    GetDefaults,
    GuidanceDefaults,
    JobEstimate,
    ListDevices,
)
from podium.jobs import GuidanceMode, GuidanceSpec, Phase, PipelineKind
from podium.library.timings import PhaseTiming, TimedFleet
from podium.models.residency import Place, ResidencyPlan
from podium.ui.state.estimate import EstimateState
from podium.ui.state.events import FleetReady, FleetStarting
from podium.ui.state.readings import GpuReading, MachineReading, ProcessMemory, ReadingState
from podium.ui.state.session import SessionState

from tests.fakes.ui import MODELS, FakeControls, FakeHelper, make_ready

GB = 1 << 30
World = tuple[SessionState, FakeHelper, FakeControls]
REPORTS = (
    DeviceReport(0, "GPU-a", "NVIDIA H200", "0000:17:00.0", 139 * GB, GB),
    DeviceReport(1, "GPU-b", "NVIDIA H200", "0000:65:00.0", 139 * GB, 0),
    DeviceReport(2, "GPU-c", "NVIDIA H200", "0000:b3:00.0", 139 * GB, 0),
)


def need(gigabytes: int) -> DeviceNeed:
    return DeviceNeed(gigabytes * GB, Phase.STAGE_2, ((Phase.STAGE_1, GB), (Phase.STAGE_2, gigabytes * GB)))


def on_gpus(world: World) -> EstimateState:
    """Choose two of three GPUs, and estimate."""
    session, helper, _ = world
    make_ready(session, helper, prompt="a fox")
    session.devices.use_gpus()
    session.devices.refresh()
    helper.answer(ListDevices, REPORTS)
    session.devices.choose("GPU-c", False)
    session.estimate.refresh()
    return session.estimate


def test_tokens_are_known_at_once(world: World) -> None:
    session, _, _ = world
    session.estimate.watch()
    session.compose.set_size(1536, 1024)
    session.compose.set_num_frames(121)
    assert session.estimate.num_tokens == 16 * 32 * 48


def test_without_a_model_or_devices_nothing_is_asked(world: World) -> None:
    session, helper, _ = world
    session.estimate.refresh()
    assert helper.requests(EstimateJob) == []
    assert (session.estimate.memory, session.estimate.most) == ((), None)


def test_the_request_is_what_is_composed(world: World) -> None:
    estimate, helper, session = on_gpus(world), world[1], world[0]
    (request,) = helper.requests(EstimateJob)
    assert (request.models, request.num_ranks, request.dtype) == (MODELS, 2, "bfloat16")
    assert request.clip == session.compose.clip
    assert request.device_bytes == (138 * GB, 139 * GB)
    assert (request.names, request.num_more) == (("GPU 0", "GPU 1"), 1)
    # Fast is not guided.
    assert request.guidance is None
    assert estimate.is_asking


def test_how_guidance_runs_is_asked_for_once_it_is_known(world: World) -> None:
    estimate, helper, session = on_gpus(world), world[1], world[0]
    helper.answer(EstimateJob, JobEstimate((need(90), need(90)), ResidencyPlan()))
    session.compose.set_pipeline(PipelineKind.QUALITY)
    video, audio = GuidanceSpec(3, 1, 0.7, 3, 0, (28,)), GuidanceSpec(7)
    session.compose.guidance.set_mode(GuidanceMode.BATCHED)
    helper.answer(GetDefaults, GuidanceDefaults(30, video, audio, (0.0, 1.0)))
    estimate.refresh()
    assert helper.requests(EstimateJob)[-1].guidance == (GuidanceMode.BATCHED, video, audio)


def test_the_answer_is_shown_device_by_device(world: World) -> None:
    estimate, helper = on_gpus(world), world[1]
    residency = ResidencyPlan(text_encoder=Place.VISITING)
    helper.answer(EstimateJob, JobEstimate((need(90), need(150)), residency, "This clip needs more."))
    assert [(one.index, one.need.num_bytes, one.fits) for one in estimate.memory] == [
        (0, 90 * GB, True),
        (1, 150 * GB, False),
    ]
    assert estimate.most == estimate.memory[1]
    assert (estimate.residency, estimate.problem) == (residency, "This clip needs more.")
    assert not estimate.is_asking


def test_it_asks_anew_only_for_another_clip_and_only_when_answered(world: World) -> None:
    estimate, helper, session = on_gpus(world), world[1], world[0]
    session.compose.set_num_frames(97)
    estimate.refresh()
    session.compose.set_num_frames(121)
    estimate.refresh()
    assert len(helper.requests(EstimateJob)) == 1
    helper.answer(EstimateJob, JobEstimate((need(90), need(90)), ResidencyPlan()))
    estimate.refresh()
    assert [request.clip.num_frames for request in helper.requests(EstimateJob)] == [121]
    helper.answer(EstimateJob, JobEstimate((need(90), need(90)), ResidencyPlan()))
    estimate.refresh()
    assert helper.requests(EstimateJob) == []


def test_typing_is_followed_after_a_moment(world: World, qtbot: QtBot) -> None:
    session, helper, _ = world
    make_ready(session, helper, prompt="a fox")
    session.estimate.watch()
    for num_frames in (33, 41, 49):
        session.compose.set_num_frames(num_frames)
    qtbot.waitUntil(lambda: bool(helper.requests(EstimateJob)))
    assert [request.clip.num_frames for request in helper.requests(EstimateJob)] == [49]


def test_our_own_memory_is_room_and_others_is_not(world: World) -> None:
    estimate, helper, session = on_gpus(world), world[1], world[0]
    helper.answer(EstimateJob, JobEstimate((need(90), need(90)), ResidencyPlan()))
    ours = ProcessMemory(800, "python", 80 * GB, is_ours=True)
    seen = GpuReading("GPU-a", ReadingState.WELL, 139 * GB, 90 * GB, (ours,))
    session.fleet.take_reading(MachineReading(1.0, (seen,)))
    estimate.refresh()
    (request,) = helper.requests(EstimateJob)
    assert request.device_bytes == (129 * GB, 139 * GB)


def test_a_little_more_or_less_of_others_memory_asks_nothing(world: World) -> None:
    estimate, helper, session = on_gpus(world), world[1], world[0]
    for used in (10 * GB + 1, 10 * GB + (100 << 20)):
        seen = GpuReading("GPU-a", ReadingState.WELL, 139 * GB, used)
        session.fleet.take_reading(MachineReading(1.0, (seen,)))
        estimate.refresh()
        while helper.requests(EstimateJob):
            helper.answer(EstimateJob, JobEstimate((need(90), need(90)), ResidencyPlan()))
    asked = estimate._asked
    assert asked is not None
    assert asked.device_bytes[0] == 139 * GB - 10 * GB - (256 << 20)


def test_on_the_cpu_ranks_are_summed_up(world: World) -> None:
    session, helper, _ = world
    make_ready(session, helper, prompt="a fox")
    session.estimate.refresh()
    request = helper.answer(EstimateJob, JobEstimate((need(4), need(3)), ResidencyPlan()))
    assert (request.device_bytes, request.num_ranks, request.dtype) == ((), 2, "float32")
    (together,) = session.estimate.memory
    assert (together.index, together.need.num_bytes) == (None, 7 * GB)
    assert dict(together.need.by_phase) == {Phase.STAGE_1: 2 * GB, Phase.STAGE_2: 7 * GB}
    assert together.fits


def test_a_model_that_cannot_be_read_leaves_the_memory_unknown(world: World) -> None:
    estimate, helper = on_gpus(world), world[1]
    helper.answer(EstimateJob, error=JobRefusedError("Its header cannot be read."))
    assert (estimate.memory, estimate.problem) == ((), "")


def test_the_time_is_not_known_before_a_clip_like_it_was_made(world: World) -> None:
    session, helper, _ = world
    make_ready(session, helper, prompt="a fox")
    session.estimate.refresh()
    assert (session.estimate.duration_s, session.estimate.start_s) == (None, None)
    fleet = TimedFleet(PipelineKind.FAST, MODELS.checkpoint_path.name, ("cpu",), 2)
    tokens = session.compose.clip.latent_grid.num_tokens
    session.library.timings.add(fleet, tokens, [PhaseTiming(Phase.STAGE_1, 8.0, 8), PhaseTiming(Phase.DECODING, 2.0)])
    session.library.timings.add_start(fleet, 31.0)
    spec = session.spec
    assert spec is not None
    session.apply(FleetStarting(spec))
    session.estimate.refresh()
    assert (session.estimate.duration_s, session.estimate.start_s) == (10.0, None)


def test_the_start_of_a_fleet_is_told_where_there_is_none_that_serves(world: World) -> None:
    session, helper, _ = world
    make_ready(session, helper, prompt="a fox")
    fleet = TimedFleet(PipelineKind.FAST, MODELS.checkpoint_path.name, ("cpu",), 2)
    session.library.timings.add_start(fleet, 31.0)
    session.estimate.refresh()
    assert session.estimate.start_s == 31.0
    spec = session.spec
    assert spec is not None
    session.apply(FleetStarting(spec))
    session.apply(FleetReady(spec, 31.0))
    session.estimate.refresh()
    assert session.estimate.start_s is None


@pytest.mark.parametrize("is_answered", [False, True])
def test_a_closed_window_asks_nothing(world: World, tmp_path: Path, is_answered: bool) -> None:
    session, helper, _ = world
    make_ready(session, helper, prompt="a fox")
    session.estimate.watch()
    session.estimate.refresh()
    session.estimate.close()
    if is_answered:
        helper.answer(EstimateJob, JobEstimate((need(4), need(3)), ResidencyPlan()))
    assert not session.estimate._timer.isActive()
