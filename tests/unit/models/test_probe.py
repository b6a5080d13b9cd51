"""What the probe says of the files that artists have on their disks."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.models.errors import CheckpointReason
from podium.models.probe import (
    FileKind,
    FileReport,
    Generation,
    Quantisation,
    Slot,
    generation_of_version,
    parse_model_version,
    probe,
    probe_all,
)

from tests.fakes.model_files import BLOCK, MINIMAL_TRANSFORMER, write_file
from tests.tiny_pack import TinyPack

MONOLITH_SLOTS = {
    Slot.TRANSFORMER,
    Slot.CONNECTORS,
    Slot.TEXT_PROJECTION,
    Slot.VIDEO_ENCODER,
    Slot.VIDEO_DECODER,
    Slot.AUDIO_ENCODER,
    Slot.AUDIO_DECODER,
    Slot.VOCODER,
}
KOHYA = "lora_unet_transformer_blocks_0_attn1_to_q"


def prefixed(prefix: str, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    return {prefix + name: shape for name, shape in shapes.items()}


def only_problem(report: FileReport) -> tuple[CheckpointReason, str]:
    assert len(report.problems) == 1, report.problems
    return report.problems[0].reason, str(report.problems[0])


@pytest.mark.parametrize(
    ("name", "generation", "quantisation"),
    [
        ("ltx-2.0-tiny", Generation.LTX_2_0, Quantisation.NONE),
        ("ltx-2.3-tiny", Generation.LTX_2_3, Quantisation.NONE),
        ("ltx-2.3-tiny-fp8", Generation.LTX_2_3, Quantisation.FP8_SCALED),
    ],
)
def test_a_monolith_fills_eight_slots(
    tiny_pack: Path, name: str, generation: Generation, quantisation: Quantisation
) -> None:
    report = probe(tiny_pack / f"{name}.safetensors")
    assert report.kind is FileKind.CHECKPOINT
    assert report.slots == MONOLITH_SLOTS
    assert (report.generation, report.quantisation) == (generation, quantisation)
    assert report.model_version == f"{generation}.0"
    assert (report.is_whole, report.problems) == (True, ())
    assert (report.prefix, report.num_heads, report.text_projection_dim) == ("model.diffusion_model.", 8, 240)
    assert report.transformer is not None
    assert (report.transformer.num_layers, report.transformer.audio_head_dim) == (4, 8)
    assert report.is_distilled is None


def test_components_add_up_to_the_whole_file(tiny_pack: Path) -> None:
    report = probe(tiny_pack / "ltx-2.3-tiny.safetensors")
    transformer = report.component(Slot.TRANSFORMER)
    assert transformer is not None
    assert transformer.num_bytes == 4 * transformer.num_parameters
    assert transformer.dtypes == ("F32",)
    assert report.stored_dtype == "F32"
    header_bytes = report.file_bytes - sum(component.num_bytes for component in report.components)
    assert 0 < header_bytes < 0.01 * report.file_bytes


@pytest.mark.parametrize(
    ("name", "slots"),
    [
        ("transformer", {Slot.TRANSFORMER, Slot.CONNECTORS}),
        ("text_encoder", {Slot.TEXT_ENCODER, Slot.TOKENIZER, Slot.TEXT_PROJECTION}),
        ("video_vae", {Slot.VIDEO_ENCODER, Slot.VIDEO_DECODER}),
        ("audio_vae", {Slot.AUDIO_ENCODER, Slot.AUDIO_DECODER, Slot.VOCODER}),
        ("duration_head", {Slot.DURATION_HEAD}),
    ],
)
def test_a_split_file_fills_its_own_slots(tiny_pack: Path, name: str, slots: set[Slot]) -> None:
    report = probe(tiny_pack / "ltx-2.5" / f"{name}.safetensors")
    assert report.slots == slots
    assert report.generation is Generation.LTX_2_5
    assert (report.quantisation, report.problems) == (Quantisation.NONE, ())


@pytest.mark.parametrize(
    ("name", "slot", "scale"),
    [
        ("spatial-upscaler-x2", Slot.SPATIAL_UPSAMPLER, 2.0),
        ("spatial-upscaler-x1.5", Slot.SPATIAL_UPSAMPLER, 1.5),
        ("temporal-upscaler-x2", Slot.TEMPORAL_UPSAMPLER, 2.0),
    ],
)
def test_an_upscaler_tells_what_it_enlarges(tiny_pack: Path, name: str, slot: Slot, scale: float) -> None:
    report = probe(tiny_pack / f"{name}.safetensors")
    assert (report.kind, report.slots) == (FileKind.UPSAMPLER, {slot})
    assert report.upsampler is not None
    assert (report.upsampler.scale, report.upsampler.in_channels) == (scale, 128)
    assert report.upsampler.is_temporal == (slot is Slot.TEMPORAL_UPSAMPLER)


@pytest.mark.parametrize(("name", "num_layers"), [("style-lora", 32), ("distilled-lora", 112)])
def test_a_lora_is_counted_and_not_taken_for_a_checkpoint(tiny_pack: Path, name: str, num_layers: int) -> None:
    report = probe(tiny_pack / f"{name}.safetensors")
    assert (report.kind, report.num_lora_layers, report.slots) == (FileKind.LORA, num_layers, {Slot.LORA})
    assert report.generation is None


@pytest.mark.parametrize(
    "names",
    [
        (f"{KOHYA}.lora_down.weight", f"{KOHYA}.alpha"),
        ("transformer.transformer_blocks.0.attn1.to_q.lora_A.default.weight",),
        (
            "diffusion_model.transformer_blocks.0.ff.net.2.lokr_w1",
            "diffusion_model.transformer_blocks.0.ff.net.2.alpha",
        ),
        ("a.lokr_w2_a", "a.lokr_w2_b"),
        ("a.hada_w1_a",),
        ("a.lora.up.weight", "a.lora.down.weight"),
        ("a.diff", "a.diff_b"),
        ("a.lora_A.weight", "a.dora_scale"),
    ],
)
def test_loras_of_every_make_are_recognised(tmp_path: Path, names: tuple[str, ...]) -> None:
    report = probe(write_file(tmp_path / "a.safetensors", dict.fromkeys(names, (2, 2))))
    assert (report.kind, report.num_lora_layers) == (FileKind.LORA, 1)


def test_a_gemma_folder_fills_two_slots(tiny_pack: Path) -> None:
    report = probe(tiny_pack / "gemma3")
    assert (report.kind, report.slots) == (FileKind.TEXT_ENCODER, {Slot.TEXT_ENCODER, Slot.TOKENIZER})
    assert (report.is_whole, report.problems) == (True, ())
    assert report.gemma is not None
    assert (report.gemma.family, report.gemma.features_dim) == (3, 240)


@pytest.mark.parametrize("prefix", ["model.diffusion_model.", "diffusion_model.", ""])
def test_the_transformer_is_found_under_every_known_prefix(tmp_path: Path, prefix: str) -> None:
    shapes = prefixed(prefix, {**MINIMAL_TRANSFORMER, "video_embeddings_connector.learnable_registers": (4, 4)})
    report = probe(write_file(tmp_path / "a.safetensors", shapes))
    assert (report.prefix, report.slots) == (prefix, {Slot.TRANSFORMER, Slot.CONNECTORS})
    assert report.problems == ()


@pytest.mark.parametrize(
    ("extra", "generation"),
    [
        ({}, Generation.LTX_2_0),
        ({f"{BLOCK}prompt_scale_shift_table": (2, 4)}, Generation.LTX_2_3),
        ({"keyframes_abs_pos_embedding": (1, 4), f"{BLOCK}prompt_scale_shift_table": (2, 4)}, Generation.LTX_2_5),
    ],
)
def test_without_metadata_the_tensors_tell_the_generation(
    tmp_path: Path, extra: dict[str, tuple[int, ...]], generation: Generation
) -> None:
    assert probe(write_file(tmp_path / "a", MINIMAL_TRANSFORMER | extra)).generation is generation


def test_without_a_config_the_gates_tell_the_heads(tmp_path: Path) -> None:
    shapes = MINIMAL_TRANSFORMER | {f"{BLOCK}attn1.to_gate_logits.weight": (6, 4)}
    assert probe(write_file(tmp_path / "a", shapes)).num_heads == 6


def test_without_a_config_an_upscaler_tells_its_factor_by_its_shape(tmp_path: Path) -> None:
    shapes = {"initial_conv.weight": (8, 128, 3, 3, 3), "final_conv.weight": (128, 8, 3, 3, 3)}
    x2 = probe(write_file(tmp_path / "a", shapes | {"upsampler.0.weight": (32, 8, 3, 3)}))
    rational = probe(write_file(tmp_path / "b", shapes | {"upsampler.conv.weight": (72, 8, 3, 3)}))
    assert x2.upsampler is not None
    assert rational.upsampler is not None
    assert (x2.upsampler.scale, rational.upsampler.scale) == (2.0, None)


def test_the_diffusion_decoder_of_2_5_is_told_from_the_convolutional_one(tmp_path: Path) -> None:
    shapes = {"decoder.conv_in_x_t.weight": (4, 4, 3, 3, 3), "per_channel_statistics.mean-of-means": (4,)}
    report = probe(write_file(tmp_path / "a", shapes))
    assert (report.has_diffusion_decoder, report.slots) == (True, {Slot.VIDEO_DECODER})
    assert report.generation is Generation.LTX_2_5


def test_tensors_newer_than_the_version_says_are_a_contradiction(tmp_path: Path) -> None:
    shapes = MINIMAL_TRANSFORMER | {"keyframes_abs_pos_embedding": (1, 4)}
    report = probe(write_file(tmp_path / "a", shapes, {"model_version": "2.3"}))
    reason, sentence = only_problem(report)
    assert reason is CheckpointReason.MISMATCHED
    assert "made for LTX-2.3, but its tensors are those of LTX-2.5" in sentence


@pytest.mark.parametrize(
    ("text", "version", "generation"),
    [
        ("2.0", (2, 0), Generation.LTX_2_0),
        ("2.3.rc1", (2, 3), Generation.LTX_2_3),
        ("2.4-rc2", (2, 4), Generation.LTX_2_3),
        ("2.3rc1", (2, 3), Generation.LTX_2_3),
        ("2.5.0", (2, 5, 0), Generation.LTX_2_5),
        ("3", (3,), Generation.LTX_2_5),
        ("2", (2,), Generation.LTX_2_0),
        ("", (), Generation.LTX_2_0),
        ("ltx", (), Generation.LTX_2_0),
    ],
)
def test_a_version_is_read_up_to_its_first_word_and_unknown_ones_inherit(
    text: str, version: tuple[int, ...], generation: Generation
) -> None:
    assert parse_model_version(text) == version
    assert generation_of_version(version) is generation


@settings(max_examples=40)
@given(st.text("0123456789.-rc ²٣", max_size=12))
def test_any_version_text_has_a_generation(text: str) -> None:
    assert generation_of_version(parse_model_version(text)) in Generation


def quantised(ending: str, dtype: str = "F32", weight_dtype: str = "F8_E4M3") -> tuple[dict[str, str], dict[str, str]]:
    name = f"{BLOCK}attn1.to_q.weight"
    scale = name.removesuffix("weight") + ending
    return {name: weight_dtype, scale: dtype}, {}


def layers_of(name: str) -> dict[str, str]:
    return {"_quantization_metadata": json.dumps({"layers": {"a": {"format": name}}})}


@pytest.mark.parametrize(
    ("dtypes", "metadata", "expected"),
    [
        ({f"{BLOCK}attn1.to_q.weight": "F8_E4M3"}, {}, Quantisation.FP8_UNSCALED),
        (*quantised("weight_scale"), Quantisation.FP8_SCALED),
        ({f"{BLOCK}attn1.to_q.weight": "F8_E4M3"}, layers_of("float8_e4m3fn"), Quantisation.FP8_SCALED),
        (*quantised("scale_weight"), Quantisation.FP8_OLD_COMFY),
        ({"scaled_fp8": "F8_E4M3"}, {}, Quantisation.FP8_OLD_COMFY),
        (*quantised("comfy_quant", "U8", "I8"), Quantisation.COMFY_QUANT),
        ({f"{BLOCK}attn1.to_q.weight": "I8"}, layers_of("int8_tensorwise"), Quantisation.COMFY_QUANT),
        (*quantised("weight_scale_2", "F32", "U8"), Quantisation.NVFP4),
        ({f"{BLOCK}attn1.to_q.weight._data": "I8", f"{BLOCK}attn1.to_q.weight._scale": "F32"}, {}, Quantisation.QUANTO),
        ({f"{BLOCK}attn1.to_q.weight": "I8"}, {}, Quantisation.UNKNOWN),
        ({}, {"_quantization_metadata": "{"}, Quantisation.COMFY_QUANT),
        ({}, {}, Quantisation.NONE),
    ],
)
def test_quantisations_are_told_by_names_dtypes_and_metadata(
    tmp_path: Path, dtypes: dict[str, str], metadata: dict[str, str], expected: Quantisation
) -> None:
    shapes = MINIMAL_TRANSFORMER | dict.fromkeys(dtypes, (4, 4))
    report = probe(write_file(tmp_path / "a", shapes, metadata, dtypes))
    assert report.quantisation is expected


def test_a_truncated_checkpoint_is_recognised_all_the_same(tiny_pack: Path, tmp_path: Path) -> None:
    path = tmp_path / "ltx.safetensors"
    with (tiny_pack / "ltx-2.3-tiny.safetensors").open("rb") as source:
        path.write_bytes(source.read(1_000_000))
    report = probe(path)
    assert (report.kind, report.generation, report.is_whole) == (FileKind.CHECKPOINT, Generation.LTX_2_3, False)
    reason, sentence = only_problem(report)
    assert reason is CheckpointReason.TRUNCATED
    assert "bytes are missing" in sentence


def test_a_transformer_with_a_block_missing_is_not_whole(tmp_path: Path) -> None:
    config = json.dumps({"transformer": {"num_layers": 3}})
    shapes = MINIMAL_TRANSFORMER | {"transformer_blocks.2.attn1.to_q.weight": (4, 4)}
    report = probe(write_file(tmp_path / "a", shapes, {"config": config}))
    assert not report.is_whole
    assert "lacks 1 of the 3 blocks of its transformer, block 1 first" in only_problem(report)[1]


@pytest.mark.parametrize(
    ("shapes", "words"),
    [
        ({"double_blocks.0.img_attn.qkv.weight": (4, 4)}, "no part of an LTX-2 model"),
        ({}, "no part of an LTX-2 model"),
        ({f"{BLOCK}attn1.to_q.weight": (4, 4), "patchify_proj.weight": (4, 4)}, "older LTX-Video"),
        ({**MINIMAL_TRANSFORMER, "audio_proj_in.weight": (4, 4)}, "layout of diffusers"),
        ({**MINIMAL_TRANSFORMER, f"{BLOCK}ff.proj_in.weight": (4, 4)}, "MLX"),
    ],
)
def test_other_models_and_layouts_are_named(tmp_path: Path, shapes: dict[str, tuple[int, ...]], words: str) -> None:
    report = probe(write_file(tmp_path / "a", shapes))
    assert (report.kind, report.slots) == (FileKind.UNRECOGNISED, frozenset())
    assert words in only_problem(report)[1]


def test_a_gguf_file_is_reported_as_such(tmp_path: Path) -> None:
    path = tmp_path / "ltx.gguf"
    path.write_bytes(b"GGUF\3\0\0\0" + b"\0" * 99)
    report = probe(path)
    assert (report.kind, report.quantisation) == (FileKind.UNREADABLE, Quantisation.GGUF)
    assert only_problem(report)[0] is CheckpointReason.GGUF


@pytest.mark.parametrize(
    "config", ["[", "[1]", '{"transformer": 3}', '{"transformer": {"num_layers": "many"}}', "{" * 9999]
)
def test_a_broken_description_inside_a_checkpoint_is_passed_over(tmp_path: Path, config: str) -> None:
    report = probe(write_file(tmp_path / "a", MINIMAL_TRANSFORMER, {"config": config}))
    assert report.transformer is not None
    assert report.transformer.num_layers == 1


def test_a_report_becomes_json_and_nothing_of_it_is_lost(tiny_pack: Path) -> None:
    report = probe(tiny_pack / "gemma3")
    plain = json.loads(json.dumps(report.to_json()))
    assert plain["path"] == str(tiny_pack / "gemma3")
    assert plain["gemma"] == {"model_type": "gemma3", "family": 3, "hidden_dim": 48, "num_layers": 4}
    assert [component["slot"] for component in plain["components"]] == ["text_encoder", "tokenizer"]


NAMES = [
    *MINIMAL_TRANSFORMER,
    f"{BLOCK}attn1.to_gate_logits.weight",
    "transformer_blocks.x.y",
    "transformer_blocks.",
    "initial_conv.weight",
    "final_conv.weight",
    "upsampler.0.weight",
    "encoder.conv_in.conv.weight",
    "per_channel_statistics.mean-of-means",
    "text_embedding_projection.aggregate_embed.weight",
    "model.layers.0.q",
    "a.lora_A.weight",
    "",
]
texts = st.sampled_from(["", "{}", "[]", '{"transformer": []}', '{"spatial_scale": "x"}', '{"layers": [1]}', "2.9"])
keys = st.sampled_from(["config", "model_version", "_quantization_metadata", "gemma_config"])


@settings(max_examples=60)
@given(
    shapes=st.dictionaries(st.sampled_from(NAMES), st.lists(st.integers(0, 2), max_size=5).map(tuple), max_size=6),
    metadata=st.dictionaries(keys, texts),
)
def test_no_names_shapes_or_metadata_make_the_probe_raise(
    tmp_path: Path, shapes: dict[str, tuple[int, ...]], metadata: dict[str, str]
) -> None:
    report = probe(write_file(tmp_path / "a", shapes, metadata))
    assert report.problems or report.slots
    json.dumps(report.to_json())


def test_a_description_with_absurd_numbers_costs_nothing(tmp_path: Path) -> None:
    config = json.dumps({"transformer": {"num_layers": 2_000_000_000}})
    report = probe(write_file(tmp_path / "a", MINIMAL_TRANSFORMER, {"config": config}))
    assert (
        "lacks 1,999,999,999 of the 2,000,000,000 blocks of its transformer, block 1 first" in only_problem(report)[1]
    )


def test_a_place_that_may_not_be_looked_into_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "stat", refuse)
    assert only_problem(probe(tmp_path))[0] is CheckpointReason.UNREADABLE


@pytest.fixture
def gemma(tiny_pack: Path, tmp_path: Path) -> Path:
    """Return a Gemma folder of one's own, to take pieces away from."""
    return Path(shutil.copytree(tiny_pack / "gemma3", tmp_path / "gemma"))


def shard(gemma: Path) -> tuple[Path, Path]:
    """Split the weights of `gemma` into an index and two shards, of which the second is empty of tensors."""
    first, second = gemma / "model-00001-of-00002.safetensors", gemma / "model-00002-of-00002.safetensors"
    (gemma / "model.safetensors").rename(first)
    write_file(second, {"language_model.model.extra": (2,)})
    names = {"a": first.name, "b": second.name}
    (gemma / "model.safetensors.index.json").write_text(json.dumps({"weight_map": names}))
    return first, second


def remove(name: str) -> Callable[[Path], None]:
    return lambda gemma: (gemma / name).unlink()


def overwrite(name: str, text: str) -> Callable[[Path], None]:
    def harm(gemma: Path) -> None:
        (gemma / name).write_text(text)

    return harm


def lose_a_shard(gemma: Path) -> None:
    shard(gemma)[1].unlink()


def lose_a_shard_and_the_index(gemma: Path) -> None:
    lose_a_shard(gemma)
    (gemma / "model.safetensors.index.json").unlink()


def cut_a_shard(gemma: Path) -> None:
    _, second = shard(gemma)
    second.write_bytes(second.read_bytes()[:-1])


def pickle_the_weights(gemma: Path) -> None:
    (gemma / "model.safetensors").rename(gemma / "pytorch_model.bin")


def lose_layers(gemma: Path) -> None:
    write_file(gemma / "model.safetensors", {"language_model.model.layers.0.mlp.up_proj.weight": (2, 2)})


@pytest.mark.parametrize(
    ("harm", "reason", "words"),
    [
        (remove("config.json"), CheckpointReason.INCOMPLETE, "has no config.json"),
        (overwrite("config.json", "{"), CheckpointReason.WRONG_KIND, "cannot be read"),
        (overwrite("config.json", '{"model_type": "llama"}'), CheckpointReason.WRONG_KIND, "type “llama”"),
        (remove("tokenizer.json"), CheckpointReason.INCOMPLETE, "has no tokenizer.json"),
        (overwrite("tokenizer.json", "version https://"), CheckpointReason.CORRUPT, "tokenizer.json"),
        (remove("model.safetensors"), CheckpointReason.INCOMPLETE, "has no weights"),
        (pickle_the_weights, CheckpointReason.PICKLE, "pickled"),
        (lose_a_shard, CheckpointReason.INCOMPLETE, "lacks its file “model-00002-of-00002.safetensors”"),
        (lose_a_shard_and_the_index, CheckpointReason.INCOMPLETE, "lacks its file “model-00002-of-00002.safetensors”"),
        (cut_a_shard, CheckpointReason.TRUNCATED, "1 of"),
        (overwrite("model.safetensors.index.json", "{}"), CheckpointReason.CORRUPT, "model.safetensors.index.json"),
        (overwrite("model.safetensors.index.json", '{"weight_map": {"a": "../x"}}'), CheckpointReason.CORRUPT, "index"),
        (lose_layers, CheckpointReason.INCOMPLETE, "lacks 3 of its 4 layers, layer 1 first"),
    ],
)
def test_a_gemma_folder_says_what_it_lacks(
    gemma: Path, harm: Callable[[Path], None], reason: CheckpointReason, words: str
) -> None:
    harm(gemma)
    report = probe(gemma)
    assert report.kind is FileKind.TEXT_ENCODER
    found, sentence = only_problem(report)
    assert (found, words in sentence) == (reason, True), sentence


def test_a_sharded_gemma_folder_is_whole(gemma: Path) -> None:
    shard(gemma)
    report = probe(gemma)
    assert (report.is_whole, report.problems) == (True, ())


def test_a_quantised_gemma_folder_says_so(gemma: Path) -> None:
    config = json.loads((gemma / "config.json").read_text())
    config["quantization_config"] = {"quant_method": "bitsandbytes"}
    (gemma / "config.json").write_text(json.dumps(config))
    report = probe(gemma)
    assert (report.quantisation, report.quantisation_formats) == (Quantisation.UNKNOWN, ("bitsandbytes",))


def test_a_folder_of_files_gets_a_report_for_each(tiny_pack: Path) -> None:
    reports = probe_all(tiny_pack)
    names = {report.path.name for report in reports}
    assert {"gemma3", "gemma4", "ltx-2.3-tiny.safetensors", "style-lora.safetensors"} <= names
    assert "ltx-2.5" not in names
    assert len(probe_all(tiny_pack / "gemma3")) == len(probe_all(tiny_pack / "style-lora.safetensors")) == 1


def test_a_folder_around_a_text_encoder_points_at_it(tiny_pack: Path) -> None:
    reason, sentence = only_problem(probe(tiny_pack))
    assert reason is CheckpointReason.WRONG_KIND
    assert "“gemma3”" in sentence


def test_a_folder_without_models_gets_one_report_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    reports = probe_all(tmp_path)
    assert [report.kind for report in reports] == [FileKind.UNRECOGNISED]
    assert "no text encoder" in only_problem(reports[0])[1]


def test_a_split_transformer_tells_its_key_frames_and_its_text_encoder(tiny_pack_2_5: TinyPack) -> None:
    report = probe(tiny_pack_2_5.checkpoint_path)
    assert (report.has_keyframe_embedding, report.gemma_version) == (True, "gemma4-tiny-ltx-v1")


def test_the_text_encoder_tells_its_version_by_its_own_description(tiny_pack_2_5: TinyPack, tmp_path: Path) -> None:
    assert probe(tiny_pack_2_5.gemma_root).gemma_version == "gemma4-tiny-ltx-v1"
    told = {"gemma_config": '{"gemma_version": "own"}', "gemma_source_checkpoint": '{"gemma_version": "other"}'}
    assert probe(write_file(tmp_path / "a", {"model.norm.weight": (4,)}, told)).gemma_version == "own"
    assert (
        probe(write_file(tmp_path / "b", MINIMAL_TRANSFORMER, {"gemma_source_checkpoint": "3"})).gemma_version is None
    )


def test_a_gemma_folder_tells_its_version_where_its_config_does(tiny_pack: Path) -> None:
    assert probe(tiny_pack / "gemma4").gemma_version == "gemma4-tiny-ltx-v1"
    assert probe(tiny_pack / "gemma3").gemma_version is None


def test_a_video_vae_with_the_diffusion_decoder_fills_the_same_slots(tiny_pack_2_5_diffusion: TinyPack) -> None:
    report = probe(tiny_pack_2_5_diffusion.model_paths.video_path)
    assert (report.has_diffusion_decoder, report.slots) == (True, {Slot.VIDEO_ENCODER, Slot.VIDEO_DECODER})
    assert (report.problems, report.generation) == ((), Generation.LTX_2_5)
