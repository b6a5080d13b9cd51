"""How close everything comes: a plugin that prints, after a run of tests, each one's comparisons and figures.

    python -m pytest -p tests.fakes.figures tests/unit/models tests/unit/pipelines

A line for each test, all its cases together: how many comparisons of `tests.fakes.closeness` it made and the largest of
them, which for a test that wants two things to differ is not the smaller the better; then what tests have recorded.
"""

from __future__ import annotations

import re
from collections import defaultdict

import pytest

from tests.fakes.closeness import COMPARED

_CASE = re.compile(r"(\[.*\])? \(\w+\)$")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the tables."""
    by_test: dict[str, list[float]] = defaultdict(list)
    for test, error in COMPARED:
        by_test[_CASE.sub("", test).removeprefix("tests/")].append(error)
    rows = [(test, str(len(errors)), f"{max(errors):.1e}") for test, errors in sorted(by_test.items())]
    recorded = {
        value
        for outcome in ("passed", "failed")
        for report in terminalreporter.stats.get(outcome, [])
        for name, value in getattr(report, "user_properties", ())
        if name == "figure"
    }
    for head, lines in (
        (("test", "comparisons", "largest relative error"), rows),
        (("what", "seen"), sorted(recorded)),
    ):
        terminalreporter.write_line("")
        for cells in (head, ["---"] * len(head), *lines):
            terminalreporter.write_line(f"| {' | '.join(cells)} |")
