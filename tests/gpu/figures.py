"""What a measurement says: one figure at a time, at once, from whichever process; and the sheet they are kept on.

A process that measures prints its figures between its other lines, each as a line of JSON behind `MARK`; whoever
started it reads them from there, so that a process which dies has said everything that it had seen. No torch.
"""

from __future__ import annotations

import json
import math
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

MARK = "FIGURE "


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure.

    Args:
        name: What was measured.
        value: A number, or words where there is none.
        unit: Of the number.
        limit: The most that is allowed; None where nothing was promised.
    """

    name: str
    value: float | str
    unit: str = ""
    limit: float | None = None

    @property
    def is_met(self) -> bool | None:
        """Return whether the limit is kept; None where there is none."""
        if self.limit is None or isinstance(self.value, str):
            return None
        # NaN keeps no limit.
        return self.value <= self.limit

    @property
    def cells(self) -> tuple[str, str, str]:
        """Return its name, its value, and its limit with the verdict."""
        allowed = "" if self.limit is None else f"at most {_number(self.limit)}: {'yes' if self.is_met else '**NO**'}"
        return self.name, f"{_number(self.value)} {self.unit}".strip(), allowed


def _number(value: float | str) -> str:
    if isinstance(value, str):
        return value
    if math.isfinite(value) and value == int(value):
        return f"{int(value):,}"
    return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.3g}"


def tell(figure: Figure) -> None:
    """Print a figure for whoever reads this process's lines."""
    # One write, between whose halves no other process's words can come.
    sys.stdout.write(f"{MARK}{json.dumps(asdict(figure))}\n")
    sys.stdout.flush()


def told_in(line: str) -> tuple[str, Figure | None]:
    """Return what a line says beside a figure, and the figure, if it tells one."""
    words, mark, figure_json = line.partition(MARK)
    if not mark:
        return line, None
    try:
        told, end = json.JSONDecoder().raw_decode(figure_json)
        return words + figure_json[end:].strip(), Figure(**told)
    except (ValueError, TypeError):
        return line, None


class FigureSheet:
    """All figures so far, by part, in `figures.md` and `figures.json` of a folder; written anew with each of them.

    Args:
        folder: Is made if it is missing.
        title: Of the table.
    """

    def __init__(self, folder: Path, title: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._title = folder, title
        self._began_s = time.monotonic()
        self._parts: dict[str, list[Figure]] = {}

    @property
    def num_missed(self) -> int:
        """Return how many limits were not kept."""
        return sum(figure.is_met is False for figures in self._parts.values() for figure in figures)

    def add(self, part: str, figure: Figure) -> None:
        """Keep a figure, and say it."""
        self._parts.setdefault(part, []).append(figure)
        name, value, allowed = figure.cells
        said = f"[{time.monotonic() - self._began_s:5.0f} s] {part}: {name}: {value}"
        print(f"{said} ({allowed})" if allowed else said, flush=True)
        self._write()

    def lines(self) -> list[str]:
        """Return the sheet as lines of a table."""
        lines = [f"# {self._title}", ""]
        for part, figures in self._parts.items():
            lines += [f"## {part}", "", "| what | seen | allowed |", "| --- | --- | --- |"]
            lines += [f"| {' | '.join(figure.cells)} |" for figure in figures]
            lines.append("")
        return lines

    def _write(self) -> None:
        (self._folder / "figures.md").write_text("\n".join(self.lines()), encoding="utf-8")
        kept = {part: [asdict(figure) for figure in figures] for part, figures in self._parts.items()}
        (self._folder / "figures.json").write_text(json.dumps(kept, indent=1), encoding="utf-8")
