"""Read single values out of JSON that others wrote; what is not as expected counts as absent."""

from __future__ import annotations

import json
from collections.abc import Mapping

# Larger ones are no sizes or factors of any model, and do not fit where they would go.
_MAX_NUMBER = 2**31


def json_object(text: str | bytes) -> Mapping[str, object]:
    """Return a JSON object; an empty one for any other text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def section(values: Mapping[str, object], name: str) -> Mapping[str, object]:
    """Return the object under `name`; an empty one for any other value."""
    value = values.get(name)
    return value if isinstance(value, dict) else {}


def text_value(values: Mapping[str, object], name: str) -> str | None:
    """Return the text under `name` unless it is empty; None for any other value."""
    value = values.get(name)
    return value if isinstance(value, str) and value else None


def whole_number(values: Mapping[str, object], name: str) -> int | None:
    """Return the positive whole number under `name`; None for any other value."""
    value = values.get(name)
    return value if type(value) is int and 0 < value < _MAX_NUMBER else None


def positive_number(values: Mapping[str, object], name: str) -> float | None:
    """Return the positive finite number under `name`; None for any other value."""
    value = values.get(name)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if 0 < value < _MAX_NUMBER else None
