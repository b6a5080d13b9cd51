"""Whatever a command does, it ends in an exit code and, where something is wrong, in a sentence."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from podium.__main__ import main
from podium.cli import commands
from podium.cli.arguments import parse_arguments
from podium.cli.commands import run_command
from podium.cli.errors import ExitCode
from podium.cli.options import GenerateOptions
from podium.errors import JobRefusedError, PodiumError
from podium.media.errors import MediaError
from podium.models.errors import CheckpointError, CheckpointReason

ERRORS: dict[BaseException, tuple[ExitCode, str]] = {
    JobRefusedError("No.", details="why"): (ExitCode.REFUSED, "No.\n"),
    CheckpointError("Bad file.", path=Path("x"), reason=CheckpointReason.CORRUPT): (ExitCode.REFUSED, "Bad file.\n"),
    MediaError("Disk full."): (ExitCode.FAILED, "Disk full.\n"),
    PodiumError("It failed."): (ExitCode.FAILED, "It failed.\n"),
    KeyboardInterrupt(): (ExitCode.INTERRUPTED, "Stopped. Nothing was written.\n"),
}


def options(*arguments: str) -> GenerateOptions:
    parsed = parse_arguments(["generate", "--demo", *arguments])
    assert isinstance(parsed, GenerateOptions)
    return parsed


def let_generate_raise(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def fail(_options: GenerateOptions) -> int:
        raise error

    monkeypatch.setattr(commands, "generate", fail)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_is_one_sentence_and_its_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: BaseException
) -> None:
    let_generate_raise(monkeypatch, error)
    code, sentence = ERRORS[error]
    assert run_command(options()) == code
    assert capsys.readouterr() == ("", sentence)


def test_details_are_told_when_asked_for(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    let_generate_raise(monkeypatch, JobRefusedError("No.", details="because of 7"))
    run_command(options("--verbose"))
    assert capsys.readouterr().err == "No.\nbecause of 7\n"


def test_a_fault_is_told_in_a_sentence_and_its_place_only_when_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    let_generate_raise(monkeypatch, ZeroDivisionError("by zero\nmore"))
    assert run_command(options()) == ExitCode.FAILED
    said = capsys.readouterr().err
    assert "(ZeroDivisionError: by zero)" in said
    assert len(said.splitlines()) == 1
    run_command(options("--verbose"))
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_polite_kill_interrupts_a_command_and_the_old_handler_comes_back(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    number = getattr(signal, name)
    before = signal.getsignal(number)

    def killed(_options: GenerateOptions) -> int:
        signal.raise_signal(number)
        return 0

    monkeypatch.setattr(commands, "generate", killed)
    assert run_command(options()) == ExitCode.INTERRUPTED
    assert signal.getsignal(number) is before


def test_the_entry_returns_the_commands_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(commands, "generate", lambda _options: 0)
    assert main(["generate", "--demo"]) == 0
    assert main(["probe", "/no/such/file"]) == ExitCode.REFUSED
    assert "There is no file" in capsys.readouterr().out
