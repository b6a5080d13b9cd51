"""Which generation of the model a LoRA was trained for, as far as its file tells. No torch; only the header counts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_VERSION = re.compile(r"ltx(?:[-_ ]?v(?:ideo)?)?[-_ ]?(2\.[0-9]|2(?![.0-9]))", re.IGNORECASE)
_NUMBER = re.compile(r"^\s*v?(2\.[0-9])")
# Source: the trainers' own metadata, in the order of how surely each names the base model.
_VERSION_KEY = "model_version"
_NAME_KEYS = ("ss_base_model_version", "modelspec.architecture", "ss_sd_model_name", "base_model", "base_model_name")
# 2.0 has neither gated attention nor the prompt's own modulation.
_NEWER_PARTS = ("to_gate_logits", "prompt_adaln")
# What a file tells may be less than a version: “LTX-2”, or “LTX-2.3 or later”.
_EXACT = frozenset({"LTX-2.0", "LTX-2.3", "LTX-2.5"})


def trained_for(metadata: Mapping[str, str], names: Iterable[str]) -> str:
    """Return “LTX-2.3”, “LTX-2.3 or later”, “LTX-2” for one of them, or "" where the file does not tell.

    Args:
        metadata: Of the file.
        names: Of its tensors.
    """
    if match := _NUMBER.match(metadata.get(_VERSION_KEY, "")):
        return f"LTX-{match[1]}"
    matches = [match[1] for key in _NAME_KEYS if (match := _VERSION.search(metadata.get(key, "")))]
    exact = next((version for version in matches if "." in version), None)
    if exact is not None:
        return f"LTX-{exact}"
    if any(part in name for name in names for part in _NEWER_PARTS):
        return "LTX-2.3 or later"
    return "LTX-2" if matches else ""


def is_for_another(origin: str, model: str) -> bool:
    """Return whether a LoRA was surely trained for another model.

    Args:
        origin: What `trained_for` returned.
        model: Such as "LTX-2.3"; empty where that is not known.
    """
    return bool(model) and origin in _EXACT and origin != model
