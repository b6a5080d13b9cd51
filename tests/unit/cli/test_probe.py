"""What `podium probe` prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from podium.cli.errors import ExitCode
from podium.cli.options import ProbeOptions
from podium.cli.probe import probe


def test_a_checkpoint_is_described_in_lines(tiny_pack: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tiny_pack / "ltx-2.3-tiny.safetensors"
    assert probe(ProbeOptions((path,), as_json=False, is_verbose=False)) == ExitCode.DONE
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.startswith(f"{path}: a checkpoint, ")
    facts = dict(line.strip().split("  ", 1) for line in lines)
    assert facts["generation"].strip().startswith("LTX-2.3")
    assert facts["weights"].strip() == "F32"
    assert "402 tensors" in facts["transformer"]
    assert "4 blocks; video 8 heads of 16, audio 8 of 8" in facts["size"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gemma3", "Gemma 3, 4 layers, 48 wide"),
        ("spatial-upscaler-x2.safetensors", "pixels, 2 times"),
        ("style-lora.safetensors", "32 layers"),
        ("ltx-2.3-tiny-fp8.safetensors", "fp8 with scales"),
    ],
)
def test_each_kind_of_file_says_what_matters_of_it(
    tiny_pack: Path, capsys: pytest.CaptureFixture[str], name: str, words: str
) -> None:
    probe(ProbeOptions((tiny_pack / name,), as_json=False, is_verbose=False))
    assert words in capsys.readouterr().out


def test_one_file_that_cannot_be_used_decides_the_exit_code(
    tiny_pack: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = (tiny_pack / "gemma3", tmp_path / "gone.safetensors")
    assert probe(ProbeOptions(paths, as_json=False, is_verbose=False)) == ExitCode.REFUSED
    said = capsys.readouterr().out
    assert "a text encoder" in said
    assert "There is no file" in said


def test_json_is_a_list_with_one_report_a_path(
    tiny_pack: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = (tiny_pack / "style-lora.safetensors", tmp_path / "gone")
    assert probe(ProbeOptions(paths, as_json=True, is_verbose=False)) == ExitCode.REFUSED
    lora, gone = json.loads(capsys.readouterr().out)
    assert (lora["kind"], lora["num_lora_layers"]) == ("lora", 32)
    assert (gone["path"], gone["kind"]) == (str(tmp_path / "gone"), "unreadable")
