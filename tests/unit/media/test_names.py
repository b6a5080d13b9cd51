"""Names of clips."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from podium.media.names import MAX_NAME_BYTES, clip_name

NOW = datetime(2026, 11, 29, 15, 55, 31, 123_987, tzinfo=UTC)


@given(st.text())
@example("CON")
@example("../../etc/passwd\0")
@example("\uff0f\uff0e\uff0e\uff3cnul")
@example("\u202egpj.exe")
@example("e" + "\u0301" * 500)
@example("字" * 500)
@example("\ud800")
def test_a_name_is_safe_on_every_file_system(prompt: str) -> None:
    name = clip_name(prompt, NOW)
    assert name.startswith("20261129T155531-123Z")
    assert len(f"{name}.json".encode()) <= MAX_NAME_BYTES
    assert all(character in "-_" or unicodedata.category(character)[0] in "LNM" for character in name)
    assert unicodedata.normalize("NFC", name) == name
    assert not name.endswith("-")


@settings(max_examples=50)
@given(st.text(), st.text(), st.datetimes(timezones=st.just(UTC)), st.timedeltas(min_value=timedelta(milliseconds=1)))
def test_names_sort_by_time(first: str, second: str, begin: datetime, later: timedelta) -> None:
    try:
        end = begin + later
    except OverflowError:
        return
    if begin.year >= 1000:
        assert clip_name(first, begin) < clip_name(second, end)


@pytest.mark.parametrize(
    ("prompt", "slug"),
    [
        ("A red fox, in the snow!", "-a-red-fox-in-the-snow"),
        ("", ""),
        ("🦊🦊 !?", ""),
        ('/\\:*?"<>|', ""),
        ("日本語 の プロンプト", "-日本語-の-プロンプト"),
        ("מים זורמים", "-מים-זורמים"),
        ("हिन्दी", "-हिन्दी"),
        ("word " * 40, "-word" * 12),
        ("x" * 500, "-" + "x" * 60),
    ],
)
def test_a_name_ends_in_the_first_words_of_the_prompt(prompt: str, slug: str) -> None:
    assert clip_name(prompt, NOW) == "20261129T155531-123Z" + slug


def test_the_time_is_utc_wherever_it_was_taken() -> None:
    there = NOW.astimezone(timezone(timedelta(hours=9)))
    assert clip_name("", there) == "20261129T155531-123Z"


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="zone"):
        clip_name("", NOW.replace(tzinfo=None))


def test_adding_a_suffix_cuts_nothing() -> None:
    assert Path(clip_name("v1.5 fox", NOW)).with_suffix(".mp4").name == "20261129T155531-123Z-v1-5-fox.mp4"
