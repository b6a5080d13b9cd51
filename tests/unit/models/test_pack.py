"""Which files make a model, and what is said of those that do not."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from podium.models.errors import CheckpointError, CheckpointReason
from podium.models.pack import DecoderKind, Pack, resolve_pack
from podium.models.paths import ModelPaths
from podium.models.probe import Generation, Quantisation

from tests.fakes.model_files import MINIMAL_TRANSFORMER, write_file
from tests.tiny_pack import TinyPack

CHECKPOINT = "ltx-2.3-tiny.safetensors"
GEMMA = "gemma3"
UPSAMPLER = "spatial-upscaler-x2.safetensors"


def resolve(folder: Path, checkpoint: str = CHECKPOINT, gemma: str = GEMMA, upsampler: str = UPSAMPLER) -> Pack:
    return resolve_pack(ModelPaths(folder / checkpoint, folder / gemma, folder / upsampler))


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
        ("ltx-2.5/transformer.safetensors", CheckpointReason.INCOMPLETE, "lacks its text projection, video encoder, "),
        ("ltx-2.5/audio_vae.safetensors", CheckpointReason.INCOMPLETE, "and lacks its transformer, connectors, "),
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
        (
            "gemma4",
            CheckpointReason.WRONG_GENERATION,
            "is Gemma 4; “ltx-2.3-tiny.safetensors”, a model of LTX-2.3, needs Gemma 3",
        ),
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
            "is a checkpoint. In the upscaler's place choose a spatial upscaler",
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
    with pytest.raises(CheckpointError, match=r"latents of 16 channels by 2; those of LTX-2 have 128") as caught:
        resolve_pack(ModelPaths(tiny_pack / CHECKPOINT, tiny_pack / GEMMA, path))
    assert caught.value.reason is CheckpointReason.MISMATCHED


def test_a_text_encoder_of_another_size_is_refused(tiny_pack: Path, tmp_path: Path) -> None:
    gemma = Path(shutil.copytree(tiny_pack / GEMMA, tmp_path / "gemma"))
    config = json.loads((gemma / "config.json").read_text())
    config["text_config"]["hidden_size"] = 64
    (gemma / "config.json").write_text(json.dumps(config))
    with pytest.raises(CheckpointError, match=r"does not belong to “ltx-2\.3-tiny\.safetensors”") as caught:
        resolve_pack(ModelPaths(tiny_pack / CHECKPOINT, gemma, tiny_pack / UPSAMPLER))
    assert caught.value.reason is CheckpointReason.MISMATCHED
    assert "240 inputs; text encoder: 320 features" in caught.value.details


def test_a_text_encoder_without_its_tokenizer_is_refused(tiny_pack: Path, tmp_path: Path) -> None:
    gemma = Path(shutil.copytree(tiny_pack / GEMMA, tmp_path / "gemma"))
    (gemma / "tokenizer.json").unlink()
    with pytest.raises(CheckpointError, match=r"has no tokenizer\.json"):
        resolve_pack(ModelPaths(tiny_pack / CHECKPOINT, gemma, tiny_pack / UPSAMPLER))


def test_a_transformer_alone_says_what_else_a_checkpoint_needs(tiny_pack: Path, tmp_path: Path) -> None:
    path = write_file(tmp_path / "a.safetensors", MINIMAL_TRANSFORMER, {"model_version": "2.3"})
    with pytest.raises(CheckpointError, match="holds only a model's transformer, and lacks its connectors, ") as caught:
        resolve_pack(ModelPaths(path, tiny_pack / GEMMA, tiny_pack / UPSAMPLER))
    assert caught.value.reason is CheckpointReason.INCOMPLETE
    assert "video decoder, audio decoder and vocoder" in caught.value.message


def test_a_truncated_checkpoint_is_refused_before_any_weight_is_read(tiny_pack: Path, tmp_path: Path) -> None:
    path = tmp_path / "ltx.safetensors"
    with (tiny_pack / CHECKPOINT).open("rb") as source:
        path.write_bytes(source.read(1_000_000))
    with pytest.raises(CheckpointError, match="cut off") as caught:
        resolve_pack(ModelPaths(path, tiny_pack / GEMMA, tiny_pack / UPSAMPLER))
    assert caught.value.reason is CheckpointReason.TRUNCATED


@pytest.mark.parametrize("version", ["2.0", "2.3", "2.5"])
def test_the_files_of_every_generation_make_a_pack(tiny_pack: Path, version: str) -> None:
    paths = TinyPack(tiny_pack, version).model_paths
    pack = resolve_pack(paths)
    assert (pack.paths, pack.generation, pack.model_version[:2]) == (
        paths,
        version,
        tuple(map(int, version.split("."))),
    )
    assert (pack.num_heads, pack.num_layers, pack.quantisation) == (8, 4, Quantisation.NONE)
    assert pack.has_keyframe_embedding == pack.has_duration_head == (version == "2.5")
    assert pack.distilled_lora is not None
    assert pack.distilled_lora.applied.num_layers == 112


def test_the_transformer_may_be_in_fp8_with_scales(tiny_pack_fp8: TinyPack) -> None:
    assert resolve_pack(tiny_pack_fp8.model_paths).quantisation is Quantisation.FP8_SCALED


def test_a_video_vae_tells_its_decoder(tiny_pack_2_5: TinyPack, tiny_pack_2_5_diffusion: TinyPack) -> None:
    assert resolve_pack(tiny_pack_2_5.model_paths).decoder_kind is DecoderKind.CONVOLUTIONAL
    assert resolve_pack(tiny_pack_2_5_diffusion.model_paths).decoder_kind is DecoderKind.DIFFUSION


def test_a_split_pack_needs_neither_duration_head_nor_distilled_lora(tiny_pack_2_5: TinyPack) -> None:
    pack = resolve_pack(replace(tiny_pack_2_5.model_paths, duration_head_path=None, distilled_lora_path=None))
    assert (pack.has_duration_head, pack.distilled_lora) == (False, None)
    assert [report.path.stem for report in pack.files] == ["transformer", "text_encoder", "video_vae", "audio_vae"]


def split_refusal(pack: TinyPack, **paths: Path) -> CheckpointError:
    with pytest.raises(CheckpointError) as caught:
        resolve_pack(replace(pack.model_paths, **paths))
    return caught.value


@pytest.mark.parametrize(
    ("name", "reason", "words"),
    [
        ("gemma3", CheckpointReason.WRONG_GENERATION, "“gemma3” is Gemma 3; “transformer.safetensors”, a model of LTX"),
        ("gemma4", CheckpointReason.WRONG_GENERATION, "“gemma4” is the Gemma 4 that Google published, which is no "),
        (
            "gemma4/model.safetensors",
            CheckpointReason.INCOMPLETE,
            "without its text projection and tokenizer, which “t",
        ),
        ("ltx-2.5/video_vae.safetensors", CheckpointReason.WRONG_KIND, "is a model's video encoder and video decoder"),
        ("gone.safetensors", CheckpointReason.MISSING, "There is no file"),
    ],
)
def test_what_is_not_the_text_encoder_of_2_5_is_refused_in_its_place(
    tiny_pack_2_5: TinyPack, name: str, reason: CheckpointReason, words: str
) -> None:
    error = split_refusal(tiny_pack_2_5, gemma_root=tiny_pack_2_5.folder / name)
    assert error.reason is reason
    assert words in error.message


def with_metadata(source: Path, target: Path, changes: dict[str, str | None]) -> Path:
    """Copy a safetensors file with other metadata; None takes a key away."""
    with source.open("rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    metadata = {**header["__metadata__"], **changes}
    header["__metadata__"] = {key: value for key, value in metadata.items() if value is not None}
    text = json.dumps(header).encode()
    target.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return target


def test_a_text_encoder_of_another_version_is_refused_with_both_names(tiny_pack_2_5: TinyPack, tmp_path: Path) -> None:
    config = json.dumps({"model_type": "gemma4_unified", "gemma_version": "gemma4-other", "text_config": SIZES})
    path = with_metadata(tiny_pack_2_5.gemma_root, tmp_path / "encoder.safetensors", {"gemma_config": config})
    error = split_refusal(tiny_pack_2_5, gemma_root=path)
    assert error.reason is CheckpointReason.MISMATCHED
    assert "“encoder.safetensors” is of the version “gemma4-other”" in error.message
    assert "“transformer.safetensors” was made with “gemma4-tiny-ltx-v1”" in error.message


SIZES = {"hidden_size": 48, "num_hidden_layers": 4}


def test_a_transformer_of_2_5_that_names_no_text_encoder_is_refused(tiny_pack_2_5: TinyPack, tmp_path: Path) -> None:
    silent = {"gemma_source_checkpoint": None}
    path = with_metadata(tiny_pack_2_5.checkpoint_path, tmp_path / "a.safetensors", silent)
    error = split_refusal(tiny_pack_2_5, checkpoint_path=path)
    assert error.reason is CheckpointReason.INCOMPLETE
    assert "“a.safetensors” does not say which version of the text encoder it belongs to" in error.message


def test_a_text_encoder_with_a_layer_missing_is_refused(tiny_pack_2_5: TinyPack, tmp_path: Path) -> None:
    config = {"model_type": "gemma4_unified", "gemma_version": "gemma4-tiny-ltx-v1"}
    sizes = {**SIZES, "num_hidden_layers": 6}
    path = with_metadata(
        tiny_pack_2_5.gemma_root, tmp_path / "a", {"gemma_config": json.dumps({**config, "text_config": sizes})}
    )
    assert "lacks 2 of the 6 layers of its text encoder, layer 4 first" in split_refusal(
        tiny_pack_2_5, gemma_root=path
    ).message  # fmt: skip


def test_a_monolith_of_2_3_does_not_take_the_text_encoder_of_2_5(tiny_pack: Path) -> None:
    error = refusal(tiny_pack, gemma="ltx-2.5/text_encoder.safetensors")
    assert "“text_encoder.safetensors” is Gemma 4; “ltx-2.3-tiny.safetensors”, a model of LTX-2.3" in error.message


@pytest.mark.parametrize(
    ("place", "name", "reason", "words"),
    [
        ("video_vae_path", "audio_vae", CheckpointReason.WRONG_KIND, "In the video VAE's place choose the video VAE"),
        (
            "audio_vae_path",
            "duration_head",
            CheckpointReason.WRONG_KIND,
            "is a model's duration head. In the audio VAE",
        ),
        ("duration_head_path", "video_vae", CheckpointReason.WRONG_KIND, "In the duration head's place choose"),
        ("video_vae_path", "../style-lora", CheckpointReason.WRONG_KIND, "is a LoRA"),
        (
            "video_vae_path",
            "../ltx-2.3-tiny",
            CheckpointReason.WRONG_GENERATION,
            "“ltx-2.3-tiny.safetensors” is of LTX",
        ),
        ("distilled_lora_path", "audio_vae", CheckpointReason.WRONG_KIND, "In the distilled LoRA's place choose"),
    ],
)
def test_what_does_not_belong_in_a_place_of_a_split_pack_is_refused(
    tiny_pack_2_5: TinyPack, place: str, name: str, reason: CheckpointReason, words: str
) -> None:
    path = tiny_pack_2_5.folder / "ltx-2.5" / f"{name}.safetensors"
    error = split_refusal(tiny_pack_2_5, **{place: path})
    assert error.reason is reason
    assert words in error.message


def lora_of_block(number: int) -> dict[str, tuple[int, ...]]:
    layer = f"diffusion_model.transformer_blocks.{number}.attn1.to_q"
    return {f"{layer}.lora_A.weight": (4, 128), f"{layer}.lora_B.weight": (128, 4)}


def test_a_distilled_lora_that_fits_in_part_only_is_refused(tiny_pack_2_5: TinyPack, tmp_path: Path) -> None:
    path = write_file(tmp_path / "lora.safetensors", lora_of_block(0) | lora_of_block(47))
    error = split_refusal(tiny_pack_2_5, distilled_lora_path=path)
    assert error.reason is CheckpointReason.MISMATCHED
    assert "“lora.safetensors” was not made for “transformer.safetensors”" in error.message
    assert "1 of 2 layers applied" in error.details


PLACES = ["checkpoint_path", "gemma_root", "video_vae_path", "audio_vae_path", "duration_head_path"]


@pytest.mark.parametrize("place", PLACES)
def test_a_truncated_file_of_a_split_pack_is_refused(tiny_pack_2_5: TinyPack, tmp_path: Path, place: str) -> None:
    source: Path = getattr(tiny_pack_2_5.model_paths, place)
    path = tmp_path / source.name
    with source.open("rb") as file:
        path.write_bytes(file.read(source.stat().st_size - 100))
    error = split_refusal(tiny_pack_2_5, **{place: path})
    assert (error.reason, error.path) == (CheckpointReason.TRUNCATED, path)


@pytest.mark.parametrize("place", [*PLACES, "spatial_upsampler_path", "distilled_lora_path"])
@pytest.mark.parametrize(
    ("start", "reason"), [(b"GGUF\3\0\0\0", CheckpointReason.GGUF), (b"PK\3\4", CheckpointReason.PICKLE)]
)
def test_a_file_of_another_format_is_refused_in_every_place_of_a_split_pack(
    tiny_pack_2_5: TinyPack, tmp_path: Path, place: str, start: bytes, reason: CheckpointReason
) -> None:
    path = tmp_path / "a.safetensors"
    path.write_bytes(start + bytes(99))
    error = split_refusal(tiny_pack_2_5, **{place: path})
    assert (error.reason, error.path) == (reason, path)


QUANTISED = [
    ("weight_scale_2", "F8_E4M3", "NVFP4"),
    ("weight._data", "I8", "Quanto"),
    ("comfy_quant", "U8", "ComfyUI's quantisation"),
    ("scale_weight", "F8_E4M3", "ComfyUI's older fp8"),
]


@pytest.mark.parametrize(("ending", "dtype", "words"), QUANTISED)
def test_a_transformer_quantised_otherwise_is_refused_by_the_name_of_its_format(
    tiny_pack_2_5: TinyPack, tmp_path: Path, ending: str, dtype: str, words: str
) -> None:
    extra = f"transformer_blocks.0.attn1.to_q.{ending}"
    shapes = {**MINIMAL_TRANSFORMER, "video_embeddings_connector.learnable_registers": (4, 4), extra: (4, 4)}
    path = write_file(tmp_path / "a.safetensors", shapes, {"model_version": "2.5.0"}, {extra: dtype})
    error = split_refusal(tiny_pack_2_5, checkpoint_path=path)
    assert error.reason is CheckpointReason.QUANTISED
    assert f"“a.safetensors” is quantised: {words}" in error.message
    assert "Podium reads transformers unquantised or in fp8 with scales" in error.message


def test_a_model_in_the_layout_of_another_program_is_refused_in_a_split_pack(
    tiny_pack_2_5: TinyPack, tmp_path: Path
) -> None:
    shapes = {**MINIMAL_TRANSFORMER, "transformer_blocks.0.attn1.to_out.weight": (4, 4)}
    error = split_refusal(tiny_pack_2_5, checkpoint_path=write_file(tmp_path / "a.safetensors", shapes))
    assert error.reason is CheckpointReason.WRONG_KIND
    assert "an MLX conversion" in error.message


def test_fp8_in_another_part_than_the_transformer_is_refused(tiny_pack_2_5: TinyPack, tmp_path: Path) -> None:
    weights = {"transformer_blocks.0.attn1.to_q.weight", "video_embeddings_connector.learnable_registers"}
    shapes = {
        **MINIMAL_TRANSFORMER,
        **dict.fromkeys(weights, (4, 4)),
        "transformer_blocks.0.attn1.to_q.weight_scale": (),
    }
    dtypes = dict.fromkeys(weights, "F8_E4M3")
    path = write_file(tmp_path / "a.safetensors", shapes, {"model_version": "2.5.0"}, dtypes)
    error = split_refusal(tiny_pack_2_5, checkpoint_path=path)
    assert error.reason is CheckpointReason.QUANTISED
    assert "its connectors too. Podium reads only the transformer in fp8" in error.message


def test_a_model_newer_than_any_known_is_taken_for_the_newest(tiny_pack_2_5: TinyPack, tmp_path: Path) -> None:
    path = with_metadata(tiny_pack_2_5.checkpoint_path, tmp_path / "a.safetensors", {"model_version": "3.1"})
    pack = resolve_pack(replace(tiny_pack_2_5.model_paths, checkpoint_path=path))
    assert (pack.generation, pack.model_version) == (Generation.LTX_2_5, (3, 1))


def test_a_text_encoder_in_comfyuis_quantisation_is_refused(tiny_pack_2_5: TinyPack, tmp_path: Path) -> None:
    layers = {f"model.layers.{number}.mlp.up_proj.weight": (4, 4) for number in range(4)}
    shapes = {**layers, "tokenizer_json": (4,), "text_embedding_projection.video_aggregate_embed.weight": (4, 240)}
    config = {"model_type": "gemma4_unified", "gemma_version": "gemma4-tiny-ltx-v1", "text_config": SIZES}
    metadata = {
        "gemma_config": json.dumps(config),
        "_quantization_metadata": json.dumps({"layers": {"a": {"format": "int8_tensorwise"}}}),
    }
    path = write_file(tmp_path / "encoder.safetensors", shapes, metadata, dict.fromkeys(layers, "I8"))
    error = split_refusal(tiny_pack_2_5, gemma_root=path)
    assert error.reason is CheckpointReason.QUANTISED
    assert "is quantised: ComfyUI's quantisation (int8_tensorwise). Podium reads this part of a model" in error.message
