"""A new artist: from the first start to a clip that plays, in four clicks and a minute."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from PIL import Image, ImageChops

from tests.ui.flows.desk import Desk, Home

pytestmark = pytest.mark.flows
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
    desk.open(home)
    desk.picture("1 first page")
    desk.click("Try the demo model")
    desk.click("On the CPU")
    desk.click("Start")
    desk.picture("2 workspace")
    desk.click("Generate", role="push button")
    desk.wait(lambda: home.num_clips() == 1, "a clip in the history")
    desk.see("Finished: ", starts=True)
    desk.see("Pause")
    still = desk.picture("3 clip")
    desk.wait(lambda: moved(still, desk.picture("4 clip plays")), "a clip that plays")
    took_s = time.monotonic() - begun_s
    with capsys.disabled():
        print(f"\nfrom the first start to a playing clip: {desk.num_clicks} clicks, {took_s:.1f} s")
    assert desk.num_clicks <= MAX_CLICKS
    # On a machine that others keep busy, everything takes as many times longer as there are to share it.
    assert took_s < MAX_S * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    (clip,) = (home.folder / "videos").rglob("*.mp4")
    assert clip.stat().st_size > 1000
