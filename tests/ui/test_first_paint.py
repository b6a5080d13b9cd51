"""Ten thousand clips open and scroll as ten; a hundred entries come at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from podium.library import Library
from podium.ui.state.queue import QueueState
from podium.ui.theme import apply_theme

from tests.fakes.busyness import Patience
from tests.ui.first_paint import NUM_QUEUED, measure_all, measure_burst

# Generous: what is sought is what grows with the history, and that would be a thousandfold.
MAX_RATIO, MORE_S, MORE_MS = 2.0, 0.5, 20.0
MAX_STEPS = 120


@pytest.fixture
def application(qapp: QApplication) -> QApplication:
    apply_theme(qapp, "dark")
    return qapp


@pytest.mark.slow
def test_ten_thousand_clips_open_and_scroll_as_ten(
    application: QApplication, tmp_path: Path, patience: Patience
) -> None:
    few, many = measure_all(application, tmp_path, counts=(10, 10_000), num_repeats=2, max_steps=MAX_STEPS)
    assert few.num_clips * 1000 == many.num_clips
    assert many.paint_s < MAX_RATIO * few.paint_s + patience(MORE_S)
    assert many.step_ms < MAX_RATIO * few.step_ms + patience(MORE_MS)
    # Nothing is made for what nobody sees.
    assert few.num_first <= 10
    assert few.num_asked == 10
    assert many.num_first < 50
    assert many.num_asked < 20 * MAX_STEPS


@pytest.mark.parametrize("is_one_press", [False, True])
def test_a_hundred_entries_come_at_once_and_all_are_kept(
    application: QApplication, tmp_path: Path, *, is_one_press: bool
) -> None:
    measure_burst(application, tmp_path, is_one_press=is_one_press)
    with Library.open(next(tmp_path.glob("burst-*.sqlite"))) as library:
        seeds = [row.request.seed for row in QueueState(library).entries]
    assert len(set(seeds)) == len(seeds) == NUM_QUEUED == 100
