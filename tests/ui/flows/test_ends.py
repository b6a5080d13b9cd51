"""Every end a window can come to, in every phase of its work: nothing is left running, nothing of the queue lost."""

from __future__ import annotations

import signal
import subprocess
import time
from contextlib import suppress

import psutil
import pytest

from tests.ui.flows.desk import ENDS_S, FLOW, Desk, Home, busy, family, left_over

pytestmark = FLOW
# Long enough for each phase to be met, on one core.
NUM_FRAMES = 49
FIRST, SECOND = "a lighthouse in the rain", "a second clip"
ANSWER = "ClientPrivate.EndSessionResponse"


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


WORKING = ("start", "step", "decode")
PHASES = (*WORKING, "idle")


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
    assert home.prompts() == [FIRST, SECOND]
    assert home.statuses() == ["pending", "pending"]
    desk.press("ctrl+p")
    desk.wait(lambda: home.statuses()[:1] == ["running"], "the first is made after all")


@pytest.mark.parametrize("phase", WORKING)
def test_closing_asks_while_a_clip_is_made_and_stopping_it_keeps_the_queue(desk: Desk, home: Home, phase: str) -> None:
    program = bring_to(desk, home, phase)
    relatives = family(program)
    ask_by_closing(desk, program)
    desk.click("Stop and close")
    ends(program, relatives)
    is_kept(desk, home)


@pytest.mark.parametrize("phase", WORKING)
def test_finish_this_clip_closes_after_it_and_leaves_the_rest(desk: Desk, home: Home, phase: str) -> None:
    program = bring_to(desk, home, phase)
    relatives = family(program)
    ask_by_closing(desk, program)
    desk.click("Finish this clip")
    desk.wait(lambda: home.num_clips() == 1, "the clip")
    ends(program, relatives)
    assert home.prompts() == [SECOND]
    assert home.statuses() == ["pending"]


@pytest.mark.parametrize("phase", WORKING)
def test_stay_changes_nothing(desk: Desk, home: Home, phase: str) -> None:
    program = bring_to(desk, home, phase)
    ask_by_closing(desk, program)
    desk.click("Stay")
    desk.wait(lambda: home.num_clips() == 2, "both clips")
    assert program.poll() is None
    assert home.prompts() == []


def test_closing_an_idle_window_asks_nothing_and_keeps_the_queue(desk: Desk, home: Home) -> None:
    program = bring_to(desk, home, "idle")
    relatives = family(program)
    desk.press("alt+F4")
    ends(program, relatives)
    is_kept(desk, home)


@pytest.mark.parametrize("phase", PHASES)
def test_a_polite_kill_ends_it_unasked_and_keeps_the_queue(desk: Desk, home: Home, phase: str) -> None:
    program = bring_to(desk, home, phase)
    relatives = family(program)
    program.send_signal(signal.SIGTERM)
    ends(program, relatives)
    is_kept(desk, home)


@pytest.mark.parametrize("phase", PHASES)
def test_a_session_that_ends_hears_of_the_clip_at_work_and_waits_for_the_window(
    desk: Desk, home: Home, phase: str
) -> None:
    program = bring_to(desk, home, phase)
    relatives = family(program)
    desk.desktop.tell_client("QueryEndSession", 0)
    desk.wait(lambda: desk.desktop.named(ANSWER), "an answer")
    assert desk.desktop.named(ANSWER) == [(True, "") if phase == "idle" else (False, "A clip is being made")]
    assert program.poll() is None
    # By now the desktop has asked, and the artist ends the session all the same.
    desk.desktop.tell_client("EndSession", 0)
    ends(program, relatives)
    assert desk.desktop.named(ANSWER)[1:] == [(True, "")]
    is_kept(desk, home)


@pytest.mark.parametrize("phase", PHASES)
def test_a_screen_that_goes_takes_the_window_along_and_the_queue_is_kept(desk: Desk, home: Home, phase: str) -> None:
    """What a session does that ends without a word, or a display server that crashes."""
    program = bring_to(desk, home, phase)
    relatives = family(program)
    desk.server.kill()
    # Qt ends the process as soon as it sees that its screen is gone.
    program.wait(timeout=busy(ENDS_S))
    assert left_over(relatives, busy(ENDS_S)) == []
    assert home.prompts() == [FIRST, SECOND]


def ask_by_closing(desk: Desk, program: subprocess.Popen[str]) -> None:
    """Close the window, and see what it asks."""
    desk.press("alt+F4")
    desk.see("A clip is being made")
    assert program.poll() is None
    desk.picture("asked")


def is_kept(desk: Desk, home: Home) -> None:
    """Check that both entries are there, and wait in the next window."""
    assert home.prompts() == [FIRST, SECOND]
    desk.open(home)
    desk.see("These clips were left over when Podium was closed.", starts=True)
    assert home.prompts() == [FIRST, SECOND]
    assert home.statuses() == ["pending", "pending"]


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
