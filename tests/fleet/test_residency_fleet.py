"""Runners that follow residency plans: the same clip to the bit, and what leaves the devices is gone.

On CPU ranks; with `PODIUM_TESTS_RANKS_ON_GPUS` on GPUs, where what waits is pinned and layers come on a stream of their
own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import torch

from podium.geometry import ClipFormat
from podium.jobs import (
    ClipFinished,
    EnhanceRequest,
    GenerationRequest,
    LoraSpec,
    Phase,
    PhaseEnded,
    PhaseStarted,
    PreviewClip,
    PromptEnhanced,
    Quantization,
)
from podium.media.clip_reader import read_clip_info
from podium.models.pack import resolve_pack
from podium.models.residency import ModelPart, Place, ResidencyPlan
from podium.multigpu import MGPUController, RunnerRef
from podium.multigpu.memory_parts import ModelMemory, weigh_model
from podium.multigpu.memory_plan import _DECODERS, _RESIDENCIES
from podium.pipelines.parameters import clip_parameters

from tests.fakes.thorough import thorough
from tests.gpu.places import fleet_place
from tests.tiny_pack import TinyPack

ALL_STAYS, ALL_LEAVES = _RESIDENCIES[0], _RESIDENCIES[-1]
CLIP = ClipFormat(64, 64, 9, Fraction(24))
AT_WORK = "stage_2.video"
"""The moment at which what a rank holds is weighed: the transformer has made its last step."""

Fleets = Callable[[int], MGPUController]


def setup_kwargs(pack: TinyPack) -> dict[str, Any]:
    paths = pack.model_paths
    names = [field.name for field in fields(paths) if field.name != "distilled_lora_path"]
    return {name: getattr(paths, name) for name in names} | {"dtype": "float32"}


@pytest.fixture(scope="module")
def fleets(
    _warm_forkserver: None, tiny_pack_2_3: TinyPack, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Fleets]:
    started: dict[int, MGPUController] = {}

    def get(num_ranks: int) -> MGPUController:
        if num_ranks not in started:
            folder = tmp_path_factory.mktemp("previews")
            runner = RunnerRef("tests.fakes.resident_runner:ResidentRunner")
            started[num_ranks] = MGPUController(runner, log_folder=folder, **fleet_place(num_ranks))
            started[num_ranks].start(timeout=120, preview_folder=folder, **setup_kwargs(tiny_pack_2_3))
        return started[num_ranks]

    yield get
    for fleet in started.values():
        fleet.shutdown(graceful_timeout=10)


@pytest.fixture(scope="module")
def weight(tiny_pack_2_3: TinyPack) -> ModelMemory:
    return weigh_model(resolve_pack(tiny_pack_2_3.model_paths), dtype="float32", quantization=Quantization.NONE)


@pytest.fixture(scope="module")
def request_(tiny_pack_2_3: TinyPack) -> GenerationRequest:
    loras = (LoraSpec(tiny_pack_2_3.style_lora_path, 0.6),)
    return GenerationRequest("a red fox", 7, CLIP, Path("unused.mp4"), loras=loras)


def measure(
    fleet: MGPUController, request: GenerationRequest, residency: ResidencyPlan, weighed: str = ""
) -> list[dict[str, Any]]:
    """Return what each rank tells, in their order, with what it holds at the moment `weighed`."""
    items = fleet.stream(measured=request, residency=residency, weighed=weighed)
    return sorted(items, key=lambda item: int(item["rank"]))


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("num_ranks", [1, thorough(2)])
def test_a_clip_is_the_same_to_the_bit_wherever_the_parts_live(
    fleets: Fleets, request_: GenerationRequest, num_ranks: int
) -> None:
    fleet = fleets(num_ranks)
    staying = measure(fleet, request_, ALL_STAYS)
    for residency in (*_RESIDENCIES[2 * num_ranks - 1 :], ALL_STAYS):
        for ours, theirs in zip(measure(fleet, request_, residency), staying, strict=True):
            assert ours["weights"] == theirs["weights"]
            assert ours["tensors"].keys() == theirs["tensors"].keys()
            assert all(torch.equal(tensor, theirs["tensors"][name]) for name, tensor in ours["tensors"].items())


@pytest.mark.parametrize("num_ranks", [thorough(1), 2])
def test_what_a_plan_sends_away_is_not_on_the_device_while_the_transformer_works(
    fleets: Fleets, request_: GenerationRequest, weight: ModelMemory, num_ranks: int
) -> None:
    fleet = fleets(num_ranks)
    decoders = sum(weight.part_bytes[part] for part in _DECODERS)
    text = weight.part_bytes[ModelPart.TEXT_ENCODER]
    staying = measure(fleet, request_, ALL_STAYS, AT_WORK)
    cases = {
        ResidencyPlan(decoders=Place.VISITING): lambda _item: decoders,
        # One rank holds it for all.
        ResidencyPlan(text_encoder=Place.VISITING): lambda item: text if item["rank"] == 0 else 0,
        ResidencyPlan(text_encoder=Place.STREAMED): lambda item: text if item["rank"] == 0 else 0,
        ResidencyPlan(clean=Place.HOST): lambda item: item["clean_bytes"],
    }
    for residency, freed in cases.items():
        for ours, theirs in zip(measure(fleet, request_, residency, AT_WORK), staying, strict=True):
            # On the CPU what waits in host memory would be the very tensors that stayed.
            assert ours["num_held_twice"] == theirs["num_held_twice"] == 0
            assert ours["is_clean_on_host"] is (residency.clean is Place.HOST)
            assert theirs["held"] - ours["held"] == pytest.approx(freed(ours), rel=0.02, abs=2e5)


def test_a_fleet_that_is_set_up_with_a_plan_has_nothing_on_the_device_that_shall_leave(
    own_fleet: Callable[..., MGPUController],
    fleets: Fleets,
    tiny_pack_2_3: TinyPack,
    request_: GenerationRequest,
) -> None:
    (staying,) = measure(fleets(1), request_, ALL_STAYS, AT_WORK)
    (leaving,) = measure(fleets(1), request_, ALL_LEAVES, AT_WORK)
    runner = RunnerRef("tests.fakes.resident_runner:ResidentRunner")
    fleet = own_fleet(1, runner=runner, residency=ALL_LEAVES, **setup_kwargs(tiny_pack_2_3))
    (item,) = measure(fleet, request_, ALL_LEAVES, AT_WORK)
    assert item["moves"] == []
    assert item["held"] == pytest.approx(leaving["held"], rel=0.02)
    assert item["held"] < 0.75 * staying["held"]
    assert all(torch.equal(tensor, staying["tensors"][name]) for name, tensor in item["tensors"].items())


def test_loras_are_swapped_to_the_bit_with_the_clean_copy_in_host_memory(
    fleets: Fleets, request_: GenerationRequest, tiny_pack_2_3: TinyPack
) -> None:
    fleet = fleets(2)
    other = LoraSpec(tiny_pack_2_3.distilled_lora_path, -0.4)
    sets = {"a": request_.loras, "b": (other,), "none": ()}
    seen: dict[str, set[str]] = {name: set() for name in sets}
    for residency in (ALL_STAYS, ALL_LEAVES):
        for name, loras in sets.items():
            of_set = GenerationRequest("a red fox", 7, CLIP, Path("unused.mp4"), loras=loras)
            seen[name] |= {item["weights"] for item in measure(fleet, of_set, residency)}
    assert [len(digests) for digests in seen.values()] == [1, 1, 1]
    assert len(set.union(*seen.values())) == 3


def test_a_job_brings_its_plan_and_its_story_says_that_parts_were_moved(
    fleets: Fleets, request_: GenerationRequest, tiny_pack_2_3: TinyPack, tmp_path: Path
) -> None:
    fleet, paths = fleets(2), tiny_pack_2_3.model_paths
    list(fleet.stream(residency=ALL_STAYS))
    stories = []
    for index, residency in enumerate((ALL_STAYS, ALL_LEAVES, ALL_LEAVES)):
        request = GenerationRequest("a fox", index, CLIP, tmp_path / f"{index}.mp4")
        parameters = clip_parameters(request, paths, dtype="float32")
        stories.append(list(fleet.stream(request=request, parameters=parameters, residency=residency)))
    began = [PhaseStarted(Phase.LOADING) in story for story in stories]
    assert began == [False, True, False]
    assert any(isinstance(event, PhaseEnded) and event.phase is Phase.LOADING for event in stories[1])
    for story in stories:
        assert isinstance(story[-1], ClipFinished)
        assert read_clip_info(story[-1].path).num_frames == CLIP.num_frames
        # The first stage's clip is decoded by visitors, too.
        assert any(isinstance(event, PreviewClip) for event in story)


def test_a_prompt_is_written_out_by_weights_that_come_layer_by_layer(fleets: Fleets) -> None:
    fleet = fleets(2)
    ask = EnhanceRequest("a red fox", 3)
    staying = list(fleet.stream(enhance=ask, residency=ALL_STAYS))[-1]
    streamed = list(fleet.stream(enhance=ask, residency=ALL_LEAVES))[-1]
    assert isinstance(staying, PromptEnhanced)
    assert streamed == staying
