"""The window's tests: offscreen, and nothing may be left behind by any of them."""

from __future__ import annotations

import gc
import logging
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

# Before Qt loads.
os.environ["QT_QPA_PLATFORM"] = "offscreen"

import psutil
import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from podium.multigpu import preload_forkserver
from podium.multigpu.forkserver import SHARED
from podium.ui.state.session import SessionState

from tests.fakes.processes import wait_until
from tests.fakes.ui import FakeControls, FakeHelper, make_session

GONE_S = 5.0
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
