"""What measurements on GPUs say: figures through a pipe, limits, and the time that collectives take."""

from __future__ import annotations

import json
import math
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.gpu.collective_share import covered_us, spans_of
from tests.gpu.figures import Figure, FigureSheet, tell, told_in
from tests.gpu.run_tests import Told


@given(st.floats(allow_nan=False) | st.text(), st.none() | st.floats(allow_nan=False))
def test_a_figure_arrives_as_it_was_told(value: float | str, limit: float | None) -> None:
    figure = Figure("a share | of it", value, "ms", limit)
    with redirect_stdout(StringIO()) as printed:
        tell(figure)
    (line,) = printed.getvalue().splitlines()
    assert told_in(f"..{line}\n") == ("..", figure)
    assert told_in(f"..{line}and more\n") == ("..and more", figure)


@pytest.mark.parametrize("line", ["12 passed\n", 'FIGURE {"name": "cut o', 'FIGURE {"noname": 1}\n', "FIGURE\n"])
def test_a_line_without_a_whole_figure_is_words(line: str) -> None:
    assert told_in(line) == (line, None)


@pytest.mark.parametrize(
    ("value", "limit", "is_met"),
    [(1.0, 1.0, True), (1.01, 1.0, False), (math.nan, 1.0, False), (math.inf, 1.0, False), (5.0, None, None)],
)
def test_a_limit_is_kept_up_to_its_number_and_by_no_number_never(
    value: float, limit: float | None, is_met: bool | None
) -> None:
    assert Figure("a figure", value, limit=limit).is_met is is_met


def test_a_sheet_keeps_every_figure_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sheet = FigureSheet(tmp_path / "new", "On a test")
    sheet.add("share", Figure("a forward", 1234.56, "ms", 1000))
    assert "1,234.6 ms | at most 1,000: **NO**" in (tmp_path / "new" / "figures.md").read_text(encoding="utf-8")
    sheet.add("share", Figure("graphs", 0, limit=0))
    kept = json.loads((tmp_path / "new" / "figures.json").read_text(encoding="utf-8"))
    assert [figure["value"] for figure in kept["share"]] == [1234.56, 0]
    assert sheet.num_missed == 1
    assert "graphs: 0 (at most 0: yes)" in capsys.readouterr().out


def test_collectives_are_told_from_other_work_by_the_name_of_their_kernel() -> None:
    events = [
        {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_SendRecv(...)", "ts": 10, "dur": 5},
        {"ph": "X", "cat": "kernel", "name": "triton_poi_fused_1", "ts": 12, "dur": 8.5},
        {"ph": "X", "cat": "cuda_runtime", "name": "ncclSomething", "ts": 0, "dur": 99},
        {"ph": "i", "cat": "kernel", "name": "no span"},
    ]
    assert spans_of(events, ("kernel", "gpu_memcpy"), "nccl") == ([(10.0, 15.0)], [(12.0, 20.5)])


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20))))
def test_spans_cover_as_long_as_at_least_one_of_them_lasts(spans: list[tuple[int, int]]) -> None:
    seen = {moment for start, length in spans for moment in range(start, start + length)}
    assert covered_us([(float(start), float(start + length)) for start, length in spans]) == len(seen)


@pytest.mark.parametrize("when", ["import", "call", "setup"])
def test_whatever_of_a_test_fails_is_counted_and_told(when: str) -> None:
    words, told = "E   ModuleNotFoundError: no httpx", Told()
    with redirect_stdout(StringIO()) as printed:
        if when == "import":
            told.pytest_collectreport(pytest.CollectReport("test_it.py", "failed", words, []))
        else:
            report = pytest.TestReport("test_it.py", ("test_it.py", 1, "test_it"), {}, "failed", words, when)  # type: ignore[arg-type] # one of its words
            told.pytest_runtest_logreport(report)
    assert told.outcomes == {"failed": 1}
    assert told_in(printed.getvalue())[1] == Figure(f"FAILED test_it.py ({when})", words)
