"""The window over ten clips and over ten thousand, with a hundred entries in its queue: prints figures and ratios.

    python -m tests.ui.first_paint FOLDER [--clips 10000] [--repeats 3]

Each history is opened so many times, in turn with the other, and the quickest counts. From the library's opening to the
window's first paint; then through the whole history, a step as high as what is in sight, each until it is painted; a
thumbnail is made for each that is wanted. At last a hundred entries are put into the queue: by a hundred presses of
Generate, one after another as the loop turns, and by one press for a hundred seeds; a tick of 10 ms tells how long the
loop stood still meanwhile.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QElapsedTimer, QEvent, QEventLoop, QObject, Qt, QTimer, Slot
from PySide6.QtWidgets import QApplication

from podium.helper.requests import KeepThumbnail, Thumbnail
from podium.library import Library
from podium.ui.state.queue import QueueState
from podium.ui.state.session import SessionState
from podium.ui.theme import apply_theme
from podium.ui.views.main_window import MainWindow

from tests.fakes.requests import make_request
from tests.fakes.ui import SPEC, FakeHelper, make_ready, make_session
from tests.ui.library_scale import PROMPT, fill
from tests.ui.views.scenery import evening

NUM_QUEUED = 100
PANEL_PX = 260
"""Low enough that ten clips have to be scrolled, too."""
MIN_STEPS = 20
TICK_MS = 10
_LIMIT_S = 60.0


@dataclass(frozen=True, slots=True)
class Opened:
    """How the window took a history.

    Args:
        num_clips: In it.
        paint_s: From the library's opening to the first paint.
        step_ms: Of one step of scrolling, the median.
        worst_step_ms: The longest.
        num_steps: From the newest clip to the oldest.
        num_first: Thumbnails that were wanted for what is in sight at first.
        num_asked: Thumbnails that were wanted in all.
    """

    num_clips: int
    paint_s: float
    step_ms: float
    worst_step_ms: float
    num_steps: int
    num_first: int
    num_asked: int

    def __str__(self) -> str:
        return (
            f"{self.num_clips:6} clips: first paint {self.paint_s:.3f} s; {self.num_steps} steps of scrolling, "
            f"{self.step_ms:.1f} ms each, {self.worst_step_ms:.1f} at worst; thumbnails asked: {self.num_first} at "
            f"first, {self.num_asked} in all"
        )


@dataclass(frozen=True, slots=True)
class Burst:
    """How the window took a hundred entries at once.

    Args:
        total_ms: Until all are in the queue and painted.
        stall_ms: The longest that the loop stood still.
    """

    total_ms: float
    stall_ms: float


@dataclass(frozen=True, slots=True)
class Scrolled:
    """What came of going through a history: milliseconds of each step, thumbnails asked before the first and in all."""

    steps_ms: list[float]
    num_first: int
    num_asked: int


class PaintWatch(QObject):
    """Note the moment at which a window is first painted."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self.painted_s: float | None = None
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        if event.type() is QEvent.Type.UpdateRequest and self.painted_s is None:
            watched.removeEventFilter(self)
            # What is due is painted within this event.
            watched.event(event)
            self.painted_s = time.perf_counter()
            return True
        return False


class Ticks(QObject):
    """Note the longest that the loop stood still."""

    def __init__(self) -> None:
        super().__init__()
        self.longest_ms = 0.0
        self._clock = QElapsedTimer()
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._on_tick)

    def start(self) -> None:
        self._clock.start()
        self._timer.start(TICK_MS)

    def stop(self) -> None:
        self._timer.stop()

    @Slot()
    def _on_tick(self) -> None:
        self.longest_ms = max(self.longest_ms, self._clock.nsecsElapsed() / 1e6 - TICK_MS)
        self._clock.restart()


def make_library(folder: Path, num_clips: int) -> Path:
    """Write a library of so many clips, and a hundred entries that wait in its queue; return its file."""
    path = folder / f"library-{num_clips}.sqlite"
    path.unlink(missing_ok=True)
    with Library.open(path) as library:
        fill(library, num_clips)
        requests = [make_request(PROMPT.format(number), seed=number) for number in range(NUM_QUEUED)]
        QueueState(library).add(requests, SPEC)
    return path


def open_window(session: SessionState, helper: FakeHelper) -> MainWindow:
    """Return the window on its history, not yet shown."""
    make_ready(session, helper, prompt=PROMPT)
    window = MainWindow(session, theme_name="dark", is_motion_reduced=True)
    window.tabs.setCurrentWidget(window.history)
    window._down.setSizes([window.height() - PANEL_PX, PANEL_PX])
    return window


def measure(
    application: QApplication, path: Path, num_clips: int, folder: Path, *, max_steps: int | None = None
) -> Opened:
    """Open a library's window, look through its whole history or a part of it, and close it."""
    begun_s = time.perf_counter()
    with Library.open(path) as library:
        session, helper, _ = make_session(folder, library)
        window = open_window(session, helper)
        watch = PaintWatch(window)
        window.show()
        turn(application, lambda: watch.painted_s is not None)
        assert watch.painted_s is not None
        paint_s = watch.painted_s - begun_s
        scrolled = scroll(application, window, helper, max_steps=max_steps)
        put_away(application, window, session)
    steps_ms = scrolled.steps_ms
    step_ms, worst_ms = statistics.median(steps_ms), max(steps_ms)
    return Opened(num_clips, paint_s, step_ms, worst_ms, len(steps_ms), scrolled.num_first, scrolled.num_asked)


def scroll(application: QApplication, window: MainWindow, helper: FakeHelper, *, max_steps: int | None) -> Scrolled:
    """Go through the history, or as many steps of it; a short one is gone through up and down again."""
    view, picture = window.history.clip_list, Thumbnail(192, 108, evening(192, 108).tobytes())
    bar, model = view.verticalScrollBar(), view.model()
    num_first = num_asked = answer(application, helper, picture)
    steps_ms: list[float] = []
    direction = 1
    while len(steps_ms) != max_steps:
        is_end = bar.value() >= bar.maximum() and not model.canFetchMore(view.rootIndex())
        if is_end and len(steps_ms) >= MIN_STEPS:
            break
        direction = -1 if is_end else 1 if bar.value() == 0 else direction
        begun_s = time.perf_counter()
        bar.setValue(bar.value() + direction * view.viewport().height())
        view.viewport().repaint()
        application.processEvents()
        steps_ms.append(1000 * (time.perf_counter() - begun_s))
        num_asked += answer(application, helper, picture)
    return Scrolled(steps_ms, num_first, num_asked)


def answer(application: QApplication, helper: FakeHelper, picture: Thumbnail) -> int:
    """Make every thumbnail that is wanted; return how many were."""
    num_asked = 0
    while helper.requests(KeepThumbnail):
        helper.answer(KeepThumbnail, picture)
        num_asked += 1
    application.processEvents()
    return num_asked


def measure_burst(application: QApplication, folder: Path, *, is_one_press: bool) -> Burst:
    """Put a hundred entries into the queue of a window that shows it."""
    with Library.open(folder / f"burst-{is_one_press}-{time.monotonic_ns()}.sqlite") as library:
        session, helper, _ = make_session(folder, library)
        window = open_window(session, helper)
        window.tabs.setCurrentWidget(window.queue)
        window.show()
        session.queue.pause()
        application.processEvents()
        ticks, begun_s = Ticks(), time.perf_counter()
        ticks.start()
        press(session, is_one_press=is_one_press)
        turn(application, lambda: len(session.queue.entries) == NUM_QUEUED)
        window.queue.repaint()
        total_ms = 1000 * (time.perf_counter() - begun_s)
        # The tick that comes after the last of it tells of it.
        application.processEvents()
        ticks.stop()
        put_away(application, window, session)
    return Burst(total_ms, ticks.longest_ms)


def press(session: SessionState, *, is_one_press: bool) -> None:
    """Press Generate for a hundred seeds, or a hundred times: as fast as the loop hands presses on."""
    if is_one_press:
        QTimer.singleShot(0, lambda: session.generate(num_seeds=NUM_QUEUED))
        return
    left = iter(range(NUM_QUEUED))

    def press_next() -> None:
        # What else is due has its turn between two presses.
        if next(left, None) is not None:
            session.generate()
            QTimer.singleShot(0, press_next)

    press_next()


def turn(application: QApplication, is_done: Callable[[], bool]) -> None:
    """Let Qt work until something is done."""
    end_s = time.monotonic() + _LIMIT_S
    while not is_done():
        assert time.monotonic() < end_s, "it did not come"
        application.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)


def put_away(application: QApplication, window: MainWindow, session: SessionState) -> None:
    """Close a window, whatever waits in it."""
    window._may_close = True
    window.close()
    session.close()
    window.deleteLater()
    application.processEvents()
    # What the next window has to do is not to hang on what this one left.
    gc.collect()


def measure_all(
    application: QApplication,
    folder: Path,
    *,
    counts: tuple[int, int],
    num_repeats: int,
    max_steps: int | None = None,
) -> tuple[Opened, Opened]:
    """Open both histories in turn, and return each at its quickest."""
    paths = {count: make_library(folder, count) for count in counts}
    # The first window of a process pays for what all later ones have.
    measure(application, paths[counts[0]], counts[0], folder, max_steps=1)
    found: dict[int, list[Opened]] = {count: [] for count in counts}
    for _ in range(num_repeats):
        for count, path in paths.items():
            found[count].append(measure(application, path, count, folder, max_steps=max_steps))
    few, many = (quickest(found[count]) for count in counts)
    return few, many


def quickest(opened: list[Opened]) -> Opened:
    """Return the best of each figure: what else the machine did is no part of it."""
    first = opened[0]
    return Opened(
        first.num_clips,
        min(one.paint_s for one in opened),
        min(one.step_ms for one in opened),
        min(one.worst_step_ms for one in opened),
        first.num_steps,
        first.num_first,
        first.num_asked,
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--clips", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=3)
    values = parser.parse_args()
    values.folder.mkdir(parents=True, exist_ok=True)
    application = QApplication(sys.argv[:1])
    apply_theme(application, "dark")
    few, many = measure_all(application, values.folder, counts=(10, values.clips), num_repeats=values.repeats)
    print(few)
    print(many)
    print(
        f"ratios: first paint {many.paint_s / few.paint_s:.2f}, a step {many.step_ms / few.step_ms:.2f}, the longest "
        f"step {many.worst_step_ms / few.worst_step_ms:.2f}"
    )
    for is_one_press, words in ((False, "a hundred presses"), (True, "one press for a hundred seeds")):
        burst = measure_burst(application, values.folder, is_one_press=is_one_press)
        print(f"{NUM_QUEUED} entries by {words}: {burst.total_ms:.0f} ms, the loop stood still {burst.stall_ms:.1f} ms")


if __name__ == "__main__":
    main()
