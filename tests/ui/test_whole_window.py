"""The window as a person uses it, from the first page to a forced stop: once offscreen and once on a real X server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.busyness import Patience

REPOSITORY = Path(__file__).resolve().parents[2]
# The contract's numbers, in seconds.
RETURNS_S, OWNER_KNOWS_S, CLOSES_S = 0.1, 0.5, 3.0


@pytest.fixture
def x_server() -> Iterator[str]:
    """Return the name of a display of our own, with a window manager, without which nothing gets the focus."""
    read_fd, write_fd = os.pipe()
    command = ["Xvfb", "-displayfd", str(write_fd), "-screen", "0", "1440x900x24", "-nolisten", "tcp"]
    with subprocess.Popen(command, pass_fds=(write_fd,), stderr=subprocess.DEVNULL) as server:
        os.close(write_fd)
        with os.fdopen(read_fd) as answer:
            display = f":{answer.readline().strip()}"
        environment = {**os.environ, "DISPLAY": display}
        with subprocess.Popen(["openbox"], env=environment, stderr=subprocess.DEVNULL) as manager:
            yield display
            manager.terminate()
        server.terminate()


def run_day(folder: Path, **environment: str) -> dict[str, Any]:
    """Run the day in a process of its own and return what it told."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.ui.whole_window", str(folder)],
        check=False,
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), **environment},
        capture_output=True,
        text=True,
        timeout=270,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def check_day(told: dict[str, Any], patience: Patience) -> None:
    """Check what the day must have been like."""
    assert told["first clip"]["pictures"] >= 3
    assert told["first clip"]["motions"] >= 1
    assert told["first clip"]["clip"]
    assert "outline" in told["first clip"]["loras"][0]
    assert told["swap"]["same ranks"]
    assert "night-colours" in told["swap"]["loras"][0]
    assert told["soft cancel"]["same ranks"]
    assert told["heavy modules"] == []
    for stop in (told["force stop"], told["force stop while starting"]):
        assert stop["shutdown on the window's thread"]
        assert stop["returned after_s"] < patience(RETURNS_S)
        assert stop["owner knew after_s"] < patience(OWNER_KNOWS_S)
    assert told["closed after_s"] < patience(CLOSES_S)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_day_offscreen(tmp_path: Path, patience: Patience) -> None:
    check_day(run_day(tmp_path, QT_QPA_PLATFORM="offscreen"), patience)


@pytest.mark.thorough
@pytest.mark.timeout(300)
def test_a_day_on_an_x_server(tmp_path: Path, x_server: str, patience: Patience) -> None:
    told = run_day(tmp_path, QT_QPA_PLATFORM="xcb", DISPLAY=x_server)
    assert told["platform"] == "xcb"
    check_day(told, patience)
