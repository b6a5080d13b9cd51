"""What is said where nobody listens any more."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from typing import TextIO

import pytest

from podium.cli.progress import BarProgress, LineProgress
from podium.cli.terminal import ask, hand_out, say
from podium.jobs import Phase, PhaseEnded, PhaseStarted, StepDone


class Terminal(io.TextIOWrapper):
    """Takes itself for a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


@pytest.fixture
def unread() -> Iterator[TextIO]:
    """Return a pipe whose reader is gone."""
    reader, writer = os.pipe()
    os.close(reader)
    with Terminal(io.FileIO(writer, "w"), encoding="utf-8", write_through=True) as stream:
        yield stream


def test_a_sentence_that_nobody_reads_is_no_failure_and_nor_is_the_next(unread: TextIO) -> None:
    say("one", unread)
    say("two", unread)
    unread.write("by anybody else")


@pytest.mark.parametrize("make", [BarProgress, LineProgress])
def test_a_job_goes_on_without_its_audience(unread: TextIO, make: type[BarProgress | LineProgress]) -> None:
    progress = make(unread)
    for event in (
        PhaseStarted(Phase.STAGE_1, 2),
        StepDone(Phase.STAGE_1, 1, 2, 0.1),
        StepDone(Phase.STAGE_1, 2, 2, 0.1),
        PhaseEnded(Phase.STAGE_1, 0.2),
    ):
        progress.show(event)
    progress.close()
    assert progress.summary.durations_s == {Phase.STAGE_1: 0.2}


def test_a_result_arrives_with_the_bytes_that_the_system_gave_it(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert hand_out(os.fsdecode(b"fo\xff.mp4"))
    assert capfdbinary.readouterr().out == b"fo\xff.mp4\n"


def test_a_result_that_is_no_text_at_all_is_spelled_out(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert hand_out("half a pair: \ud800")
    assert capfdbinary.readouterr().out == b"half a pair: \\ud800\n"


def test_a_result_that_nobody_takes_is_known_and_no_failure(unread: TextIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", unread)
    assert not hand_out("clip.mp4")


@pytest.mark.parametrize(
    ("typed", "answer", "num_asked"), [("y\n", True, 1), ("No\n", False, 1), ("what\n\nYES\n", True, 3), ("", False, 1)]
)
def test_a_question_is_asked_until_it_is_answered(
    typed: str, answer: bool, num_asked: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    assert ask("Use it?") is answer
    assert capsys.readouterr().err == "Use it? [y/n]\n" * num_asked
