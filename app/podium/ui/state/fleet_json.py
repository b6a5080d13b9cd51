"""What a fleet is started with, as JSON holds it: GPUs by UUID, since their numbers change with the machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from podium.jobs import PipelineKind, Quantization
from podium.models.paths import ModelPaths
from podium.ui.state.values import DeviceChoice, FleetSpec

VERSION = 1
_MODEL_FIELDS = tuple(field.name for field in fields(ModelPaths))


def spec_to_dict(spec: FleetSpec) -> dict[str, object]:
    """Return a fleet's description as JSON holds it."""
    paths = {name: getattr(spec.models, name) for name in _MODEL_FIELDS}
    return {
        "version": VERSION,
        "models": {name: str(path) for name, path in paths.items() if path is not None},
        "devices": list(spec.choice.devices),
        "uuids": list(spec.choice.uuids),
        "cpu_ranks": spec.choice.cpu_ranks,
        "dtype": spec.dtype,
        "max_tokens": spec.max_tokens,
        "pipeline": spec.pipeline.value,
        "quantization": spec.quantization.value,
    }


def spec_from_dict(data: Mapping[str, Any]) -> FleetSpec:
    """Return the description that `spec_to_dict` was given.

    Raises:
        ValueError: It is none, or one that a newer Podium wrote.
    """
    if data.get("version") != VERSION:
        raise ValueError(f"a fleet of version {data.get('version')!r}; this Podium reads {VERSION}")
    try:
        return FleetSpec(
            models=models_from_dict(data["models"]),
            choice=DeviceChoice(tuple(data["devices"]), data["cpu_ranks"], tuple(data["uuids"])),
            dtype=data["dtype"],
            max_tokens=data["max_tokens"],
            pipeline=PipelineKind(data["pipeline"]),
            quantization=Quantization(data["quantization"]),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"no whole fleet: {error!r}") from error


def models_from_dict(data: Mapping[str, Any]) -> ModelPaths:
    """Return model files by the names of their fields."""
    return ModelPaths(**{name: Path(data[name]) for name in _MODEL_FIELDS if name in data})
