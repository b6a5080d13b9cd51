"""The helper process, asked as the window asks it."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import psutil
import pytest
from pytestqt.qtbot import QtBot

from podium.helper.requests import (
    Answer,
    CheckRequest,
    CountTokens,
    HelperError,
    ListDevices,
    MakeThumbnail,
    ProbeFile,
    ReadLora,
    Request,
    ResolvePack,
    WriteDemoPack,
)
from podium.jobs import ClipFormat, GenerationRequest
from podium.models.errors import CheckpointError
from podium.models.paths import ModelPaths
from podium.models.probe.report import FileKind
from podium.ui.helper_client import HelperClient

from tests.fakes.busyness import Patience

LONG_MS = 30_000


@pytest.fixture
def client(qapp: object) -> Iterator[HelperClient]:
    client = HelperClient()
    yield client
    client.close()


@pytest.fixture
def models(tiny_pack: Path) -> ModelPaths:
    return ModelPaths(
        tiny_pack / "ltx-2.3-tiny.safetensors", tiny_pack / "gemma3", tiny_pack / "spatial-upscaler-x2.safetensors"
    )


def ask(qtbot: QtBot, client: HelperClient, *requests: Request[Any]) -> list[Answer[Any]]:
    answers: dict[int, Answer[Any]] = {}
    for place, request in enumerate(requests):
        client.ask(request, lambda answer, place=place: answers.__setitem__(place, answer))
    assert answers == {}
    qtbot.waitUntil(lambda: len(answers) == len(requests), timeout=LONG_MS)
    return [answers[place] for place in range(len(requests))]


def test_it_probes_counts_and_resolves(client: HelperClient, qtbot: QtBot, models: ModelPaths) -> None:
    probed, counted, pack = ask(
        qtbot,
        client,
        ProbeFile(models.checkpoint_path),
        CountTokens(models.gemma_root, "a red fox 🦊"),
        ResolvePack(models),
    )
    assert probed.value.kind is FileKind.CHECKPOINT
    assert counted.value.num_tokens > 3
    assert counted.value.max_tokens == 1024
    assert pack.value.paths == models


def test_it_reads_loras_and_checks_requests(
    client: HelperClient, qtbot: QtBot, models: ModelPaths, tiny_pack: Path, tmp_path: Path
) -> None:
    clip = ClipFormat(192, 256, 25, Fraction(24))
    request = GenerationRequest("a fox", 7, clip, tmp_path / "new folder" / "a.mp4")
    lora, checked, refused = ask(
        qtbot,
        client,
        ReadLora(tiny_pack / "style-lora.safetensors", models.checkpoint_path),
        CheckRequest(request, models, 1, "float32"),
        CheckRequest(request, models, 1000, "float32"),
    )
    assert lora.value.applied.num_layers > 0
    assert checked.value.parameters["prompt"] == "a fox"
    assert checked.value.parameters["dtype"] == "float32"
    assert "1000 devices are chosen" in refused.error.message


def test_a_refusal_comes_as_its_own_error(client: HelperClient, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "cut.safetensors").write_bytes(b"\x10")
    models = ModelPaths(tmp_path / "cut.safetensors", tmp_path, tmp_path / "none")
    (answer,) = ask(qtbot, client, ResolvePack(models))
    assert isinstance(answer.error, CheckpointError)
    assert answer.error.path == tmp_path / "cut.safetensors"
    assert answer.value is None


def test_it_makes_thumbnails_that_keep_the_shape(client: HelperClient, qtbot: QtBot, tmp_path: Path) -> None:
    import numpy as np

    from podium.media.stills import write_png

    write_png(tmp_path / "a.png", np.full((100, 200, 3), 7, np.uint8))
    made, missing = ask(qtbot, client, MakeThumbnail(tmp_path / "a.png", 64), MakeThumbnail(tmp_path / "none.png", 64))
    assert (made.value.width, made.value.height) == (64, 32)
    assert made.value.rgb == bytes([7]) * (64 * 32 * 3)
    assert "none.png" in missing.error.message


def test_it_lists_no_device_where_there_is_none(client: HelperClient, qtbot: QtBot, tmp_path: Path) -> None:
    (answer,) = ask(qtbot, client, ListDevices(tmp_path))
    assert answer.error is None
    assert isinstance(answer.value, tuple)


def test_what_takes_seconds_delays_nothing_else(
    client: HelperClient, qtbot: QtBot, models: ModelPaths, tmp_path: Path
) -> None:
    order: list[str] = []
    client.ask(WriteDemoPack(tmp_path / "cache"), lambda _: order.append("slow"))
    client.ask(CountTokens(models.gemma_root, "a fox"), lambda _: order.append("quick"))
    qtbot.waitUntil(lambda: len(order) == 2, timeout=LONG_MS)
    assert order == ["quick", "slow"]


@pytest.mark.logs_warnings
def test_a_helper_that_died_is_replaced_and_asked_again(client: HelperClient, qtbot: QtBot, models: ModelPaths) -> None:
    ask(qtbot, client, CountTokens(models.gemma_root, "a"))
    first = client.pid
    assert first is not None
    os.kill(first, signal.SIGSTOP)
    answers: list[Answer[Any]] = []
    client.ask(CountTokens(models.gemma_root, "a fox"), answers.append)
    os.kill(first, signal.SIGKILL)
    qtbot.waitUntil(lambda: len(answers) == 1, timeout=LONG_MS)
    assert answers[0].error is None
    assert client.pid != first


@pytest.mark.logs_warnings
def test_a_question_that_kills_it_twice_is_given_up(qapp: object, qtbot: QtBot, tmp_path: Path) -> None:
    client = HelperClient([sys.executable, "-c", "import sys; sys.stdin.buffer.read(1)"])
    (answer,) = ask(qtbot, client, ProbeFile(tmp_path))
    assert isinstance(answer.error, HelperError)
    assert "ended twice" in answer.error.message
    client.close()


@pytest.mark.logs_warnings
def test_a_helper_that_cannot_be_started_is_said(qapp: object, qtbot: QtBot, tmp_path: Path) -> None:
    client = HelperClient(["/nonexistent/python"])
    (answer,) = ask(qtbot, client, ProbeFile(tmp_path))
    assert isinstance(answer.error, HelperError)
    client.close()


@pytest.mark.logs_warnings
def test_after_an_answer_that_closes_it_nothing_more_is_answered(qapp: object, qtbot: QtBot, tmp_path: Path) -> None:
    client = HelperClient(["/nonexistent/python"])
    answers: list[Answer[Any]] = []

    def close(answer: Answer[Any]) -> None:
        answers.append(answer)
        client.close()

    client.ask(ProbeFile(tmp_path / "a"), close)
    client.ask(ProbeFile(tmp_path / "b"), answers.append)
    qtbot.waitUntil(lambda: bool(answers), timeout=LONG_MS)
    assert len(answers) == 1


def test_it_ends_with_the_window(client: HelperClient, qtbot: QtBot, tmp_path: Path, patience: Patience) -> None:
    ask(qtbot, client, ProbeFile(tmp_path))
    pid = client.pid
    assert pid is not None
    begun_s = time.monotonic()
    client.close()
    assert time.monotonic() - begun_s < patience(1.0)
    assert not psutil.pid_exists(pid)


def test_asking_waits_for_nothing(client: HelperClient, qtbot: QtBot, models: ModelPaths, patience: Patience) -> None:
    ask(qtbot, client, CountTokens(models.gemma_root, "a"))
    pid = client.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    begun_s = time.monotonic()
    for _ in range(20):
        client.ask(CountTokens(models.gemma_root, "word " * 20_000), lambda _: None)
    took_s = time.monotonic() - begun_s
    os.kill(pid, signal.SIGCONT)
    assert took_s < patience(0.2)
