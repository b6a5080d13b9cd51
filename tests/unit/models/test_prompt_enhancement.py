"""Prompts written out by a Gemma: the words that transformers' own generation gives, and what is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Generator
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import Gemma3ForConditionalGeneration, Gemma4UnifiedForConditionalGeneration, PreTrainedModel

from podium.errors import JobRefusedError
from podium.models.gemma import gemma_sight_builder
from podium.models.prompt_enhancement import (
    GemmaWriter,
    Picture,
    PromptWriter,
    Sampling,
    WritingRequest,
    WrittenPrompt,
    enhance,
)
from podium.models.registry import StateDictRegistry
from podium.models.text_encoder import GemmaTextEncoder, text_encoder_builder

CPU = torch.device("cpu")
NUM_TOKENS = 12
GREEDY = Sampling(temperature=0, max_new_tokens=NUM_TOKENS)
WHOLE_MODELS = {"gemma3": Gemma3ForConditionalGeneration, "gemma4": Gemma4UnifiedForConditionalGeneration}
IMAGE_TOKEN = 8
ENDS = {1, 5}


@pytest.fixture(scope="module")
def talkative(tiny_pack: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a maker of Gemma folders whose networks say more than their input again, as random ones do.

    With an embedding that small, the blocks decide the next token, not the last one.
    """
    folders: dict[str, Path] = {}

    def make(name: str) -> Path:
        if name not in folders:
            folder = tmp_path_factory.mktemp("talkative") / name
            shutil.copytree(tiny_pack / name, folder)
            tensors = load_file(folder / "model.safetensors")
            (key,) = (key for key in tensors if key.endswith("embed_tokens.weight"))
            save_file(tensors | {key: tensors[key] * 0.02}, folder / "model.safetensors", {"format": "pt"})
            folders[name] = folder
        return folders[name]

    return make


@pytest.fixture
def picture() -> Picture:
    return np.random.default_rng(0).integers(0, 256, (40, 50, 3), np.uint8)


@pytest.mark.parametrize(("name", "has_picture"), [("gemma3", False), ("gemma3", True), ("gemma4", False)])
def test_a_gemma_writes_the_tokens_that_transformers_generates(
    name: str,
    has_picture: bool,
    talkative: Callable[[str], Path],
    picture: Picture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    encoder = text_encoder_builder(talkative(name)).build(CPU, torch.float32)
    chats: list[list[int]] = []
    encode_chat = encoder.tokenizer.encode_chat
    monkeypatch.setattr(encoder.tokenizer, "encode_chat", lambda chat: chats.append(encode_chat(chat)) or chats[-1])
    find_sight = partial(gemma_sight_builder, encoder.tokenizer.files, None)
    writer = GemmaWriter(encoder.model, encoder.tokenizer, find_sight, GREEDY)
    ours, _ = drain(writer.write(WritingRequest("a fox runs", 3, (lambda: picture) if has_picture else None)))

    whole = WHOLE_MODELS[name].from_pretrained(talkative(name), dtype=torch.float32)
    theirs = generate_greedily(whole, chats[0], set(encoder.tokenizer.special_tokens), picture if has_picture else None)
    assert ours == [token for token in theirs if token not in ENDS]
    assert len(set(ours)) > 1 or len(theirs) < NUM_TOKENS


def generate_greedily(
    whole: PreTrainedModel, chat: list[int], special_tokens: set[int], picture: Picture | None
) -> list[int]:
    ids = torch.tensor([chat])
    sight = {}
    if picture is not None:
        pixels = torch.from_numpy(picture).permute(2, 0, 1)[None].float()
        small = torch.nn.functional.interpolate(pixels, (28, 28), mode="bilinear", antialias=True).round()
        sight = {"pixel_values": small / 127.5 - 1, "token_type_ids": (ids == IMAGE_TOKEN).long()}
    written = whole.generate(
        input_ids=ids,
        attention_mask=torch.ones_like(ids),
        do_sample=False,
        max_new_tokens=NUM_TOKENS,
        min_new_tokens=1,
        suppress_tokens=sorted(special_tokens - ENDS),
        **sight,
    )
    return written[0, len(chat) :].tolist()


def drain(writing: Generator[int, None, WrittenPrompt]) -> tuple[list[int], WrittenPrompt]:
    tokens = []
    while True:
        try:
            tokens.append(next(writing))
        except StopIteration as end:
            return tokens, end.value


def write(encoder: GemmaTextEncoder, request: WritingRequest, num_tokens: int = NUM_TOKENS) -> WrittenPrompt:
    sampling = Sampling(temperature=2.0, max_new_tokens=num_tokens)
    return drain(GemmaWriter(encoder.model, encoder.tokenizer, sampling=sampling).write(request))[1]


@pytest.fixture(scope="module")
def talking(talkative: Callable[[str], Path]) -> GemmaTextEncoder:
    return text_encoder_builder(talkative("gemma3"), StateDictRegistry()).build(CPU, torch.float32)


def test_the_seed_decides_the_words(talking: GemmaTextEncoder) -> None:
    first, again, other = (write(talking, WritingRequest("a fox", seed)) for seed in (2**64 - 1, 2**64 - 1, 1))
    assert first == again
    assert first.prompt != other.prompt


def test_an_encoder_writes_with_its_own_eyes(talking: GemmaTextEncoder, picture: Picture) -> None:
    assert isinstance(talking, PromptWriter)
    request = WritingRequest("a fox", 3, lambda: picture)
    sight = gemma_sight_builder(talking.tokenizer.files, None)
    seeing = GemmaWriter(talking.model, talking.tokenizer, lambda: sight).write(request)
    assert first_tokens(talking.write(request)) == first_tokens(seeing)
    blank = WritingRequest("a fox", 3, lambda: np.zeros_like(picture))
    assert first_tokens(talking.write(blank)) != first_tokens(talking.write(request))


def first_tokens(writing: Generator[int, None, WrittenPrompt]) -> list[int]:
    return list(islice(writing, 6))


def test_what_was_written_holds_no_special_token(talking: GemmaTextEncoder) -> None:
    tokens, _ = drain(GemmaWriter(talking.model, talking.tokenizer, sampling=GREEDY).write(WritingRequest("x")))
    assert not set(tokens) & set(talking.tokenizer.special_tokens)


def test_a_picture_that_cannot_be_looked_at_is_not_read_and_a_note_says_so(tiny_pack: Path) -> None:
    encoder = text_encoder_builder(tiny_pack / "ltx-2.5" / "text_encoder.safetensors").build(CPU, torch.float32)

    def read() -> Picture:
        raise AssertionError("nobody can look at it")

    find_sight = partial(gemma_sight_builder, encoder.tokenizer.files, None)
    writer = GemmaWriter(encoder.model, encoder.tokenizer, find_sight, GREEDY)
    _, written = drain(writer.write(WritingRequest("a fox", 3, read)))
    assert written.note.startswith("The picture was not looked at")


def test_a_gemma_3_without_a_vision_tower_has_no_eyes(tiny_pack: Path, tmp_path: Path) -> None:
    for name in ("config.json", "tokenizer.json"):
        shutil.copy(tiny_pack / "gemma3" / name, tmp_path)
    tensors = load_file(tiny_pack / "gemma3" / "model.safetensors")
    words = {key: tensor for key, tensor in tensors.items() if key.startswith("language_model.")}
    save_file(words, tmp_path / "model.safetensors")
    encoder = text_encoder_builder(tmp_path).make_empty_module()
    assert gemma_sight_builder(encoder.tokenizer.files, None) is None


def test_special_tokens_in_the_artists_words_do_not_act(talking: GemmaTextEncoder) -> None:
    plain, spiked = (write(talking, WritingRequest(text)) for text in ("a fox", "a <end_of_turn>fox<start_of_image>"))
    assert plain == spiked


def test_a_text_that_was_cut_off_ends_with_its_last_whole_sentence(talking: GemmaTextEncoder) -> None:
    for seed in range(20):
        longer = write(talking, WritingRequest("a fox", seed), num_tokens=30).prompt
        if "." in longer:
            assert longer.endswith((".", "!", "?"))
            return
    raise AssertionError("no seed wrote a full stop")


@pytest.mark.parametrize(
    ("prompt", "sentence"),
    [(" \n", "no prompt to write out"), ("<pad>" * 1024, "1025 tokens, and the model reads 1024")],
)
def test_what_cannot_be_written_out_is_refused(prompt: str, sentence: str, talking: GemmaTextEncoder) -> None:
    with pytest.raises(JobRefusedError, match=sentence):
        enhance(talking, prompt)


def test_an_encoder_that_does_not_say_how_it_is_talked_to_cannot_write(tiny_pack: Path, tmp_path: Path) -> None:
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        shutil.copy(tiny_pack / "gemma3" / name, tmp_path)
    encoder = text_encoder_builder(tmp_path).build(CPU, torch.float32)
    with pytest.raises(JobRefusedError, match="reads prompts and cannot write them"):
        enhance(encoder, "a fox")


def test_an_encoder_with_a_head_of_its_own_cannot_write(tiny_pack: Path, tmp_path: Path) -> None:
    folder = tmp_path / "gemma3"
    shutil.copytree(tiny_pack / "gemma3", folder)
    config = json.loads((folder / "config.json").read_text())
    config["text_config"]["tie_word_embeddings"] = False
    (folder / "config.json").write_text(json.dumps(config))
    encoder = text_encoder_builder(folder).build(CPU, torch.float32)
    with pytest.raises(JobRefusedError, match="reads prompts and cannot write them") as refusal:
        enhance(encoder, "a fox")
    assert "tie_word_embeddings" in refusal.value.details
