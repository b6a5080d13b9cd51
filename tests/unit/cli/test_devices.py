"""Which devices a command takes, and what it says where there are none."""

from __future__ import annotations

import pytest

from podium.cli.devices import check_devices
from podium.cli.options import DeviceOptions
from podium.errors import JobRefusedError
from podium.multigpu.placement import Gpu

GPUS = tuple(Gpu(f"GPU-{index}", "NVIDIA H200") for index in range(4))


@pytest.fixture
def four_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("podium.multigpu.placement._all_gpus", lambda: GPUS)


@pytest.fixture
def no_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("podium.multigpu.placement._all_gpus", lambda: ())


@pytest.mark.usefixtures("four_gpus")
@pytest.mark.parametrize(
    ("options", "num_ranks"),
    [
        (DeviceOptions(), 4),
        (DeviceOptions(devices=(3, 1)), 2),
        (DeviceOptions(num_gpus=3), 3),
        (DeviceOptions(cpu_ranks=5), 5),
    ],
)
def test_without_a_choice_all_gpus_are_taken_else_those_asked_for(options: DeviceOptions, num_ranks: int) -> None:
    assert check_devices(options, {}) == num_ranks


@pytest.mark.usefixtures("four_gpus")
def test_gpus_that_the_environment_hides_do_not_count() -> None:
    assert check_devices(DeviceOptions(), {"CUDA_VISIBLE_DEVICES": "2,0"}) == 2


@pytest.mark.usefixtures("no_gpus")
def test_the_cpu_is_never_fallen_back_to() -> None:
    with pytest.raises(JobRefusedError, match="--cpu-ranks 2"):
        check_devices(DeviceOptions(), {})


@pytest.mark.usefixtures("no_gpus")
def test_cpu_ranks_need_no_gpu() -> None:
    assert check_devices(DeviceOptions(cpu_ranks=1), {}) == 1


@pytest.mark.usefixtures("four_gpus")
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (DeviceOptions(devices=(4,)), "GPU 4 was asked for, but there are 4 here"),
        (DeviceOptions(devices=(-1,)), "GPU -1 was asked for"),
        (DeviceOptions(num_gpus=5), "GPU 4 was asked for"),
        (DeviceOptions(num_gpus=0), "--num-gpus 0 leaves nothing"),
        (DeviceOptions(cpu_ranks=0), "--cpu-ranks 0 leaves nothing"),
        (DeviceOptions(devices=(0, 0)), "names a GPU twice"),
    ],
)
def test_devices_that_are_not_there_are_refused(options: DeviceOptions, sentence: str) -> None:
    with pytest.raises(JobRefusedError, match=sentence):
        check_devices(options, {})
