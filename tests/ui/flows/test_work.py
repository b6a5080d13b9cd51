"""A day's work as a person does it: compose, queue, reorder, cancel, stop by force, compare, reuse."""

from __future__ import annotations

import os
import signal
import subprocess

import pytest

from tests.ui.flows.desk import FLOW, Desk, Home, ranks

pytestmark = FLOW
PROMPT = "a lighthouse in the rain"


@pytest.fixture
def program(desk: Desk, home: Home) -> subprocess.Popen[str]:
    """Return Podium, opened with a form whose clips are made in a moment."""
    home.furnish(width=128, height=128, num_frames=9, prompt=PROMPT)
    opened = desk.open(home)
    desk.see("Generate", role="push button")
    return opened


def queue_ten(desk: Desk, home: Home) -> None:
    """Pause the queue, and put ten clips of one prompt into it."""
    desk.press("ctrl+p")
    desk.see("Resume")
    desk.click("How many clips, with one seed after another", role="spin box")
    desk.press("ctrl+a")
    desk.type("10")
    desk.press("Tab", "ctrl+Return")
    desk.wait(lambda: len(home.queue()) == 10, "ten entries")


def test_a_prompt_is_written_and_its_clip_is_made(desk: Desk, home: Home, program: subprocess.Popen[str]) -> None:
    text = "two boats, one red; gulls & waves"
    desk.click("Prompt", role="text")
    desk.press("ctrl+a")
    desk.type(text)
    desk.press("ctrl+Return")
    desk.wait(lambda: home.num_clips() == 1, "a clip")
    desk.see("Finished: ", starts=True)
    desk.picture("made")
    (sidecar,) = (home.folder / "videos").rglob("*.json")
    assert text in sidecar.read_text(encoding="utf-8")


def test_ten_are_queued_and_one_that_is_moved_to_the_front_is_made_first(
    desk: Desk, home: Home, program: subprocess.Popen[str]
) -> None:
    queue_ten(desk, home)
    before = home.seeds()
    assert before == list(range(before[0], before[0] + 10))
    desk.press("ctrl+1", "End", "alt+Home")
    desk.wait(lambda: home.seeds() == [before[-1], *before[:-1]], "the last in front")
    desk.press("Home", "Down", "alt+Down")
    moved = [before[-1], before[1], before[0], *before[2:-1]]
    desk.wait(lambda: home.seeds() == moved, "the second a place further down")
    desk.press("Delete")
    moved.remove(before[0])
    desk.wait(lambda: home.seeds() == moved, "one entry less")
    desk.picture("reordered")
    desk.press("ctrl+p")
    for number in range(1, 10):
        desk.wait(lambda number=number: home.num_clips() >= number, f"clip {number}")  # type: ignore[misc] # a default
    assert home.num_clips() == 9
    assert home.made_seeds() == moved


def test_a_clip_is_cancelled_and_the_next_is_made_by_the_same_ranks(
    desk: Desk, home: Home, program: subprocess.Popen[str]
) -> None:
    desk.press("ctrl+Return")
    desk.wait(lambda: home.num_clips() == 1, "a first clip")
    before = [one.pid for one in ranks(program)]
    queue_ten(desk, home)
    desk.press("ctrl+p")
    desk.wait(lambda: "running" in home.statuses(), "one at work")
    desk.press("Escape")
    desk.wait(lambda: "stopped" in home.statuses(), "one that was stopped")
    desk.picture("cancelled")
    desk.wait(lambda: home.num_clips() >= 3, "clips after it")
    assert [one.pid for one in ranks(program)] == before


def test_a_rank_that_hangs_is_stopped_by_force_and_another_fleet_comes(
    desk: Desk, home: Home, program: subprocess.Popen[str]
) -> None:
    desk.press("ctrl+Return")
    desk.wait(lambda: home.num_clips() == 1, "a first clip")
    (rank,) = ranks(program)
    os.kill(rank.pid, signal.SIGSTOP)
    desk.press("ctrl+Return")
    desk.wait(lambda: "running" in home.statuses(), "one at work")
    # The ranks have it, and say nothing of it.
    desk.see("Working…")
    desk.press("Escape")
    desk.click("Force stop", role="push button")
    desk.wait(lambda: home.statuses() == ["stopped"], "the stopped entry")
    desk.see("Ready", role="push button")
    desk.picture("after force")
    assert [one.pid for one in ranks(program)] != [rank.pid]
    desk.press("ctrl+Return")
    desk.wait(lambda: home.num_clips() == 2, "a clip of the new fleet")


def test_two_clips_are_compared_and_one_is_reused(desk: Desk, home: Home, program: subprocess.Popen[str]) -> None:
    for number, text in enumerate(("the first prompt", "the second prompt"), start=1):
        desk.click("Prompt", role="text")
        desk.press("ctrl+a")
        desk.type(text)
        desk.press("ctrl+Return")
        desk.wait(lambda number=number: home.num_clips() == number, f"clip {number}")  # type: ignore[misc] # a default
    desk.press("ctrl+2", "Home", "shift+Right", "c")
    desk.see("Wipe", starts=True)
    desk.picture("compared")
    desk.press("ctrl+shift+k", "ctrl+2", "Home", "Right", "r")
    field = desk.see("Prompt", role="text")
    desk.wait(lambda: desk.reader.text_of(field.path) == "the first prompt", "the prompt of the older clip")
    desk.picture("reused")
