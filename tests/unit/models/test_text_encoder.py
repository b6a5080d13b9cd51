"""The text path against numbers that the original produced, and its own promises."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from diffusers.pipelines.ltx2.connectors import per_layer_masked_mean_norm
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import AutoTokenizer

from podium.errors import JobRefusedError
from podium.models.configs import connector_arguments
from podium.models.errors import CheckpointError
from podium.models.gemma import gemma_text_config
from podium.models.gemma_files import GemmaFiles
from podium.models.header import read_header
from podium.models.text_encoder import (
    EmbeddingsProcessor,
    GemmaTextEncoder,
    embeddings_processor_builder,
    text_encoder_builder,
)
from podium.models.tokenizer import MAX_PROMPT_TOKENS

from tests.fakes.padded_gemma import padded_hidden_states

Golden = Callable[[str], dict[str, Tensor]]
GoldenMetadata = Callable[[str], dict[str, str]]
AssertClose = Callable[..., None]
CPU = torch.device("cpu")
PROMPTS = ["prompt0", "prompt1"]
GEMMA4_PROMPTS = ["A red fox runs across a snowy field at dawn, and a robot says hello!", "fox"]


@pytest.mark.parametrize("prompt", PROMPTS)
def test_a_prompt_gets_the_golden_token_ids(
    prompt: str, text_encoder: GemmaTextEncoder, golden: Golden, golden_metadata: GoldenMetadata
) -> None:
    ids = text_encoder.tokenizer.encode(golden_metadata("text_2.3")[prompt])
    assert ids == golden("text_2.3")[f"{prompt}.input_ids_valid"].tolist()


def test_prompts_are_encoded_to_the_golden_hidden_states(
    text_encoder: GemmaTextEncoder,
    golden: Golden,
    golden_metadata: GoldenMetadata,
    assert_close_to_golden: AssertClose,
) -> None:
    texts = [golden_metadata("text_2.3")[prompt] for prompt in PROMPTS]
    for prompt, hidden in zip(PROMPTS, text_encoder.encode(texts), strict=True):
        assert_close_to_golden(hidden, golden("text_2.3")[f"{prompt}.hidden_states_valid"], name=prompt)


@pytest.mark.parametrize("prompt", PROMPTS)
def test_hidden_states_are_projected_to_the_golden_features(
    prompt: str, embeddings_processor: EmbeddingsProcessor, golden: Golden, assert_close_to_golden: AssertClose
) -> None:
    tensors = golden("text_2.3")
    features = embeddings_processor.project(tensors[f"{prompt}.hidden_states_valid"])
    assert_close_to_golden(features.video[0], tensors[f"{prompt}.features_video_valid"])
    assert_close_to_golden(features.audio[0], tensors[f"{prompt}.features_audio_valid"])


@pytest.mark.parametrize("prompt", PROMPTS)
def test_hidden_states_become_the_golden_contexts(
    prompt: str, embeddings_processor: EmbeddingsProcessor, golden: Golden, assert_close_to_golden: AssertClose
) -> None:
    tensors = golden("text_2.3")
    context = embeddings_processor.process(tensors[f"{prompt}.hidden_states_valid"])
    assert_close_to_golden(context.video, tensors[f"{prompt}.context_video"])
    assert_close_to_golden(context.audio, tensors[f"{prompt}.context_audio"])


def test_unpadded_hidden_states_equal_those_of_the_padded_whole_model(
    tiny_pack: Path, text_encoder: GemmaTextEncoder, assert_close_to_golden: AssertClose
) -> None:
    [theirs] = padded_hidden_states(tiny_pack / "gemma3", ["A dog barks."])
    [ours] = text_encoder.encode(["A dog barks."])
    assert_close_to_golden(ours, theirs)


def test_a_prompt_may_fill_all_tokens_and_not_one_more(
    text_encoder: GemmaTextEncoder, embeddings_processor: EmbeddingsProcessor
) -> None:
    longest = "<pad>" * (MAX_PROMPT_TOKENS - 1)
    assert text_encoder.count_tokens(longest) == MAX_PROMPT_TOKENS
    [hidden] = text_encoder.encode([longest])
    assert embeddings_processor.process(hidden).video.shape == (1, MAX_PROMPT_TOKENS, 128)
    with pytest.raises(JobRefusedError, match="1025 tokens, and the model reads 1024"):
        text_encoder.encode(["short", longest + "<pad>"])


def test_the_encoder_holds_no_vision_tower(text_encoder: GemmaTextEncoder) -> None:
    assert not [name for name in text_encoder.state_dict() if "vision" in name or "multi_modal" in name]


def test_computed_buffers_are_real_and_in_float32(tiny_pack: Path, text_encoder: GemmaTextEncoder) -> None:
    half = text_encoder_builder(tiny_pack / "gemma3").build(CPU, torch.bfloat16)
    ours = dict(text_encoder.named_buffers())
    assert any(name.endswith("inv_freq") for name in ours)
    for name, buffer in half.named_buffers():
        assert buffer.dtype == torch.float32, name
        assert torch.equal(buffer, ours[name]), name


def test_the_2_0_norm_equals_that_of_diffusers(tiny_pack: Path, assert_close_to_golden: AssertClose) -> None:
    processor = embeddings_processor_builder(tiny_pack / "ltx-2.0-tiny.safetensors").build(CPU, torch.float32)
    hidden = torch.randn(7, 48, 5, generator=torch.Generator().manual_seed(3))
    normal = per_layer_masked_mean_norm(hidden[None], torch.tensor([7]), "cpu")
    expected = normal @ processor.shared_projection.weight.T
    features = processor.project(hidden)
    assert_close_to_golden(features.video, expected)
    assert_close_to_golden(features.audio, expected)


def test_a_split_pack_joins_projection_and_connectors(tiny_pack: Path) -> None:
    folder = tiny_pack / "ltx-2.5"
    files = (folder / "transformer.safetensors", folder / "text_encoder.safetensors")
    processor = embeddings_processor_builder(*files).build(CPU, torch.float32)
    context = processor.process(torch.ones(3, 48, 5))
    assert context.video.shape == (1, 1024, 128)
    assert context.audio.shape == (1, 1024, 64)


def test_a_transformer_file_alone_lacks_the_text_projection(tiny_pack: Path) -> None:
    builder = embeddings_processor_builder(tiny_pack / "ltx-2.5" / "transformer.safetensors")
    with pytest.raises(CheckpointError, match="no text projection"):
        builder.build(CPU, torch.float32)


def test_audio_connector_sizes_fall_back_to_the_video_ones() -> None:
    transformer = {
        "connector_num_attention_heads": 4,
        "connector_attention_head_dim": 12,
        "connector_num_layers": 2,
        "audio_connector_attention_head_dim": 6,
    }
    audio = connector_arguments(transformer, "audio")
    assert (audio["num_attention_heads"], audio["attention_head_dim"]) == (4, 6)
    assert audio["rope_base_seq_len"] == 1
    assert audio["num_learnable_registers"] == 128


def test_a_folder_of_another_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "llama"}))
    with pytest.raises(CheckpointError, match="not a complete Gemma folder") as refusal:
        gemma_text_config(GemmaFiles(tmp_path))
    assert "llama" in refusal.value.details


def test_a_folder_without_weights_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="not a complete Gemma folder"):
        text_encoder_builder(tmp_path)


def test_an_index_says_which_files_hold_the_weights(tmp_path: Path) -> None:
    weight_map = {"a": "model-2.safetensors", "b": "model-1.safetensors", "c": "model-2.safetensors"}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))
    (tmp_path / "stray.safetensors").touch()
    paths = GemmaFiles(tmp_path).weight_paths()
    assert paths == (tmp_path / "model-1.safetensors", tmp_path / "model-2.safetensors")


@pytest.fixture(scope="module")
def padded_gemma4(tiny_pack: Path) -> list[Tensor]:
    return padded_hidden_states(tiny_pack / "gemma4", GEMMA4_PROMPTS)


@pytest.mark.parametrize("place", ["gemma4", "ltx-2.5/text_encoder.safetensors", "renamed"])
def test_a_gemma_4_encodes_as_the_whole_model_of_transformers_does(
    place: str, tiny_pack: Path, tmp_path: Path, padded_gemma4: list[Tensor], assert_close_to_golden: AssertClose
) -> None:
    path = _renamed_single_file(tiny_pack, tmp_path) if place == "renamed" else tiny_pack / place
    encoder = text_encoder_builder(path).build(CPU, torch.float32)
    for prompt, ours, theirs in zip(GEMMA4_PROMPTS, encoder.encode(GEMMA4_PROMPTS), padded_gemma4, strict=True):
        assert_close_to_golden(ours, theirs, 2e-6, name=prompt)


def test_a_gemma_4_begins_every_prompt_with_the_token_that_its_own_tokenizer_leaves_out(tiny_pack: Path) -> None:
    reference = AutoTokenizer.from_pretrained(tiny_pack / "gemma4")
    encoder = text_encoder_builder(tiny_pack / "ltx-2.5" / "text_encoder.safetensors").make_empty_module()
    assert encoder.tokenizer.encode("a fox") == [2, *reference("a fox")["input_ids"]]


def test_a_single_file_gives_neither_towers_nor_projection_to_the_encoder(tiny_pack: Path) -> None:
    encoder = text_encoder_builder(tiny_pack / "ltx-2.5" / "text_encoder.safetensors").make_empty_module()
    assert {name.split(".")[1] for name in encoder.state_dict()} == {"embed_tokens", "layers", "norm"}


def test_a_file_without_a_description_of_its_gemma_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "encoder.safetensors"
    save_file({"model.embed_tokens.weight": torch.zeros(2, 2)}, path)
    with pytest.raises(CheckpointError, match="not a complete Gemma text-encoder file") as refusal:
        text_encoder_builder(path).build(CPU, torch.float32)
    assert "gemma_config" in refusal.value.details


def _renamed_single_file(tiny_pack: Path, folder: Path) -> Path:
    """Write the single file with the names that transformers gives its language model."""
    source = tiny_pack / "ltx-2.5" / "text_encoder.safetensors"
    names = {"model.": "model.language_model."}
    tensors = {}
    for key, tensor in load_file(source).items():
        old = next((prefix for prefix in names if key.startswith(prefix)), "")
        tensors[names.get(old, "") + key.removeprefix(old)] = tensor
    save_file(tensors, folder / "encoder.safetensors", dict(read_header(source).metadata))
    return folder / "encoder.safetensors"
