"""A desk with a screen, a window manager and a person at it, who sees Podium as a screen reader does.

Rule for flows: every wait is for a condition, and says what it waited for, with a picture, if it does not come.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import psutil
import pytest
from PIL import ImageGrab

from podium.library import Library
from podium.library.store import FILE_NAME
from podium.settings import DeviceSettings, ModelSettings, Settings, save_settings

from tests.fakes.accessibility import BUS, CHECKED, REGISTRY, GoneError, Node, Reader
from tests.fakes.desktop import LOGIND, NOTICES, SESSIONS, FakeDesktop, open_desktop
from tests.fakes.processes import is_running, wait_until
from tests.fakes.ui import make_session

REPOSITORY = Path(__file__).resolve().parents[3]
# A flow is as long as a person's work; each wait in it has `LONG_S`, more where others keep the machine busy.
FLOW = [pytest.mark.flows, pytest.mark.timeout(1800)]
LONG_S = 120.0
# Between two looks: who looks without a pause takes a core from what it looks at.
LOOK_S = 0.02
# The contract's, from the wish to the end of the process.
ENDS_S = 3.0
# What tests set for themselves, and no artist does.
OF_TESTS = ("OMP_NUM_THREADS", "OMP_WAIT_POLICY")
PICTURES_VARIABLE = "PODIUM_FLOW_PICTURES"

T = TypeVar("T")


@dataclass(frozen=True)
class Entry:
    """An entry of the queue as it lies on disk."""

    status: str
    prompt: str
    seed: int


@dataclass
class Home:
    """Where one person's Podium keeps everything.

    Args:
        folder: Of her.
        cache: May be shared: the demo model lies there.
    """

    folder: Path
    cache: Path

    @property
    def environment(self) -> dict[str, str]:
        places = {name: self.folder / name.lower() for name in ("CONFIG", "DATA", "STATE")} | {"CACHE": self.cache}
        runtime = self.folder / "runtime"
        runtime.mkdir(mode=0o700, parents=True, exist_ok=True)
        return {
            **{f"XDG_{name}_HOME": str(path) for name, path in places.items()},
            "XDG_VIDEOS_DIR": str(self.folder / "videos"),
            "XDG_RUNTIME_DIR": str(runtime),
            "HOME": str(self.folder),
        }

    @property
    def library_path(self) -> Path:
        return self.folder / "data" / "podium" / FILE_NAME

    def furnish(self, *, width: int, height: int, num_frames: int, prompt: str) -> None:
        """Leave all as a last window with the demo model on the CPU would have left it."""
        model, devices = ModelSettings(is_demo=True), DeviceSettings(cpu_ranks=1)
        save_settings(Settings(model=model, devices=devices), self.folder / "config" / "podium" / "settings.toml")
        self.library_path.parent.mkdir(parents=True, exist_ok=True)
        with Library.open(self.library_path) as library:
            session, _, _ = make_session(self.folder, library)
            session.compose.set_prompt(prompt)
            session.compose.set_size(width, height)
            session.compose.set_num_frames(num_frames)
            session.close()

    def queue(self) -> list[Entry]:
        """Return the queue as it lies on disk, whoever has it open."""
        rows = self._read("SELECT status, request ->> '$.prompt', request ->> '$.seed' FROM queue ORDER BY place, key")
        return [Entry(*row) for row in rows]

    def statuses(self) -> list[str]:
        return [entry.status for entry in self.queue()]

    def prompts(self) -> list[str]:
        return [entry.prompt for entry in self.queue()]

    def seeds(self) -> list[int]:
        return [entry.seed for entry in self.queue()]

    def made_seeds(self) -> list[int]:
        """Return the seeds of the clips that were made, in their order."""
        return [seed for (seed,) in self._read("SELECT request ->> '$.seed' FROM history ORDER BY key")]

    def num_clips(self) -> int:
        return len(self.made_seeds())

    def _read(self, sql: str) -> list[tuple[Any, ...]]:
        # Not as a library: opened so it would count as open, and as left open when the window is killed.
        with closing(sqlite3.connect(f"{self.library_path.as_uri()}?mode=ro", uri=True)) as library:
            return library.execute(sql).fetchall()


@dataclass
class Desk:
    """A screen with a person at it.

    Args:
        display: Of the X server.
        desktop: Services on a bus.
        reader: Sees what is on the screen.
        pictures: Where pictures of the screen go.
        server: The X server.
    """

    display: str
    desktop: FakeDesktop
    reader: Reader
    pictures: Path
    server: subprocess.Popen[bytes]
    num_clicks: int = 0
    _programs: list[subprocess.Popen[str]] = field(default_factory=list)

    def start(self, home: Home, *arguments: str, **variables: str) -> subprocess.Popen[str]:
        """Start Podium and return at once."""
        environment = {
            **{name: value for name, value in os.environ.items() if name not in OF_TESTS},
            **home.environment,
            "DISPLAY": self.display,
            "DBUS_SESSION_BUS_ADDRESS": self.desktop.address,
            "DBUS_SYSTEM_BUS_ADDRESS": self.desktop.address,
            "QT_QPA_PLATFORM": "xcb",
            "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
            "LANG": "C.UTF-8",
            **variables,
        }
        log = (home.folder / "stderr").open("a", encoding="utf-8")
        with closing(log):
            program = subprocess.Popen(
                [sys.executable, "-m", "podium", *arguments], env=environment, cwd=home.folder, stderr=log, text=True
            )
        self._programs.append(program)
        return program

    def open(self, home: Home) -> subprocess.Popen[str]:
        """Start Podium and wait until its window can be used."""
        self.reader.forget()
        program = self.start(home)
        self.wait(lambda: self.reader.has_program, "a program with a window")
        self.wait(lambda: self.find("Generate", role="menu item"), "the window")
        self.focus()
        return program

    def focus(self) -> None:
        """Give the window the keyboard, as a click on its title would."""
        found = self.wait(lambda: self._xdotool("search", "--onlyvisible", "--name", "^Podium$").split(), "a window")
        self._xdotool("windowactivate", "--sync", found[-1])

    def wait(self, condition: Callable[[], T], what: str, limit_s: float = LONG_S) -> T:
        """Wait until something is so, and return what it is."""
        begun_s = time.monotonic()
        while not (found := self._look(condition)):
            if time.monotonic() > begun_s + busy(limit_s):
                self.picture("never came")
                raise AssertionError(f"never came: {what}. There is:\n{self.describe()}")
            time.sleep(LOOK_S)
        return found

    def see(self, name: str, *, role: str = "", starts: bool = False) -> Node:
        """Wait for something on the screen and return it."""
        return self.wait(lambda: self.find(name, role=role, starts=starts), name)

    def find(self, name: str, *, role: str = "", starts: bool = False) -> Node | None:
        """Return something that is on the screen now and can be used."""
        for node in self.reader.walk():
            fits = node.name.startswith(name) if starts else node.name == name
            if fits and node.is_usable and (not role or node.role == role):
                return node
        return None

    def click(self, name: str, *, role: str = "") -> None:
        """Click on something as soon as it can be clicked."""
        x, y = self.see(name, role=role).middle()
        self._xdotool("mousemove", str(x), str(y), "click", "1")
        self.num_clicks += 1

    def do(self, name: str, *, role: str = "") -> None:
        """Have something done by its name, where there is no mouse."""
        self.wait(lambda: self._named(name, role), name).do()

    def press(self, *keys: str) -> None:
        """Press keys one after another, such as "ctrl+Return"."""
        self._xdotool("key", "--clearmodifiers", *keys)

    def type(self, text: str) -> None:
        """Type."""
        self._xdotool("type", "--clearmodifiers", "--delay", "2", text)

    def is_checked(self, name: str) -> bool:
        """Return whether a switch is on."""
        node = self.find(name)
        return node is not None and CHECKED in node.states

    def picture(self, name: str) -> Path:
        """Take a picture of the screen."""
        path = self.pictures / f"{name.replace(' ', '-')}.png"
        ImageGrab.grab(xdisplay=self.display).save(path)
        return path

    def describe(self) -> str:
        """Return what is on the screen, in words."""
        try:
            return "\n".join(f"{node.role}: {node.name}" for node in self.reader.walk() if node.name)
        except GoneError as error:
            return f"nothing: {error}"

    def end_programs(self) -> None:
        """End what a flow left running."""
        for program in self._programs:
            if program.poll() is None:
                program.send_signal(signal.SIGTERM)
            program.wait(timeout=LONG_S)

    def _named(self, name: str, role: str) -> Node | None:
        # An entry of a menu that is shut is not shown, and can be chosen.
        for node in self.reader.walk(shown_only=role != "menu item"):
            if node.name == name and node.role == role and (role == "menu item" or node.is_usable):
                return node
        return None

    def _look(self, condition: Callable[[], T]) -> T | None:
        try:
            return condition()
        except GoneError:
            # What was there a moment ago.
            return None

    def _xdotool(self, *arguments: str) -> str:
        done = subprocess.run(
            ["xdotool", *arguments],
            env={**os.environ, "DISPLAY": self.display},
            capture_output=True,
            text=True,
            check=False,
            timeout=LONG_S,
        )
        return done.stdout


@contextmanager
def open_desk(folder: Path, name: str) -> Iterator[Desk]:
    """Set a desk up and clear it away."""
    pictures = Path(os.environ.get(PICTURES_VARIABLE, folder)) / name
    pictures.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        display, server = stack.enter_context(open_screen())
        desktop = stack.enter_context(open_desktop(folder, BUS, REGISTRY, NOTICES, LOGIND, SESSIONS))
        desktop.answers["Manager.Inhibit"] = desktop.hand_out_block
        desktop.play_sessions()
        reader = stack.enter_context(closing(Reader(desktop)))
        desk = Desk(display, desktop, reader, pictures, server)
        stack.callback(desk.end_programs)
        yield desk


@contextmanager
def open_screen() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run an X server with a window manager, without which nothing gets the keyboard."""
    read_fd, write_fd = os.pipe()
    command = ["Xvfb", "-displayfd", str(write_fd), "-screen", "0", "1440x900x24", "-nolisten", "tcp"]
    with subprocess.Popen(command, pass_fds=(write_fd,), stderr=subprocess.DEVNULL) as server:
        os.close(write_fd)
        with os.fdopen(read_fd) as answer:
            display = f":{answer.readline().strip()}"
        environment = {**os.environ, "DISPLAY": display}
        with subprocess.Popen(["openbox"], env=environment, stderr=subprocess.DEVNULL) as manager:
            try:
                yield display, server
            finally:
                manager.terminate()
                server.terminate()


def busy(limit_s: float) -> float:
    """Return a limit, as many times longer as there are to share the machine now."""
    return limit_s * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def family(program: subprocess.Popen[str]) -> list[psutil.Process]:
    """Return everything that a program has started and that still is."""
    return psutil.Process(program.pid).children(recursive=True)


def ranks(program: subprocess.Popen[str]) -> list[psutil.Process]:
    """Return the processes that are ranks of a program's fleet: they hold their rank in their name or command."""
    return [one for one in family(program) if is_rank(one)]


def is_rank(process: psutil.Process) -> bool:
    try:
        parent = process.parent()
        return parent is not None and any("launcher" in word for word in parent.cmdline())
    except psutil.Error:
        return False


def left_over(processes: list[psutil.Process], limit_s: float = ENDS_S) -> list[psutil.Process]:
    """Return what of some processes still runs when it should be gone; what init has only not buried yet does not."""
    wait_until(lambda: not any(is_running(one.pid) for one in processes), limit_s)
    return [one for one in processes if is_running(one.pid)]
