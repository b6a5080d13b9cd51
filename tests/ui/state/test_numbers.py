"""Numbers read as the window's language writes them, whatever the machine's does."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from fractions import Fraction

import pytest
from PySide6.QtCore import QLocale

from podium.ui.state import numbers
from podium.ui.state.numbers import (
    bytes_in_words,
    factor_in_words,
    fps_in_words,
    moment_in_words,
    number_in_words,
    seconds_in_words,
    share_in_words,
)

GIB = 2**30


@pytest.fixture
def german(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbers, "locale", lambda: QLocale("de"))


@pytest.fixture
def in_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


def test_english_parts_decimals_by_a_point_and_thousands_by_a_comma() -> None:
    assert [number_in_words(13376), number_in_words(0.4, 2), factor_in_words(0.8), factor_in_words(2)] == [
        "13,376",
        "0.40",
        "0.8",
        "2",
    ]


def test_german_does_it_the_other_way_round(german: None) -> None:
    assert [
        number_in_words(13376),
        number_in_words(0.4, 2),
        factor_in_words(0.8),
        fps_in_words(Fraction(30000, 1001)),
    ] == [
        "13.376",
        "0,40",
        "0,8",
        "29,97",
    ]


@pytest.mark.parametrize(
    ("num_bytes", "words"),
    [
        (410 * 2**20, "410 MB"),
        (GIB, "1.0 GB"),
        (round(2.36 * GIB), "2.4 GB"),
        (10 * GIB, "10 GB"),
        (1500 * GIB, "1,500 GB"),
    ],
)
def test_bytes_have_as_many_digits_as_one_reads(num_bytes: int, words: str) -> None:
    assert bytes_in_words(num_bytes) == words


@pytest.mark.parametrize(
    ("duration_s", "words"),
    [(0.38, "0.4 s"), (9.94, "9.9 s"), (12.4, "12 s"), (59.4, "59 s"), (185, "3:05"), (3729, "1:02:09")],
)
def test_seconds_become_minutes_and_hours(duration_s: float, words: str) -> None:
    assert seconds_in_words(duration_s) == words


def test_shares_rates_and_moments(in_utc: None) -> None:
    assert (share_in_words(0.454), share_in_words(1)) == ("45%", "100%")
    assert [fps_in_words(fps) for fps in (Fraction(24), Fraction(24000, 1001))] == ["24", "23.976"]
    assert moment_in_words(datetime(2026, 11, 9, 7, 5, tzinfo=UTC)) == "09 Nov 07:05"
