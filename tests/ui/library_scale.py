"""How long the library, its history and its queue take, with ten entries and with ten thousand: prints a table.

`QT_QPA_PLATFORM=offscreen python -m tests.ui.library_scale FOLDER`
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QCoreApplication

from podium.jobs import LoraSpec
from podium.library import Library
from podium.library.history_store import HistoryRow
from podium.ui.state.history import HistoryState
from podium.ui.state.history_model import HistoryModel
from podium.ui.state.queue import QueueState

from tests.fakes.requests import make_clip, make_request
from tests.fakes.ui import SPEC, FakeHelper, FakeTrash

PROMPT = (
    "A red fox runs through deep snow at dawn, its breath visible in the cold air, while the camera follows close "
    "behind it; the wind howls softly, and branches creak. Clip number {0}."
)
NUM_TIMES = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    application = QCoreApplication(sys.argv[:1])
    for count in (10, 10_000):
        path = folder / f"{count}.sqlite"
        path.unlink(missing_ok=True)
        with Library.open(path) as library:
            fill(library, count)
        print(f"{count} clips, {path.stat().st_size / 1e6:.1f} MB")
        measure_history(path, folder)
    measure_queue(folder)
    application.quit()


def fill(library: Library, count: int) -> None:
    """Put many clips into a library, in one stroke."""
    first = datetime(2026, 1, 1, tzinfo=UTC)
    with library._database.writing():
        for number in range(count):
            loras = (LoraSpec(Path(f"/loras/{number % 40}.safetensors")),)
            request = make_request(PROMPT.format(number), seed=number, loras=loras)
            row = HistoryRow(
                make_clip(Path(f"/clips/{number}.mp4")),
                request,
                first + timedelta(minutes=number),
                model_name=f"model {number % 4}",
            )
            library.history.add(row)


def measure_history(path: Path, folder: Path) -> None:
    """Print what opening, reading and searching take: the median and the worst of five times."""

    def open_and_close() -> None:
        with Library.open(path) as library:
            HistoryState(FakeHelper(), library, FakeTrash(), folder)

    tell("open the library and show the count", open_and_close)
    library = Library.open(path)
    tell("the same after a sudden end", lambda: Library.open(path))
    history = HistoryState(FakeHelper(), library, FakeTrash(), folder)
    tell("first page", history.model.reload)
    tell("search that finds one", lambda: history.set_search("number 7." if not history.search else ""))
    history.set_search("")
    tell("search that finds all", lambda: history.set_search("fox snow" if not history.search else ""))
    history.set_search("")
    tell("filter by LoRA", lambda: history.set_lora_filter("7" if not history.lora_filter else ""))
    history.set_lora_filter("")
    while history.model.canFetchMore():
        begun_s = time.perf_counter()
        history.model.fetchMore()
        took_s = time.perf_counter() - begun_s
    print(f"  {'last page':40} {took_s * 1000:7.2f} ms")
    rows = range(0, history.model.rowCount(), max(1, history.model.rowCount() // 500))
    index = history.model.index
    begun_s = time.perf_counter()
    for row in rows:
        index(row, 0).data(HistoryModel.ENTRY_ROLE)
    print(f"  {'one row drawn':40} {(time.perf_counter() - begun_s) * 1000 / len(rows):7.3f} ms")
    library.close()


def measure_queue(folder: Path) -> None:
    """Print what a hundred entries take, added at once and one by one."""
    path = folder / "queue.sqlite"
    path.unlink(missing_ok=True)
    with Library.open(path) as library:
        queue = QueueState(library)
        requests = [make_request(PROMPT.format(number), seed=number) for number in range(100)]
        print("queue")
        begun_s = time.perf_counter()
        queue.add(requests, SPEC)
        print(f"  {'100 entries at once':40} {(time.perf_counter() - begun_s) * 1000:7.2f} ms")
        begun_s = time.perf_counter()
        for request in requests:
            queue.add([request], SPEC)
        print(f"  {'100 entries one by one':40} {(time.perf_counter() - begun_s) * 1000:7.2f} ms")
        begun_s = time.perf_counter()
        queue.move(queue.entries[-1].key, 0)
        print(f"  {'the last of 200 moved to the front':40} {(time.perf_counter() - begun_s) * 1000:7.2f} ms")


def tell(words: str, work: Callable[[], object]) -> None:
    times_ms = []
    for _ in range(NUM_TIMES):
        begun_s = time.perf_counter()
        work()
        times_ms.append((time.perf_counter() - begun_s) * 1000)
    print(f"  {words:40} {statistics.median(times_ms):7.2f} ms, at worst {max(times_ms):.2f}")


if __name__ == "__main__":
    main()
