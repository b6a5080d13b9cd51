"""Which three files make a model, and what is said of those that do not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from podium.models.errors import CheckpointError, CheckpointReason
from podium.models.pack import Pack, resolve_pack
from podium.models.paths import ModelPaths
from podium.models.probe import Generation

from tests.fakes.model_files import MINIMAL_TRANSFORMER, write_file

CHECKPOINT = "ltx-2.3-tiny.safetensors"
GEMMA = "gemma3"
UPSAMPLER = "spatial-upscaler-x2.safetensors"


def resolve(folder: Path, checkpoint: str = CHECKPOINT, gemma: str = GEMMA, upsampler: str = UPSAMPLER) -> Pack:
    return resolve_pack(folder / checkpoint, folder / gemma, folder / upsampler)


def refusal(folder: Path, **names: str) -> CheckpointError:
    with pytest.raises(CheckpointError) as caught:
        resolve(folder, **names)
    return caught.value


def test_three_files_that_belong_together_make_a_pack(tiny_pack: Path) -> None:
    pack = resolve(tiny_pack)
    assert pack.paths == ModelPaths(tiny_pack / CHECKPOINT, tiny_pack / GEMMA, tiny_pack / UPSAMPLER)
    assert (pack.generation, pack.model_version) == (Generation.LTX_2_3, (2, 3, 0))
    assert (pack.num_heads, pack.spatial_scale) == (8, 2.0)


def test_the_upscaler_by_one_and_a_half_is_taken_too(tiny_pack: Path) -> None:
    assert resolve(tiny_pack, upsampler="spatial-upscaler-x1.5.safetensors").spatial_scale == 1.5


@pytest.mark.parametrize(
    ("checkpoint", "reason", "words"),
    [
        ("style-lora.safetensors", CheckpointReason.WRONG_KIND, "is a LoRA. In the checkpoint's place choose"),
        (UPSAMPLER, CheckpointReason.WRONG_KIND, "is a latent upscaler"),
        ("gemma3/model.safetensors", CheckpointReason.WRONG_KIND, "is a text encoder"),
        ("ltx-2.0-tiny.safetensors", CheckpointReason.WRONG_GENERATION, "made for LTX-2.0. This version"),
        ("ltx-2.5/transformer.safetensors", CheckpointReason.WRONG_GENERATION, "made for LTX-2.5"),
        ("ltx-2.3-tiny-fp8.safetensors", CheckpointReason.QUANTISED, "fp8 with scales (float8_e4m3fn)"),
        ("gemma3/config.json", CheckpointReason.NOT_SAFETENSORS, "no safetensors file"),
        (GEMMA, CheckpointReason.IS_FOLDER, "“gemma3” is a folder"),
        ("gone.safetensors", CheckpointReason.MISSING, "There is no file"),
    ],
)
def test_what_is_no_checkpoint_of_this_version_is_refused_in_its_place(
    tiny_pack: Path, checkpoint: str, reason: CheckpointReason, words: str
) -> None:
    error = refusal(tiny_pack, checkpoint=checkpoint)
    assert (error.reason, error.path) == (reason, tiny_pack / checkpoint)
    assert words in error.message


@pytest.mark.parametrize(
    ("gemma", "reason", "words"),
    [
        ("gemma4", CheckpointReason.WRONG_GENERATION, "is Gemma 4; a checkpoint of LTX-2.3 needs Gemma 3"),
        ("ltx-2.5/text_encoder.safetensors", CheckpointReason.WRONG_GENERATION, "is Gemma 4"),
        (CHECKPOINT, CheckpointReason.WRONG_KIND, "is a checkpoint. In the text encoder's place choose the folder"),
        (".", CheckpointReason.WRONG_KIND, "Its folder “gemma3” has"),
        ("gemma3/model.safetensors", CheckpointReason.WRONG_GENERATION, "single file"),
        ("gone", CheckpointReason.MISSING, "There is no folder"),
    ],
)
def test_what_is_no_text_encoder_of_this_generation_is_refused_in_its_place(
    tiny_pack: Path, gemma: str, reason: CheckpointReason, words: str
) -> None:
    error = refusal(tiny_pack, gemma=gemma)
    assert error.reason is reason
    assert words in error.message


@pytest.mark.parametrize(
    ("upsampler", "reason", "words"),
    [
        ("temporal-upscaler-x2.safetensors", CheckpointReason.WRONG_KIND, "temporal upscaler, which adds frames"),
        (
            CHECKPOINT,
            CheckpointReason.WRONG_KIND,
            "is a checkpoint. In the upscaler's place choose the spatial upscaler",
        ),
        ("style-lora.safetensors", CheckpointReason.WRONG_KIND, "is a LoRA"),
        ("gone.safetensors", CheckpointReason.MISSING, "There is no file"),
    ],
)
def test_what_is_no_spatial_upscaler_is_refused_in_its_place(
    tiny_pack: Path, upsampler: str, reason: CheckpointReason, words: str
) -> None:
    error = refusal(tiny_pack, upsampler=upsampler)
    assert error.reason is reason
    assert words in error.message


def test_an_upscaler_of_another_models_latents_is_refused(tiny_pack: Path, tmp_path: Path) -> None:
    shapes = {"initial_conv.weight": (8, 16, 3, 3, 3), "final_conv.weight": (16, 8, 3, 3, 3)}
    path = write_file(tmp_path / "a", shapes | {"upsampler.0.weight": (32, 8, 3, 3)})
    with pytest.raises(CheckpointError, match=r"latents of 16 channels by 2; those of LTX-2\.3 have 128") as caught:
        resolve_pack(tiny_pack / CHECKPOINT, tiny_pack / GEMMA, path)
    assert caught.value.reason is CheckpointReason.MISMATCHED


def test_a_text_encoder_of_another_size_is_refused(tiny_pack: Path, tmp_path: Path) -> None:
    gemma = Path(shutil.copytree(tiny_pack / GEMMA, tmp_path / "gemma"))
    config = json.loads((gemma / "config.json").read_text())
    config["text_config"]["hidden_size"] = 64
    (gemma / "config.json").write_text(json.dumps(config))
    with pytest.raises(CheckpointError, match=r"does not belong to “ltx-2\.3-tiny\.safetensors”") as caught:
        resolve_pack(tiny_pack / CHECKPOINT, gemma, tiny_pack / UPSAMPLER)
    assert caught.value.reason is CheckpointReason.MISMATCHED
    assert "240 inputs; text encoder: 320 features" in caught.value.details


def test_a_text_encoder_without_its_tokenizer_is_refused(tiny_pack: Path, tmp_path: Path) -> None:
    gemma = Path(shutil.copytree(tiny_pack / GEMMA, tmp_path / "gemma"))
    (gemma / "tokenizer.json").unlink()
    with pytest.raises(CheckpointError, match=r"has no tokenizer\.json"):
        resolve_pack(tiny_pack / CHECKPOINT, gemma, tiny_pack / UPSAMPLER)


def test_a_transformer_alone_says_what_else_a_checkpoint_needs(tiny_pack: Path, tmp_path: Path) -> None:
    path = write_file(tmp_path / "a.safetensors", MINIMAL_TRANSFORMER, {"model_version": "2.3"})
    with pytest.raises(CheckpointError, match="holds only a model's transformer, and lacks its connectors, ") as caught:
        resolve_pack(path, tiny_pack / GEMMA, tiny_pack / UPSAMPLER)
    assert caught.value.reason is CheckpointReason.INCOMPLETE
    assert "video decoder, audio decoder and vocoder" in caught.value.message


def test_a_checkpoint_newer_than_any_known_is_refused_by_its_own_version(tiny_pack: Path, tmp_path: Path) -> None:
    path = write_file(tmp_path / "a.safetensors", MINIMAL_TRANSFORMER, {"model_version": "3.1"})
    with pytest.raises(CheckpointError, match=r"made for LTX-3\.1"):
        resolve_pack(path, tiny_pack / GEMMA, tiny_pack / UPSAMPLER)


def test_a_truncated_checkpoint_is_refused_before_any_weight_is_read(tiny_pack: Path, tmp_path: Path) -> None:
    path = tmp_path / "ltx.safetensors"
    with (tiny_pack / CHECKPOINT).open("rb") as source:
        path.write_bytes(source.read(1_000_000))
    with pytest.raises(CheckpointError, match="cut off") as caught:
        resolve_pack(path, tiny_pack / GEMMA, tiny_pack / UPSAMPLER)
    assert caught.value.reason is CheckpointReason.TRUNCATED
