"""A day's queue: what every process holds after each of many clips. Prints a table, and fails where something grows.

    python -m tests.ui.day FOLDER [--jobs 20] [--ranks 2] [--swap-every 3] [--prompts 4] [--no-watching]

opens the real window, owner, helper and a fleet of CPU ranks on the demo model, queues clips of 9 frames with another
stack of LoRAs every few, and looks at window, helper, forkserver, guard and each rank after each clip: resident memory,
file descriptors, threads. While a clip is being made, the one before it is played from the history, and every third
time the Stage goes back to the clip at work. All of them must stay within 3 % of what they held after the second clip.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# As the application does; and FFmpeg has much to say of every clip.
os.environ["QT_FFMPEG_DECODING_HW_DEVICE_TYPES"] = os.environ["QT_FFMPEG_ENCODING_HW_DEVICE_TYPES"] = ","
os.environ["QT_LOGGING_RULES"] = "*.debug=false;qt.multimedia*=false"

import psutil
from PySide6.QtCore import QObject, QTimer, Slot
from PySide6.QtWidgets import QApplication

from podium.heap import return_large_pieces
from podium.jobs import LoraSpec
from podium.models.demo_cache import ensure_demo_model
from podium.ui.app import PodiumWindow, WindowPlaces
from podium.ui.state.events import JobEnded
from podium.ui.state.values import FleetPhase

from tests.ui.whole_window import Person, PreviewCounter

NUM_FRAMES, SIZE_PX = 9, 128
MAX_GROWTH = 0.03
# A file that is being read just now.
MAX_MORE = 2
JOBS_LIMIT_S = 900.0
TICK_MS = 10
HELPER = "helper"
_MIB = 2**20


@dataclass(frozen=True, slots=True)
class Held:
    """What one process holds.

    Args:
        rss_bytes: Resident, in all.
        own_bytes: Of that, what belongs to no file.
        num_fds: File descriptors.
        num_threads: Threads.
    """

    rss_bytes: int
    own_bytes: int
    num_fds: int
    num_threads: int


@dataclass(frozen=True, slots=True)
class Growth:
    """How a process changed from the second clip to the last: shares of its memory, and counts.

    Args:
        most: The most that it ever held more.
        least: The least, below zero if it held less.
        own: What belongs to no file.
        num_fds: More descriptors at the end.
        num_threads: More threads at the end.
    """

    most: float
    least: float
    own: float
    num_fds: int
    num_threads: int

    @property
    def is_flat(self) -> bool:
        """Return whether nothing grew."""
        return self.most <= MAX_GROWTH and max(self.num_fds, self.num_threads) <= MAX_MORE


def held_by(pid: int) -> Held:
    """Return what a process holds now."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines()
    values = {name: value.split()[0] for name, _, value in (line.partition(":") for line in lines) if value.split()}
    kib = {name: int(values[name]) for name in ("VmRSS", "RssAnon")}
    num_fds = len(list(Path(f"/proc/{pid}/fd").iterdir()))
    return Held(1024 * kib["VmRSS"], 1024 * kib["RssAnon"], num_fds, int(values["Threads"]))


def growth_of(row: Sequence[Held]) -> Growth:
    """Return how a process changed after its second clip."""
    second, later = row[1], row[1:]
    shares = [held.rss_bytes / second.rss_bytes - 1 for held in later]
    return Growth(
        most=max(shares),
        least=min(shares),
        own=later[-1].own_bytes / second.own_bytes - 1,
        num_fds=later[-1].num_fds - second.num_fds,
        num_threads=later[-1].num_threads - second.num_threads,
    )


class Scales(QObject):
    """Weighs every process of the window whenever a job has ended; after the last, it ends the loop."""

    def __init__(self, application: QApplication, person: Person) -> None:
        super().__init__()
        self._application = application
        self._person = person
        self._timer = QTimer(self)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(self._on_tick)
        self.rows: dict[str, list[Held]] = {}
        self.ended: list[JobEnded] = []
        person.session.job.ended.connect(self._on_ended)

    @property
    def num_clips(self) -> int:
        """Return how many clips were made."""
        return sum(event.clip is not None for event in self.ended)

    @property
    def has_ended_all(self) -> bool:
        """Return whether nothing is at work, and nothing waits."""
        return not self._person.session.queue.num_pending and self._person.session.queue.running is None

    def processes(self) -> dict[str, int]:
        """Return the process of each role."""
        ranks = {pid: f"rank {rank}" for rank, pid in enumerate(self._person.rank_pids())}
        found = {"window": os.getpid()}
        for child in psutil.Process().children(recursive=True):
            try:
                words = child.cmdline()
            except psutil.NoSuchProcess:
                continue
            role = ranks.get(child.pid) or _role(words)
            if role:
                found[role] = child.pid
        return found

    @Slot(object)
    def _on_ended(self, event: JobEnded) -> None:
        self.ended.append(event)
        for role, pid in self.processes().items():
            if role != HELPER:
                self._weigh(role, pid)
        # Only now does it make this clip's thumbnail.
        self._timer.start()

    @Slot()
    def _on_tick(self) -> None:
        if self._person.window.helper._pending:
            return
        self._timer.stop()
        self._weigh(HELPER, self.processes()[HELPER])
        if self.has_ended_all:
            self._application.quit()

    def _weigh(self, role: str, pid: int) -> None:
        self.rows.setdefault(role, []).append(held_by(pid))


def _role(words: Sequence[str]) -> str:
    """Return what a process that is no rank does; nothing for what comes and goes."""
    if any(word.endswith("guard.py") for word in words):
        return "guard"
    if "podium.helper.process" in words:
        return HELPER
    return "forkserver" if "launcher" in words else ""


def start_fleet(person: Person, num_ranks: int) -> None:
    """From the first page to a fleet with the demo model."""
    person.press("Try the demo model")
    person.press("On the CPU")
    person.session.devices.use_cpu(num_ranks)
    person.wait(lambda: person.session.pack.models is not None, "the demo model is there")
    person.press("Start")
    person.type_prompt("a lighthouse in the rain")
    person.session.fleet.start()
    person.wait(lambda: person.session.fleet.phase is FleetPhase.READY, "the fleet is ready")


def queue_jobs(person: Person, loras: Sequence[Path], *, num_jobs: int, swap_every: int, num_prompts: int) -> None:
    """Queue clips, each with words of its own, and with other LoRAs every few."""
    session = person.session
    session.compose.set_size(SIZE_PX, SIZE_PX)
    session.compose.set_num_frames(NUM_FRAMES)
    stacks = ((), tuple(loras[:1]), tuple(loras), tuple(loras[1:]))
    for number in range(num_jobs):
        # The second clip is the first with a LoRA: what a swap needs for itself is there when it is weighed.
        if number % swap_every == 1:
            stack = stacks[(1 + number // swap_every) % len(stacks)]
            session.loras.restore([LoraSpec(path, 0.5) for path in stack])
        prompt = f"wave number {number % num_prompts} breaks over the rocks under a lighthouse, wind and gulls"
        session.compose.set_prompt(prompt)
        person.wait(lambda: session.can_generate and not session.loras.is_busy, "Generate can be pressed")
        person.press("Generate")


def watch(application: QApplication, person: Person, scales: Scales, *, plays: bool) -> float:
    """Let the window work until all is made, and meanwhile look at what is done already; return the seconds it took."""
    begun_s = time.monotonic()
    history, ended = person.session.history, person.session.job.ended
    limit = QTimer()
    limit.setSingleShot(True)
    limit.timeout.connect(application.quit)
    limit.start(round(1000 * JOBS_LIMIT_S))

    def look() -> None:
        if plays:
            number = len(scales.ended)
            history.select(None if number % 3 == 0 else history.model.entries[0].key)

    ended.connect(look)
    application.exec()
    ended.disconnect(look)
    left = [(entry.title, entry.status, entry.error) for entry in person.session.queue.entries]
    assert not left, f"not all was made: {left}"
    return time.monotonic() - begun_s


def tell(rows: dict[str, list[Held]]) -> bool:
    """Print what was weighed, and return whether all stayed flat."""
    num_jobs = min(map(len, rows.values()))
    print("resident MiB/of no file/descriptors/threads after each clip")
    print("clip  " + "".join(f"{role:>22}" for role in rows))
    for number in range(num_jobs):
        cells = [_cell(row[number]) for row in rows.values()]
        print(f"{number + 1:4}  " + "".join(f"{cell:>22}" for cell in cells))
    is_flat = True
    print("after the second: most and least resident, of no file, descriptors, threads")
    for role, row in rows.items():
        growth = growth_of(row[-num_jobs:])
        is_flat &= growth.is_flat
        print(
            f"  {role:12} {growth.most:+7.2%} {growth.least:+7.2%} {growth.own:+7.2%} {growth.num_fds:+3} "
            f"{growth.num_threads:+3}  {'flat' if growth.is_flat else 'GROWS'}"
        )
    return is_flat


def _cell(held: Held) -> str:
    return f"{held.rss_bytes / _MIB:.1f}/{held.own_bytes / _MIB:.1f}/{held.num_fds}/{held.num_threads}"


def main() -> int:
    """Make the clips, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=20)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--swap-every", type=int, default=3)
    parser.add_argument("--prompts", type=int, default=4)
    parser.add_argument("--no-watching", action="store_true")
    values = parser.parse_args()
    # As the application does.
    return_large_pieces()
    cache = values.folder / "cache"
    demo = ensure_demo_model(cache)
    application = QApplication(sys.argv[:1])
    # What was remembered of another day is none of this one's.
    folder = values.folder / f"day-{os.getpid()}"
    places = WindowPlaces(folder / "settings.toml", cache, folder / "clips", folder / "logs")
    window = PodiumWindow(application, places)
    window.open()
    person = Person(application, window)
    try:
        start_fleet(person, values.ranks)
        scales, previews = Scales(application, person), PreviewCounter(window)
        options = {"num_jobs": values.jobs, "swap_every": values.swap_every, "num_prompts": values.prompts}
        queue_jobs(person, demo.style_loras, **options)
        took_s = watch(application, person, scales, plays=not values.no_watching)
    finally:
        window.close()
    print(f"{scales.num_clips} clips in {took_s:.0f} s, {previews.num_motions} motions, {values.ranks} ranks")
    return 0 if tell(scales.rows) and scales.num_clips == values.jobs else 1


if __name__ == "__main__":
    sys.exit(main())
