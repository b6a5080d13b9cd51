"""What a Gemma's config.json says, which a single-file text encoder carries as metadata."""

from __future__ import annotations

from collections.abc import Mapping

from podium.models.probe.foreign_json import json_object, section, text_value, whole_number
from podium.models.probe.report import GemmaFacts

_FAMILIES = (3, 4)


def gemma_facts(config: Mapping[str, object]) -> GemmaFacts | None:
    """Return the family and size that a configuration describes; None where it describes no Gemma 3 or 4."""
    model_type = config.get("model_type")
    text = section(config, "text_config") or config
    hidden_dim, num_layers = whole_number(text, "hidden_size"), whole_number(text, "num_hidden_layers")
    if not isinstance(model_type, str) or hidden_dim is None or num_layers is None:
        return None
    families = (family for family in _FAMILIES if model_type.startswith(f"gemma{family}"))
    return next((GemmaFacts(model_type, family, hidden_dim, num_layers) for family in families), None)


def gemma_version(metadata: Mapping[str, str]) -> str | None:
    """Return the version of the text encoder that a file is, or was made with; None where its metadata does not tell.

    A text encoder says it in its own configuration, every other file of LTX-2.5 under `gemma_source_checkpoint`.
    """
    for section_name in ("gemma_config", "gemma_source_checkpoint"):
        version = text_value(json_object(metadata.get(section_name, "")), "gemma_version")
        if version is not None:
            return version
    return None
