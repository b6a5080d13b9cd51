"""How a file's weights are reduced, told by dtypes, scale names and metadata; no weight is read."""

from __future__ import annotations

import json
from collections.abc import Mapping

from podium.models.header import TensorInfo
from podium.models.probe.report import Quantisation

_FP8 = ("F8_E4M3", "F8_E5M2")
_FP8_FORMATS = {"float8_e4m3fn", "float8_e5m2"}
_INTEGERS = ("I8", "U8", "F4")
# Files that a text encoder carries are bytes and no weights.
_EMBEDDED_FILES = ("tokenizer_json", "hf_asset__")


def detect_quantisation(
    tensors: Mapping[str, TensorInfo], metadata: Mapping[str, str]
) -> tuple[Quantisation, tuple[str, ...]]:
    """Return how a file is quantised, and the format names that its metadata lists."""
    formats = _metadata_formats(metadata)
    endings = {name.rpartition(".")[2] for name in tensors}
    dtypes = {info.dtype for name, info in tensors.items() if not name.startswith(_EMBEDDED_FILES)}
    return _by_names(endings, formats, set(tensors)) or _by_dtypes(endings, formats, dtypes), formats


def _by_names(endings: set[str], formats: tuple[str, ...], names: set[str]) -> Quantisation | None:
    if "scaled_fp8" in names or "scale_weight" in endings:
        return Quantisation.FP8_OLD_COMFY
    if endings & {"_data", "_scale", "_qtype"} and any(".weight._" in name for name in names):
        return Quantisation.QUANTO
    if "comfy_quant" in endings:
        return Quantisation.COMFY_QUANT
    if "weight_scale_2" in endings:
        return Quantisation.NVFP4
    if set(formats) - _FP8_FORMATS:
        return Quantisation.COMFY_QUANT
    return None


def _by_dtypes(endings: set[str], formats: tuple[str, ...], dtypes: set[str]) -> Quantisation:
    if dtypes.intersection(_FP8):
        has_scales = "weight_scale" in endings or bool(formats)
        return Quantisation.FP8_SCALED if has_scales else Quantisation.FP8_UNSCALED
    return Quantisation.UNKNOWN if dtypes.intersection(_INTEGERS) else Quantisation.NONE


def _metadata_formats(metadata: Mapping[str, str]) -> tuple[str, ...]:
    """Return the distinct formats of `_quantization_metadata`, sorted."""
    try:
        layers = json.loads(metadata.get("_quantization_metadata", "{}")).get("layers", {})
        return tuple(sorted({str(layer["format"]) for layer in layers.values()}))
    except (ValueError, AttributeError, TypeError, KeyError, RecursionError):
        return ("unreadable",)
