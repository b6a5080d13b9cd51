"""The window's life among others: one a data folder, awake while it works, heard beside itself, asked at the end."""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QLockFile, QTimer
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from podium.media.export_kinds import ExportKind
from podium.multigpu import device_locks
from podium.multigpu.device_locks import DeviceHeldError, DeviceLocks
from podium.ui import held_controller, single_window
from podium.ui.desktop_bus import BusAddresses, DesktopBus
from podium.ui.faults import FaultReports
from podium.ui.fleet_maker import RunnerFleetMaker
from podium.ui.notifications import Notifications
from podium.ui.session_end import SessionEnd
from podium.ui.single_window import LOCK_NAME, Handover, SingleWindow, WindowHeldError
from podium.ui.sleep_inhibitor import SleepInhibitor, SleepWatch, seconds_slept
from podium.ui.state.events import FleetFailed, FleetReady, FleetStopped, JobEnded
from podium.ui.state.session import SessionState
from podium.ui.state.values import ErrorMessage, JobPhase
from podium.ui.theme import apply_theme
from podium.ui.views.dialogs import CloseDialog
from podium.ui.views.fault_dialog import FaultDialog
from podium.ui.views.main_window import MainWindow

from tests.fakes.desktop import LOGIND, NOTICES, PORTAL, POWER, SAVER, FakeDesktop, open_desktop
from tests.fakes.owner import RUNNER, OwnerBench, spec
from tests.fakes.processes import is_running
from tests.fakes.ui import FakeControls, FakeHelper, finish, make_ready, run_next

LONG_MS = 20_000
NO_BUS = BusAddresses("unix:path=/nowhere/session", "unix:path=/nowhere/system")

World = tuple[SessionState, FakeHelper, FakeControls]


# One window per data folder


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder for sockets of this test's own."""
    folder = tmp_path / "run"
    folder.mkdir(mode=0o700)
    monkeypatch.setattr(single_window, "runtime_folder", lambda: folder)
    return folder


@pytest.fixture
def folder(tmp_path: Path, runtime: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def first(qapp: QApplication, folder: Path) -> Iterator[SingleWindow]:
    window = SingleWindow(folder)
    assert window.open(Handover())
    yield window
    window.close()


def later_start(folder: Path, runtime: Path, *files: str) -> subprocess.Popen[str]:
    """Start another window for the folder; it prints whether it is the one, and holds the folder until stdin ends."""
    script = f"""
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from podium.ui import single_window
application = QCoreApplication([])
single_window.runtime_folder = lambda: Path({str(runtime)!r})
window = single_window.SingleWindow(Path({str(folder)!r}))
files = tuple(map(Path, {files!r}))
print(window.open(single_window.Handover(files, "a token")), flush=True)
sys.stdin.read()
"""
    return subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def end(start: subprocess.Popen[str]) -> str:
    """Let a start end and return what it said."""
    said, wrong = start.communicate()
    assert start.returncode == 0, wrong
    return said.strip()


def test_a_second_start_hands_over_what_it_was_given_and_ends(
    first: SingleWindow, qtbot: QtBot, folder: Path, runtime: Path
) -> None:
    second = later_start(folder, runtime, "/clips/ü 1.mp4", "/clips/2.mp4")
    with qtbot.waitSignal(first.received, timeout=LONG_MS) as heard:
        pass
    assert heard.args == [Handover((Path("/clips/ü 1.mp4"), Path("/clips/2.mp4")), "a token")]
    assert end(second) == "False"


def test_other_data_folders_have_windows_of_their_own(first: SingleWindow, tmp_path: Path, runtime: Path) -> None:
    other = SingleWindow(tmp_path / "other")
    assert other.open(Handover())
    other.close()


def test_once_it_is_closed_another_is_the_one(first: SingleWindow, folder: Path) -> None:
    first.close()
    second = SingleWindow(folder)
    assert second.open(Handover())
    second.close()


def test_of_many_starts_at_once_exactly_one_is_the_one(folder: Path, runtime: Path) -> None:
    script = """
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from podium.ui import single_window
application = QCoreApplication([])
single_window.runtime_folder = lambda: Path(sys.argv[2])
window = single_window.SingleWindow(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
is_one = window.open(single_window.Handover((Path(sys.argv[3]),)))
print(is_one, flush=True)
if is_one:
    heard = []
    def hear(handover):
        heard.append(str(handover.files[0]))
        if len(heard) == 3:
            application.quit()
    window.received.connect(hear)
    application.exec()
    print(sorted(heard), flush=True)
"""
    starts = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(folder), str(runtime), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in "abcd"
    ]
    for start in starts:
        assert start.stdout is not None
        assert start.stdout.readline() == "ready\n"
    for start in starts:
        assert start.stdin is not None
        start.stdin.write("go\n")
        start.stdin.flush()
    told = [start.communicate()[0].split("\n", 1) for start in starts]
    assert sorted(one for one, _ in told) == ["False", "False", "False", "True"]
    (heard,) = (rest for one, rest in told if one == "True")
    names = set("abcd") - {name for name, (one, _) in zip("abcd", told, strict=True) if one == "True"}
    assert heard.strip() == str(sorted(names))


def test_the_lock_of_a_killed_window_is_taken_over(qapp: QApplication, folder: Path, runtime: Path) -> None:
    dead = later_start(folder, runtime)
    assert dead.stdout is not None
    assert dead.stdout.readline() == "True\n"
    dead.kill()
    dead.communicate()
    assert (folder / LOCK_NAME).exists()
    window = SingleWindow(folder)
    assert window.open(Handover())
    window.close()


def test_a_dead_windows_lock_whose_number_another_process_has_now_is_taken_over(
    qapp: QApplication, folder: Path, runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(single_window, "_STALE_AFTER_S", 0.05)
    living = QLockFile(str(folder / LOCK_NAME))
    folder.mkdir()
    assert living.tryLock(0)
    content = (folder / LOCK_NAME).read_bytes()
    living.unlock()
    # As it was while it was held, and nobody holds it.
    (folder / LOCK_NAME).write_bytes(content)
    window = SingleWindow(folder)
    assert window.open(Handover())
    window.close()


def test_a_window_that_does_not_answer_is_named(qapp: QApplication, folder: Path, runtime: Path) -> None:
    hung = later_start(folder, runtime)
    assert hung.stdout is not None
    assert hung.stdout.readline() == "True\n"
    # It listens, and its loop does not turn.
    with pytest.raises(WindowHeldError, match=rf"process {hung.pid}\), but does not answer"):
        SingleWindow(folder, answer_limit_s=0.2).open(Handover())
    assert end(hung) == ""


@pytest.mark.logs_warnings
@pytest.mark.parametrize("said", [b"nonsense\n", b"[]\n", b'{"files": 3, "activation_token": ""}\n', b"\xff\xfe\n"])
def test_what_no_window_says_is_not_taken(first: SingleWindow, qtbot: QtBot, runtime: Path, said: bytes) -> None:
    heard: list[object] = []
    first.received.connect(heard.append)
    (place,) = runtime.iterdir()
    with socket.socket(socket.AF_UNIX) as other:
        other.connect(str(place))
        other.sendall(said)
        other.setblocking(False)
        qtbot.waitUntil(lambda: is_closed(other), timeout=LONG_MS)
    assert heard == []


def is_closed(other: socket.socket) -> bool:
    try:
        return other.recv(1) == b""
    except BlockingIOError:
        return False


@pytest.mark.logs_warnings
def test_a_folder_that_cannot_be_written_has_a_window_all_the_same(
    qapp: QApplication, tmp_path: Path, runtime: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    window = SingleWindow(tmp_path / "file" / "data")
    with caplog.at_level(logging.WARNING):
        assert window.open(Handover())
    assert "cannot be locked" in caplog.text
    window.close()


def test_the_socket_of_a_long_folder_has_a_short_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(single_window, "runtime_folder", lambda: tmp_path / ("x" * 200))
    path = single_window._socket_path(tmp_path / ("y" * 200))
    assert len(str(path).encode()) < 108
    assert path != single_window._socket_path(tmp_path / ("z" * 200))


# A GPU is one Podium's


@pytest.fixture
def others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DeviceLocks:
    """Have fleets on the CPU stand on a GPU, as far as locks go; return the locks of another process."""
    monkeypatch.setattr(held_controller, "gpus_of", lambda _plan: {"GPU-1": "GPU 0 (A card)"})
    monkeypatch.setattr(device_locks, "_LOOK_LIMIT_S", 0.05)
    return DeviceLocks("podium generate", tmp_path / "locks")


@pytest.fixture
def maker(tmp_path: Path, warm_forkserver: None) -> RunnerFleetMaker:
    return RunnerFleetMaker(tmp_path / "previews", tmp_path / "logs", RUNNER, tmp_path / "locks")


def is_free(others: DeviceLocks) -> bool:
    return others.holder("GPU-1") is None


def test_a_fleet_has_its_gpus_from_its_start_until_its_ranks_are_gone(
    maker: RunnerFleetMaker, others: DeviceLocks, qtbot: QtBot
) -> None:
    controller = maker.make(spec())
    assert is_free(others)
    controller.start(checkpoint_path="fine")
    holder = others.holder("GPU-1")
    assert holder is not None
    assert holder.pid == os.getpid()
    controller.shutdown(graceful_timeout=10.0)
    # It is told of its ranks' end by a thread of its own.
    qtbot.waitUntil(lambda: is_free(others), timeout=LONG_MS)


def test_a_fleet_that_is_killed_gives_its_gpus_back_when_its_ranks_are_gone(
    maker: RunnerFleetMaker, others: DeviceLocks, qtbot: QtBot
) -> None:
    controller = maker.make(spec())
    controller.start(checkpoint_path="fine")
    pids = [status.pid for status in controller.rank_status()]
    controller.shutdown(graceful_timeout=0)
    qtbot.waitUntil(lambda: is_free(others), timeout=LONG_MS)
    assert not any(is_running(pid) for pid in pids if pid is not None)


def test_a_fleet_on_gpus_of_another_podium_does_not_start_and_says_whose(
    maker: RunnerFleetMaker, others: DeviceLocks
) -> None:
    controller = maker.make(spec())
    with others.take({"GPU-1": "GPU 0"}), pytest.raises(DeviceHeldError, match="GPU 0 .* used by another Podium"):
        controller.start(checkpoint_path="fine")
    assert all(status.pid is None for status in controller.rank_status())


def test_a_fleet_that_was_stopped_before_its_start_has_nothing(maker: RunnerFleetMaker, others: DeviceLocks) -> None:
    controller = maker.make(spec())
    controller.shutdown(graceful_timeout=0)
    with pytest.raises(Exception, match="stopped"):
        controller.start(checkpoint_path="fine")
    assert is_free(others)


# Awake


@pytest.fixture
def desktop(tmp_path: Path) -> Iterator[FakeDesktop]:
    """Return a desktop with every service; a test takes away what it wants to be missing."""
    with open_desktop(tmp_path, LOGIND, NOTICES, PORTAL, POWER, SAVER) as services:
        services.answers = {
            "Manager.Inhibit": services.hand_out_block,
            "Inhibit.Inhibit": lambda arguments: ("o", ("/request/1",)) if len(arguments) == 3 else ("u", (7,)),
            "Request.Close": lambda _: ("", ()),
            "Inhibit.UnInhibit": lambda _: ("", ()),
            "ScreenSaver.Inhibit": lambda _: ("u", (9,)),
            "ScreenSaver.UnInhibit": lambda _: ("", ()),
            "Notifications.GetCapabilities": lambda _: ("as", (["actions", "body", "body-markup"],)),
            "Notifications.Notify": lambda _: ("u", (5,)),
        }
        yield services


def test_a_clip_at_work_keeps_the_machine_awake_and_no_longer(
    world: World, bus: DesktopBus, desktop: FakeDesktop, qtbot: QtBot
) -> None:
    session, helper, _ = world
    inhibitor = SleepInhibitor(session.job, session.exports, bus)
    make_ready(session, helper, prompt="a lighthouse")
    session.generate()
    qtbot.waitUntil(desktop.is_blocked, timeout=LONG_MS)
    qtbot.waitUntil(lambda: bool(desktop.named("Inhibit.Inhibit")), timeout=LONG_MS)
    assert desktop.named("Manager.Inhibit") == [("idle", "Podium", "A clip is being made", "block")]
    ((window, flags, options),) = desktop.named("Inhibit.Inhibit")
    assert (window, flags, options["reason"]) == ("", 5, ("s", "A clip is being made"))
    assert desktop.named("ScreenSaver.Inhibit") == []
    finish(session, run_next(session, helper))
    qtbot.waitUntil(lambda: not desktop.is_blocked(), timeout=LONG_MS)
    qtbot.waitUntil(lambda: len(desktop.named("Request.Close")) == 1, timeout=LONG_MS)
    inhibitor.deleteLater()


@pytest.mark.parametrize(
    ("missing", "kept", "released"),
    [
        ((PORTAL,), ("Inhibit.Inhibit", ("Podium", "work")), ("Inhibit.UnInhibit", (7,))),
        ((PORTAL, POWER), ("ScreenSaver.Inhibit", ("Podium", "work")), ("ScreenSaver.UnInhibit", (9,))),
    ],
)
def test_where_a_service_is_missing_the_next_keeps_it_awake(
    tmp_path: Path, qapp: QApplication, qtbot: QtBot, missing: tuple[str, ...], kept: Any, released: Any
) -> None:
    names = [name for name in (PORTAL, POWER, SAVER) if name not in missing]
    with open_desktop(tmp_path, *names) as desktop:
        desktop.answers = {
            "Inhibit.Inhibit": lambda _: ("u", (7,)),
            "Inhibit.UnInhibit": lambda _: ("", ()),
            "ScreenSaver.Inhibit": lambda _: ("u", (9,)),
            "ScreenSaver.UnInhibit": lambda _: ("", ()),
        }
        bus = DesktopBus(BusAddresses(desktop.address, desktop.address))
        bus.open()
        bus.keep_awake("work")
        qtbot.waitUntil(lambda: kept in desktop.calls, timeout=LONG_MS)
        bus.keep_awake("")
        qtbot.waitUntil(lambda: released in desktop.calls, timeout=LONG_MS)
        bus.close()


def test_without_a_bus_nothing_happens_and_the_log_says_so(
    qapp: QApplication, qtbot: QtBot, caplog: pytest.LogCaptureFixture
) -> None:
    bus = DesktopBus(NO_BUS)
    with caplog.at_level(logging.INFO, logger="podium"):
        bus.open()
        bus.keep_awake("work")
        bus.notify("title", "text")
        qtbot.waitUntil(lambda: "Kept awake by nothing" in caplog.text, timeout=LONG_MS)
    bus.close()
    assert "There is no bus unix:path=/nowhere/session" in caplog.text


def test_a_bus_that_hangs_stalls_nothing(qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("podium.ui.desktop_bus.JOIN_LIMIT_S", 0.05)
    with socket.socket(socket.AF_UNIX) as silent:
        # It takes connections and never answers.
        silent.bind(str(tmp_path / "bus"))
        silent.listen()
        bus = DesktopBus(BusAddresses(f"unix:path={tmp_path / 'bus'}", NO_BUS.system))
        bus.open()
        bus.keep_awake("work")
        bus.notify("title", "text")
        bus.close()
        assert bus._thread.is_alive()
    bus._thread.join()


def test_a_sleep_of_the_machine_is_noticed_when_it_wakes(qapp: QApplication, qtbot: QtBot) -> None:
    slept_s = [100.0]
    watch = SleepWatch(slept_s=lambda: slept_s[0])
    woken: list[bool] = []
    watch.woken.connect(lambda: woken.append(True))
    watch.open()
    slept_s[0] += 0.4
    watch.look()
    assert woken == []
    slept_s[0] += 600
    watch.look()
    watch.look()
    assert woken == [True]
    watch.close()


def test_clocks_of_this_machine_agree_while_it_is_awake() -> None:
    seen_s = [seconds_slept() for _ in range(10)]
    known_s = [slept_s for slept_s in seen_s if slept_s is not None]
    assert len(known_s) == len(seen_s)
    # The least is read without a pause between the two clocks.
    assert abs(min(known_s[5:]) - min(known_s[:5])) < 0.5


@pytest.fixture
def bench(tmp_path: Path, qapp: QApplication, warm_forkserver: None) -> Iterator[OwnerBench]:
    made = OwnerBench(tmp_path)
    made.owner.start()
    yield made
    made.owner.quit()
    assert made.owner.join(10.0)


def test_after_a_sleep_an_idle_fleet_does_one_thing_together_and_goes_on(bench: OwnerBench, qtbot: QtBot) -> None:
    bench.owner.start_fleet(spec())
    bench.owner.exercise_fleet()
    order = bench.order("clip")
    qtbot.waitUntil(lambda: bool(bench.listener.of(JobEnded)), timeout=LONG_MS)
    assert bench.listener.of(JobEnded)[0].key == order.key
    assert bench.listener.of(JobEnded)[0].outcome is JobPhase.FINISHED
    assert len(bench.maker.made) == 1


@pytest.mark.logs_warnings
def test_a_fleet_that_did_not_outlive_the_sleep_is_told_of_and_another_comes(
    bench: OwnerBench, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("podium.ui.owner.EXERCISE_LIMIT_S", 0.3)
    bench.owner.start_fleet(spec())
    qtbot.waitUntil(lambda: bool(bench.listener.of(FleetReady)), timeout=LONG_MS)
    (first,) = bench.maker.made
    pid = first.rank_status()[1].pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    bench.owner.exercise_fleet()
    qtbot.waitUntil(lambda: len(bench.listener.of(FleetReady)) == 2, timeout=LONG_MS)
    (failed,) = bench.listener.of(FleetFailed)
    assert failed.will_restart
    qtbot.waitUntil(lambda: not is_running(pid), timeout=LONG_MS)


def test_without_a_fleet_a_sleep_is_nothing(bench: OwnerBench, qtbot: QtBot) -> None:
    bench.owner.exercise_fleet()
    bench.owner.stop_fleet()
    qtbot.waitUntil(lambda: bool(bench.listener.of(FleetStopped)), timeout=LONG_MS)
    assert bench.maker.made == []


# Told beside the window


@pytest.fixture
def told(world: World, bus: DesktopBus) -> Iterator[list[bool]]:
    """Return a switch for whether the artist is away, over notifications of a session."""
    is_away = [True]
    notifications = Notifications(world[0], bus, lambda: is_away[0])
    yield is_away
    notifications.deleteLater()


def notices(desktop: FakeDesktop) -> list[tuple[str, str]]:
    return [(call[3], call[4]) for call in desktop.named("Notifications.Notify")]


def test_a_finished_clip_is_told_with_its_name(
    world: World, told: list[bool], desktop: FakeDesktop, qtbot: QtBot
) -> None:
    session, helper, _ = world
    make_ready(session, helper, prompt="a lighthouse & more")
    session.generate()
    clip = finish(session, run_next(session, helper))
    qtbot.waitUntil(lambda: bool(notices(desktop)), timeout=LONG_MS)
    assert notices(desktop) == [("A clip is finished", clip.path.name)]


def test_a_queue_that_is_done_is_told_with_its_numbers(
    world: World, told: list[bool], desktop: FakeDesktop, qtbot: QtBot
) -> None:
    session, helper, _ = world
    make_ready(session, helper, prompt="a lighthouse")
    session.generate(num_seeds=3)
    finish(session, run_next(session, helper))
    key = run_next(session, helper)
    qtbot.waitUntil(lambda: len(notices(desktop)) == 1, timeout=LONG_MS)
    session.job.refuse(ErrorMessage("It cannot be."))
    assert key != session.job.key
    finish(session, run_next(session, helper))
    qtbot.waitUntil(lambda: len(notices(desktop)) == 2, timeout=LONG_MS)
    assert notices(desktop)[-1] == ("The queue is done", "Finished: 2. Not made: 1.")
    # The second takes the place of the first.
    assert [call[1] for call in desktop.named("Notifications.Notify")] == [0, 5]


def test_what_failed_and_why_a_queue_waits_is_told(
    world: World, told: list[bool], desktop: FakeDesktop, qtbot: QtBot
) -> None:
    session, helper, _ = world
    make_ready(session, helper, prompt="a lighthouse")
    session.generate()
    session.job.refuse(ErrorMessage("It is <too> large."))
    qtbot.waitUntil(lambda: len(notices(desktop)) == 1, timeout=LONG_MS)
    assert notices(desktop) == [("A clip was not made", "It is &lt;too&gt; large.")]
    session.queue.pause_for("Two fleets failed.")
    qtbot.waitUntil(lambda: len(notices(desktop)) == 2, timeout=LONG_MS)
    assert notices(desktop)[-1] == ("The queue is paused", "Two fleets failed.")


@pytest.mark.parametrize("silence", ["the artist is here", "it is switched off"])
def test_nothing_is_told_when(world: World, bus: DesktopBus, desktop: FakeDesktop, qtbot: QtBot, silence: str) -> None:
    session, helper, _ = world
    notifications = Notifications(session, bus, lambda: silence != "the artist is here")
    notifications.set_on(silence != "it is switched off")
    make_ready(session, helper, prompt="a lighthouse")
    session.generate()
    finish(session, run_next(session, helper))
    bus.notify("The end", "")
    qtbot.waitUntil(lambda: bool(notices(desktop)), timeout=LONG_MS)
    assert notices(desktop) == [("The end", "")]
    notifications.deleteLater()


def test_a_chosen_notification_brings_the_window_to_the_front(
    bus: DesktopBus, desktop: FakeDesktop, qtbot: QtBot
) -> None:
    bus.notify("A clip is finished", "")
    qtbot.waitUntil(lambda: bool(notices(desktop)), timeout=LONG_MS)
    with qtbot.waitSignal(bus.notice_chosen, timeout=LONG_MS) as chosen:
        desktop.choose_notice(4, "somebody else's")
        desktop.choose_notice(5, "the token")
    assert chosen.args == ["the token"]


@pytest.mark.parametrize(
    ("answers", "is_still"),
    [
        ({("org.freedesktop.appearance", "reduced-motion"): ("u", 1)}, True),
        ({("org.gnome.desktop.interface", "enable-animations"): ("b", False)}, True),
        ({("org.gnome.desktop.interface", "enable-animations"): ("b", True)}, False),
        ({("org.kde.kdeglobals.KDE", "AnimationDurationFactor"): ("s", "0")}, True),
        ({}, False),
    ],
)
def test_what_the_desktop_says_of_motion_is_heard(
    tmp_path: Path, qapp: QApplication, qtbot: QtBot, answers: dict[Any, Any], is_still: bool
) -> None:
    with open_desktop(tmp_path, PORTAL) as desktop:
        desktop.answers["Settings.Read"] = lambda key: (
            ("v", (("v", answers[key]),)) if key in answers else ("v", (("s", "none"),))
        )
        bus = DesktopBus(BusAddresses(desktop.address, NO_BUS.system))
        with qtbot.waitSignal(bus.motion_told, timeout=LONG_MS) as said:
            bus.open()
        assert said.args == [is_still]
        bus.close()


# The session's end


class Manager:
    """Plays Qt's session manager."""

    def __init__(self, *, allows: bool = True) -> None:
        self.allows = allows
        self.answers: list[str] = []

    def allowsInteraction(self) -> bool:  # noqa: N802 - Qt's name
        return self.allows

    def release(self) -> None:
        self.answers.append("release")

    def cancel(self) -> None:
        self.answers.append("cancel")


@pytest.fixture
def asked(world: World, qapp: QApplication, qtbot: QtBot) -> Iterator[tuple[SessionEnd, MainWindow]]:
    """Return who is asked about the session's end, with a window in which a clip is at work."""
    session, helper, _ = world
    apply_theme(qapp, "dark")
    make_ready(session, helper, prompt="a lighthouse")
    widget = MainWindow(session)
    widget.show()
    session.generate()
    yield SessionEnd(qapp, session, widget, DesktopBus(NO_BUS)), widget
    widget.allow_closing()
    widget.close()
    widget.deleteLater()


def answer_with(choose: Callable[[CloseDialog], None], widget: QWidget) -> None:
    """Answer the question once it is there: the loop that waits for it turns within the call."""

    def answer() -> None:
        dialogs = widget.findChildren(CloseDialog)
        if dialogs:
            choose(dialogs[0])
        else:
            QTimer.singleShot(5, answer)

    QTimer.singleShot(0, answer)


@pytest.mark.parametrize(
    ("button", "answer", "is_closed", "is_held"),
    [("finish", "cancel", False, True), ("stop", "release", True, False), ("stay", "cancel", False, False)],
)
def test_the_end_of_the_session_asks_while_a_clip_is_at_work(
    asked: tuple[SessionEnd, MainWindow], world: World, button: str, answer: str, is_closed: bool, is_held: bool
) -> None:
    end, widget = asked
    manager = Manager()
    answer_with(lambda dialog: getattr(dialog, button).click(), widget)
    end.on_commit_data(manager)  # type: ignore[arg-type] # Qt makes none but in a session
    assert manager.answers == [answer]
    assert widget.isVisible() is not is_closed
    assert world[0].closes_when_done is is_held


def test_the_end_of_the_session_asks_while_an_export_is_at_work(
    asked: tuple[SessionEnd, MainWindow], world: World
) -> None:
    end, widget = asked
    world[0].job.cancel()
    world[0].exports.export(Path("/clips/a.mp4"), Path("/masters/a.mov"), ExportKind.PRORES_422_HQ)
    manager = Manager()
    answer_with(lambda dialog: dialog.finish.click(), widget)
    end.on_commit_data(manager)  # type: ignore[arg-type] # Qt makes none but in a session
    assert manager.answers == ["cancel"]
    assert world[0].closes_when_done


def test_a_session_that_may_not_ask_ends_and_so_does_the_window(asked: tuple[SessionEnd, MainWindow]) -> None:
    end, widget = asked
    manager = Manager(allows=False)
    end.on_commit_data(manager)  # type: ignore[arg-type] # Qt makes none but in a session
    assert manager.answers == []
    widget.close()
    assert not widget.isVisible()


def test_without_a_clip_at_work_the_session_ends_unasked(asked: tuple[SessionEnd, MainWindow], world: World) -> None:
    end, widget = asked
    world[0].job.cancel()
    assert world[0].job.phase is JobPhase.STOPPED
    manager = Manager()
    end.on_commit_data(manager)  # type: ignore[arg-type] # Qt makes none but in a session
    assert manager.answers == []
    assert not widget.findChildren(CloseDialog)


# Faults


@pytest.fixture
def faults(qapp: QApplication) -> Iterator[FaultReports]:
    reports = FaultReports()
    before = (sys.excepthook, threading.excepthook)
    reports.open()
    yield reports
    reports.close()
    assert (sys.excepthook, threading.excepthook) == before


def raised(text: str) -> ValueError:
    try:
        raise ValueError(text)
    except ValueError as error:
        return error


@pytest.mark.logs_warnings
def test_a_fault_in_a_slot_is_logged_and_told(
    faults: FaultReports, qtbot: QtBot, caplog: pytest.LogCaptureFixture
) -> None:
    error = raised("a slot")
    with qtbot.waitSignal(faults.found, timeout=LONG_MS) as told:
        sys.excepthook(type(error), error, error.__traceback__)
    assert "(ValueError)" in told.args[0].sentence
    assert "ValueError: a slot" in told.args[0].details
    assert "A fault in Podium" in caplog.text


@pytest.mark.logs_warnings
def test_a_fault_in_a_thread_is_told_in_the_windows_thread(faults: FaultReports, qtbot: QtBot) -> None:
    heard: list[int] = []

    class Ear(QWidget):
        def hear(self, _message: ErrorMessage) -> None:
            heard.append(threading.get_ident())

    ear = Ear()
    faults.found.connect(ear.hear)
    error = raised("a thread")
    arguments = threading.ExceptHookArgs((type(error), error, error.__traceback__, threading.current_thread()))
    thread = threading.Thread(target=lambda: threading.excepthook(arguments))
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: bool(heard), timeout=LONG_MS)
    assert heard == [threading.get_ident()]
    ear.deleteLater()


def test_an_interruption_is_no_fault(faults: FaultReports, qtbot: QtBot, caplog: pytest.LogCaptureFixture) -> None:
    with qtbot.assertNotEmitted(faults.found):
        faults._tell(KeyboardInterrupt())


def test_the_dialog_of_a_fault_says_it_and_closes(qapp: QApplication, qtbot: QtBot) -> None:
    dialog = FaultDialog(ErrorMessage("Something went wrong.", "ValueError: here"))
    dialog.open()
    assert dialog.error.banner.sentence == "Something went wrong."
    assert dialog.error.banner.fold.isVisible()
    with qtbot.waitSignal(dialog.finished, timeout=LONG_MS):
        dialog.close_button.click()
