"""The whole window, put together and taken apart: with the real views, the real helper process and real ranks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from podium.library import Library
from podium.models.demo_cache import ensure_demo_model
from podium.settings import DeviceSettings, Settings, WindowSettings, load_settings, save_settings
from podium.ui.app import PodiumWindow, WindowPlaces
from podium.ui.desktop_bus import BusAddresses
from podium.ui.state.queue import QueueState
from podium.ui.state.values import CancelPhase, FleetPhase, JobPhase
from podium.ui.views.format_view import FormatView

from tests.fakes.busyness import Patience
from tests.fakes.desktop import NOTICES, POWER, SESSIONS, open_desktop
from tests.fakes.owner import WatchedMaker
from tests.fakes.processes import is_running, wait_until

REPOSITORY = Path(__file__).resolve().parents[2]
LONG_MS = 30_000
ENDS_S, KNOWS_S = 3.0, 0.5
# Whoever runs the tests has a desktop that is not to be spoken to.
NO_BUS = BusAddresses("unix:path=/nowhere/session", "unix:path=/nowhere/system")

Opened = Callable[..., PodiumWindow]


@pytest.fixture(scope="session")
def demo_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cache folder in which the demo model lies already."""
    folder = tmp_path_factory.mktemp("cache")
    ensure_demo_model(folder)
    return folder


@pytest.fixture
def places(tmp_path: Path, demo_cache: Path) -> WindowPlaces:
    return WindowPlaces(tmp_path / "settings.toml", demo_cache, tmp_path / "clips", tmp_path / "logs")


@pytest.fixture
def opened(
    qapp: QApplication, places: WindowPlaces, tmp_path: Path, patience: Patience, warm_forkserver: None
) -> Iterator[Opened]:
    """Return an opener of windows over ranks without a model; they are closed in the end, in time."""
    windows: list[PodiumWindow] = []

    def open_window(buses: BusAddresses = NO_BUS) -> PodiumWindow:
        windows.append(PodiumWindow(qapp, places, maker=WatchedMaker(tmp_path), buses=buses))
        windows[-1].open()
        return windows[-1]

    yield open_window
    for window in windows:
        begun_s = time.monotonic()
        window.close()
        assert time.monotonic() - begun_s < patience(ENDS_S)


def bring_to_generate(window: PodiumWindow, qtbot: QtBot, prompt: str) -> None:
    window.session.devices.use_cpu(2)
    window.session.try_demo()
    window.session.compose.set_prompt(prompt)
    qtbot.waitUntil(lambda: window.session.can_generate, timeout=LONG_MS)


def test_a_press_of_generate_becomes_a_clip(opened: Opened, qtbot: QtBot) -> None:
    window = opened()
    session = window.session
    bring_to_generate(window, qtbot, "clip 20 0.02")
    # Seen as they come: a window that was kept waiting may learn of pictures and end at once.
    phases: list[FleetPhase] = []
    session.job.picture_changed.connect(lambda: phases.append(session.fleet.phase))
    session.generate()
    qtbot.waitUntil(lambda: session.job.phase is JobPhase.FINISHED, timeout=LONG_MS)
    assert set(phases) == {FleetPhase.BUSY}
    assert session.job.picture is not None
    assert session.job.clip is not None
    assert session.job.clip.path.read_bytes() == b"clip"
    assert session.job.motion is not None
    assert session.fleet.phase is FleetPhase.READY
    assert [row.step for row in session.job.phases] == [20]
    assert session.history.num_entries == 1


def test_a_queue_is_made_in_its_order_and_is_empty_then(opened: Opened, qtbot: QtBot) -> None:
    window = opened()
    session = window.session
    bring_to_generate(window, qtbot, "clip 3 0.01")
    session.queue.pause()
    session.generate(num_seeds=10)
    session.queue.move_to_front(session.queue.entries[-1].key)
    seeds = [entry.request.seed for entry in session.queue.entries]
    session.queue.resume()
    qtbot.waitUntil(lambda: session.history.num_entries == 10, timeout=LONG_MS)
    made = [row.request.seed for row in window.library.history.page(limit=20)]
    assert made[::-1] == seeds
    assert (session.queue.entries, window.library.queue.load()) == ((), ())


@pytest.mark.logs_warnings
def test_two_fleets_that_fail_in_a_row_pause_the_queue_until_it_is_resumed(opened: Opened, qtbot: QtBot) -> None:
    window = opened()
    session = window.session
    bring_to_generate(window, qtbot, "die 0")
    for prompt in ("die 0", "die 1", "clip"):
        session.compose.set_prompt(prompt)
        session.generate()
    qtbot.waitUntil(lambda: session.queue.is_paused, timeout=LONG_MS)
    # The fleet's end is told before the job's.
    qtbot.waitUntil(lambda: session.queue.running is None, timeout=LONG_MS)
    assert [entry.status for entry in session.queue.entries] == ["failed", "failed", "pending"]
    first, second, _ = session.queue.entries
    assert (first.failed_rank, second.failed_rank) == (0, 1)
    assert second.error is not None
    assert second.error.sentence.partition(":")[0] in session.queue.pause_reason
    session.queue.resume()
    qtbot.waitUntil(lambda: session.job.phase is JobPhase.FINISHED, timeout=LONG_MS)
    assert [entry.status for entry in session.queue.entries] == ["failed", "failed"]


def test_what_changed_since_generate_is_refused_by_the_real_helper(
    opened: Opened, qtbot: QtBot, tmp_path: Path
) -> None:
    window = opened()
    session = window.session
    bring_to_generate(window, qtbot, "clip")
    image = QImage(64, 64, QImage.Format.Format_RGB888)
    image.fill(0x102030)
    path = tmp_path / "start.png"
    assert image.save(str(path))
    session.compose.images.add([path])
    qtbot.waitUntil(lambda: session.can_generate, timeout=LONG_MS)
    session.queue.pause()
    session.generate()
    qtbot.waitUntil(lambda: bool(session.queue.entries[0].files), timeout=LONG_MS)
    image.fill(0xFFFFFF)
    assert image.save(str(path))
    session.queue.resume()
    qtbot.waitUntil(lambda: session.queue.entries[0].status == "refused", timeout=LONG_MS)
    assert session.queue.entries[0].error is not None
    assert "“start.png” was changed since" in session.queue.entries[0].error.sentence


def test_a_wedged_rank_is_stopped_from_the_window_and_the_next_clip_is_made(
    opened: Opened, qtbot: QtBot, patience: Patience
) -> None:
    window = opened()
    session = window.session
    bring_to_generate(window, qtbot, "stop_rank 1")
    session.generate()
    # A rank may be seen to stand still before the window has heard that the ranks have the job.
    qtbot.waitUntil(lambda: session.job.phase is JobPhase.RUNNING, timeout=LONG_MS)
    qtbot.waitUntil(lambda: any(not row.is_responding for row in session.fleet.rows), timeout=LONG_MS)
    session.job.cancel()
    session.job.force_stop()
    assert session.job.cancel_phase is CancelPhase.CANCELLING
    qtbot.waitUntil(lambda: session.job.cancel_phase is CancelPhase.CAN_FORCE, timeout=LONG_MS)
    assert "the weights load again, about" in session.job.force_cost
    session.job.force_stop()
    qtbot.waitUntil(lambda: session.job.phase is JobPhase.STOPPED, timeout=round(1000 * patience(KNOWS_S)))
    qtbot.waitUntil(lambda: session.fleet.phase is FleetPhase.READY, timeout=LONG_MS)
    session.compose.set_prompt("clip")
    session.generate()
    qtbot.waitUntil(lambda: session.job.phase is JobPhase.FINISHED, timeout=LONG_MS)


def test_what_the_desktop_said_last_does_not_reach_a_window_that_has_closed(
    opened: Opened, qapp: QApplication, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes: list[int] = []
    # The tests share an application, of which no loop would turn any more.
    monkeypatch.setattr(qapp, "exit", codes.append)
    with open_desktop(tmp_path, NOTICES, POWER, SESSIONS) as desktop:
        desktop.play_sessions()
        desktop.answers |= {
            "Notifications.GetCapabilities": lambda _: ("as", (["actions"],)),
            "Notifications.Notify": lambda _: ("u", (5,)),
            "Inhibit.Inhibit": lambda _: ("u", (7,)),
        }
        window = opened(BusAddresses(desktop.address, NO_BUS.system))
        assert window.life is not None
        assert window.widget is not None
        with qtbot.waitSignal(window.life.motion_told, timeout=LONG_MS):
            pass
        bus = window.life.desktop
        bus.notify("A clip is finished", "")
        qtbot.waitUntil(lambda: bool(desktop.named("Notifications.Notify")), timeout=LONG_MS)
        # From here on no loop turns: what is said waits for the window's thread.
        desktop.choose_notice(5, "")
        desktop.tell_client("EndSession", 0)
        bus.keep_awake("work")
        assert wait_until(lambda: desktop.named("Inhibit.Inhibit"))
        bus.keep_awake("")
        # It is let go of in a round of its own, by which all that came in the one before was told.
        assert wait_until(lambda: desktop.named("Inhibit.UnInhibit"))
        window.close()
        QCoreApplication.sendPostedEvents()
        assert not window.widget.isVisible()
        assert codes == []


@pytest.mark.parametrize("prompt", ["clip 100000 0.02", "stop_rank 0"])
def test_closing_ends_a_running_job_and_leaves_no_process(
    opened: Opened, qtbot: QtBot, patience: Patience, prompt: str
) -> None:
    window = opened()
    session = window.session
    bring_to_generate(window, qtbot, prompt)
    session.generate()
    qtbot.waitUntil(lambda: session.job.phase is JobPhase.RUNNING and len(session.fleet.rows) == 2, timeout=LONG_MS)
    controller = window.baton._controller
    assert controller is not None
    ranks = [status.pid for status in controller.rank_status() if status.pid is not None]
    begun_s = time.monotonic()
    window.close()
    assert len(ranks) == 2
    assert wait_until(lambda: not any(map(is_running, ranks)), patience(ENDS_S))
    assert time.monotonic() - begun_s < patience(ENDS_S)


def test_a_window_remembers(opened: Opened, qtbot: QtBot, places: WindowPlaces, tmp_path: Path) -> None:
    first = opened()
    first.session.compose.set_size(512, 320)
    first.session.compose.set_fps("29.97")
    first.session.devices.use_cpu(2)
    first.session.set_clips_folder(tmp_path / "elsewhere")
    assert first.widget is not None
    first.widget.theme_requested.emit("light")
    first.close()
    second = opened()
    compose = second.session.compose
    assert (compose.width, compose.height, str(compose.fps)) == (512, 320, "30000/1001")
    assert second.session.devices.cpu_ranks == 2
    assert second.session.clips_folder == tmp_path / "elsewhere"
    assert load_settings(places.settings).window.theme == "light"
    second.session.set_clips_folder(places.clips)
    second.close()
    assert load_settings(places.settings).clip.folder == ""


def test_a_first_paint_that_comes_after_the_limit_starts_nothing_again(opened: Opened) -> None:
    window = opened()
    assert window.widget is not None
    # The limit passes before a slow machine has painted anything.
    window._start_timer.stop()
    window._start_timer.timeout.emit()
    window.widget.grab()
    assert not window._start_timer.isActive()


def test_what_was_being_typed_when_a_window_closed_is_remembered_too(opened: Opened, qtbot: QtBot) -> None:
    first = opened()
    assert first.widget is not None
    first.widget.show_workspace()
    with qtbot.waitActive(first.widget, timeout=LONG_MS):
        first.widget.activateWindow()
    width, _ = first.widget.findChild(FormatView).sides
    width.setFocus()
    width.selectAll()
    qtbot.keyClicks(width, "512")
    # Nobody pressed Enter or went on to the next field.
    assert first.session.compose.width != 512
    first.close()
    assert opened().session.compose.width == 512


@pytest.mark.logs_warnings
def test_settings_that_cannot_be_are_no_reason_not_to_open(opened: Opened, places: WindowPlaces) -> None:
    strange = WindowSettings(geometry="no base64 at all", layout="ÿ", theme="pink")
    save_settings(Settings(devices=DeviceSettings(cpu_ranks=10**6), window=strange), places.settings)
    window = opened()
    assert window.session.devices.cpu_ranks == os.cpu_count()


def test_a_pasted_picture_is_kept_in_a_file(opened: Opened, places: WindowPlaces, qtbot: QtBot) -> None:
    window = opened()
    assert window.widget is not None
    image = QImage(8, 6, QImage.Format.Format_RGB888)
    image.fill(0x102030)
    window.widget.image_pasted.emit(image)
    images = window.session.compose.images
    # Not in the cache: there is no other copy.
    assert images.items[0].path.parent == places.data_folder / "pictures"
    assert QImage(str(images.items[0].path)).size() == image.size()
    qtbot.waitUntil(lambda: images.items[0].thumbnail is not None, timeout=LONG_MS)


def test_a_pasted_picture_that_cannot_be_kept_is_said_to_be(opened: Opened, places: WindowPlaces) -> None:
    window = opened()
    assert window.widget is not None
    (places.data_folder / "pictures").write_text("no folder")
    window.widget.image_pasted.emit(QImage(8, 6, QImage.Format.Format_RGB888))
    assert window.session.compose.images.items == ()
    assert "cannot be kept" in window.widget.notice.sentence


class Program:
    """A window in a process of its own."""

    def __init__(self, folder: Path, command: list[str]) -> None:
        home = {f"XDG_{name}_HOME": str(folder / name.lower()) for name in ("CONFIG", "CACHE", "DATA", "STATE")}
        paths = [str(REPOSITORY / "app"), str(REPOSITORY / "resources"), str(REPOSITORY)]
        buses = {"DBUS_SESSION_BUS_ADDRESS": NO_BUS.session, "DBUS_SYSTEM_BUS_ADDRESS": NO_BUS.system}
        self.process = subprocess.Popen(
            [sys.executable, *command],
            env={**os.environ, **home, **buses, "PYTHONPATH": os.pathsep.join(paths), "PYTHONUNBUFFERED": "1"},
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def read_until(self, word: str) -> str:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if word in line:
                return line
        assert self.process.stderr is not None
        raise AssertionError(f"it ended without saying {word!r}: {self.process.stderr.read()}")

    def end(self, number: signal.Signals) -> list[psutil.Process]:
        """Send a signal, and return what is left of its children after it ended in time."""
        children = psutil.Process(self.process.pid).children(recursive=True)
        self.process.send_signal(number)
        patience = Patience()
        self.process.wait(timeout=patience(ENDS_S))
        _, alive = psutil.wait_procs(children, timeout=patience(ENDS_S))
        return alive


@pytest.fixture
def program(tmp_path: Path, demo_cache: Path) -> Iterator[Callable[[str], Program]]:
    """Return a starter of scripts that have a window `window`, over ranks without a model."""
    programs: list[Program] = []
    prelude = """
        import sys
        from pathlib import Path
        from PySide6.QtCore import QTimer
        from PySide6.QtWidgets import QApplication
        from podium.ui.app import PodiumWindow, WindowPlaces
        from tests.fakes.owner import WatchedMaker
        folder = Path.cwd()
        application = QApplication([])
        places = WindowPlaces(folder / "settings.toml", Path("CACHE"), folder / "clips", folder / "logs")
        window = PodiumWindow(application, places, maker=MAKER)
        session = window.session
        window.open()
        session.devices.use_cpu(2)
        session.try_demo()
        def when(condition, action):
            def look():
                if condition():
                    timer.stop()
                    action()
            timer = QTimer(window, interval=10)
            timer.timeout.connect(look)
            timer.start()
    """

    def start(text: str, maker: str = "WatchedMaker(folder)") -> Program:
        path = tmp_path / "script.py"
        script = textwrap.dedent(prelude).replace("MAKER", maker).replace("CACHE", str(demo_cache))
        script += textwrap.dedent(text)
        path.write_text(script + "\ncode = application.exec()\nwindow.close()\nsys.exit(code)\n", encoding="utf-8")
        programs.append(Program(tmp_path, [str(path)]))
        return programs[-1]

    yield start
    for made in programs:
        made.process.kill()
        made.process.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_an_idle_window(tmp_path: Path, number: signal.Signals) -> None:
    program = Program(tmp_path, ["-m", "podium"])
    try:
        wait = psutil.Process(program.process.pid)
        deadline_s = time.monotonic() + LONG_MS / 1000
        while not any("podium.helper.process" in child.cmdline() for child in wait.children()):
            assert time.monotonic() < deadline_s
            assert program.process.poll() is None, program.process.communicate()
        assert program.end(number) == []
        assert program.process.returncode == 0
    finally:
        program.process.kill()
        _, said = program.process.communicate()
    assert said == ""


def test_without_a_display_the_command_is_named_and_qt_never_loaded(tmp_path: Path) -> None:
    away = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    environment = {name: value for name, value in os.environ.items() if name not in away}
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "podium"],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    said = [line for line in done.stderr.splitlines() if not line.startswith("import time:")]
    assert len(said) == 1
    assert "There is no display here" in said[0]
    assert "podium generate" in said[0]
    assert "PySide6.QtCore" not in done.stderr


@pytest.mark.parametrize("prompt", ["clip 100000 0.02", "stop_rank 1"])
def test_a_signal_ends_a_busy_window_and_leaves_nothing(program: Callable[..., Program], prompt: str) -> None:
    started = program(f"""
        session.compose.set_prompt({prompt!r})
        when(lambda: session.can_generate, session.generate)
        when(lambda: session.job.phase == "running" and session.fleet.rows, lambda: print("running", flush=True))
    """)
    started.read_until("running")
    assert started.end(signal.SIGTERM) == []
    assert started.process.returncode == 0


@pytest.mark.parametrize("phase", ["start", "step", "idle"])
def test_a_killed_window_leaves_its_queue_to_the_next(
    program: Callable[..., Program], tmp_path: Path, phase: str
) -> None:
    ready = {
        "start": 'session.fleet.phase == "starting" and session.fleet.rows',
        "step": 'session.job.phase == "running" and session.fleet.rows',
        "idle": "len(session.queue.entries) == 2",
    }
    started = program(f"""
        if {phase == "start"}:
            maker = window.owner._maker
            setup_kwargs = maker.setup_kwargs
            maker.setup_kwargs = lambda spec: setup_kwargs(spec) | {{"checkpoint_path": "hang"}}
        session.compose.set_prompt("clip 100000 0.02")
        def queue():
            if {phase == "idle"}:
                session.queue.pause()
            session.generate()
            session.compose.set_prompt("clip two")
            session.generate()
        when(lambda: session.can_generate, queue)
        when(lambda: session.queue.entries and {ready[phase]}, lambda: print("there", flush=True))
    """)
    started.read_until("there")
    assert started.end(signal.SIGKILL) == []
    with Library.open(tmp_path / "library.sqlite") as library:
        assert (library.problem, library.was_left_open) == ("", True)
        queue = QueueState(library)
        assert [entry.title for entry in queue.entries] == ["clip 100000 0.02", "clip two"]
        assert {entry.status for entry in queue.entries} == {"pending"}
        assert queue.is_paused
        assert "unexpectedly" in queue.pause_reason
        assert (queue.interrupted is not None) is (phase != "idle")


def test_when_the_window_is_killed_nothing_is_left(program: Callable[..., Program]) -> None:
    started = program("""
        session.compose.set_prompt("clip 100000 0.02")
        when(lambda: session.can_generate, session.generate)
        when(lambda: session.job.phase == "running" and session.fleet.rows, lambda: print("running", flush=True))
    """)
    started.read_until("running")
    assert started.end(signal.SIGKILL) == []


@pytest.mark.slow
def test_after_a_real_clip_the_window_has_no_tensor_library(program: Callable[..., Program]) -> None:
    started = program(
        """
        session.compose.set_num_frames(9)
        session.compose.set_size(128, 128)
        when(lambda: session.can_generate, session.generate)
        heavy = ("torch", "diffusers", "transformers")
        def tell():
            job = session.job
            print("ended", job.phase, job.error, [name for name in heavy if name in sys.modules], flush=True)
        when(lambda: session.job.phase not in ("none", "checking", "waiting", "running"), tell)
        """,
        maker="None",
    )
    assert started.read_until("ended").split(maxsplit=2)[1:] == ["finished", "None []\n"]
    assert started.end(signal.SIGTERM) == []
