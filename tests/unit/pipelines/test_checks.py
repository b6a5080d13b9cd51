"""What a request is refused for before anything runs."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from podium.errors import JobRefusedError, PodiumError
from podium.geometry import ClipFormat
from podium.jobs import BranchStrengths, GenerationRequest, ImageSpec, LoraSpec
from podium.media.stills import write_png
from podium.models.errors import CheckpointError
from podium.models.lora_keys import LoraError
from podium.models.paths import ModelPaths
from podium.pipelines.checks import check_form, check_request

CLIP = ClipFormat(64, 128, 9, Fraction(24))
REQUEST = GenerationRequest("A fox.", 0, CLIP, Path("clip.mp4"))


@pytest.fixture
def request_(tmp_path: Path) -> GenerationRequest:
    return replace(REQUEST, output_path=tmp_path / "clip.mp4")


@pytest.fixture
def models(tiny_pack: Path) -> ModelPaths:
    return ModelPaths(
        tiny_pack / "ltx-2.3-tiny.safetensors", tiny_pack / "gemma3", tiny_pack / "spatial-upscaler-x2.safetensors"
    )


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"seed": 2**64 - 1},
        {"prompt": "狐が走る 🦊 ثعلب"},
        {"prompt": "line\nline"},
        {"images": (ImageSpec(Path("x.png"), 0, 0.0, 51), )},
        {"loras": (LoraSpec(Path("x"), -2.0), LoraSpec(Path("x"), 0.0))},
        {"clip": replace(CLIP, fps=Fraction(24000, 1001))},
    ],
)  # fmt: skip
def test_values_that_can_be_made_pass(changed: dict[str, object]) -> None:
    check_form(replace(REQUEST, **changed))  # type: ignore[arg-type] # any field of a request


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"prompt": ""}, "The prompt is empty"),
        ({"prompt": " \n\t\u3000"}, "The prompt is empty"),
        ({"prompt": "a\ud800b"}, "at its character 2 that is no text"),
        ({"seed": -1}, "seed of -1"),
        ({"seed": 2**64}, "from 0 to 18446744073709551615"),
        ({"clip": replace(CLIP, height=100)}, "64 or 128 would do"),
        ({"clip": replace(CLIP, num_frames=10)}, "9 or 17 would do"),
        ({"clip": replace(CLIP, fps=Fraction(0))}, "from 1 to 120"),
        ({"clip": replace(CLIP, fps=Fraction(121))}, "from 1 to 120"),
        ({"clip": replace(CLIP, width=16448)}, "No side may exceed 16384"),
        ({"clip": replace(CLIP, fps=Fraction(30_000_001, 1_000_001))}, "30 would do"),
        ({"images": (ImageSpec(Path("x.png"), 8),)}, "“x.png” is meant for frame 8"),
        ({"images": (ImageSpec(Path("x.png")), ImageSpec(Path("y.png")))}, "Several pictures stand at the same frame"),
        ({"images": (ImageSpec(Path("x.png"), 0, 1.5),)}, "from 0 .ignored. to 1"),
        ({"images": (ImageSpec(Path("x.png"), 0, float("nan")),)}, "A strength of nan"),
        ({"images": (ImageSpec(Path("x.png"), 0, 1.0, 52),)}, "A CRF of 52"),
        ({"loras": (LoraSpec(Path("x.safetensors"), float("nan")),)}, "The strength of “x.safetensors”"),
        ({"loras": (LoraSpec(Path("x"), 1.0, BranchStrengths(audio=float("inf"))),)}, "cannot be used. It must lie"),
        ({"loras": (LoraSpec(Path("x"), 1e39),)}, "from -1000 to 1000"),
        ({"clip": replace(CLIP, height=20_000)}, "No side may exceed 16384"),
    ],
)
def test_values_that_cannot_be_made_are_refused(changed: dict[str, object], sentence: str) -> None:
    with pytest.raises(JobRefusedError, match=sentence):
        check_form(replace(REQUEST, **changed))  # type: ignore[arg-type] # any field of a request


def test_a_sound_request_passes_and_says_what_was_found(
    request_: GenerationRequest, models: ModelPaths, tiny_pack: Path, tmp_path: Path
) -> None:
    picture = tmp_path / "first.png"
    write_png(picture, np.zeros((4, 6, 3), np.uint8))
    loras = (LoraSpec(tiny_pack / "style-lora.safetensors", 0.5), LoraSpec(tiny_pack / "distilled-lora.safetensors"))
    checked = check_request(replace(request_, images=(ImageSpec(picture),), loras=loras), models)
    assert checked.num_prompt_tokens > 1
    assert checked.pack.paths == models
    assert [report.summary() for report in checked.lora_reports] == [
        "style-lora.safetensors: all 32 layers applied.",
        "distilled-lora.safetensors: all 112 layers applied.",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["first.png"]


def test_a_prompt_may_fill_the_models_tokens_and_no_more(request_: GenerationRequest, models: ModelPaths) -> None:
    one = check_request(replace(request_, prompt="fox"), models).num_prompt_tokens
    two = check_request(replace(request_, prompt="fox fox"), models).num_prompt_tokens
    num_words = 1 + (1024 - one) // (two - one)
    assert check_request(replace(request_, prompt="fox" + " fox" * (num_words - 1)), models).num_prompt_tokens <= 1024
    with pytest.raises(JobRefusedError, match=r"too long: it has 10\d\d tokens.* About 1 % of it has to go"):
        check_request(replace(request_, prompt="fox" + " fox" * num_words), models)


def test_a_lora_that_does_nothing_is_refused(request_: GenerationRequest, models: ModelPaths) -> None:
    with pytest.raises(LoraError, match="is no LoRA"):
        check_request(replace(request_, loras=(LoraSpec(models.spatial_upsampler_path),)), models)


@pytest.mark.parametrize("slot", ["checkpoint_path", "gemma_root", "spatial_upsampler_path"])
def test_a_model_file_that_is_missing_is_refused(
    request_: GenerationRequest, models: ModelPaths, slot: str, tmp_path: Path
) -> None:
    with pytest.raises(CheckpointError, match=r"gone"):
        check_request(request_, replace(models, **{slot: tmp_path / "gone"}))


def test_an_upscaler_of_another_factor_is_refused(
    request_: GenerationRequest, models: ModelPaths, tiny_pack: Path
) -> None:
    upscaler = tiny_pack / "spatial-upscaler-x1.5.safetensors"
    with pytest.raises(CheckpointError, match=r"enlarges 1\.5 times.*Choose the spatial upscaler x2"):
        check_request(request_, replace(models, spatial_upsampler_path=upscaler))


def test_files_of_two_generations_are_refused(request_: GenerationRequest, models: ModelPaths, tiny_pack: Path) -> None:
    with pytest.raises(CheckpointError, match="needs Gemma 3"):
        check_request(request_, replace(models, gemma_root=tiny_pack / "gemma4"))


def test_a_clip_that_is_there_is_kept(request_: GenerationRequest, models: ModelPaths) -> None:
    request_.output_path.write_bytes(b"mine")
    with pytest.raises(JobRefusedError, match="already and is kept"):
        check_request(request_, models)
    assert request_.output_path.read_bytes() == b"mine"


def test_a_folder_that_is_missing_is_refused(request_: GenerationRequest, models: ModelPaths, tmp_path: Path) -> None:
    with pytest.raises(JobRefusedError, match="could not be written"):
        check_request(replace(request_, output_path=tmp_path / "gone" / "clip.mp4"), models)


def test_a_picture_that_is_none_is_refused(request_: GenerationRequest, models: ModelPaths, tmp_path: Path) -> None:
    text = tmp_path / "notes.png"
    text.write_text("no picture")
    with pytest.raises(JobRefusedError, match=r"notes\.png"):
        check_request(replace(request_, images=(ImageSpec(text),)), models)


def test_every_refusal_is_one_the_artist_can_read(request_: GenerationRequest, models: ModelPaths) -> None:
    with pytest.raises(PodiumError) as refused:
        check_request(replace(request_, prompt=""), models)
    assert refused.value.message.endswith(".")
