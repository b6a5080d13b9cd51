"""A day in a minute: the real window, owner, helper and fleet, in a process of its own; prints what happened as JSON.

    python -m tests.ui.whole_window FOLDER [--stall-s 60]

types a prompt, adds a LoRA, presses Generate, watches the previews and the clip; swaps the LoRA and generates again;
cancels softly and goes on; has a rank stopped in a step and stops it by force; does the same while a fleet starts. A
timer of 10 ms measures during jobs how long the window's loop stood still; with `--stall-s` clips are made until so
many seconds of jobs are measured.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QElapsedTimer, QEventLoop, QObject, Qt, QTimer, Slot
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QPlainTextEdit, QWidget

from podium.multigpu import MGPUController
from podium.ui.app import PodiumWindow, WindowPlaces
from podium.ui.state.job import JobState
from podium.ui.state.values import CancelPhase, FleetPhase, JobPhase
from podium.ui.views.picture import PictureView

LONG_S = 60.0
TICK_MS = 10


def turn_loop() -> None:
    """Let Qt work for a moment. Not by QTest.qWait, which keeps the interpreter that FFmpeg's threads ask for."""
    loop = QEventLoop()
    QTimer.singleShot(2, loop.quit)
    loop.exec()


class StallMeter(QObject):
    """Note how much later than asked each tick of a precise timer comes while a job is at work."""

    def __init__(self, job: JobState) -> None:
        super().__init__()
        self._job = job
        self.gaps_ms: list[float] = []
        self._clock = QElapsedTimer()
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._on_tick)

    def start(self) -> None:
        self._clock.start()
        self._timer.start(TICK_MS)

    def stop(self) -> None:
        self._timer.stop()

    def figures(self) -> dict[str, float]:
        stalls = sorted(max(0.0, gap - TICK_MS) for gap in self.gaps_ms)
        seconds = sum(self.gaps_ms) / 1e3
        return {
            "seconds": round(seconds, 1),
            "p50_ms": round(stalls[len(stalls) // 2], 2),
            "p99.9_ms": round(stalls[int(len(stalls) * 0.999)], 2),
            "max_ms": round(stalls[-1], 2),
        }

    @Slot()
    def _on_tick(self) -> None:
        if self._job.phase.is_active:
            self.gaps_ms.append(self._clock.nsecsElapsed() / 1e6)
        self._clock.restart()


class PreviewCounter(QObject):
    """Count the live pictures and motions that reach the window."""

    def __init__(self, window: PodiumWindow) -> None:
        super().__init__()
        self._job = window.session.job
        self.pictures: set[tuple[str, int]] = set()
        self.num_motions = 0
        self._job.picture_changed.connect(self._on_picture)
        self._job.motion_changed.connect(self._on_motion)

    @Slot()
    def _on_picture(self) -> None:
        if self._job.picture is not None:
            self.pictures.add((self._job.picture.phase, self._job.picture.step))

    @Slot()
    def _on_motion(self) -> None:
        self.num_motions += self._job.motion is not None


class Person:
    """Does with the window what a person would, and waits until it has done what it should."""

    def __init__(self, application: QApplication, window: PodiumWindow) -> None:
        assert window.widget is not None
        self._application = application
        self._widget: QWidget = window.widget
        self.window = window
        self.session = window.session
        self.shutdowns: list[tuple[int, float]] = []
        self._watch_shutdowns()

    def wait(self, condition: Callable[[], Any], what: str, limit_s: float = LONG_S) -> float:
        began_s = time.monotonic()
        while not condition():
            if time.monotonic() - began_s > limit_s:
                job, fleet = self.session.job, self.session.fleet
                sys.exit(f"never came: {what}; job {job.phase} {job.error}, fleet {fleet.phase} {fleet.error}")
            turn_loop()
        return time.monotonic() - began_s

    def press(self, text: str) -> None:
        buttons = [b for b in self._widget.findChildren(QAbstractButton) if b.text().strip() == text and b.isVisible()]
        assert buttons, f"there is no button {text!r}"
        self.wait(buttons[0].isEnabled, f"{text} can be pressed")
        QTest.mouseClick(buttons[0], Qt.MouseButton.LeftButton)

    def type_prompt(self, text: str) -> None:
        edits = self._widget.findChildren(QPlainTextEdit)
        edit = next(e for e in edits if e.isVisible() and not e.isReadOnly())
        edit.setFocus()
        edit.selectAll()
        QTest.keyClicks(edit, text)
        assert self.session.compose.prompt == text

    def generate(self, ends_as: JobPhase = JobPhase.FINISHED) -> None:
        self.wait(lambda: self.session.can_generate, f"Generate can be pressed ({self.session.problem})")
        self.press("Generate")
        self.wait(lambda: self.session.job.phase.is_active, "a job began")
        if ends_as is JobPhase.FINISHED:
            self.wait(lambda: not self.session.job.phase.is_active, "the job ended")
            assert self.session.job.phase is ends_as, self.session.job.error

    def rank_pids(self) -> list[int]:
        controller = self.window.baton._controller
        return [] if controller is None else [s.pid for s in controller.rank_status() if s.pid is not None]

    def _watch_shutdowns(self) -> None:
        inner = MGPUController.shutdown

        def shutdown(controller: MGPUController, *, graceful_timeout: float = 60.0) -> None:
            began_s = time.monotonic()
            inner(controller, graceful_timeout=graceful_timeout)
            if graceful_timeout == 0:
                self.shutdowns.append((threading.get_ident(), time.monotonic() - began_s))

        MGPUController.shutdown = shutdown  # type: ignore[method-assign] # to see which thread calls it


def make_first_clip(person: Person) -> dict[str, Any]:
    """From the first page to a clip that plays."""
    person.press("Try the demo model")
    person.press("On the CPU")
    person.session.devices.use_cpu(2)
    person.wait(lambda: person.session.pack.models is not None, "the demo model is there")
    person.press("Start")
    person.type_prompt("a big red circle moves left over a blue background")
    wear(person, 0)
    previews = PreviewCounter(person.window)
    person.generate()
    clip = person.session.job.clip
    assert clip is not None
    assert person.window.widget is not None
    (stage,) = person.window.widget.findChildren(PictureView)
    first = stage.grab().toImage()
    person.wait(lambda: stage.grab().toImage() != first, "the clip plays")
    return {
        "pictures": len(previews.pictures),
        "motions": previews.num_motions,
        "clip": clip.path.exists(),
        "loras": list(person.session.job.lora_summaries),
    }


def wear(person: Person, place: int) -> None:
    """Switch on one of the LoRAs that came with the demo model, and the others off."""
    loras = person.session.loras
    person.wait(lambda: len(loras.items) > place, "the demo model's LoRAs are in the stack")
    for at, item in enumerate(loras.items):
        loras.set_on(item.key, at == place)


def swap_lora(person: Person) -> dict[str, Any]:
    """Another LoRA, the same ranks."""
    before = person.rank_pids()
    wear(person, 1)
    person.generate()
    return {"same ranks": person.rank_pids() == before != [], "loras": list(person.session.job.lora_summaries)}


def cancel_softly(person: Person) -> dict[str, Any]:
    """End a clip at its next step and make another on the same ranks."""
    before = person.rank_pids()
    person.session.compose.set_num_frames(121)
    person.generate(JobPhase.STOPPED)
    person.wait(lambda: person.session.job.picture is not None, "the clip has begun")
    began_s = time.monotonic()
    person.press("Cancel")
    person.wait(lambda: not person.session.job.phase.is_active, "it was cancelled")
    took_s = time.monotonic() - began_s
    assert person.session.job.phase is JobPhase.STOPPED
    person.session.compose.set_num_frames(25)
    person.generate()
    return {"same ranks": person.rank_pids() == before, "took_s": round(took_s, 2)}


def force_stop(person: Person) -> dict[str, Any]:
    """Stop a rank in a step, cancel in vain, stop by force, and make the next clip on a new fleet."""
    before = person.rank_pids()
    person.session.compose.set_num_frames(121)
    person.generate(JobPhase.STOPPED)
    person.wait(lambda: person.session.job.picture is not None, "the clip has begun")
    os.kill(before[1], signal.SIGSTOP)
    person.press("Cancel")
    person.wait(lambda: person.session.job.cancel_phase is CancelPhase.CAN_FORCE, "Force stop is offered")
    person.press("Force stop")
    known_s = person.wait(lambda: not person.session.job.phase.is_active, "the owner knows")
    assert person.session.job.phase is JobPhase.STOPPED
    person.session.compose.set_num_frames(25)
    fleet_s = person.wait(lambda: person.session.fleet.phase is FleetPhase.READY, "a new fleet is ready")
    person.generate()
    return {"owner knew after_s": round(known_s, 3), "new fleet after_s": round(fleet_s, 2), **shutdown_figures(person)}


def force_stop_while_starting(person: Person) -> dict[str, Any]:
    """Stop a rank while its fleet starts; there is no stream to ask, so the button is Force stop at once."""
    person.session.fleet.stop()
    person.wait(lambda: person.session.fleet.phase is FleetPhase.STOPPED, "the fleet stopped")
    person.generate(JobPhase.STOPPED)
    person.wait(lambda: len(person.rank_pids()) == 2, "the ranks are there")
    os.kill(person.rank_pids()[1], signal.SIGSTOP)
    assert person.session.fleet.phase is FleetPhase.STARTING
    person.press("Force stop")
    known_s = person.wait(lambda: not person.session.job.phase.is_active, "the owner knows")
    person.generate()
    return {"owner knew after_s": round(known_s, 3), **shutdown_figures(person)}


def shutdown_figures(person: Person) -> dict[str, Any]:
    """Return where and how long the latest hard shutdown ran."""
    thread, took_s = person.shutdowns[-1]
    return {"shutdown on the window's thread": thread == threading.main_thread().ident, "returned after_s": took_s}


def main() -> int:
    """Run the day and print it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--stall-s", type=float, default=0.0)
    values = parser.parse_args()
    cache = values.folder / "cache"
    application = QApplication(sys.argv[:1])
    places = WindowPlaces(values.folder / "settings.toml", cache, values.folder / "clips", values.folder / "logs")
    window = PodiumWindow(application, places)
    window.open()
    person = Person(application, window)
    begun_s = time.monotonic()

    def say(what: str) -> None:
        print(f"{time.monotonic() - begun_s:.1f} s: {what}", file=sys.stderr, flush=True)

    meter = StallMeter(window.session.job)
    meter.start()
    told: dict[str, Any] = {"platform": application.platformName()}
    told["first clip"] = make_first_clip(person)
    say("first clip")
    told["swap"] = swap_lora(person)
    say("swap")
    told["soft cancel"] = cancel_softly(person)
    say("soft cancel")
    while sum(meter.gaps_ms) < values.stall_s * 1e3:
        person.generate()
    told["heavy modules"] = sorted({"torch", "diffusers", "transformers", "accelerate"} & set(sys.modules))
    told["stalls"] = meter.figures()
    meter.stop()
    told["force stop"] = force_stop(person)
    say("force stop")
    told["force stop while starting"] = force_stop_while_starting(person)
    say("force stop while starting")
    began_s = time.monotonic()
    window.close()
    told["closed after_s"] = round(time.monotonic() - began_s, 2)
    print(json.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(main())
