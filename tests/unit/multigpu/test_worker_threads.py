"""A rank computes with its share of the processors, or with fewer if asked, and idle threads leave them to others."""

from __future__ import annotations

import os

import pytest

from podium.multigpu.forkserver import _environment
from podium.multigpu.worker import num_threads


@pytest.mark.parametrize(
    ("asked", "num_ranks", "expected"),
    [("", 1, 8), ("", 3, 2), ("", 16, 1), ("1", 1, 1), ("3", 2, 3), ("32", 2, 4), ("0", 2, 4), ("many", 2, 4)],
)
def test_a_rank_takes_its_share_unless_the_user_asks_for_less(
    monkeypatch: pytest.MonkeyPatch, asked: str, num_ranks: int, expected: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: set(range(8)))
    monkeypatch.setenv("OMP_NUM_THREADS", asked)
    assert num_threads(num_ranks) == expected


@pytest.mark.parametrize(("chosen", "expected"), [({}, "PASSIVE"), ({"OMP_WAIT_POLICY": "ACTIVE"}, "ACTIVE")])
def test_threads_that_wait_for_each_other_sleep_unless_the_user_wants_them_to_spin(
    chosen: dict[str, str], expected: str
) -> None:
    assert _environment(chosen)["OMP_WAIT_POLICY"] == expected
