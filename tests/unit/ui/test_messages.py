"""Every error becomes a sentence for the artist, with the technical half folded beneath."""

from __future__ import annotations

import signal

import pytest

from podium.errors import JobRefusedError, PodiumError
from podium.jobs import Phase
from podium.multigpu import (
    ControllerStoppedError,
    JobTimeoutError,
    PlacementError,
    RunnerCrashedError,
    RunnerError,
    StartTimeoutError,
    SymmetricRunnerError,
    WorkerDiedError,
)
from podium.ui.messages import FailurePlace, message_of, place_of


def crash(text: str, details: str) -> RunnerCrashedError:
    return RunnerCrashedError(text, rank=0, phase=Phase.STAGE_1, details=details)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (JobRefusedError("The prompt is empty."), "The prompt is empty."),
        (SymmetricRunnerError((RunnerError("No room left."),)), "No room left."),
        (PlacementError("There is no GPU 3."), "There is no GPU 3."),
        (ControllerStoppedError("The fleet was stopped."), "The fleet was stopped."),
        (StartTimeoutError("x"), "was not ready in time"),
        (JobTimeoutError("x"), "took longer than it was given"),
        (crash("Rank 0 failed: KeyError", "Traceback"), "fault in Podium or beneath it"),
        (crash("Rank 0 failed: OutOfMemoryError", "CUDA out of memory"), "Fewer frames"),
        (MemoryError(), "Fewer frames"),
        (ZeroDivisionError("division by zero"), "ZeroDivisionError"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_an_error_has_its_sentence(error: Exception, words: str) -> None:
    assert words in message_of(error).sentence


def test_a_rank_killed_by_the_system_says_what_would_help() -> None:
    error = WorkerDiedError("Rank 1 (cpu) was killed.", rank=1, phase=Phase.LOADING, signal=signal.SIGKILL)
    assert "more memory" in message_of(error).sentence


def test_what_a_runner_raised_stays_in_the_details() -> None:
    message = message_of(crash("Rank 0 (cuda:0) failed: KeyError: 'x'", "Traceback: line 7"))
    assert "Rank 0 (cuda:0) failed" in message.details
    assert "line 7" in message.details


def test_a_fault_brings_its_traceback() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        raise ZeroDivisionError
    assert "test_messages.py" in message_of(caught.value).details


def test_an_error_without_details_repeats_itself_there_once() -> None:
    assert message_of(PodiumError("Gone.")).details == "Gone."


def test_a_death_tells_its_place() -> None:
    error = WorkerDiedError("Rank 1 died.", rank=1, phase=Phase.STAGE_2, log_lines=("a", "b"))
    assert place_of(error) == FailurePlace(1, Phase.STAGE_2, ("a", "b"))


def test_a_timeout_tells_the_place_of_one_rank_only() -> None:
    assert place_of(JobTimeoutError("Late.", ranks=(2,), phases=(Phase.DECODING,))) == FailurePlace(2, Phase.DECODING)
    assert place_of(JobTimeoutError("Late.", ranks=(0, 1), phases=(Phase.IDLE, Phase.IDLE))) == FailurePlace()
    assert place_of(ZeroDivisionError()) == FailurePlace()
