"""Every end a window can come to, in every phase of its work: nothing is left running, nothing of the queue lost."""

from __future__ import annotations

import signal
import subprocess
import time
from contextlib import suppress

import psutil
import pytest

from tests.ui.flows.desk import ENDS_S, Desk, Home, busy, family, left_over

pytestmark = pytest.mark.flows
# Long enough for each phase to be met, on one core.
NUM_FRAMES = 49
FIRST, SECOND = "a lighthouse in the rain", "a second clip"


def bring_to(desk: Desk, home: Home, phase: str) -> subprocess.Popen[str]:
    """Open the window with two clips to make, and wait until it is in a phase."""
    home.furnish(width=256, height=192, num_frames=NUM_FRAMES, prompt=FIRST)
    program = desk.open(home)
    desk.see("Generate", role="push button")
    if phase == "idle":
        desk.press("ctrl+p")
        desk.see("Resume")
    desk.press("ctrl+Return")
    desk.press("ctrl+a")
    desk.type(SECOND)
    desk.press("ctrl+Return")
    desk.wait(lambda: len(home.queue()) == 2, "two entries in the queue")
    # Frames are written as they are decoded: the two phases are one to whoever watches.
    words = {"start": ("Starting the devices",), "step": ("Stage 1, step",), "decode": ("Decoding", "Writing")}
    if phase in words:
        headline = desk.see(words["start"][0], starts=True)
        # Looked at alone: a phase may be over before the whole window is read.
        desk.wait(lambda: headline.name_now().startswith(words[phase]), phase)
    desk.picture(phase)
    return program


PHASES = ("start", "step", "decode", "idle")


@pytest.mark.parametrize("phase", PHASES)
def test_a_killed_window_leaves_nothing_and_its_queue_to_the_next(desk: Desk, home: Home, phase: str) -> None:
    program = bring_to(desk, home, phase)
    relatives = family(program)
    program.kill()
    program.wait()
    assert left_over(relatives, busy(ENDS_S)) == []
    desk.open(home)
    desk.see("Podium ended unexpectedly last time.", starts=True)
    desk.picture("after")
    assert [row.request.prompt for row in home.queue()] == [FIRST, SECOND]
    assert home.statuses() == ["pending", "pending"]
    desk.press("ctrl+p")
    desk.wait(lambda: home.statuses()[:1] == ["running"], "the first is made after all")


@pytest.mark.parametrize("phase", PHASES)
def test_closing_asks_while_a_clip_is_made_and_keeps_the_queue(desk: Desk, home: Home, phase: str) -> None:
    program = bring_to(desk, home, phase)
    relatives = family(program)
    desk.press("alt+F4")
    if phase != "idle":
        desk.see("A clip is being made")
        assert program.poll() is None
        desk.picture("asked")
        desk.click("Stop and close")
    ends(program, relatives)
    assert home.statuses() == ["pending", "pending"]
    assert [row.request.prompt for row in home.queue()] == [FIRST, SECOND]


@pytest.mark.parametrize("phase", PHASES)
def test_a_polite_kill_ends_it_unasked_and_keeps_the_queue(desk: Desk, home: Home, phase: str) -> None:
    program = bring_to(desk, home, phase)
    relatives = family(program)
    program.send_signal(signal.SIGTERM)
    ends(program, relatives)
    assert home.statuses() == ["pending", "pending"]


@pytest.mark.parametrize("phase", PHASES)
def test_when_the_session_ends_nothing_is_left_and_the_queue_is_kept(desk: Desk, home: Home, phase: str) -> None:
    """What a session that ends does to a program that was not asked: its screen goes."""
    program = bring_to(desk, home, phase)
    relatives = family(program)
    desk.server.kill()
    # Qt ends the process as soon as it sees that its screen is gone.
    program.wait(timeout=busy(ENDS_S))
    assert left_over(relatives, busy(ENDS_S)) == []
    assert [row.request.prompt for row in home.queue()] == [FIRST, SECOND]


def test_finish_this_clip_closes_after_it_and_leaves_the_rest(desk: Desk, home: Home) -> None:
    program = bring_to(desk, home, "decode")
    desk.press("alt+F4")
    desk.click("Finish this clip")
    desk.wait(lambda: program.poll() is not None, "the end, after the clip")
    assert home.num_clips() == 1
    assert [row.request.prompt for row in home.queue()] == [SECOND]


def test_stay_changes_nothing(desk: Desk, home: Home) -> None:
    program = bring_to(desk, home, "step")
    desk.press("alt+F4")
    desk.click("Stay")
    desk.wait(lambda: home.num_clips() == 1, "the clip")
    assert program.poll() is None


def test_of_two_starts_at_once_one_window_is_left(desk: Desk, home: Home) -> None:
    home.furnish(width=256, height=192, num_frames=25, prompt=FIRST)
    programs = [desk.start(home), desk.start(home)]
    desk.wait(lambda: any(one.poll() is not None for one in programs), "one of two has handed over")
    (ended,) = [one for one in programs if one.poll() is not None]
    assert ended.returncode == 0
    (stays,) = [one for one in programs if one is not ended]
    desk.see("Generate", role="push button")
    assert stays.poll() is None
    third = desk.start(home)
    assert third.wait(timeout=60) == 0
    assert stays.poll() is None


def ends(program: subprocess.Popen[str], relatives: list[psutil.Process]) -> None:
    """Check that a program ends by itself, in time, and leaves nothing."""
    begun_s = time.monotonic()
    with suppress(subprocess.TimeoutExpired):
        program.wait(timeout=busy(ENDS_S))
    assert program.poll() == 0, f"after {time.monotonic() - begun_s:.1f} s"
    assert left_over(relatives, busy(1.0)) == []
