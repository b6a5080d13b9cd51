"""Every test that the table of published statements names is there."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parents[2]
ARCHITECTURE = TESTS.parent / "app" / "ARCHITECTURE.md"
TITLE = "## What was published, and the tests that show it"
_NAME = re.compile(r"`([\w/]+\.py)::(\w+|\*)`")


def table() -> list[list[str]]:
    """Return the cells of each statement's line."""
    _, _, rest = ARCHITECTURE.read_text(encoding="utf-8").partition(TITLE)
    section, _, _ = rest.partition("\n## ")
    lines = [line.strip("|").split(" | ") for line in section.splitlines() if line.startswith("|")]
    return [cells for cells in lines if "::" in cells[-1]]


@cache
def names_in(file: str) -> frozenset[str]:
    """Return the names of a file's tests."""
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    return frozenset(
        node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    )


def missing(cell: str) -> list[str]:
    """Return what a cell names and is not there."""
    named = _NAME.findall(cell)
    return [f"{file}::{test}" for file, test in named if not _has(file, test)] if named else [cell]


def _has(file: str, test: str) -> bool:
    return (TESTS / file).is_file() and (test in names_in(file) if test != "*" else bool(names_in(file)))


def test_every_statement_is_shown_by_tests_that_exist() -> None:
    statements = table()
    assert len(statements) > 40
    assert {cells[0].strip(): missing(cells[-1]) for cells in statements if missing(cells[-1])} == {}


def test_a_test_that_is_not_there_is_found() -> None:
    assert missing("`unit/house/test_published_table.py::test_a_test_that_is_not_there_is_found`") == []
    for name in ("unit/house/test_published_table.py::test_nothing", "unit/house/test_nothing.py::*"):
        assert missing(f"`{name}`") == [name]
    assert missing("nothing") == ["nothing"]
