"""The transformer's builder: from a checkpoint's configuration and weights to the module."""

from __future__ import annotations

from pathlib import Path

from podium.models.builder import Headers, SingleGPUModelBuilder
from podium.models.configs import config_section, metadata_config
from podium.models.key_maps import TRANSFORMER
from podium.models.registry import Registry
from podium.models.transformer.config import TransformerConfig
from podium.models.transformer.model import AVTransformer


def transformer_builder(
    checkpoint_path: Path, registry: Registry | None = None
) -> SingleGPUModelBuilder[AVTransformer]:
    """Return the builder of the transformer inside a monolith or a split transformer file."""
    return SingleGPUModelBuilder((checkpoint_path,), TRANSFORMER, _make_transformer, registry)


def _make_transformer(headers: Headers) -> AVTransformer:
    path = headers[0].path
    section = config_section(path, metadata_config(path, headers[0].metadata), "transformer")
    return AVTransformer(TransformerConfig.from_official(section))
