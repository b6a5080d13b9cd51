"""From the owner's thread to the states: at 20 Hz at most, in order, and nothing that matters lost."""

from __future__ import annotations

import logging
import threading
import time
from fractions import Fraction
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QTimer
from pytestqt.qtbot import QtBot

from podium.helper.requests import ReadClip
from podium.jobs import ClipFormat, Phase, PhaseStarted, PreviewPicture, StepDone
from podium.library import Library
from podium.ui.baton import NUM_LOG_LINES, RankLogs
from podium.ui.link import OwnerLink
from podium.ui.state.events import JobEnded, JobStarted
from podium.ui.state.session import SessionState
from podium.ui.state.values import JobPhase

from tests.fakes.owner import OwnerBench
from tests.fakes.ui import FakeControls, FakeHelper, make_ready, make_session, run_next

CLIP = ClipFormat(192, 256, 25, Fraction(24))
LONG_MS = 20_000
World = tuple[SessionState, FakeHelper, FakeControls]


@pytest.fixture
def session(world: World) -> SessionState:
    session = world[0]
    session.job.begin(1, CLIP)
    session.job.wait_for_fleet()
    return session


def say(bench: OwnerBench, event: StepDone | PhaseStarted | PreviewPicture) -> None:
    if bench.mailbox.put(1, event):
        bench.signals.posted.emit()


def test_a_thousand_steps_a_second_reach_the_window_twenty_times(
    session: SessionState, qtbot: QtBot, tmp_path: Path
) -> None:
    bench = OwnerBench(tmp_path)
    link = OwnerLink(session, bench.owner, bench.signals, bench.mailbox)
    shown: list[int | None] = []
    session.job.phases_changed.connect(lambda: shown.append(session.job.phases[-1].step))

    def work() -> None:
        bench.signals.told.emit(JobStarted(1))
        say(bench, PhaseStarted(Phase.STAGE_1, 500))
        for step in range(1, 501):
            time.sleep(0.001)
            say(bench, StepDone(Phase.STAGE_1, step, 500, 0.001))
            say(bench, PreviewPicture(Phase.STAGE_1, step, 1, 1, b"rgb"))

    begun_s = time.monotonic()
    worker = threading.Thread(target=work)
    worker.start()
    qtbot.waitUntil(lambda: bool(shown) and shown[-1] == 500, timeout=LONG_MS)
    took_s = time.monotonic() - begun_s
    worker.join()
    assert len(shown) <= took_s * 20 + 2
    assert shown == sorted(shown, key=lambda step: step or 0)
    last = PreviewPicture(Phase.STAGE_1, 500, 1, 1, b"rgb")
    qtbot.waitUntil(lambda: session.job.picture == last, timeout=LONG_MS)
    link.close()


def test_what_was_said_before_the_end_is_shown_before_the_end(
    session: SessionState, qtbot: QtBot, tmp_path: Path
) -> None:
    bench = OwnerBench(tmp_path)
    link = OwnerLink(session, bench.owner, bench.signals, bench.mailbox)
    bench.signals.told.emit(JobStarted(1))
    say(bench, PhaseStarted(Phase.STAGE_1, 2))
    say(bench, StepDone(Phase.STAGE_1, 1, 2, 0.1))
    say(bench, StepDone(Phase.STAGE_1, 2, 2, 0.1))
    bench.signals.told.emit(JobEnded(1, JobPhase.STOPPED))
    assert session.job.phase is JobPhase.STOPPED
    assert [row.step for row in session.job.phases] == [2]
    link.close()


def test_what_was_on_its_way_when_it_closed_is_not_carried(session: SessionState, qtbot: QtBot, tmp_path: Path) -> None:
    bench = OwnerBench(tmp_path)
    link = OwnerLink(session, bench.owner, bench.signals, bench.mailbox)
    phase = session.job.phase

    def work() -> None:
        say(bench, PhaseStarted(Phase.STAGE_1, 2))
        bench.signals.told.emit(JobEnded(1, JobPhase.STOPPED))

    # Both lie in the queue of this thread's events.
    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
    link.close()
    QCoreApplication.sendPostedEvents(link)
    assert session.job.phase is phase
    assert not session.job.phases
    assert not any(timer.isActive() for timer in link.findChildren(QTimer))


def test_a_clip_whose_end_the_window_did_not_hear_is_looked_for_by_the_next(qapp: object, tmp_path: Path) -> None:
    with Library.open(tmp_path / "library.sqlite") as library:
        session, helper, _ = make_session(tmp_path, library)
        make_ready(session, helper, prompt="a fox")
        session.generate()
        run_next(session, helper)
        assert session.queue.running is not None
        path = session.queue.running.request.output_path
        session.close()
    with Library.open(tmp_path / "library.sqlite") as library:
        session, helper, _ = make_session(tmp_path, library)
        assert [request.path for request in helper.requests(ReadClip)] == [path]
        session.close()


def test_the_lines_of_each_rank_are_kept_apart_and_bounded() -> None:
    logs = RankLogs()
    for k in range(NUM_LOG_LINES + 5):
        logs.handle(logging.makeLogRecord({"msg": f"line {k}", "levelno": 20, "levelname": "INFO", "rank": k % 2}))
    logs.handle(logging.makeLogRecord({"msg": "of the window itself"}))
    logs.note_new_fleet()
    logs.handle(logging.makeLogRecord({"msg": "anew", "levelno": 20, "levelname": "INFO", "rank": 1}))
    assert len(logs.lines(1)) <= NUM_LOG_LINES
    assert [line.rpartition(": ")[2] for line in logs.lines(1)[-3:]] == ["line 503", "", "anew"]
    assert logs.lines(7) == ()
