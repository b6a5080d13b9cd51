"""The job that writes a prompt out: its events, its limits and who is asked to write."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from podium.errors import JobRefusedError
from podium.jobs import EnhanceRequest, Phase, PhaseEnded, PhaseStarted, PromptEnhanced, StepDone
from podium.media.errors import MediaError
from podium.models.prompt_enhancement import MAX_NEW_TOKENS, WritingRequest, WrittenPrompt
from podium.pipelines.blocks.placement import Placement
from podium.pipelines.blocks.prompts import PromptEncoder
from podium.pipelines.enhancement import enhance_prompt
from podium.pipelines.report import OpenBoundary

WHERE = Placement(torch.device("cpu"), torch.float32)


class Scribe:
    """Writes three tokens, and looks at the picture if there is one."""

    def __init__(self) -> None:
        self.requests: list[WritingRequest] = []

    def build(self, device: torch.device, dtype: torch.dtype, **_: object) -> Scribe:
        return self

    def encode(self, prompts: object) -> list[torch.Tensor]:
        raise AssertionError("nothing is to be encoded")

    def write(self, request: WritingRequest) -> Generator[int, None, WrittenPrompt]:
        self.requests.append(request)
        seen = "" if request.read_picture is None else f" {request.read_picture().shape}"
        yield from (7, 8, 9)
        return WrittenPrompt(f"{request.prompt}, in detail{seen}", "a note")


class Counting(OpenBoundary):
    """Notes each checkpoint and stops at one."""

    def __init__(self, stops_at: int | None = None) -> None:
        self.steps: list[int] = []
        self._stops_at = stops_at

    def checkpoint(self, phase: Phase, step: int, num_steps: int) -> None:
        self.steps.append(step)
        if step == self._stops_at:
            raise JobRefusedError("stopped")


@pytest.fixture
def scribe() -> Scribe:
    return Scribe()


@pytest.fixture
def encoder(scribe: Scribe) -> PromptEncoder:
    return PromptEncoder(scribe, Unbuilt(), WHERE)


class Unbuilt:
    """A slot that nobody may build."""

    def build(self, device: torch.device, dtype: torch.dtype, **_: object) -> object:
        raise AssertionError("nothing of it is wanted")


def test_every_token_is_a_step_and_the_text_comes_last(encoder: PromptEncoder) -> None:
    boundary = Counting()
    events = list(enhance_prompt(encoder, EnhanceRequest("a fox", 5), boundary))
    assert events[0] == PhaseStarted(Phase.ENCODING, MAX_NEW_TOKENS)
    assert [event.step for event in events if isinstance(event, StepDone)] == boundary.steps == [1, 2, 3]
    assert isinstance(events[-2], PhaseEnded)
    assert events[-1] == PromptEnhanced("a fox, in detail", "a note")


def test_the_other_ranks_write_too_and_say_nothing(encoder: PromptEncoder, scribe: Scribe) -> None:
    boundary = Counting()
    assert list(enhance_prompt(encoder, EnhanceRequest("a fox", 5), boundary, is_first=False)) == []
    assert boundary.steps == [1, 2, 3]
    assert [request.seed for request in scribe.requests] == [5]


def test_it_can_be_stopped_after_any_token(encoder: PromptEncoder) -> None:
    boundary = Counting(stops_at=2)
    with pytest.raises(JobRefusedError, match="stopped"):
        list(enhance_prompt(encoder, EnhanceRequest("a fox"), boundary))
    assert boundary.steps == [1, 2]


def test_the_picture_is_handed_over_as_it_lies_on_disk(encoder: PromptEncoder, tmp_path: Path) -> None:
    path = tmp_path / "first.png"
    Image.fromarray(np.zeros((4, 6, 3), np.uint8)).save(path)
    assert list(enhance_prompt(encoder, EnhanceRequest("a fox", image_path=path)))[-1] == PromptEnhanced(
        "a fox, in detail (4, 6, 3)", "a note"
    )


def test_a_picture_that_cannot_be_read_is_refused(encoder: PromptEncoder, tmp_path: Path) -> None:
    with pytest.raises(MediaError):
        list(enhance_prompt(encoder, EnhanceRequest("a fox", image_path=tmp_path / "gone.png")))


def test_another_gemma_may_write(encoder: PromptEncoder, scribe: Scribe) -> None:
    encoder.enhancer_builder = Scribe()
    list(enhance_prompt(encoder, EnhanceRequest("a fox")))
    assert not scribe.requests


def test_an_encoder_that_cannot_write_is_refused(encoder: PromptEncoder) -> None:
    class Mute:
        build: Callable[..., object] = staticmethod(lambda *_args, **_kwargs: object())

    encoder.text_encoder_builder = Mute()
    with pytest.raises(JobRefusedError, match="cannot write"):
        list(enhance_prompt(encoder, EnhanceRequest("a fox")))
