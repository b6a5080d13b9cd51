"""The fleet's jobs on GPUs: one rank over NCCL, two that share a GPU over gloo, one on each of several over NCCL."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
import torch

from podium.geometry import ClipFormat
from podium.jobs import ClipFinished, GenerationRequest, MotionPreview, PreviewPicture, RankMemory
from podium.models.paths import ModelPaths
from podium.models.transformer.replay_limits import records_exchanges
from podium.multigpu import ControllerStoppedError, JobCancelled, MGPUController, RunnerRef, SymmetricRunnerError
from podium.pipelines.parameters import clip_parameters

from tests.fakes.runners import ScriptedRunner
from tests.fakes.traced_runner import LATENTS
from tests.gpu.bench import seconds_until, used_gpu_bytes
from tests.gpu.conftest import pack_arguments
from tests.gpu.places import Place, devices_of, is_on_gpus, num_ranks_of

pytestmark = pytest.mark.gpu

RUNNER = RunnerRef("tests.fakes.traced_runner:TracedDistilledRunner")
CALL = {"prompt": "a red fox", "seed": 7, "height": 128, "width": 192, "num_frames": 17, "frame_rate": 24}
DTYPES = [torch.float32, torch.bfloat16, torch.float16, torch.int64, torch.bool, torch.complex64, torch.float8_e4m3fn]


@pytest.fixture(scope="module")
def scripted(make_fleet: Callable[..., MGPUController], place: Place) -> MGPUController:
    return make_fleet(ScriptedRunner, place)


@pytest.fixture(scope="module")
def distilled(make_fleet: Callable[..., MGPUController], place: Place, tiny_pack: Path) -> MGPUController:
    return make_fleet(RUNNER, place, **pack_arguments(tiny_pack), dtype="float32")


def test_ranks_stand_on_the_gpu_and_speak_its_backend(scripted: MGPUController, place: Place) -> None:
    described = list(scripted.stream(action="describe"))
    assert sorted(item["device"] for item in described) == devices_of(place)
    backend = "nccl" if is_on_gpus(place) and not place.get("share_devices") else "gloo"
    assert {tuple(item["backends"]) for item in described} == {(backend, "gloo")}


@pytest.mark.parametrize("dtype", DTYPES)
def test_tensors_arrive_on_the_gpu_and_come_back(scripted: MGPUController, place: Place, dtype: torch.dtype) -> None:
    sent, last = (torch.randn(70, 50) * 10).to(dtype), num_ranks_of(place) - 1
    (item,) = scripted.stream(action="echo", rank=last, tensor=sent, strided=sent.t()[::2], empty=sent[:0])
    assert str(item["tensor"].device) == devices_of(place)[last]
    back = {name: tensor.cpu().clone() for name, tensor in item.items()}
    assert torch.equal(back["tensor"].view(torch.uint8), sent.view(torch.uint8))
    assert torch.equal(back["strided"].float() if dtype != torch.complex64 else back["strided"].real,
                       sent.t()[::2].float() if dtype != torch.complex64 else sent.t()[::2].real)  # fmt: skip
    assert back["empty"].shape == (0, 50)


def test_the_transformer_group_reduces_on_the_gpu(scripted: MGPUController, place: Place) -> None:
    totals = list(scripted.stream(action="sum", tensor=torch.ones(1000)))
    num_ranks = num_ranks_of(place)
    assert all(float(total[0]) == num_ranks * (num_ranks + 1) / 2 for total in totals)


def test_a_soft_cancel_leaves_the_fleet(scripted: MGPUController) -> None:
    stream = scripted.stream(action="steps", num_steps=1000, step_s=0.01)
    next(stream)
    canceller = threading.Thread(target=stream.cancel)
    canceller.start()
    with pytest.raises(SymmetricRunnerError) as caught:
        list(stream)
    canceller.join()
    assert isinstance(caught.value.__cause__, JobCancelled)
    assert list(scripted.stream(action="count", num_items=3)) == [0, 1, 2]


def test_the_gpu_makes_the_cpus_clip(
    distilled: MGPUController,
    place: Place,
    make_fleet: Callable[..., MGPUController],
    tiny_pack: Path,
    record_property: Callable[[str, object], None],
) -> None:
    worst = 0.0
    on_cpu = make_fleet(RUNNER, {"cpu_ranks": 1}, **pack_arguments(tiny_pack), dtype="float32")
    loras = [(tiny_pack / "distilled-lora.safetensors", 0.8)]
    for changes in ({}, {"loras": loras}):
        (wanted,) = on_cpu.stream(**CALL, **changes)
        for item in distilled.stream(**CALL, **changes):
            # Each stage's forward once, and never again for other LoRAs.
            assert item["num_recorded"] == (2 if records(place) else 0)
            for name in LATENTS:
                worst = max(worst, float((item[name].cpu() - wanted[name]).norm() / wanted[name].norm()))
    record_property("figure", (f"distilled latents, {devices_of(place)} against a CPU", f"{worst:.2e}"))
    assert worst < 1e-4


def records(place: Place) -> bool:
    is_alone = num_ranks_of(place) == 1
    return is_on_gpus(place) and (is_alone or (records_exchanges(os.environ) and not place.get("share_devices")))


def test_lora_sets_leave_no_trace_in_the_weights(distilled: MGPUController, tiny_pack: Path) -> None:
    a, b = ((tiny_pack / f"{name}.safetensors", 0.7) for name in ("distilled-lora", "style-lora"))
    digests = [{item["weights"] for item in distilled.stream(**CALL, loras=[lora])} for lora in (a, b, a)]
    assert [len(of_ranks) for of_ranks in digests] == [1, 1, 1]
    assert digests[0] == digests[2] != digests[1]


def test_a_clip_is_written_with_previews_and_memory_told(
    distilled: MGPUController, tiny_pack: Path, tmp_path: Path, place: Place
) -> None:
    request = GenerationRequest("a red fox", 7, ClipFormat(128, 192, 17, Fraction(24)), tmp_path / "clip.mp4")
    paths = ModelPaths(**pack_arguments(tiny_pack))
    events = list(distilled.stream(request=request, parameters=clip_parameters(request, paths, dtype="float32")))
    assert isinstance(events[-1], ClipFinished)
    assert sum(isinstance(event, PreviewPicture) for event in events) >= 11
    assert any(isinstance(event, MotionPreview) for event in events)
    memory = [event for event in events if isinstance(event, RankMemory)]
    assert {event.rank for event in memory} == set(range(num_ranks_of(place)))
    assert all(0 < event.used_bytes <= event.peak_bytes for event in memory)


def test_force_stop_frees_the_gpus_within_two_seconds(
    make_fleet: Callable[..., MGPUController], place: Place, record_property: Callable[[str, object], None]
) -> None:
    before = used_gpu_bytes()
    fleet = make_fleet(ScriptedRunner, place)
    stream = fleet.stream(action="steps", num_steps=100_000, step_s=0.01, rank=0)
    next(stream)
    taken = set(place["devices"])
    assert all(
        used > free + 2**27 for k, (used, free) in enumerate(zip(used_gpu_bytes(), before, strict=True)) if k in taken
    )
    began_s = time.monotonic()
    fleet.shutdown(graceful_timeout=0)
    returned_s = time.monotonic() - began_s
    with pytest.raises(ControllerStoppedError):
        list(stream)
    freed_s = seconds_until(
        lambda: all(used <= free + 2**24 for used, free in zip(used_gpu_bytes(), before, strict=True)), 10
    )
    record_property("figure", (f"force stop, {devices_of(place)}: memory free after, s", f"{freed_s:.2f}"))
    assert returned_s < 0.1
    assert freed_s < 2
