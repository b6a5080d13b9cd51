"""Weights that wait in host memory: what they build is what stays builds, and nothing of it is left afterwards."""

from __future__ import annotations

import gc
import os
import shutil
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from podium.models.audio import vocoder_builder
from podium.models.builder import SingleGPUModelBuilder
from podium.models.registry import StateDictRegistry
from podium.models.residency import Place
from podium.models.upsampler import upsampler_builder
from podium.multigpu.waiting import WAITING, ResidentBuilder, bring, put_aside
from podium.pipelines.blocks.placement import Placement
from podium.pipelines.prompt_cache import weights_identity

from tests.fakes.live_memory import LiveMemory

CPU = torch.device("cpu")
ON_CPU = Placement(CPU, torch.float32)


@pytest.fixture
def registry() -> StateDictRegistry:
    return StateDictRegistry()


@pytest.fixture
def inner(tiny_pack: Path) -> SingleGPUModelBuilder[nn.Module]:
    return upsampler_builder(tiny_pack / "spatial-upscaler-x2.safetensors")  # type: ignore[return-value] # of any class


@pytest.fixture
def resident(inner: SingleGPUModelBuilder[nn.Module], registry: StateDictRegistry) -> ResidentBuilder[nn.Module]:
    return ResidentBuilder(inner, registry, ON_CPU)


def places(registry: StateDictRegistry) -> list[str]:
    return [key.device for key in registry._entries]


def pointers(tensors: dict[str, Tensor]) -> dict[str, int]:
    return {name: tensor.data_ptr() for name, tensor in tensors.items()}


def held(registry: StateDictRegistry) -> dict[str, Tensor]:
    (entry,) = registry._entries.values()
    return dict(entry.tensors)


def test_visitors_are_copies_of_what_waits_and_go_with_their_network(
    resident: ResidentBuilder[nn.Module], registry: StateDictRegistry
) -> None:
    resident.move(Place.VISITING)
    resident.preload(CPU, torch.float32)
    assert places(registry) == [WAITING]
    waiting = held(registry)
    with LiveMemory() as memory:
        module = resident.build(CPU, torch.float32)
        assert memory.num_bytes >= sum(tensor.nbytes for tensor in waiting.values())
        assert not set(pointers(module.state_dict()).values()) & set(pointers(waiting).values())
        assert all(torch.equal(tensor, waiting[name]) for name, tensor in module.state_dict().items())
        del module
        gc.collect()
        assert memory.num_bytes == 0
    assert places(registry) == [WAITING]


def test_to_preload_brings_nothing_to_the_device(
    resident: ResidentBuilder[nn.Module], registry: StateDictRegistry
) -> None:
    resident.move(Place.VISITING)
    resident.preload(CPU, torch.float32)
    with LiveMemory() as memory:
        resident.preload(CPU, torch.float32)
    assert memory.peak_bytes == 0


def test_where_weights_stay_two_networks_share_them(
    resident: ResidentBuilder[nn.Module], registry: StateDictRegistry
) -> None:
    resident.preload(CPU, torch.float32)
    first, second = (pointers(resident.build(CPU, torch.float32).state_dict()) for _ in range(2))
    assert first == second == pointers(held(registry))
    assert places(registry) == ["cpu"]


def test_there_and_back_again_is_the_same_to_the_bit_and_reads_nothing(
    tiny_pack: Path, tmp_path: Path, registry: StateDictRegistry
) -> None:
    path = Path(shutil.copy(tiny_pack / "spatial-upscaler-x2.safetensors", tmp_path))
    resident = ResidentBuilder(upsampler_builder(path), registry, ON_CPU)
    before = {name: tensor.clone() for name, tensor in resident.build(CPU, torch.float32).state_dict().items()}
    status = path.stat()
    path.write_bytes(b"?" * status.st_size)
    # As large and as old as before: nobody takes it for another, but whoever reads it reads rubbish.
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    for place in (Place.VISITING, Place.VISITING, Place.DEVICE):
        resident.move(place)
        assert resident.place is place
        assert places(registry) == [WAITING if place is Place.VISITING else "cpu"]
        after = resident.build(CPU, torch.float32).state_dict()
        assert all(torch.equal(after[name], tensor) for name, tensor in before.items())


def test_the_vocoder_waits_in_float32_whatever_the_rest_runs_in(tiny_pack: Path, registry: StateDictRegistry) -> None:
    placement = Placement(CPU, torch.bfloat16)
    inner = vocoder_builder(tiny_pack / "ltx-2.3-tiny.safetensors")
    resident = ResidentBuilder(inner, registry, placement)
    resident.move(Place.VISITING)
    visiting = resident.build(CPU, torch.bfloat16).state_dict()
    staying = inner.build(CPU, torch.bfloat16).state_dict()
    assert {tensor.dtype for tensor in visiting.values()} == {torch.float32}
    assert all(torch.equal(tensor, staying[name]) for name, tensor in visiting.items())


def test_a_replaced_file_is_read_again_where_weights_wait(
    tiny_pack: Path, tmp_path: Path, registry: StateDictRegistry
) -> None:
    path = Path(shutil.copy(tiny_pack / "spatial-upscaler-x2.safetensors", tmp_path))
    resident = ResidentBuilder(upsampler_builder(path), registry, ON_CPU)
    resident.move(Place.VISITING)
    resident.preload(CPU, torch.float32)
    first = pointers(held(registry))
    os.utime(path, ns=(0, 1))
    resident.build(CPU, torch.float32)
    assert pointers(held(registry)) != first


def test_where_weights_wait_makes_no_other_weights_of_them_to_a_cache(
    resident: ResidentBuilder[nn.Module], inner: SingleGPUModelBuilder[nn.Module]
) -> None:
    before = weights_identity(resident)
    resident.move(Place.VISITING)
    assert weights_identity(resident) == before == weights_identity(inner)


def test_what_lies_in_host_memory_is_not_put_aside_again_but_brought_as_a_copy() -> None:
    tensor = torch.ones(3)
    assert put_aside(tensor, CPU) is tensor
    copy = bring(tensor, CPU)
    assert copy.data_ptr() != tensor.data_ptr()
    assert torch.equal(copy, tensor)
