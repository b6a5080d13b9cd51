"""The helper process tells what a model can do beside making clips."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from podium.helper.process import Desk
from podium.helper.requests import GetModelFacts, ModelFacts
from podium.models.errors import CheckpointError
from podium.models.gemma_files import GemmaFiles

from tests.tiny_pack import TinyPack

FACTS = {
    "2.0": ModelFacts(can_write_prompts=True),
    "2.3": ModelFacts(can_write_prompts=True),
    "2.5": ModelFacts(can_write_prompts=True, can_make_keyframes=True, can_tell_length=True),
}


@pytest.mark.parametrize("version", list(FACTS))
def test_what_each_generation_can_do_is_told(tiny_pack: Path, version: str) -> None:
    answer = Desk().answer(GetModelFacts(TinyPack(tiny_pack, version).model_paths))
    assert answer.error is None
    assert answer.value == FACTS[version]


def test_a_model_that_lacks_a_file_has_no_facts(tiny_pack_2_3: TinyPack, tmp_path: Path) -> None:
    models = replace(tiny_pack_2_3.model_paths, gemma_root=tmp_path)
    answer = Desk().answer(GetModelFacts(models))
    assert isinstance(answer.error, CheckpointError)


@pytest.mark.parametrize(
    ("lacks", "can_write"), [("nothing", True), ("template", False), ("tied head", False), ("told", True)]
)
def test_an_encoder_writes_that_says_how_it_is_talked_to_and_has_a_head(
    tiny_pack: Path, tmp_path: Path, lacks: str, can_write: bool
) -> None:
    root = tmp_path / "gemma3"
    root.mkdir()
    for path in (tiny_pack / "gemma3").glob("*.json"):
        shutil.copy(path, root)
    config = json.loads((root / "config.json").read_text())
    told = config.get("text_config", config)
    told["tie_word_embeddings"] = lacks != "tied head"
    if lacks == "told":
        # Gemma's head is its embedding unless its files say otherwise.
        del told["tie_word_embeddings"]
    (root / "config.json").write_text(json.dumps(config))
    if lacks == "template":
        for name in ("chat_template.json", "tokenizer_config.json"):
            (root / name).unlink(missing_ok=True)
    assert GemmaFiles(root).can_write() is can_write
