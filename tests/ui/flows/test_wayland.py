"""Once on Wayland, over a headless compositor: start, generate, play, quit. Pressed as assistive tools press."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.fakes.processes import wait_until
from tests.ui.flows.desk import ENDS_S, FLOW, Desk, Home, busy, family, left_over

pytestmark = FLOW
SOCKET = "wayland-podium"


@contextmanager
def open_compositor(runtime: Path) -> Iterator[None]:
    """Run a compositor whose screen nobody sees."""
    # By the name of its file, which every version of the compositor takes.
    backend = "--backend=headless-backend.so"
    command = ["weston", backend, f"--socket={SOCKET}", "--width=1440", "--height=900", "--idle-time=0"]
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(runtime)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as compositor:
        try:
            assert wait_until((runtime / SOCKET).exists, 30.0)
            yield
        finally:
            compositor.terminate()


def test_a_clip_is_made_and_plays_on_wayland(desk: Desk, home: Home) -> None:
    home.furnish(width=128, height=128, num_frames=25, prompt="a lighthouse in the rain")
    with open_compositor(Path(home.environment["XDG_RUNTIME_DIR"])):
        program = desk.start(home, DISPLAY="", WAYLAND_DISPLAY=SOCKET, QT_QPA_PLATFORM="wayland")
        desk.wait(lambda: desk.reader.has_program, "a program with a window")
        desk.do("Generate", role="push button")
        desk.wait(lambda: home.num_clips() == 1, "a clip in the history")
        desk.see("Finished: ", starts=True)
        # It plays by itself, and its place moves on.
        place = desk.see("Frame", role="slider")
        first = place.value_now()
        desk.wait(lambda: place.value_now() != first, "a clip that plays")
        relatives = family(program)
        desk.do("Quit", role="menu item")
        program.wait(timeout=busy(ENDS_S))
        assert program.returncode == 0
        assert left_over(relatives, busy(1.0)) == []
