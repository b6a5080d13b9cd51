"""Model files, LoRAs and devices: looked at in the helper process, shown as it answers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from podium.helper.requests import (
    DeviceReason,
    DeviceReport,
    ListDevices,
    ProbeFile,
    ReadLora,
    ResolvePack,
    WriteDemoPack,
)
from podium.jobs import BranchStrengths, LoraSpec, PipelineKind, Quantization
from podium.models.errors import CheckpointError, CheckpointReason
from podium.models.lora_keys import LayerCount, LoraReport
from podium.models.pack import Pack
from podium.models.paths import ModelPaths
from podium.models.probe.report import Component, FileKind, FileReport, Generation, Problem, Quantisation, Slot
from podium.ui.state.devices import DevicesState
from podium.ui.state.loras import LoraStackState
from podium.ui.state.pack import MAIN_SLOTS, PackState
from podium.ui.state.values import DeviceChoice, PackSlot

from tests.fakes.ui import DEMO, MODELS, FakeHelper

PATHS = (MODELS.checkpoint_path, MODELS.gemma_root, MODELS.spatial_upsampler_path)
CHECKPOINT = FileReport(MODELS.checkpoint_path, FileKind.CHECKPOINT, 46_100_000_000, is_whole=True, stored_dtype="BF16")
PACK = Pack(MODELS, Generation.LTX_2_3, (2, 3), CHECKPOINT, CHECKPOINT, CHECKPOINT, num_heads=32, spatial_scale=2.0)
LORA = LoraReport("style.safetensors", applied=LayerCount(48, ("a", "b", "c")))


@pytest.fixture
def helper() -> FakeHelper:
    return FakeHelper()


@pytest.fixture
def pack(qapp: object, helper: FakeHelper, tmp_path: Path) -> PackState:
    return PackState(helper, tmp_path)


@pytest.fixture
def loras(qapp: object, helper: FakeHelper) -> LoraStackState:
    return LoraStackState(helper)


@pytest.fixture
def devices(qapp: object, helper: FakeHelper, tmp_path: Path) -> DevicesState:
    return DevicesState(helper, tmp_path)


def report(path: Path, *problems: Problem) -> FileReport:
    return FileReport(path, FileKind.CHECKPOINT, problems=problems)


def test_three_files_that_belong_together_become_a_model(pack: PackState, helper: FakeHelper) -> None:
    for slot, path in zip(MAIN_SLOTS, PATHS, strict=True):
        pack.choose_file(slot, path)
        assert pack.file(slot).is_probing
        helper.answer(ProbeFile, report(path))
    assert pack.models is None
    assert helper.answer(ResolvePack, PACK) == ResolvePack(MODELS)
    assert pack.models == MODELS
    assert (pack.problem, pack.is_busy) == ("", False)
    assert pack.summary == "LTX-2.3, BF16, 43 GB"


def test_what_is_missing_is_named(pack: PackState, helper: FakeHelper) -> None:
    assert pack.problem.startswith("Choose the checkpoint, the Gemma folder and the spatial upscaler")
    pack.choose_file(PackSlot.CHECKPOINT, PATHS[0])
    assert pack.problem.startswith("Choose the Gemma folder and the spatial upscaler")


def test_a_file_that_cannot_be_used_says_so_beside_itself_at_once(pack: PackState, helper: FakeHelper) -> None:
    pack.choose_file(PackSlot.CHECKPOINT, PATHS[0])
    helper.answer(ProbeFile, report(PATHS[0], Problem(CheckpointReason.TRUNCATED, "It is cut off.")))
    assert pack.file(PackSlot.CHECKPOINT).problem == "It is cut off."


def test_files_that_do_not_belong_together_make_no_model(pack: PackState, helper: FakeHelper) -> None:
    pack.choose_models(MODELS)
    for path in PATHS:
        helper.answer(ProbeFile, report(path))
    helper.answer(ResolvePack, error=CheckpointError("They do not belong together.", path=PATHS[1]))
    assert pack.models is None
    assert pack.problem == "They do not belong together."
    assert pack.file(PackSlot.TEXT_ENCODER).problem == "They do not belong together."


def test_an_answer_to_an_earlier_choice_changes_nothing(pack: PackState, helper: FakeHelper) -> None:
    pack.choose_models(MODELS)
    for path in PATHS:
        helper.answer(ProbeFile, report(path))
    pack.choose_file(PackSlot.CHECKPOINT, Path("/other.safetensors"))
    helper.answer(ResolvePack, PACK)
    assert pack.models is None


def test_the_demo_model_is_written_and_then_chosen(pack: PackState, helper: FakeHelper, tmp_path: Path) -> None:
    pack.choose_demo()
    assert (pack.is_demo, pack.is_busy) == (True, True)
    assert pack.problem
    assert helper.answer(WriteDemoPack, DEMO) == WriteDemoPack(tmp_path)
    assert (pack.models, pack.problem, pack.is_busy) == (MODELS, "", False)
    assert "shape that moves" in pack.summary


def test_a_file_takes_the_demo_models_place(pack: PackState, helper: FakeHelper) -> None:
    pack.choose_demo()
    helper.answer(WriteDemoPack, DEMO)
    pack.choose_file(PackSlot.CHECKPOINT, Path("/own.safetensors"))
    assert not pack.is_demo
    assert [file.path for file in pack.files if file.path] == [Path("/own.safetensors")]


LORA_PATH = Path("/distilled-lora.safetensors")
SPLIT = ModelPaths.from_split(
    transformer_path="/t.safetensors",
    text_encoder_path="/te.safetensors",
    video_vae_path="/v.safetensors",
    audio_vae_path="/a.safetensors",
    spatial_upsampler_path="/u.safetensors",
)


def with_slots(path: Path, *slots: Slot, quantisation: Quantisation = Quantisation.NONE) -> FileReport:
    components = tuple(Component(slot, 1, 1, 1, ("BF16",)) for slot in slots)
    return FileReport(path, FileKind.CHECKPOINT, components=components, quantisation=quantisation)


def resolved(pack: PackState, helper: FakeHelper, models: ModelPaths = MODELS, scale: float = 2.0) -> None:
    """Choose a model and have it looked at."""
    pack.choose_models(models)
    while asked := helper.requests(ProbeFile):
        kind = FileKind.LORA if asked[0].path == LORA_PATH else FileKind.CHECKPOINT
        helper.answer(ProbeFile, FileReport(asked[0].path, kind))
    helper.answer(ResolvePack, replace(PACK, spatial_scale=scale))


def test_guided_pipelines_name_the_lora_they_lack_and_how_to_mend_it(pack: PackState, helper: FakeHelper) -> None:
    resolved(pack, helper)
    assert pack.pipeline_problem(PipelineKind.FAST) == ""
    assert pack.pipeline_problem(PipelineKind.QUALITY).startswith("Quality refines with the distilled LoRA")
    assert pack.pipeline_problem(PipelineKind.HQ).startswith("HQ refines with the distilled LoRA")
    pack.choose_file(PackSlot.DISTILLED_LORA, LORA_PATH)
    assert pack.pipeline_problem(PipelineKind.HQ) == ""
    helper.answer(ProbeFile, FileReport(LORA_PATH, FileKind.LORA))
    assert helper.answer(ResolvePack, PACK) == ResolvePack(replace(MODELS, distilled_lora_path=LORA_PATH))
    assert pack.models == replace(MODELS, distilled_lora_path=LORA_PATH)
    pack.clear_file(PackSlot.DISTILLED_LORA)
    helper.answer(ResolvePack, PACK)
    assert pack.models == MODELS


def test_a_checkpoint_in_the_distilled_lora_s_place_is_refused_with_what_belongs_there(
    pack: PackState, helper: FakeHelper
) -> None:
    resolved(pack, helper)
    pack.choose_file(PackSlot.DISTILLED_LORA, Path("/other.safetensors"))
    helper.answer(ProbeFile, CHECKPOINT)
    assert "is a checkpoint. In the distilled LoRA's place choose the LoRA" in pack.problem
    assert pack.file(PackSlot.DISTILLED_LORA).problem == pack.problem
    assert pack.models is None
    assert helper.requests(ResolvePack) == []


def test_a_transformer_alone_asks_for_the_files_of_its_other_parts(pack: PackState, helper: FakeHelper) -> None:
    assert PackSlot.VIDEO_VAE not in pack.slots
    pack.choose_file(PackSlot.CHECKPOINT, SPLIT.checkpoint_path)
    helper.answer(ProbeFile, with_slots(SPLIT.checkpoint_path, Slot.TRANSFORMER, Slot.CONNECTORS))
    assert pack.is_split
    assert pack.slots == (
        *MAIN_SLOTS,
        PackSlot.VIDEO_VAE,
        PackSlot.AUDIO_VAE,
        PackSlot.DURATION_HEAD,
        PackSlot.DISTILLED_LORA,
    )
    assert "the text encoder, the spatial upscaler, the video VAE and the audio VAE" in pack.problem
    others = {
        PackSlot.TEXT_ENCODER: SPLIT.gemma_root,
        PackSlot.UPSCALER: SPLIT.spatial_upsampler_path,
        PackSlot.VIDEO_VAE: SPLIT.video_vae_path,
        PackSlot.AUDIO_VAE: SPLIT.audio_vae_path,
    }
    for slot, path in others.items():
        assert path is not None
        pack.choose_file(slot, path)
        helper.answer(ProbeFile, report(path))
    assert helper.answer(ResolvePack, PACK) == ResolvePack(SPLIT)
    assert pack.models == SPLIT


def test_a_whole_checkpoint_needs_none_of_the_parts_that_were_chosen_before(
    pack: PackState, helper: FakeHelper
) -> None:
    resolved(pack, helper, SPLIT)
    assert pack.is_split
    pack.choose_file(PackSlot.CHECKPOINT, PATHS[0])
    whole = with_slots(PATHS[0], Slot.TRANSFORMER, Slot.VIDEO_DECODER, Slot.AUDIO_DECODER)
    helper.answer(ProbeFile, whole)
    assert not pack.is_split
    asked = helper.answer(ResolvePack, PACK)
    assert asked.models.video_vae_path is None
    assert pack.models is not None
    assert not pack.models.is_split


def test_the_upscaler_decides_the_step_of_a_size(pack: PackState, helper: FakeHelper) -> None:
    resolved(pack, helper, scale=1.5)
    assert pack.size_step_px == 96
    pack.choose_demo()
    helper.answer(WriteDemoPack, DEMO)
    assert pack.size_step_px == 64


def test_weights_are_held_as_chosen_unless_their_file_decides(pack: PackState, helper: FakeHelper) -> None:
    assert pack.quantization is Quantization.NONE
    pack.set_quantization(Quantization.FP8_CAST)
    assert (pack.quantization, pack.is_quantization_fixed) == (Quantization.FP8_CAST, False)
    pack.set_quantization(Quantization.FP8_SCALED)
    assert pack.quantization is Quantization.FP8_CAST
    pack.choose_file(PackSlot.CHECKPOINT, PATHS[0])
    helper.answer(ProbeFile, with_slots(PATHS[0], Slot.TRANSFORMER, quantisation=Quantisation.FP8_SCALED))
    assert (pack.quantization, pack.is_quantization_fixed) == (Quantization.FP8_SCALED, True)
    assert pack.wanted_quantization is Quantization.FP8_CAST
    pack.choose_file(PackSlot.CHECKPOINT, Path("/bf16.safetensors"))
    assert pack.quantization is Quantization.FP8_CAST


def test_a_lora_says_what_it_does_once_there_is_a_model(loras: LoraStackState, helper: FakeHelper) -> None:
    loras.add([Path("/style.safetensors")])
    assert helper.asked == []
    loras.set_checkpoint(PATHS[0])
    assert helper.answer(ReadLora, LORA) == ReadLora(Path("/style.safetensors"), PATHS[0])
    assert loras.items[0].summary == "style.safetensors: all 48 layers applied."


def test_a_lora_that_matches_nothing_is_a_problem_only_while_it_is_on(
    loras: LoraStackState, helper: FakeHelper
) -> None:
    loras.set_checkpoint(PATHS[0])
    loras.add([Path("/a.safetensors")])
    helper.answer(ReadLora, error=CheckpointError("It is a LoRA for another model.", path=Path("/a.safetensors")))
    assert loras.problem == "It is a LoRA for another model."
    loras.set_on(loras.items[0].key, False)
    assert loras.problem == ""
    assert loras.specs == ()


def test_the_stack_keeps_its_order_and_strengths(loras: LoraStackState) -> None:
    loras.add([Path("/a"), Path("/b"), Path("/c"), Path("/a")])
    a, b, c = (item.key for item in loras.items)
    loras.set_strength(b, -0.5)
    loras.set_strength(c, float("nan"))
    loras.move(c, 0)
    loras.remove(a)
    assert loras.specs == (LoraSpec(Path("/c"), 1.0), LoraSpec(Path("/b"), -0.5))


def test_strengths_by_branch_go_into_the_request(loras: LoraStackState) -> None:
    loras.add([Path("/a")])
    loras.set_branches(1, BranchStrengths(audio=0, video_to_audio=10**9))
    loras.set_branches(1, BranchStrengths(video=float("nan")))
    assert loras.specs == (LoraSpec(Path("/a"), 1.0, BranchStrengths(audio=0, video_to_audio=1000)),)


def test_a_set_of_a_request_takes_the_place_of_the_stack(loras: LoraStackState, helper: FakeHelper) -> None:
    loras.set_checkpoint(PATHS[0])
    loras.add([Path("/a"), Path("/b")])
    specs = (LoraSpec(Path("/c"), 0.4, BranchStrengths(audio=0)), LoraSpec(Path("/a"), -1))
    loras.restore(specs)
    assert loras.specs == specs
    assert [asked.path for asked in helper.requests(ReadLora)][-2:] == [Path("/c"), Path("/a")]


def test_a_form_of_the_stack_comes_back_with_what_is_off(loras: LoraStackState) -> None:
    loras.restore((LoraSpec(Path("/c"), 0.4, BranchStrengths(audio=0)), LoraSpec(Path("/a"), -1)))
    loras.set_on(2, False)
    form = json.loads(json.dumps(loras.form()))
    other = LoraStackState(FakeHelper())
    other.restore_form(form)
    assert [(item.path, item.strength, item.branches, item.is_on) for item in other.items] == [
        (Path("/c"), 0.4, BranchStrengths(audio=0), True),
        (Path("/a"), -1, BranchStrengths(), False),
    ]
    other.restore_form([1, {}, {"path": ""}, {"path": "/d", "strength": "x", "branches": [], "is_on": 3}])
    assert [(item.path, item.strength, item.is_on) for item in other.items] == [(Path("/d"), 1.0, True)]


def gpu(index: int, *, reason: DeviceReason | None = None, sentence: str = "") -> DeviceReport:
    return DeviceReport(index, f"GPU-{index}", "H200", f"0000:0{index}:00.0", 10**11, 10**9, reason, sentence)


def test_every_gpu_that_can_be_is_chosen_unless_somebody_chose(devices: DevicesState, helper: FakeHelper) -> None:
    devices.refresh()
    helper.answer(ListDevices, (gpu(0), gpu(1, reason=DeviceReason.HELD, sentence="Another process."), gpu(2)))
    assert devices.choice == DeviceChoice((0, 2))
    assert [row.reason for row in devices.devices] == ["", "Another process.", ""]
    assert devices.problem == ""
    devices.choose("GPU-0", False)
    assert devices.choice == DeviceChoice((2,))
    assert devices.wanted_uuids == {"GPU-2"}


def test_a_chosen_gpu_stays_chosen_wherever_it_is_counted_next_time(devices: DevicesState, helper: FakeHelper) -> None:
    devices.choose_uuids(["GPU-1"])
    devices.refresh()
    helper.answer(ListDevices, (DeviceReport(0, "GPU-1", "H200", "", 1, 0), DeviceReport(1, "GPU-0", "H200", "", 1, 0)))
    assert devices.choice == DeviceChoice((0,))


def test_without_a_gpu_the_cpu_is_offered_and_not_taken(devices: DevicesState, helper: FakeHelper) -> None:
    devices.refresh()
    helper.answer(ListDevices, ())
    assert devices.choice is None
    assert "if you choose it" in devices.problem
    devices.use_cpu(2)
    assert devices.choice == DeviceChoice(cpu_ranks=2)
    assert devices.problem == ""
    assert "slow" in devices.note
    assert devices.dtype == "float32"


def test_a_driver_that_gives_no_answer_is_said(devices: DevicesState, helper: FakeHelper, qtbot: QtBot) -> None:
    devices.refresh()
    helper.answer(ListDevices, (gpu(0),))
    devices._limit.setInterval(1)
    devices.refresh()
    with qtbot.waitSignal(devices.devices_changed):
        pass
    assert devices.devices[0].reason == "It gives no answer."
    assert devices.choice is None
