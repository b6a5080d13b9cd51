"""Measurements in parts, each in a process of its own under a time limit: one that fails or hangs costs only itself.

`run_parts` starts `python -m tests.gpu.parts` for each part. That process prints its figures (`tests.gpu.figures`).
When its time is over it raises `OverlongError` where it stands, and prints that with its traceback and what the ranks
were doing; it is killed if it does not end. No torch.
"""

from __future__ import annotations

import argparse
import ctypes
import faulthandler
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from podium.multigpu.placement import visible_gpus

from tests.gpu.bench import Bench, print_logs
from tests.gpu.figures import Figure, FigureSheet, tell, told_in

# NVLink multicast can put GPUs out of service that others share.
ENVIRONMENT = {
    "NCCL_NVLS_ENABLE": "0",
    "TORCH_SYMM_MEM_DISABLE_MULTICAST": "1",
    "NVSHMEM_DISABLE_NVLS": "1",
    "PYTHONUNBUFFERED": "1",
}
# From a part's own end to its traceback by force, and on to its death.
_TRACEBACK_AFTER_S, _DEATH_AFTER_S = 4.0, 10.0
# Less time than this is not worth the start of a process.
_SHORTEST_S = 15.0
_LAST_WORDS_S = 5.0
# A CPU may be busy with other things; what it is tried for is whether it works.
_SMALL_LIMIT_S = 900.0
_MOST_WORDS = 300
# Source: Linux's sys/prctl.h.
_PR_SET_PDEATHSIG = 1


class OverlongError(KeyboardInterrupt):
    """Report that a part took longer than it may; an interrupt, so that no test takes it for its own failure."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part.

    Args:
        name: As it is asked for.
        function: "module:function", called with the `Bench`.
        limit_s: How long it may take.
        expected_s: How long it is thought to take on H200s.
    """

    name: str
    function: str
    limit_s: float
    expected_s: float


def run_parts(parts: Sequence[Part], title: str, num_ranks: int | None) -> int:
    """Run the parts that the command line asks for, in their order; return the exit code.

    Args:
        parts: All there are, the most important first.
        title: Of the sheet.
        num_ranks: Ranks of the parts' fleets; None for one on every visible GPU, and two with `--small`.
    """
    values = _parsed(parts, title)
    os.environ.update(ENVIRONMENT)
    if num_ranks is None:
        num_ranks = 2 if values.small else len(visible_gpus(os.environ))
        if num_ranks < 2:
            sys.exit(f"Two GPUs or more are needed, and {num_ranks} can be seen here.")
    sheet = FigureSheet(values.folder, title)
    ends_s = time.monotonic() + values.seconds
    failed = []
    with (values.folder / "output.log").open("a", encoding="utf-8") as log:
        for part in (part for part in parts if part.name in values.parts):
            began_s = time.monotonic()
            left_s = ends_s - began_s - _DEATH_AFTER_S
            limit_s = _SMALL_LIMIT_S if values.small else min(part.limit_s, left_s)
            outcome = _run(part, limit_s, sheet, log, Bench(values.folder, num_ranks, values.small))
            failed += [part.name] if outcome else []
            told = f"the whole part, about {part.expected_s:.0f} s expected; {outcome or 'done'}"
            sheet.add(part.name, Figure(told, time.monotonic() - began_s, "s"))
    print("\n" + "\n".join(sheet.lines()))
    print(f"limits not kept: {sheet.num_missed}; parts that failed: {', '.join(failed) or 'none'}", flush=True)
    return 1 if failed or sheet.num_missed else 0


def _parsed(parts: Sequence[Part], title: str) -> argparse.Namespace:
    names = [part.name for part in parts]
    parser = argparse.ArgumentParser(description=f"{title}. Parts: {', '.join(names)}.")
    parser.add_argument("folder", type=Path, help="takes figures.md, figures.json and output.log")
    parser.add_argument("--parts", type=lambda text: text.split(","), default=names, help="names, with commas between")
    parser.add_argument("--small", action="store_true", help="everything tiny, on ranks on the CPU")
    parser.add_argument("--seconds", type=float, default=580.0, help="how long all of it may take on GPUs")
    values = parser.parse_args()
    if unknown := set(values.parts) - set(names):
        parser.error(f"there is no part {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    return values


def _run(part: Part, limit_s: float, sheet: FigureSheet, log: IO[str], bench: Bench) -> str:
    # Returns what went wrong, or nothing.
    if limit_s < _SHORTEST_S:
        return "LEFT OUT: no time was left"
    print(f"\n## {part.name}: {part.function}, at most {limit_s:.0f} s", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="podium-measured-"))
    order = {"function": part.function, "limit_s": limit_s, "bench": [str(folder), bench.num_ranks, bench.is_small]}
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.gpu.parts", json.dumps(order)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    # Whatever the process leaves behind may hold its output open; nobody waits for that.
    reader = threading.Thread(target=_hear_all, args=(process.stdout, part, sheet, log), daemon=True)
    reader.start()
    try:
        code = process.wait(limit_s + _DEATH_AFTER_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
    finally:
        reader.join(_LAST_WORDS_S)
        shutil.rmtree(folder, ignore_errors=True)
    return f"FAILED with exit code {code}" if code else ""


def _hear_all(lines: Iterable[str], part: Part, sheet: FigureSheet, log: IO[str]) -> None:
    for line in lines:
        words, figure = told_in(line)
        print(words, end="", flush=True)
        if figure is not None:
            sheet.add(part.name, figure)
        log.write(line)
        log.flush()


def main(order_json: str) -> int:
    """Be the process of one part."""
    faulthandler.enable()
    # Nobody hears a part whose starter is gone.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    order = json.loads(order_json)
    folder, num_ranks, is_small = order["bench"]
    module, _, name = order["function"].partition(":")
    try:
        with _ended_after(order["limit_s"]):
            function: Callable[[Bench], None] = getattr(importlib.import_module(module), name)
            function(Bench(Path(folder), num_ranks, is_small))
    except BaseException as error:  # noqa: BLE001 - the border: whatever it is, it has to be read
        tell(Figure("FAILED", repr(error)[:_MOST_WORDS]))
        traceback.print_exc()
        print_logs(Path(folder))
        return 1
    return 0


@contextmanager
def _ended_after(limit_s: float) -> Iterator[None]:
    def end(_signal: int, _frame: object) -> None:
        raise OverlongError(f"this part was not done after {limit_s:.0f} s")

    signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    # Where the main thread hangs in a library, no exception reaches it. Tests have their own idea of where errors go.
    errors = os.fdopen(os.dup(2), "w")
    faulthandler.dump_traceback_later(limit_s + _TRACEBACK_AFTER_S, exit=True, file=errors)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
