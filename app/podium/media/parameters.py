"""The parameters a clip was made with, as the JSON text in its tag and its sidecar: both hold the same text.

File names and hashes go in, paths never: a clip is given away with its parameters.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath

MARK, FORMAT_VERSION = "podium", 1
# What the artist wrote may begin with a slash.
_FREE_TEXT_SUFFIX = "prompt"
_NAME = "name"
_SURROGATE = re.compile("[\ud800-\udfff]")


def sidecar_path(clip_path: Path) -> Path:
    """Return where the sidecar of a clip lies: the clip's name with `.json` in place of its suffix."""
    return clip_path.with_suffix(".json")


def encode_parameters(parameters: Mapping[str, object]) -> str:
    r"""Return the JSON text of a clip's parameters, with `"podium": 1` first.

    Args:
        parameters: Strings, finite numbers, booleans, None, and lists, tuples and string-keyed mappings of them.

    Raises:
        ValueError: A value is a path, an absolute path as text (except under a key that ends in "prompt"), or nothing
            that JSON holds exactly. What stands under "name" is a path only where it has a slash.
    """
    if parameters.get(MARK, FORMAT_VERSION) != FORMAT_VERSION:
        raise ValueError(f"the key {MARK!r} is the writer's own and holds {FORMAT_VERSION}")
    plain = {MARK: FORMAT_VERSION} | {key: _plain(value, key) for key, value in parameters.items()}
    text = json.dumps(plain, ensure_ascii=False, indent=1, allow_nan=False)
    # Half a UTF-16 pair has no UTF-8; as an escape it comes back as it was.
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def decode_parameters(text: str) -> dict[str, object]:
    """Return the parameters in a tag or sidecar.

    Raises:
        ValueError: The text is no JSON, or not parameters that Podium wrote.
    """
    try:
        parameters = json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(parameters, dict) or MARK not in parameters:
        raise ValueError(f"no object with the key {MARK!r}")
    return parameters


def _plain(value: object, key: str) -> object:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str) and (_holds_no_path(key, value) or not _is_absolute_path(value)):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, list | tuple):
        return [_plain(item, key) for item in value]
    if isinstance(value, Mapping) and all(isinstance(name, str) for name in value):
        return {name: _plain(item, name) for name, item in value.items()}
    raise ValueError(f"{key!r} holds {value!r}: a path (its file name would do), or nothing that JSON holds exactly")


def _holds_no_path(key: str, text: str) -> bool:
    # A file on Linux may be called “C:\fox.png” or “file:fox.png”, and that is all of its name.
    return key.endswith(_FREE_TEXT_SUFFIX) or (key == _NAME and "/" not in text)


def _is_absolute_path(text: str) -> bool:
    return PurePosixPath(text).is_absolute() or PureWindowsPath(text).is_absolute() or text.startswith("file:")
