"""Token ids without torch, equal to those of transformers."""

from __future__ import annotations

import ast
import importlib.util
import json
import shutil
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoTokenizer, PreTrainedTokenizerBase

from podium.models.errors import CheckpointError, CheckpointReason
from podium.models.tokenizer import PromptTokenizer


@pytest.fixture(scope="module")
def tokenizer(tiny_pack: Path) -> PromptTokenizer:
    return PromptTokenizer(tiny_pack / "gemma3")


@pytest.fixture(scope="module")
def reference(tiny_pack: Path) -> PreTrainedTokenizerBase:
    loaded: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(tiny_pack / "gemma3")
    return loaded


@pytest.mark.parametrize(
    "prompt",
    [
        "A red fox runs across a snowy field at dawn.",
        "",
        "two  spaces,\ttab\nand a new line",
        "🦊🎬 👩‍👩‍👧‍👦 emoji",
        "雪の野原を走る赤い狐。风在呼啸",
        "ثعلب أحمر يركض عبر الثلج שועל אדום",
        "<bos>looks like a token<end_of_turn>",
        "e\u0301 combining and \u200b zero width",
    ],
)
def test_ids_equal_those_of_transformers(
    prompt: str, tokenizer: PromptTokenizer, reference: PreTrainedTokenizerBase
) -> None:
    assert tokenizer.encode(prompt) == _reference_ids(reference, prompt)


@given(prompt=st.text(max_size=40))
@settings(max_examples=60)
def test_ids_of_any_text_equal_those_of_transformers(
    prompt: str, tokenizer: PromptTokenizer, reference: PreTrainedTokenizerBase
) -> None:
    assert tokenizer.encode(prompt) == _reference_ids(reference, prompt)


def test_outer_white_space_does_not_count(tokenizer: PromptTokenizer) -> None:
    assert tokenizer.encode("  a fox \n") == tokenizer.encode("a fox")
    assert tokenizer.count("  a fox \n") == len(tokenizer.encode("a fox"))


def test_the_first_token_is_added_where_the_file_does_not(tiny_pack: Path, tokenizer: PromptTokenizer) -> None:
    gemma4 = PromptTokenizer(tiny_pack / "gemma4")
    assert gemma4.encode("A fox.") == tokenizer.encode("A fox.")


def test_a_token_that_a_folder_does_not_name_is_gemmas(tiny_pack: Path, tmp_path: Path) -> None:
    shutil.copy(tiny_pack / "gemma3" / "tokenizer.json", tmp_path)
    assert PromptTokenizer(tmp_path).encode("fox")[0] == 2
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"bos_token": {"content": "<eos>"}}))
    assert PromptTokenizer(tmp_path).encode("fox")[:2] == [1, 2]


@pytest.mark.parametrize("content", [None, "", "{}", "not json"])
def test_a_damaged_or_missing_file_is_refused_with_its_name(content: str | None, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "tokenizer.json").write_text(content)
    with pytest.raises(CheckpointError, match=r"“tokenizer\.json”"):
        PromptTokenizer(tmp_path).count("fox")


@pytest.mark.parametrize("prompt", ["A red fox runs.", "", "🦊 雪の野原 <bos>", "  two  lines\n here "])
def test_a_single_file_tokenizes_as_the_folder_it_was_made_of(prompt: str, tiny_pack: Path) -> None:
    single = PromptTokenizer(tiny_pack / "ltx-2.5" / "text_encoder.safetensors")
    assert single.encode(prompt) == PromptTokenizer(tiny_pack / "gemma4").encode(prompt)


def test_a_file_without_a_tokenizer_inside_is_refused_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "encoder.safetensors"
    path.write_bytes(struct.pack("<Q", 2) + b"{}")
    with pytest.raises(CheckpointError, match=r"“tokenizer\.json” in “encoder\.safetensors”"):
        PromptTokenizer(path).count("fox")


def test_a_missing_file_is_refused_as_missing(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError) as refusal:
        PromptTokenizer(tmp_path / "encoder.safetensors").count("fox")
    assert refusal.value.reason is CheckpointReason.MISSING


def test_special_tokens_of_a_chat_are_read_by_name_and_leave_nothing_in_the_text(tokenizer: PromptTokenizer) -> None:
    ids = tokenizer.encode_chat("<bos><start_of_turn>user\n a fox<end_of_turn>\n")
    assert ids[:2] == [2, 4]
    assert 5 in ids
    assert tokenizer.decode(ids) == "user\n a fox\n"
    assert tokenizer.without_special_tokens("a <end_of_turn>fox<start_of_image>") == "a fox"


def test_counting_tokens_imports_no_tensor_library() -> None:
    seen, waiting = set(), ["podium.models.tokenizer"]
    while waiting:
        name = waiting.pop()
        spec = importlib.util.find_spec(name) if name.startswith("podium") else None
        if name not in seen and spec is not None and spec.origin is not None:
            waiting += _imported_names(Path(spec.origin))
        seen.add(name)
    assert "tokenizers" in seen
    assert not {name.split(".")[0] for name in seen} & {"torch", "transformers", "diffusers", "safetensors"}


def test_half_a_surrogate_pair_counts_as_the_replacement_character(tokenizer: PromptTokenizer) -> None:
    assert tokenizer.encode("a \ud83e fox") == tokenizer.encode("a \ufffd fox")


def _imported_names(source: Path) -> list[str]:
    nodes = list(ast.walk(ast.parse(source.read_text(encoding="utf-8"))))
    plain = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    return plain + [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module]


def _reference_ids(reference: PreTrainedTokenizerBase, prompt: str) -> list[int]:
    ids: list[int] = reference(prompt.strip())["input_ids"]
    return ids if ids[:1] == [reference.bos_token_id] else [reference.bos_token_id, *ids]
