"""What a clip says of its making: enough to make it again, and nothing of whose machine made it."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from podium.errors import JobRefusedError
from podium.geometry import ClipFormat
from podium.jobs import (
    BranchStrengths,
    GenerationRequest,
    GuidanceSpec,
    ImageSpec,
    LoraSpec,
    PipelineKind,
    Quantization,
)
from podium.media.parameters import decode_parameters, encode_parameters
from podium.models.paths import ModelPaths
from podium.pipelines.parameters import clip_parameters, fingerprint

CLIP = ClipFormat(64, 128, 9, Fraction(24000, 1001))


@pytest.fixture
def models(tmp_path: Path) -> ModelPaths:
    (tmp_path / "gemma").mkdir()
    for name in ("model.safetensors", "upscaler.safetensors"):
        (tmp_path / name).write_bytes(name.encode())
    return ModelPaths(tmp_path / "model.safetensors", tmp_path / "gemma", tmp_path / "upscaler.safetensors")


def request_for(folder: Path, picture: str = "first.png") -> GenerationRequest:
    (folder / picture).write_bytes(b"picture")
    (folder / "ink.safetensors").write_bytes(b"lora")
    return GenerationRequest(
        "A fox.",
        2**64 - 1,
        CLIP,
        folder / "clip.mp4",
        images=(ImageSpec(folder / picture, 0, 0.8, 20),),
        loras=(LoraSpec(folder / "ink.safetensors", -0.5, BranchStrengths(audio=0.0)),),
    )


def test_everything_that_makes_the_clip_again_is_there(tmp_path: Path, models: ModelPaths) -> None:
    found = clip_parameters(request_for(tmp_path), models, dtype="float32")
    assert next(iter(found)) == "podium"
    wanted = {"prompt": "A fox.", "seed": 2**64 - 1, "height": 64, "width": 128, "num_frames": 9, "dtype": "float32"}
    assert wanted.items() <= found.items()
    assert Fraction(str(found["frame_rate"])) == CLIP.fps
    picture, lora = tmp_path / "first.png", tmp_path / "ink.safetensors"
    assert found["images"] == [
        {"name": "first.png", "fingerprint": fingerprint(picture), "frame": 0, "strength": 0.8, "crf": 20}
    ]
    branches = {"video": 1.0, "audio": 0.0, "audio_to_video": 1.0, "video_to_audio": 1.0}
    assert found["loras"] == [
        {"name": "ink.safetensors", "fingerprint": fingerprint(lora), "strength": -0.5, "branches": branches}
    ]


def test_what_guides_a_clip_is_there_and_nothing_of_it_where_none_does(tmp_path: Path, models: ModelPaths) -> None:
    lora = tmp_path / "distilled.safetensors"
    lora.write_bytes(b"distilled")
    paths = replace(models, distilled_lora_path=lora)
    guided = replace(
        request_for(tmp_path),
        pipeline=PipelineKind.HQ,
        negative_prompt="blurry",
        num_inference_steps=15,
        video_guidance=GuidanceSpec(3, 1, 0.5, 2, 1, (2, 3)),
        distilled_lora_strengths=(0.25, 0.5),
        generated_keyframes=(8, 16),
    )
    found = clip_parameters(guided, paths, dtype="bfloat16", quantization=Quantization.FP8_CAST)
    wanted = {
        "pipeline": "ti2vid_two_stages_hq",
        "negative_prompt": "blurry",
        "num_inference_steps": 15,
        "video_guidance": {
            "cfg": 3, "stg": 1, "rescale": 0.5, "modality": 2, "skip_step": 1, "stg_blocks": [2, 3],
        },
        "audio_guidance": None,
        "distilled_lora_strengths": [0.25, 0.5],
        "distilled_lora": {"name": "distilled.safetensors", "fingerprint": fingerprint(lora)},
        "generated_keyframes": [8, 16],
        "quantization": "fp8-cast",
    }  # fmt: skip
    assert wanted.items() <= found.items()
    fast = clip_parameters(request_for(tmp_path), paths, dtype="bfloat16")
    assert not {"negative_prompt", "video_guidance", "distilled_lora", "distilled_lora_strengths"} & fast.keys()


def test_each_file_of_a_split_model_is_named(tmp_path: Path, models: ModelPaths) -> None:
    parts = {name: tmp_path / f"{name}.safetensors" for name in ("encoder", "video", "audio", "head")}
    for path in parts.values():
        path.write_bytes(path.name.encode())
    split = replace(
        models,
        gemma_root=parts["encoder"],
        video_vae_path=parts["video"],
        audio_vae_path=parts["audio"],
        duration_head_path=parts["head"],
    )
    found = clip_parameters(request_for(tmp_path), split, dtype="bfloat16")
    for key, name in (
        ("text_encoder", "encoder"), ("video_vae", "video"), ("audio_vae", "audio"), ("duration_head", "head")
    ):  # fmt: skip
        assert found[key] == {"name": f"{name}.safetensors", "fingerprint": fingerprint(parts[name])}


def test_no_folder_of_the_machine_stands_in_them(tmp_path: Path, models: ModelPaths) -> None:
    text = encode_parameters(clip_parameters(request_for(tmp_path), models, dtype="float32"))
    assert str(tmp_path) not in text
    assert tmp_path.name not in text


@pytest.mark.parametrize("name", ["file:fox.png", "C:\\fox.png", os.fsdecode(b"fo\xff.png"), "狐.png"])
def test_any_name_that_linux_allows_can_be_kept(tmp_path: Path, models: ModelPaths, name: str) -> None:
    found = clip_parameters(request_for(tmp_path, name), models, dtype="float32")
    assert decode_parameters(encode_parameters(found)) == json.loads(json.dumps(found))


def test_a_folder_given_as_a_dot_is_named(tmp_path: Path, models: ModelPaths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(models.gemma_root)
    here = ModelPaths(models.checkpoint_path, Path(), models.spatial_upsampler_path)
    assert clip_parameters(request_for(tmp_path), here, dtype="float32")["text_encoder"] == {"name": "gemma"}


def test_a_file_that_went_away_is_refused_by_name(tmp_path: Path, models: ModelPaths) -> None:
    request = request_for(tmp_path)
    request.loras[0].path.unlink()
    with pytest.raises(JobRefusedError, match="“ink.safetensors” can no longer be read"):
        clip_parameters(request, models, dtype="float32")


NUM_BYTES = 64 * 65536 + 1


@pytest.mark.parametrize("place", [0, 65535, NUM_BYTES // 2, NUM_BYTES - 65536, NUM_BYTES - 1])
def test_one_byte_in_a_sample_makes_another_fingerprint(tmp_path: Path, place: int) -> None:
    path = tmp_path / "x"
    content = bytearray(NUM_BYTES)
    path.write_bytes(content)
    before = fingerprint(path)
    content[place] = 1
    path.write_bytes(content)
    assert fingerprint(path) != before


@pytest.mark.parametrize("num_bytes", [0, 1, 64 * 65536])
def test_small_files_are_read_whole(tmp_path: Path, num_bytes: int) -> None:
    prints = set()
    for content in {bytes(num_bytes), bytes(num_bytes + 1), b"\1" * num_bytes}:
        (tmp_path / "x").write_bytes(content)
        prints.add(fingerprint(tmp_path / "x"))
    assert len(prints) == len({bytes(num_bytes), bytes(num_bytes + 1), b"\1" * num_bytes})


def test_a_fingerprint_hangs_on_the_content_alone(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"the same")
    assert fingerprint(tmp_path / "a") == fingerprint(tmp_path / "b")
    assert len(fingerprint(tmp_path / "a")) == 16
