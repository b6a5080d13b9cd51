"""Moments as the library keeps them: microseconds since 1970, UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def to_us(moment: datetime) -> int:
    """Return the microseconds from 1970 to a moment; exact, unlike a float of seconds."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def from_us(moment_us: int) -> datetime:
    """Return the moment, in UTC."""
    return _EPOCH + timedelta(microseconds=moment_us)
