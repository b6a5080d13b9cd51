"""Why a GPU cannot be chosen: NVML and PyTorch's build facts, played."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pynvml
import pytest

from podium.helper import devices
from podium.helper.devices import list_devices
from podium.helper.requests import DeviceReason, DeviceReport
from podium.helper.torch_build import TorchBuild, _build_of
from podium.multigpu.device_locks import DeviceLocks
from podium.multigpu.placement import Gpu

H200 = Gpu("GPU-1", "NVIDIA H200")
BUILD = TorchBuild((12, 8), ("sm_80", "sm_90", "compute_90"))


@pytest.fixture
def nvml(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """Play a driver with one sound H200; a test changes what it wants otherwise."""
    facts: dict[str, object] = {
        "memory": SimpleNamespace(total=140 * 2**30, used=2**30),
        "driver": 12080,
        "capability": (9, 0),
        "mig": [0, 0],
        "processes": [],
    }

    def tell(name: str) -> object:
        value = facts[name]
        if isinstance(value, Exception):
            raise value
        return value

    monkeypatch.setattr(devices, "visible_gpus", lambda _environment: (H200,))
    monkeypatch.setattr(pynvml, "nvmlInit", lambda: None)
    monkeypatch.setattr(pynvml, "nvmlShutdown", lambda: None)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetHandleByUUID", lambda uuid: uuid)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetMemoryInfo", lambda _handle: tell("memory"))
    monkeypatch.setattr(pynvml, "nvmlSystemGetCudaDriverVersion_v2", lambda: tell("driver"))
    monkeypatch.setattr(pynvml, "nvmlDeviceGetCudaComputeCapability", lambda _handle: tell("capability"))
    monkeypatch.setattr(pynvml, "nvmlDeviceGetMigMode", lambda _handle: tell("mig"))
    monkeypatch.setattr(pynvml, "nvmlDeviceGetPciInfo", lambda _handle: SimpleNamespace(busId="0000:17:00.0"))
    monkeypatch.setattr(pynvml, "nvmlDeviceGetComputeRunningProcesses", lambda _handle: tell("processes"))
    return facts


def report(build: TorchBuild | None = BUILD) -> DeviceReport:
    (found,) = list_devices(Path("/cache"), environment={}, read_build=lambda _folder: build)
    return found


def test_a_sound_gpu_can_be_chosen(nvml: dict[str, object]) -> None:
    assert report() == DeviceReport(0, "GPU-1", "NVIDIA H200", "0000:17:00.0", 140 * 2**30, 2**30)


def test_a_card_that_knows_no_mig_is_none(nvml: dict[str, object]) -> None:
    nvml["mig"] = pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
    assert report().reason is None


@pytest.mark.parametrize(
    ("name", "value", "build", "reason", "words"),
    [
        ("mig", [1, 1], BUILD, DeviceReason.MIG, "MIG"),
        ("driver", 11040, BUILD, DeviceReason.OLD_DRIVER, "CUDA 11.4, and the installed PyTorch needs 12.8"),
        ("driver", 12080, TorchBuild(None, ()), DeviceReason.CPU_BUILD, "without CUDA"),
        ("capability", (7, 5), BUILD, DeviceReason.NO_BF16, "bfloat16"),
        ("capability", (8, 9), TorchBuild((12, 8), ("sm_90",)), DeviceReason.ARCHITECTURE, "(8.9)"),
        ("memory", SimpleNamespace(total=6 * 2**30, used=0), BUILD, DeviceReason.LITTLE_MEMORY, "6 GB is too little"),
        ("memory", pynvml.NVMLError(pynvml.NVML_ERROR_GPU_IS_LOST), BUILD, DeviceReason.NO_ANSWER, "no answer"),
        ("processes", [SimpleNamespace(pid=1)], BUILD, DeviceReason.HELD, "process 1"),
    ],
)
def test_each_reason_has_its_sentence(
    nvml: dict[str, object], name: str, value: object, build: TorchBuild, reason: DeviceReason, words: str
) -> None:
    nvml[name] = value
    found = report(build)
    assert found.reason is reason
    assert words in found.sentence


def test_the_windows_own_ranks_hold_no_gpu_against_it(nvml: dict[str, object]) -> None:
    nvml["processes"] = [SimpleNamespace(pid=os.getpid())]
    assert report().reason is None


@pytest.mark.parametrize("is_ours", [False, True])
def test_what_another_podium_has_taken_is_told_though_it_does_not_compute_yet(
    nvml: dict[str, object], monkeypatch: pytest.MonkeyPatch, is_ours: bool
) -> None:
    monkeypatch.setattr(devices, "_is_ours", lambda _pid: is_ours)
    with DeviceLocks("podium generate").take({"GPU-1": "GPU 0"}):
        found = report()
    assert found.reason is (None if is_ours else DeviceReason.HELD)
    assert ("Another Podium is using it (podium generate, process" in found.sentence) is not is_ours
    assert report().reason is None


def test_a_build_nobody_can_tell_of_is_no_reason(nvml: dict[str, object]) -> None:
    assert report(None).reason is None


@pytest.mark.parametrize(
    ("architectures", "capability", "is_supported"),
    [
        (("sm_80",), (8, 6), True),
        (("sm_86",), (8, 0), False),
        (("sm_90a",), (9, 0), True),
        (("compute_90",), (12, 0), True),
        (("sm_90",), (12, 0), False),
        (("sm_120",), (12, 0), True),
        ((), (9, 0), False),
        (("nonsense",), (9, 0), False),
    ],
)
def test_a_build_supports_what_it_has_code_for(
    architectures: tuple[str, ...], capability: tuple[int, int], is_supported: bool
) -> None:
    assert TorchBuild((12, 8), architectures).supports(*capability) is is_supported


def test_build_facts_are_read_as_the_child_prints_them() -> None:
    assert _build_of({"cuda": "12.8", "architectures": ["sm_90"]}) == TorchBuild((12, 8), ("sm_90",))
    assert _build_of({"cuda": None, "architectures": []}) == TorchBuild(None, ())
    assert _build_of({}) is None
