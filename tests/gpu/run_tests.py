"""The tests of fleets and builders as parts: `builders` of one GPU and of several, `fleet` of several.

Their own figures are told, and how many passed and failed.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest

from tests.gpu.bench import Bench, print_logs
from tests.gpu.figures import Figure, tell
from tests.gpu.places import ON_CPU, ON_GPUS

ROOT = Path(__file__).resolve().parents[2]
# Qt's plugin is for the window's tests alone; where it is missing, the option that is meant for it is unknown.
COMMAND = (
    *("-o", "addopts=--import-mode=importlib", "-W", "ignore::pytest.PytestConfigWarning"),
    *("-p", "no:cacheprovider", "-p", "no:pytest-qt", "-p", "no:randomly", "-q"),
    # A package that is missing costs the tests that need it, and no others.
    "--continue-on-collection-errors",
    *("-o", "timeout=60"),
)
# Tests of the fleet that say nothing of where a rank computes. Those with tensors stand in `tests.gpu` for devices.
FLEET_TESTS = (
    "test_jobs.py",
    "test_cancel.py",
    "test_rank_status.py",
    "test_death.py",
)
# As Python writes where each thread was when a signal ended the process.
CRASHED = "Fatal Python error"
# CPU ranks alone are niced.
NOT_ON_GPUS = "not each_rank_knows_where_it_is"


class Told:
    """A plugin that tells what tests record, and counts them."""

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        # A module that cannot be imported has no tests that could fail.
        if report.failed:
            self._tell_failed(report, "import")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, value in report.user_properties if report.when == "call" else ():
            if name == "figure":
                what, seen = cast("tuple[str, str]", value)
                tell(Figure(what, _number(seen)))
        if report.failed:
            self._tell_failed(report, report.when or "")
        elif report.when == "call":
            self.outcomes[report.outcome] += 1

    def _tell_failed(self, report: pytest.CollectReport | pytest.TestReport, when: str) -> None:
        self.outcomes["failed"] += 1
        tell(Figure(f"FAILED {report.nodeid} ({when})", (report.longreprtext.splitlines() or [""])[-1][:200]))


def _number(seen: str) -> float | str:
    try:
        return float(seen)
    except ValueError:
        return seen


def run(arguments: Sequence[str], folder: Path) -> None:
    """Run tests in this process, their files in a folder of their own, and tell; ranks that crashed say where."""
    os.chdir(ROOT)
    told = Told()
    code = pytest.main([*COMMAND, f"--basetemp={folder / 'tests'}", *arguments], plugins=[told])
    print_logs(folder, naming=CRASHED)
    tell(Figure("tests passed", told.outcomes["passed"]))
    tell(Figure("tests failed", told.outcomes["failed"], limit=0))
    if code not in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}:
        raise RuntimeError(f"pytest ended with {code!r}")


def builders(bench: Bench) -> None:
    """Compare every builder's ranks with one process on the CPU: on one GPU that they share, or on one each."""
    chosen = "several" if bench.num_ranks > 1 else "not several"
    if bench.is_small:
        os.environ[ON_CPU] = str(max(2, bench.num_ranks))
        # There is no GPU whose memory could be told or freed.
        chosen = "not force_stop and not memory_told"
    run(["-m", "gpu", "-k", chosen, "tests/gpu"], bench.folder)


def fleet(bench: Bench) -> None:
    """Run the fleet's tests with a GPU for each rank, where there are as many; the others stay on the CPU."""
    if not bench.is_small:
        os.environ[ON_GPUS] = str(bench.num_ranks)
    run(["-m", "not faults", "-k", NOT_ON_GPUS, *(f"tests/fleet/{name}" for name in FLEET_TESTS)], bench.folder)
