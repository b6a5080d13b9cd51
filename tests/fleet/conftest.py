"""Fleets for tests: shared ones by world size, own ones for tests that break theirs, and drivers in processes.

Their ranks are on the CPU; `PODIUM_TESTS_RANKS_ON_GPUS=2` gives fleets of one and two ranks a GPU for each.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from podium.multigpu import MGPUController, preload_forkserver
from podium.multigpu.forkserver import SHARED

from tests.fakes.processes import MARK, Script, wait_until
from tests.fakes.runners import ScriptedRunner
from tests.fleet.report import cell_tables, figure_table
from tests.gpu.places import fleet_place

REPOSITORY = Path(__file__).resolve().parents[2]
# Scripts of their own pay for their own forkserver; torch alone is enough for what they do.
SCRIPT_PRELUDE = """
import os, signal, sys, threading, time
from podium.multigpu import *
from podium.multigpu.forkserver import preload_forkserver
preload_forkserver(("torch",))
"""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what the long tests have seen; a failed cell says so."""
    cells, figures = [], []
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            for name, value in getattr(report, "user_properties", ()):
                cells += [value] if name == "cell" else []
                figures += [value] if name == "figure" else []
    for line in (*cell_tables(cells), *figure_table(figures)):
        terminalreporter.write_line(line)


@pytest.fixture(scope="session", autouse=True)
def _warm_forkserver(_session_environment: None) -> Iterator[None]:
    preload_forkserver()
    yield
    SHARED.close()


class FleetPool:
    """One shared fleet per world size."""

    def __init__(self, log_folder: Path) -> None:
        self._log_folder = log_folder
        self._fleets: dict[int, MGPUController] = {}

    def get(self, num_ranks: int = 2) -> MGPUController:
        """Return a live, idle fleet."""
        if num_ranks not in self._fleets or not self._fleets[num_ranks].is_alive:
            fleet = MGPUController(ScriptedRunner, log_folder=self._log_folder, **fleet_place(num_ranks))
            fleet.start(timeout=60, flavour="shared")
            self._fleets[num_ranks] = fleet
        return self._fleets[num_ranks]

    def close(self) -> None:
        """Stop them all."""
        for fleet in self._fleets.values():
            fleet.shutdown(graceful_timeout=10)


@pytest.fixture(scope="session")
def fleets(_warm_forkserver: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FleetPool]:
    """Return the pool of shared fleets; a test leaves its fleet alive and idle."""
    pool = FleetPool(tmp_path_factory.mktemp("logs"))
    yield pool
    pool.close()


@pytest.fixture
def own_fleet(tmp_path: Path) -> Iterator[Callable[..., MGPUController]]:
    """Return a maker of fleets that a test may break: `own_fleet(num_ranks=2, **setup)`; `start=False` starts none."""
    made: list[MGPUController] = []

    def make(
        num_ranks: int = 2, *, start: bool = True, runner: object = ScriptedRunner, **setup: object
    ) -> MGPUController:
        fleet = MGPUController(runner, log_folder=tmp_path / "logs", **fleet_place(num_ranks))  # type: ignore[arg-type]
        made.append(fleet)
        if start:
            fleet.start(timeout=60, **setup)
        return fleet

    yield make
    for fleet in made:
        fleet.shutdown(graceful_timeout=0)
    for fleet in made:
        fleet.shutdown(graceful_timeout=10)


@pytest.fixture
def run_script(tmp_path: Path) -> Iterator[Callable[..., Script]]:
    """Return a starter of driver scripts: `run_script(text, stdin=False)`; `stdin=True` is an interactive session."""
    scripts: list[Script] = []

    def run(text: str, *, stdin: bool = False) -> Script:
        mark = uuid.uuid4().hex
        path = tmp_path / f"driver-{mark}.py"
        path.write_text(SCRIPT_PRELUDE + textwrap.dedent(text), encoding="utf-8")
        paths = [str(REPOSITORY / "app"), str(REPOSITORY / "resources"), str(REPOSITORY)]
        with path.open(encoding="utf-8") as source:
            process = subprocess.Popen(
                [sys.executable, *(["-i"] if stdin else [str(path)])],
                stdin=source if stdin else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL if stdin else None,
                text=True,
                cwd=tmp_path,
                start_new_session=True,
                env={**os.environ, MARK: mark, "PYTHONPATH": os.pathsep.join(paths), "PYTHONUNBUFFERED": "1"},
            )
        scripts.append(Script(process, mark))
        return scripts[-1]

    yield run
    for script in scripts:
        script.process.kill()
        script.process.wait()
        # Its guard cleans up after it; what a test left beside its fleet is ended here.
        wait_until(lambda left=script.relatives: not left(), 3)
        for pid in script.relatives():
            os.kill(pid, signal.SIGKILL)
        if script.process.stdout is not None:
            script.process.stdout.close()
