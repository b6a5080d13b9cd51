"""The window's tests: offscreen, and nothing may be left behind by any of them."""

from __future__ import annotations

import gc
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

# Before Qt loads.
os.environ["QT_QPA_PLATFORM"] = "offscreen"

import psutil
import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from podium.multigpu import preload_forkserver
from podium.multigpu.forkserver import SHARED
from podium.ui.desktop_bus import BusAddresses, DesktopBus
from podium.ui.state.session import SessionState

from tests.fakes.busyness import Patience
from tests.fakes.desktop import FakeDesktop
from tests.fakes.processes import wait_until
from tests.fakes.ui import FakeControls, FakeHelper, make_session

if TYPE_CHECKING:
    from podium.ui.views.main_window import MainWindow

    from tests.ui.views.scenes import Scene, World

GONE_S = 20.0
LONG_MS = 20_000
# The forkserver is the session's, not a test's.
_LASTING_ROLE = "launcher"


_exit_codes: list[int] = []


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(exitstatus: int) -> None:
    """Note how the tests went."""
    _exit_codes.append(int(exitstatus))


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """End at once after the last word: the media libraries' threads may still call an interpreter that goes away.

    It was seen once in some ten runs that all had passed, as a segmentation fault after the summary. What Podium's own
    window does at its end is tested in processes of its own.
    """
    if _exit_codes:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(_exit_codes[-1])


@pytest.fixture(scope="session", autouse=True)
def _old_is_kept() -> None:
    """Spare the collections below what was there before the first test: it is most of all objects, and stays."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _nothing_is_left(_old_is_kept: None) -> Iterator[None]:
    """Fail a test that leaves a thread, a process, a running timer or a changed environment."""
    threads, processes, environment = set(threading.enumerate()), _children(), dict(os.environ)
    yield
    gc.collect()
    assert wait_until(lambda: not _new_threads(threads), GONE_S), f"threads are left: {_new_threads(threads)}"
    assert wait_until(lambda: not _children() - processes, GONE_S), f"processes are left: {_children() - processes}"
    assert not _running_timers(), f"timers still run, of {[timer.parent() for timer in _running_timers()]}"
    changed = {name for name in {*environment, *os.environ} if environment.get(name) != os.environ.get(name)}
    # pytest's own note of the test at work.
    assert changed <= {"PYTEST_CURRENT_TEST"}, f"the environment was changed: {changed}"


@pytest.fixture(autouse=True)
def _no_unexpected_warnings(caplog: pytest.LogCaptureFixture, request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test in which something logs a warning, unless it is marked `logs_warnings`."""
    yield
    if request.node.get_closest_marker("logs_warnings") is None:
        found = [record.getMessage() for record in caplog.get_records("call") if record.levelno >= logging.WARNING]
        assert not found


@pytest.fixture(scope="session")
def warm_forkserver(_session_environment: None) -> Iterator[None]:
    """Have ranks forked in a moment, from torch alone."""
    preload_forkserver(("torch",))
    yield
    SHARED.close()


@pytest.fixture
def world(qapp: QApplication, tmp_path: Path) -> Iterator[tuple[SessionState, FakeHelper, FakeControls]]:
    """Return a window's states, a helper that answers when told, and a fleet that notes calls."""
    session, helper, controls = make_session(tmp_path)
    yield session, helper, controls
    session.close()


@pytest.fixture
def patience() -> Patience:
    """Return what stretches limits in seconds where the machine is busy."""
    return Patience()


@pytest.fixture
def dressed(qapp: QApplication) -> None:
    """Dress the application as Podium dresses it; a caret that blinks would be in some pictures and not in others."""
    # What loads widgets is for the tests that want them.
    from podium.ui.theme import apply_theme

    qapp.setCursorFlashTime(0)
    apply_theme(qapp, "dark")


@pytest.fixture
def staged(dressed: None) -> Iterator[World]:
    """Return a window's states for scenes, in an application that is dressed."""
    from tests.ui.views.scenes import World

    made = World(*make_session(Path("/home/ada/Videos")))
    yield made
    made.session.close()


@pytest.fixture
def show_scene(staged: World, qtbot: QtBot) -> Iterator[Callable[[Scene], MainWindow]]:
    """Return a function that shows the window in a scene; it is closed after the test, whatever runs in it."""
    from tests.ui.views.scenes import make_window

    windows: list[MainWindow] = []

    def show(scene: Scene) -> MainWindow:
        window = make_window(staged, scene)
        windows.append(window)
        with qtbot.waitExposed(window):
            window.show()
        return window

    yield show
    for window in windows:
        window.allow_closing()
        window.close()
        window.deleteLater()


@pytest.fixture
def bus(qapp: QApplication, qtbot: QtBot, desktop: FakeDesktop) -> Iterator[DesktopBus]:
    """Return the talk with the test's `desktop`, once it has said its first words there."""
    talk = DesktopBus(BusAddresses(desktop.address, desktop.address))
    # What comes after them.
    with qtbot.waitSignal(talk.motion_told, timeout=LONG_MS):
        talk.open()
    yield talk
    talk.close()


def _children() -> set[psutil.Process]:
    return {child for child in psutil.Process().children() if not _is_lasting(child)}


def _is_lasting(process: psutil.Process) -> bool:
    try:
        return _LASTING_ROLE in process.cmdline() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.Error:
        return True


def _new_threads(before: set[threading.Thread]) -> list[str]:
    return [
        thread.name for thread in set(threading.enumerate()) - before if not isinstance(thread, threading._DummyThread)
    ]


def _running_timers() -> list[QTimer]:
    # Not `isinstance`: that asks the object, and one of torch's warns whoever asks.
    return [timer for timer in gc.get_objects() if issubclass(type(timer), QTimer) and _is_running(timer)]


def _is_running(timer: QTimer) -> bool:
    try:
        return timer.isActive()
    except RuntimeError:
        # Its other half, in C++, is gone.
        return False
