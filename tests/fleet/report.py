"""What the long tests of the fleet have seen, as Markdown for app/ARCHITECTURE.md."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tests.fakes.faults import Fault, Site

Cell = tuple[int, Site, Fault, str]
Figure = tuple[str, str]


def cell_tables(cells: Iterable[Cell]) -> list[str]:
    """Return a table per number of ranks: a line per site, a column per fault."""
    seen = {(num_ranks, site, fault): text for num_ranks, site, fault, text in cells}
    lines: list[str] = []
    for num_ranks in sorted({key[0] for key in seen}):
        lines += ["", f"{num_ranks} ranks:", "", *_table(["site", *Fault], _rows(seen, num_ranks))]
    return lines


def figure_table(figures: Sequence[Figure]) -> list[str]:
    """Return a table of figures."""
    return ["", *_table(["what", "seen"], [list(figure) for figure in figures])] if figures else []


def _rows(seen: dict[tuple[int, Site, Fault], str], num_ranks: int) -> list[list[str]]:
    return [[str(site), *(seen.get((num_ranks, site, fault), "not run") for fault in Fault)] for site in Site]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]
