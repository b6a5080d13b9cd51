"""Read back a form that was kept: whatever cannot be used takes the value that stands there already."""

from __future__ import annotations

from collections.abc import Mapping


class FormReader:
    """Take typed values out of plain ones that came from JSON, perhaps of another version.

    Args:
        form: The plain values by name.
    """

    def __init__(self, form: Mapping[str, object]) -> None:
        self._form = form

    def text(self, name: str, fallback: str = "") -> str:
        """Return a text."""
        value = self._form.get(name)
        return value if isinstance(value, str) else fallback

    def flag(self, name: str, fallback: bool) -> bool:  # noqa: FBT001 - the value that stands there already
        """Return yes or no."""
        value = self._form.get(name)
        return value if isinstance(value, bool) else fallback

    def number(self, name: str, fallback: int) -> int:
        """Return a whole number."""
        value = self._form.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else fallback

    def digits(self, name: str, fallback: int) -> int:
        """Return a whole number written as digits, since JSON's readers lose those of 64 bits; or a plain one."""
        value = self._form.get(name)
        if isinstance(value, str) and value.isascii() and value.isdigit():
            return int(value)
        return self.number(name, fallback)

    def table(self, name: str) -> Mapping[str, object]:
        """Return values by name; none where there is no such thing."""
        value = self._form.get(name)
        return value if isinstance(value, Mapping) else {}

    def tables(self, name: str) -> list[Mapping[str, object]]:
        """Return a list of values by name; what is none of them is left out."""
        value = self._form.get(name)
        return [part for part in value if isinstance(part, Mapping)] if isinstance(value, list) else []
