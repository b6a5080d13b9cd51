"""How the history's view takes ten and ten thousand clips: `python -m tests.ui.history_size FOLDER`. Prints figures."""

from __future__ import annotations

import os
import statistics
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication

from podium.helper.requests import KeepThumbnail, Thumbnail
from podium.jobs import ClipFinished
from podium.library import Library
from podium.library.history_store import HistoryRow
from podium.ui.theme import METRICS, apply_theme
from podium.ui.views.history_view import HistoryView

from tests.fakes.ui import make_session
from tests.ui.views.scenery import evening
from tests.ui.views.work_scenes import make_request

_NUM_STEPS = 200


def fill(library: Library, num_clips: int) -> None:
    """Put so many clips into a library, with one stroke where it can."""
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    for number in range(num_clips):
        request = make_request(number, folder=Path(f"/clips/{number}"))
        path = request.output_path
        clip = ClipFinished(path, path.with_suffix(".json"), request.clip, 48_000, 3_000_000)
        library.history.add(HistoryRow(clip, request, begin + timedelta(minutes=number), model_name="ltx-2.3"))


def measure(application: QApplication, library: Library, folder: Path) -> tuple[float, list[float]]:
    """Return milliseconds to the first paint, and of each of many steps of scrolling."""
    session, helper, _ = make_session(folder, library)
    begun_s = time.perf_counter()
    view = HistoryView(session.history, session.exports)
    view.resize(1068, 560)
    view.show()
    view.grab()
    first_ms = 1000 * (time.perf_counter() - begun_s)
    picture = Thumbnail(192, 112, evening(192, 112).tobytes())
    steps_ms = []
    bar = view.clip_list.verticalScrollBar()
    for _ in range(_NUM_STEPS):
        begun_s = time.perf_counter()
        bar.setValue(bar.value() + METRICS.tile_height)
        application.processEvents()
        steps_ms.append(1000 * (time.perf_counter() - begun_s))
        while helper.requests(KeepThumbnail):
            helper.answer(KeepThumbnail, picture)
    view.close()
    view.deleteLater()
    session.close()
    application.processEvents()
    return first_ms, steps_ms


def main() -> None:
    folder = Path(sys.argv[1])
    application = QApplication([])
    apply_theme(application, "dark")
    for num_clips in (10, 60, 10_000):
        with Library.open(folder / f"library-{num_clips}-{time.monotonic_ns()}.sqlite") as library:
            fill(library, num_clips)
            first_ms, steps_ms = measure(application, library, folder)
        median, worst = statistics.median(steps_ms), max(steps_ms)
        print(f"{num_clips} clips: first paint {first_ms:.0f} ms, a step {median:.1f} ms, the slowest {worst:.1f} ms")


if __name__ == "__main__":
    main()
