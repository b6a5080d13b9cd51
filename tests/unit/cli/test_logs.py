"""`podium logs` prints the last fleet's logs, or exports them all without private paths."""

from __future__ import annotations

from pathlib import Path

import pytest

from podium.__main__ import main
from podium.cli.errors import ExitCode
from podium.multigpu.ranklog import default_log_folder


@pytest.fixture
def log_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = default_log_folder()
    for fleet in ("fleet-20260101-000000-1-1", "fleet-20260102-000000-1-1"):
        (folder / fleet).mkdir(parents=True)
        (folder / fleet / "rank-0.log").write_text(f"{fleet} read {tmp_path}/a.mp4\n", encoding="utf-8")
    return folder


@pytest.mark.usefixtures("log_folder")
def test_the_last_fleet_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["logs"]) == ExitCode.DONE
    out = capsys.readouterr().out
    assert "fleet-20260102-000000-1-1/rank-0.log" in out
    assert "20260101" not in out


@pytest.mark.usefixtures("log_folder")
def test_an_export_holds_all_fleets_and_no_private_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "export.txt"
    assert main(["logs", "--export", str(path)]) == ExitCode.DONE
    assert capsys.readouterr().out == f"{path}\n"
    text = path.read_text(encoding="utf-8")
    assert text.count("read <folder 1>/a.mp4") == 2
    assert tmp_path.name not in text


@pytest.mark.usefixtures("log_folder")
def test_a_file_that_is_there_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "export.txt"
    path.write_text("mine", encoding="utf-8")
    assert main(["logs", "--export", str(path)]) == ExitCode.REFUSED
    assert "is there already" in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == "mine"


@pytest.mark.usefixtures("log_folder")
def test_a_folder_that_is_missing_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["logs", "--export", str(tmp_path / "none" / "export.txt")]) == ExitCode.REFUSED
    assert "folder that exists" in capsys.readouterr().err


def test_before_the_first_fleet_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert main(["logs"]) == ExitCode.DONE
    assert "No fleet has left a log yet" in capsys.readouterr().err
