"""The files that Podium ships beside its code: the only reader of `podium_resources`.

Names are relative to that package, with forward slashes: `prompts/demo.txt`.
"""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable

import podium_resources


def read_text(name: str) -> str:
    """Return a shipped UTF-8 text without the line end that closes the file.

    Raises:
        ValueError: Podium ships no such file, or the name leaves the package.
    """
    return _find(name).read_text(encoding="utf-8").removesuffix("\n")


def read_bytes(name: str) -> bytes:
    """Return a shipped file as it is.

    Raises:
        ValueError: Podium ships no such file, or the name leaves the package.
    """
    return _find(name).read_bytes()


def _find(name: str) -> Traversable:
    parts = name.split("/")
    if not all(part not in ("", ".", "..") and "\\" not in part for part in parts):
        raise ValueError(f"{name!r} is not a plain relative name of a shipped file")
    found = files(podium_resources).joinpath(*parts)
    if not found.is_file():
        raise ValueError(f"Podium ships no file named {name!r}")
    return found


__all__ = ["read_bytes", "read_text"]
