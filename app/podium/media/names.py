"""Names of clips: when they were made, and a few words of what they show."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime

MAX_NAME_BYTES = 200
_MAX_SLUG_BYTES = 60
_WIDEST_SUFFIX_BYTES = len(".json")


def clip_name(prompt: str, now_utc: datetime) -> str:
    """Return a clip's name without its suffix: UTC time to the millisecond, and the first words of its prompt.

    It is safe on every file system: letters and digits of any script, "-" and "_", at most 200 bytes of UTF-8 with a
    suffix, and it sorts by time. It has no dot, so `Path.with_suffix` adds one and cuts nothing.

    Args:
        prompt: Any text; one without letters and digits adds nothing to the name.
        now_utc: With a time zone.

    Raises:
        ValueError: `now_utc` has no time zone.
    """
    if now_utc.tzinfo is None:
        raise ValueError("a time without a zone says nothing about UTC")
    moment = now_utc.astimezone(UTC)
    stamp = f"{moment:%Y%m%dT%H%M%S}-{moment.microsecond // 1000:03d}Z"
    room_bytes = min(_MAX_SLUG_BYTES, MAX_NAME_BYTES - _WIDEST_SUFFIX_BYTES - len(stamp) - 1)
    slug = _slug(prompt, room_bytes)
    return f"{stamp}-{slug}" if slug else stamp


def _slug(prompt: str, room_bytes: int) -> str:
    """Return the prompt's words joined by "-", cut between words where one fits, else between characters."""
    # Compatibility forms first: a full-width slash becomes a plain one here, and is dropped with the others below.
    text = unicodedata.normalize("NFKC", prompt).lower()
    words = "".join(character if _is_of_a_word(character) else " " for character in text).split()
    slug = ""
    for word in words:
        longer = f"{slug}-{word}" if slug else word
        if len(longer.encode()) > room_bytes:
            break
        slug = longer
    return slug or _cut(words[0], room_bytes) if words else ""


def _is_of_a_word(character: str) -> bool:
    # Marks belong to the letters before them: most Indic scripts cannot be read without.
    return character == "_" or unicodedata.category(character)[0] in "LNM"


def _cut(word: str, room_bytes: int) -> str:
    return word.encode()[:room_bytes].decode(errors="ignore")
