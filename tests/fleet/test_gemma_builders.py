"""The fleet's text encoders: the numbers of one process on any ranks, refusals alike, nothing encoded twice."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from podium.jobs import EnhanceRequest, LoraSpec, PromptEnhanced, StepDone
from podium.multigpu import JobCancelled, MGPUController, RunnerRef, SymmetricRunnerError

from tests.fakes.closeness import assert_close_to_golden
from tests.fakes.padded_gemma import padded_hidden_states
from tests.fakes.thorough import thorough

PROMPTS = ["A red fox runs across a snowy field at dawn.", "blurry, static", "a robot says hello to a child", "x", ""]
KINDS = ["accelerate", "batch"]
FILES = {"gemma3": "gemma3", "gemma4": "gemma4", "single file": "ltx-2.5/text_encoder.safetensors"}
CALL = {"prompt": "a red fox", "height": 64, "width": 64, "num_frames": 9, "frame_rate": 24}

Fleets = Callable[[int], MGPUController]


@pytest.fixture(scope="module")
def gemma_fleets(_warm_forkserver: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleets]:
    fleets: dict[int, MGPUController] = {}

    def get(num_ranks: int) -> MGPUController:
        if num_ranks not in fleets:
            runner = RunnerRef("tests.fakes.gemma_runner:GemmaRunner")
            fleets[num_ranks] = MGPUController(runner, cpu_ranks=num_ranks, log_folder=tmp_path_factory.mktemp("logs"))
            fleets[num_ranks].start(timeout=60)
        return fleets[num_ranks]

    yield get
    for fleet in fleets.values():
        fleet.shutdown(graceful_timeout=10)


@pytest.fixture(scope="module")
def alone(tiny_pack: Path) -> Callable[[str], list[Tensor]]:
    """Return what transformers makes of the prompts by itself, made once."""
    made: dict[str, list[Tensor]] = {}

    def get(name: str) -> list[Tensor]:
        folder = "gemma3" if name == "gemma3" else "gemma4"
        if folder not in made:
            made[folder] = padded_hidden_states(tiny_pack / folder, PROMPTS)
        return made[folder]

    return get


@pytest.fixture(scope="module")
def brief_gemma(tiny_pack: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a Gemma 3 folder that writes a few words: every seventh token ends its text."""
    folder = tmp_path_factory.mktemp("brief") / "gemma3"
    shutil.copytree(tiny_pack / "gemma3", folder)
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": list(range(1, 500, 7))}))
    # With a small embedding the blocks decide the next token, not the last one.
    tensors = load_file(folder / "model.safetensors")
    key = "language_model.model.embed_tokens.weight"
    save_file(tensors | {key: tensors[key] * 0.02}, folder / "model.safetensors", {"format": "pt"})
    return folder


def by_rank(items: Iterator[Any]) -> list[dict[str, Any]]:
    return sorted(items, key=lambda item: item["rank"])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("num_ranks", "name"),
    [(1, "single file"), (2, "gemma3"), (2, "single file"), (3, "gemma4"), (3, "gemma3"), thorough(4, "gemma4")],
)
def test_prompts_are_encoded_as_transformers_does_alone(
    gemma_fleets: Fleets,
    alone: Callable[[str], list[Tensor]],
    tiny_pack: Path,
    kind: str,
    num_ranks: int,
    name: str,
) -> None:
    path = tiny_pack / FILES[name]
    ranks = by_rank(gemma_fleets(num_ranks).stream(action="encode", kind=kind, path=path, prompts=PROMPTS))
    assert [item["rank"] for item in ranks] == list(range(num_ranks))
    for index, theirs in enumerate(alone(name)):
        assert_close_to_golden(ranks[0]["states"][index], theirs, 2e-6, name=f"{name} {index}")
        # Nothing may drift apart: every rank goes on with the same bits.
        assert all(torch.equal(item["states"][index], ranks[0]["states"][index]) for item in ranks)


@pytest.mark.parametrize("kind", KINDS)
def test_the_source_may_be_any_rank(
    gemma_fleets: Fleets, alone: Callable[[str], list[Tensor]], tiny_pack: Path, kind: str
) -> None:
    call = {"kind": kind, "path": tiny_pack / "gemma3", "src_rank": 1}
    for item in gemma_fleets(2).stream(action="encode", prompts=PROMPTS, **call):
        assert_close_to_golden(item["states"][0], alone("gemma3")[0])


def test_every_rank_passes_the_boundaries_of_the_one_that_reads(gemma_fleets: Fleets, tiny_pack: Path) -> None:
    call = {"action": "encode", "kind": "accelerate", "path": tiny_pack / "gemma4", "prompts": ["a fox"], "src_rank": 1}
    first, second = (list(gemma_fleets(2).stream(**call)) for _ in range(2))
    (num_passed,) = {item["num_passed"] for item in first}
    assert num_passed > 10
    assert {item["num_passed"] for item in second} == {0}


@pytest.mark.parametrize("kind", KINDS)
def test_a_prompt_that_is_too_long_is_refused_by_all_ranks_and_the_fleet_lives(
    gemma_fleets: Fleets, tiny_pack: Path, kind: str
) -> None:
    fleet = gemma_fleets(3)
    call = {"action": "encode", "kind": kind, "path": tiny_pack / "gemma3"}
    with pytest.raises(SymmetricRunnerError, match="1025 tokens, and the model reads 1024"):
        list(fleet.stream(prompts=["a fox", "<pad>" * 1024, "a dog"], **call))
    assert len(list(fleet.stream(prompts=["a fox"], **call))) == 3


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_that_cannot_be_read_is_refused_by_all_ranks_and_the_fleet_lives(
    gemma_fleets: Fleets, tmp_path: Path, kind: str
) -> None:
    fleet = gemma_fleets(2)
    with pytest.raises(SymmetricRunnerError, match="not a complete Gemma folder"):
        list(fleet.stream(action="encode", kind=kind, path=tmp_path, prompts=["a fox"]))
    assert fleet.is_alive


@pytest.mark.parametrize("num_ranks", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_known_prompts_are_not_encoded_again_on_any_rank(
    gemma_fleets: Fleets, tiny_pack: Path, kind: str, num_ranks: int
) -> None:
    fleet = gemma_fleets(num_ranks)
    # A source of their own keeps these counts apart from other tests'.
    call = {"action": "contexts", "kind": kind, "path": tiny_pack / "gemma3", "src_rank": num_ranks - 1}
    seen = [by_rank(fleet.stream(prompts=prompts, **call)) for prompts in (["a", "b"], ["a", "b"], ["c", "b"])]
    counts = [[item["num_calls"] for item in of_job] for of_job in seen]
    first = counts[0][0]
    assert counts == [[first] * num_ranks, [first] * num_ranks, [first + 1] * num_ranks]
    for (video, audio), (video_again, audio_again) in zip(seen[0][0]["contexts"], seen[1][-1]["contexts"], strict=True):
        assert torch.equal(video, video_again)
        assert torch.equal(audio, audio_again)


def test_what_one_rank_has_forgotten_all_encode_again(gemma_fleets: Fleets, tiny_pack: Path) -> None:
    fleet = gemma_fleets(3)
    call = {"action": "contexts", "kind": "accelerate", "path": tiny_pack / "gemma3", "prompts": ["a", "b"]}
    before = by_rank(fleet.stream(**call))
    after = by_rank(fleet.stream(forgetful_rank=2, **call))
    assert [item["num_calls"] for item in after] == [item["num_calls"] + 1 for item in before]


@pytest.mark.usefixtures("_warm_forkserver")
@pytest.mark.parametrize("num_ranks", [thorough(1), 2])
def test_another_seed_or_lora_set_encodes_nothing(num_ranks: int, tiny_pack: Path, tmp_path: Path) -> None:
    runner = RunnerRef("tests.fakes.gemma_runner:CountedDistilledRunner")
    fleet = MGPUController(runner, cpu_ranks=num_ranks, log_folder=tmp_path)
    fleet.start(
        timeout=120,
        checkpoint_path=tiny_pack / "ltx-2.3-tiny.safetensors",
        gemma_root=tiny_pack / "gemma3",
        spatial_upsampler_path=tiny_pack / "spatial-upscaler-x2.safetensors",
        dtype="float32",
    )
    loras = [LoraSpec(tiny_pack / "style-lora.safetensors", 0.6)]
    jobs = [{"seed": 1}, {"seed": 2}, {"seed": 2, "loras": loras}, {"seed": 2, "prompt": "a dog"}]
    seen = [list(fleet.stream(**{**CALL, **job})) for job in jobs]
    fleet.shutdown(graceful_timeout=10)
    assert [[item["num_calls"] for item in of_job] for of_job in seen] == [[n] * num_ranks for n in (1, 1, 1, 2)]
    assert not any(torch.equal(one[0]["latent"], other[0]["latent"]) for one, other in pairwise(seen))


@pytest.mark.parametrize(("kind", "num_ranks", "src_rank"), [("accelerate", 2, 0), ("batch", 2, 1), ("batch", 3, 0)])
def test_a_prompt_is_written_out_by_the_source_and_told_by_the_first_rank(
    gemma_fleets: Fleets, brief_gemma: Path, kind: str, num_ranks: int, src_rank: int
) -> None:
    call = {"action": "enhance", "path": brief_gemma, "request": EnhanceRequest("a fox", 3)}
    *_, reference = gemma_fleets(1).stream(kind="accelerate", **call)
    events = list(gemma_fleets(num_ranks).stream(kind=kind, src_rank=src_rank, **call))
    assert isinstance(reference, PromptEnhanced)
    assert events[-1] == reference
    steps = [event.step for event in events if isinstance(event, StepDone)]
    assert steps == list(range(1, len(steps) + 1))
    assert len(steps) > 1


@pytest.mark.parametrize("kind", KINDS)
def test_prompts_can_be_written_out_by_another_gemma_than_encodes_them(
    gemma_fleets: Fleets, tiny_pack: Path, brief_gemma: Path, kind: str
) -> None:
    ask = {"action": "enhance", "kind": kind, "request": EnhanceRequest("a red fox", 3)}
    fleet = gemma_fleets(2)
    wanted = list(fleet.stream(path=brief_gemma, **ask))[-1]
    written = list(fleet.stream(path=tiny_pack / "gemma4", enhancer_path=brief_gemma, **ask))[-1]
    assert isinstance(wanted, PromptEnhanced)
    assert written == wanted


def test_writing_can_be_cancelled_between_two_tokens(gemma_fleets: Fleets, tiny_pack: Path) -> None:
    fleet = gemma_fleets(2)
    request = EnhanceRequest("a fox", 3)
    stream = fleet.stream(action="enhance", kind="accelerate", path=tiny_pack / "gemma3", request=request)
    first = next(event for event in stream if isinstance(event, StepDone))
    stream.cancel()
    later: list[Any] = []
    with pytest.raises(SymmetricRunnerError) as cancelled:
        later.extend(stream)
    assert isinstance(cancelled.value.__cause__, JobCancelled)
    assert first.step == 1
    assert fleet.is_alive


def test_what_cannot_be_written_out_is_refused_by_all_ranks(gemma_fleets: Fleets, tiny_pack: Path) -> None:
    fleet = gemma_fleets(2)
    with pytest.raises(SymmetricRunnerError, match="no prompt to write out"):
        list(fleet.stream(action="enhance", kind="batch", path=tiny_pack / "gemma3", request=EnhanceRequest(" ")))
    assert fleet.is_alive
