"""A day's queue leaves every process as it was after the second clip."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ui.day import Held, growth_of

REPOSITORY = Path(__file__).resolve().parents[2]
MIB = 2**20


def held(rss: float, num_fds: int = 16, num_threads: int = 8) -> Held:
    return Held(round(rss * MIB), round(rss * MIB / 2), num_fds, num_threads)


def test_what_grows_until_the_second_clip_is_no_growth() -> None:
    assert growth_of([held(200), held(300), held(302), held(299)]).is_flat


def test_what_is_held_in_between_counts_as_what_is_held_at_the_end() -> None:
    growth = growth_of([held(200), held(300), held(310), held(300)])
    assert growth.most == pytest.approx(1 / 30)
    assert not growth.is_flat


def test_descriptors_and_threads_that_stay_are_growth() -> None:
    assert not growth_of([held(300), held(300), held(300, num_fds=19)]).is_flat
    assert not growth_of([held(300), held(300), held(300, num_threads=11)]).is_flat


@pytest.mark.faults
@pytest.mark.timeout(600)
def test_twenty_clips_leave_every_process_as_it_was_after_the_second(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.ui.day", str(tmp_path)],
        check=False,
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=580,
    )
    print(done.stdout)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    for role in ("window", "helper", "forkserver", "guard", "rank 0", "rank 1"):
        assert f"  {role} " in done.stdout
