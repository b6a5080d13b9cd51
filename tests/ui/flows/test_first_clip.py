"""A new artist: from the first start to a clip that plays, in four clicks and a minute."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from PIL import Image, ImageChops

from tests.ui.flows.desk import FLOW, Desk, Home, busy

pytestmark = FLOW
MAX_CLICKS, MAX_S = 4, 60.0


def moved(before: Path, after: Path) -> bool:
    """Return whether something on the screen is not as it was."""
    with Image.open(before) as one, Image.open(after) as other:
        return ImageChops.difference(one.convert("RGB"), other.convert("RGB")).getbbox() is not None


def test_four_clicks_lead_from_the_first_start_to_a_clip_that_plays(
    desk: Desk, home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home.cache = tmp_path / "own cache"
    begun_s = time.monotonic()
    walk: list[str] = []

    def note(what: str) -> None:
        walk.append(f"{time.monotonic() - begun_s:.1f} s {what}")

    desk.open(home)
    note("first page")
    desk.picture("1 first page")
    for name in ("Try the demo model", "On the CPU", "Start"):
        desk.click(name)
        note(name)
    desk.picture("2 workspace")
    desk.click("Generate", role="push button")
    note("Generate")
    desk.wait(lambda: home.num_clips() == 1, "a clip in the history")
    note("clip made")
    desk.see("Finished: ", starts=True)
    desk.see("Pause")
    still = desk.picture("3 clip")
    desk.wait(lambda: moved(still, desk.picture("4 clip plays")), "a clip that plays")
    note("clip plays")
    took_s = time.monotonic() - begun_s
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    with capsys.disabled():
        print(f"\n{desk.num_clicks} clicks: {', '.join(walk)}; {load:.1f} processes a processor")
    assert desk.num_clicks <= MAX_CLICKS
    assert took_s < busy(MAX_S)
    (clip,) = (home.folder / "videos").rglob("*.mp4")
    assert clip.stat().st_size > 1000
