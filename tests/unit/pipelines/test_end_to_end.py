"""Whole runs that no other test makes: the upscaler by a half, split files, weights of 8 bits, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from podium.geometry import ClipFormat
from podium.jobs import DurationPredicted, DurationRequest, GenerationRequest, GuidanceSpec, LoraSpec
from podium.models.diffusion_decoder import DiffusionVideoDecoder, frame_decoder_builder
from podium.models.duration_head import duration_head_builder
from podium.models.errors import CheckpointError
from podium.models.registry import StateDictRegistry
from podium.models.video_vae import VideoDecoder
from podium.pipelines.checks import check_request
from podium.pipelines.duration import predict_duration
from podium.pipelines.schedules import DISTILLED_STAGE_1_SIGMAS, shifted_schedule

from tests.fakes.closeness import relative_error
from tests.fakes.guided_runs import LATENTS, Oracle, Plan, distilled, traced, two_stages, two_stages_hq
from tests.tiny_pack import TinyPack

CPU = torch.device("cpu")
LARGER: dict[str, Any] = {
    "prompt": "a red fox",
    "seed": 7,
    "height": 96,
    "width": 192,
    "num_frames": 9,
    "frame_rate": "29.97",
}
# What is slow on a CPU stays small.
SMALL: dict[str, Any] = {
    "prompt": "a red fox",
    "seed": 7,
    "height": 64,
    "width": 128,
    "num_frames": 9,
    "frame_rate": 24,
}
SPLIT: dict[str, Any] = {
    "prompt": "a red fox",
    "seed": 7,
    "height": 128,
    "width": 128,
    "num_frames": 17,
    "frame_rate": 24,
}
Record = Callable[[str, object], None]


@pytest.fixture(scope="module")
def registry() -> StateDictRegistry:
    """Return what all pipelines here have in common, so that weights are read once."""
    return StateDictRegistry()


@pytest.fixture(scope="module")
def upscaler(tiny_pack: Path) -> Path:
    return tiny_pack / "spatial-upscaler-x1.5.safetensors"


def worst(ours: dict[str, Tensor], theirs: dict[str, Tensor]) -> float:
    return max(relative_error(ours[name], theirs[name]) for name in LATENTS)


GUIDED = {"num_inference_steps": 2, "negative_prompt": "blurry"}
UNGUIDED = (GuidanceSpec(), GuidanceSpec())
# 2 x 2 x 4 tokens in a first stage of 64 x 128.
HALF_LARGER: dict[str, tuple[Any, dict[str, Any], Any]] = {
    "distilled": (distilled, {}, lambda _lora: Plan(list(DISTILLED_STAGE_1_SIGMAS), UNGUIDED, 33, ((), ()))),
    "two stages": (
        two_stages,
        GUIDED,
        lambda lora: Plan(
            list(shifted_schedule(2)),
            (GuidanceSpec(3, 1, 0.7, 3, 0, (2,)), GuidanceSpec(7, 1, 0.7, 3, 0, (2,))),
            33,
            ((), (LoraSpec(lora, 1.0),)),
        ),
    ),
    "HQ": (
        two_stages_hq,
        GUIDED,
        lambda lora: Plan(
            list(shifted_schedule(2, 16)),
            (GuidanceSpec(3, 0, 0.45, 3), GuidanceSpec(7, 0, 1.0, 3)),
            33,
            ((LoraSpec(lora, 0.25),), (LoraSpec(lora, 0.5),)),
            samplers=("res_2s", "res_2s"),
        ),
    ),
}


@pytest.mark.parametrize("name", HALF_LARGER)
def test_with_the_upscaler_by_a_half_every_latent_is_the_oracles(
    tiny_pack_2_3: TinyPack,
    upscaler: Path,
    registry: StateDictRegistry,
    pictures: list[tuple[Path, int, float]],
    name: str,
    record_property: Record,
) -> None:
    maker, changes, plan = HALF_LARGER[name]
    (first, _, strength), (later, _, other) = pictures
    call = {**LARGER, **changes, "images": [(first, 0, strength), (later, 8, other)]}
    ours = traced(maker(tiny_pack_2_3, spatial_upsampler_path=upscaler, registry=registry), call)
    assert (ours["stage_1.video"].shape[2:], ours["stage_2.video"].shape[2:]) == ((2, 2, 4), (2, 3, 6))
    oracle = Oracle(tiny_pack_2_3, upscaler, registry)
    error = worst(ours, oracle.run(call, plan(tiny_pack_2_3.distilled_lora_path), ours))
    record_property("figure", (f"{name}, upscaler x1.5, against the oracle", f"{error:.1e}"))
    assert error < 1e-5


@pytest.mark.parametrize("name", ["distilled", "two stages"])
def test_with_the_upscaler_by_a_half_a_whole_clip_comes_out(
    tiny_pack_2_3: TinyPack, upscaler: Path, registry: StateDictRegistry, name: str
) -> None:
    maker, changes, _ = HALF_LARGER[name]
    video, audio = maker(tiny_pack_2_3, spatial_upsampler_path=upscaler, registry=registry)(**LARGER, **changes)
    assert video.shape == (9, 96, 192, 3)
    # 8 steps of the audio latent: 29 mel frames of 480 samples.
    assert audio.shape == (2, 29 * 480)
    assert float(video.std()) > 0


@pytest.fixture(scope="module")
def split_runs(
    tiny_pack_2_5: TinyPack, tiny_pack_2_5_diffusion: TinyPack, registry: StateDictRegistry
) -> dict[str, dict[str, Tensor]]:
    """Return whole runs with each of the two video decoders, with key frames of the model's own."""
    runs = {}
    for name, pack in (("convolutional", tiny_pack_2_5), ("diffusion", tiny_pack_2_5_diffusion)):
        trace: dict[str, Tensor] = {}
        call = {**SPLIT, "generated_keyframes": (5, 11), "trace": trace.__setitem__}
        video, audio = distilled(pack, registry=registry)(**call)
        runs[name] = {**trace, "video": video, "audio": audio}
    return runs


def test_a_split_pack_makes_one_latent_with_either_decoder_and_pictures_of_its_own(
    split_runs: dict[str, dict[str, Tensor]],
) -> None:
    one, other = split_runs["convolutional"], split_runs["diffusion"]
    assert all(torch.equal(one[name], other[name]) for name in (*LATENTS, "audio"))
    assert one["video"].shape == other["video"].shape == (17, 128, 128, 3)
    assert relative_error(one["video"], other["video"]) > 1e-2


@pytest.mark.parametrize(
    ("name", "kind", "version"),
    [("convolutional", VideoDecoder, "video_vae"), ("diffusion", DiffusionVideoDecoder, "video_vae_diffusion")],
)
def test_its_pictures_are_those_of_the_decoder_in_its_video_vae(
    split_runs: dict[str, dict[str, Tensor]], tiny_pack: Path, name: str, kind: type[Any], version: str
) -> None:
    decoder = frame_decoder_builder(tiny_pack / "ltx-2.5" / f"{version}.safetensors").build(CPU, torch.float32)
    assert isinstance(decoder, kind)
    with torch.inference_mode():
        pixels = decoder.decode(split_runs[name]["stage_2.video"])
    expected = (pixels[0].permute(1, 2, 3, 0) / 2 + 0.5).clamp(0, 1)
    assert relative_error(split_runs[name]["video"], expected) < 1e-5


def test_key_frames_of_its_own_change_the_clip(
    split_runs: dict[str, dict[str, Tensor]], tiny_pack_2_5: TinyPack, registry: StateDictRegistry
) -> None:
    without = traced(distilled(tiny_pack_2_5, registry=registry), SPLIT)
    assert without["stage_1.video"].shape == split_runs["convolutional"]["stage_1.video"].shape
    assert relative_error(without["stage_1.video"], split_runs["convolutional"]["stage_1.video"]) > 1e-3


def test_a_clip_as_long_as_the_duration_head_says_comes_out(
    tiny_pack_2_5: TinyPack, registry: StateDictRegistry, record_property: Record
) -> None:
    pipeline = distilled(tiny_pack_2_5, registry=registry)
    head = duration_head_builder(tiny_pack_2_5.model_paths.duration_path, registry)
    request = DurationRequest("a red fox", Fraction(10))
    *_, told = predict_duration(pipeline.prompt_encoder, head, request)
    assert isinstance(told, DurationPredicted)
    record_property("figure", ("frames that the duration head asks for at 10 fps", str(told.num_frames)))
    assert told.num_frames % 8 == 1
    assert 10 <= told.num_frames <= 200
    video, audio = pipeline(prompt="a red fox", seed=1, height=64, width=64, num_frames=told.num_frames, frame_rate=10)
    assert len(video) == told.num_frames
    assert audio.shape[1] / 48_000 == pytest.approx(told.num_frames / 10, abs=0.08)


@pytest.mark.parametrize("quantization", ["fp8-cast", "fp8-scaled"])
def test_in_8_bits_with_a_lora_latents_stay_within_five_hundredths_of_float32(
    tiny_pack_2_3: TinyPack,
    tiny_pack_fp8: TinyPack,
    registry: StateDictRegistry,
    quantization: str,
    record_property: Record,
) -> None:
    pack = tiny_pack_fp8 if quantization == "fp8-scaled" else tiny_pack_2_3
    call = {**SPLIT, "loras": [(tiny_pack_2_3.distilled_lora_path, 0.8)]}
    exact = traced(distilled(tiny_pack_2_3, registry=registry), call)
    coarse = traced(distilled(pack, quantization=quantization, registry=registry), call)
    for name in LATENTS:
        error = relative_error(coarse[name], exact[name])
        record_property("figure", (f"distilled, {quantization} with a LoRA against float32, {name}", f"{error:.1e}"))
        assert 1e-4 < error < 5e-2, name


@pytest.mark.parametrize("version", ["2.0", "2.3", "2.5"])
def test_in_bfloat16_latents_of_every_generation_stay_within_two_hundredths_of_float32(
    tiny_pack: Path,
    registry: StateDictRegistry,
    pictures: list[tuple[Path, int, float]],
    version: str,
    record_property: Record,
) -> None:
    pack, call = TinyPack(tiny_pack, version), {**SMALL, "images": pictures[:1]}
    exact = traced(distilled(pack, registry=registry), call)
    half = traced(distilled(pack, dtype=torch.bfloat16, registry=registry), call)
    # Between the stages the upscaler's norms take the spread of four cells, which a few of them decide.
    error = max(relative_error(half[name], exact[name]) for name in LATENTS if name != "upsampled")
    record_property("figure", (f"distilled {version}, bfloat16 against float32, with a picture", f"{error:.1e}"))
    assert error < 2e-2


REQUEST = GenerationRequest("A fox.", 0, ClipFormat(64, 64, 9, Fraction(24)), Path("clip.mp4"))


@pytest.mark.parametrize(
    ("version", "encoder"),
    [
        ("2.0", "gemma4"),
        ("2.3", "gemma4"),
        ("2.3", "ltx-2.5/text_encoder.safetensors"),
        ("2.5", "gemma3"),
        ("2.5", "gemma4"),
    ],
)
def test_an_encoder_that_does_not_belong_to_the_checkpoint_is_refused_with_both_names(
    tiny_pack: Path, tmp_path: Path, version: str, encoder: str
) -> None:
    paths = TinyPack(tiny_pack, version).model_paths
    request = replace(REQUEST, output_path=tmp_path / "clip.mp4")
    with pytest.raises(CheckpointError) as refused:
        check_request(request, replace(paths, gemma_root=tiny_pack / encoder))
    assert f"“{Path(encoder).name}”" in refused.value.message
    assert f"“{paths.checkpoint_path.name}”" in refused.value.message
    assert check_request(request, paths).pack.generation == version
