"""What a LoRA file would do to a transformer, from its header alone. No torch; no factor is read.

`read_lora_plan` turns every spelling of a plain LoRA into pairs under official names, and reports all that it leaves
out. A file of which nothing can be applied is refused, since a LoRA that does nothing looks like one that works badly.
"""

from __future__ import annotations

import json
import logging
import math
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from podium.errors import JobRefusedError
from podium.jobs import LoraSpec
from podium.models.errors import CheckpointError, CheckpointReason
from podium.models.header import SafetensorsHeader, TensorInfo, read_header
from podium.models.lora_names import LayerNames, Part, is_connector_layer, parse_key
from podium.models.lora_origin import trained_for

MAX_STRENGTH = 1000.0
"""Largest strength of a LoRA: hundreds of times what any picture survives, and far from what numbers can hold."""

_log = logging.getLogger(__name__)

_FACTOR_DTYPES = ("F32", "F16", "BF16")
_SCALAR_FORMATS = {"F64": "<d", "F32": "<f", "F16": "<e", "I64": "<q", "I32": "<i"}
_NUM_FIRST_NAMES = 3
_FACTORS = frozenset({Part.A, Part.B})
_ACCEPTED = "Podium applies LoRAs for LTX-2 with lora_A/lora_B (or lora_down/lora_up) factors."


class LoraError(CheckpointError):
    """Refuse a LoRA file: another one is needed, or none."""


@dataclass(frozen=True, slots=True)
class LoraPair:
    """The two factors of one weight: weight + scale * B @ A.

    Args:
        weight_key: Official name, such as "transformer_blocks.0.attn1.to_q.weight".
        a_name: Key of A [rank, in_features] in the file.
        b_name: Key of B [out_features, rank] in the file.
        alpha_name: Key of alpha in the file, if it has one.
        rank: At least 1; may differ from layer to layer.
        scale: alpha / rank (alpha / sqrt(rank) for rsLoRA told by metadata), 1 where the file says nothing.
    """

    weight_key: str
    a_name: str
    b_name: str
    alpha_name: str | None
    rank: int
    scale: float


@dataclass(frozen=True, slots=True)
class LayerCount:
    """How many layers met the same fate, and the first of their names."""

    num_layers: int = 0
    first: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LoraReport:
    """What became of each layer that a LoRA file names.

    Args:
        file_name: The file's name without folders.
        applied: Layers whose weights change.
        connector: Layers of the text connectors or projection: known, not applied.
        unsupported_algorithm: Layers made by another method than LoRA; `algorithms` names it.
        wrong_shape: Layers whose factors do not fit the weight or each other, or of which a factor is missing.
        duplicate: Layers that the file names again in another spelling; the first one counts.
        unknown: Names that are no layer of this model.
        algorithms: The methods met, such as "LoKr".
        trained_for: The generation it was trained for, such as "LTX-2.3", as its file tells; empty if it does not.
    """

    file_name: str
    applied: LayerCount = LayerCount()
    connector: LayerCount = LayerCount()
    unsupported_algorithm: LayerCount = LayerCount()
    wrong_shape: LayerCount = LayerCount()
    duplicate: LayerCount = LayerCount()
    unknown: LayerCount = LayerCount()
    algorithms: tuple[str, ...] = ()
    trained_for: str = ""

    def left_out(self) -> tuple[tuple[str, LayerCount], ...]:
        """Return what was not applied as (reason in words, count), reasons without any left away."""
        methods = " and ".join(self.algorithms)
        reasons = (
            ("in the text connectors, which Podium leaves as they are", self.connector),
            (f"made as {methods}, which Podium cannot apply", self.unsupported_algorithm),
            ("of a shape that does not fit", self.wrong_shape),
            ("named twice", self.duplicate),
            ("unknown to this model", self.unknown),
        )
        return tuple((reason, count) for reason, count in reasons if count.num_layers)

    def summary(self) -> str:
        """Return one sentence: how many layers were applied, and why others were not."""
        left_out = self.left_out()
        num_layers = self.applied.num_layers + sum(count.num_layers for _, count in left_out)
        if not left_out:
            return f"{self.file_name}: all {num_layers} layers applied."
        reasons = "; ".join(f"{count.num_layers} {reason} ({_named(count)})" for reason, count in left_out)
        return f"{self.file_name}: {self.applied.num_layers} of {num_layers} layers applied; left out: {reasons}."


@dataclass(frozen=True, slots=True)
class LoraPlan:
    """The pairs of one LoRA file in the model's own order, and the report on all the rest."""

    path: Path
    pairs: tuple[LoraPair, ...]
    report: LoraReport


@dataclass(slots=True)
class _Layer:
    """The tensors that one layer of the file has, by part."""

    name: str
    keys: dict[Part, str] = field(default_factory=dict)
    algorithms: set[str] = field(default_factory=set)


def read_lora_plan(path: Path, model_shapes: Mapping[str, tuple[int, ...]]) -> LoraPlan:
    """Read which weights of a transformer a LoRA file changes, and with which factors.

    Args:
        path: A safetensors file.
        model_shapes: Shape of each parameter by its official name without `model.diffusion_model.`.

    Raises:
        CheckpointError: The file cannot be read.
        LoraError: Nothing in it can be applied to this model.
    """
    header = read_header(path)
    reader = _PlanReader(header, model_shapes)
    try:
        with path.open("rb") as file:
            pairs = reader.pairs(file)
    except OSError as error:
        raise LoraError(
            f"“{path.name}” can no longer be read, though its header could. Check that its drive is there and sound.",
            path=path,
            reason=CheckpointReason.UNREADABLE,
            details=str(error),
        ) from error
    report = reader.report(path.name)
    if not pairs:
        raise LoraError(
            _refusal(header, report), path=path, reason=CheckpointReason.WRONG_KIND, details=report.summary()
        )
    return LoraPlan(path, pairs, report)


def check_strengths(spec: LoraSpec) -> None:
    """Check that a LoRA's strengths are numbers that weights can hold; negative ones and zero are welcome.

    Raises:
        JobRefusedError: One is not.
    """
    branches = spec.branches
    of_branches = (branches.video, branches.audio, branches.audio_to_video, branches.video_to_audio)
    # Not a number compares as not small enough.
    if not all(abs(strength) <= MAX_STRENGTH for strength in (spec.strength, *of_branches)):
        raise JobRefusedError(
            f"The strength of “{spec.path.name}” cannot be used. It must lie from -{MAX_STRENGTH:g} to "
            f"{MAX_STRENGTH:g}; 1 applies the LoRA as trained."
        )


class _PlanReader:
    """Sorts the layers of one file into pairs and reasons for leaving out."""

    def __init__(self, header: SafetensorsHeader, model_shapes: Mapping[str, tuple[int, ...]]) -> None:
        self._header = header
        self._model_shapes = model_shapes
        self._names = LayerNames(model_shapes)
        self._peft_scales = _PeftScales.of(header.metadata)
        self._pairs: dict[str, LoraPair] = {}
        self._connector: list[str] = []
        self._unsupported: list[str] = []
        self._wrong: list[str] = []
        self._duplicate: list[str] = []
        self._unknown: list[str] = []
        self._algorithms: set[str] = set()

    def pairs(self, file: BinaryIO) -> tuple[LoraPair, ...]:
        """Return the pairs that fit, in the model's order."""
        for layer in _layers(self._header.tensors):
            self._sort(layer, file)
        return tuple(self._pairs[key] for key in self._model_shapes if key in self._pairs)

    def report(self, file_name: str) -> LoraReport:
        """Return what `pairs` found."""
        return LoraReport(
            file_name,
            applied=_count([key.removesuffix(".weight") for key in self._pairs]),
            connector=_count(self._connector),
            unsupported_algorithm=_count(self._unsupported),
            wrong_shape=_count(self._wrong),
            duplicate=_count(self._duplicate),
            unknown=_count(self._unknown),
            algorithms=tuple(sorted(self._algorithms)),
            trained_for=trained_for(self._header.metadata, self._header.tensors),
        )

    def _sort(self, layer: _Layer, file: BinaryIO) -> None:
        weight_key = self._names.find_weight_key(layer.name)
        if weight_key is None and is_connector_layer(layer.name):
            self._connector.append(layer.name)
        elif layer.algorithms or self._has_coded_factors(layer):
            # A pair that belongs to another method (DoRA keeps ordinary factors) would be wrong if applied alone.
            self._algorithms |= layer.algorithms or {"LoRA with quantised factors"}
            self._unsupported.append(layer.name)
        elif weight_key is None:
            self._unknown.append(layer.name)
        elif misfit := self._misfit(layer, self._model_shapes[weight_key]):
            self._wrong.append(f"{layer.name}: {misfit}")
        elif weight_key in self._pairs:
            self._duplicate.append(layer.name)
        else:
            self._pairs[weight_key] = self._pair(weight_key, layer, file)

    def _has_coded_factors(self, layer: _Layer) -> bool:
        factors = [layer.keys[part] for part in (Part.A, Part.B) if part in layer.keys]
        return any(self._header.tensors[key].dtype not in _FACTOR_DTYPES for key in factors)

    def _misfit(self, layer: _Layer, weight_shape: tuple[int, ...]) -> str:
        """Return in words why the factors cannot change the weight, or "" if they can."""
        if missing := [part.value for part in (Part.A, Part.B) if part not in layer.keys]:
            return f"without {' and '.join(missing)}"
        a_shape, b_shape = (self._header.tensors[layer.keys[part]].shape for part in (Part.A, Part.B))
        if len(a_shape) != 2 or len(b_shape) != 2 or a_shape[0] != b_shape[1] or a_shape[0] == 0:
            return f"factors {_shape(a_shape)} and {_shape(b_shape)} do not multiply"
        if (b_shape[0], a_shape[1]) != weight_shape:
            return f"made for {_shape((b_shape[0], a_shape[1]))}, the model's weight is {_shape(weight_shape)}"
        return ""

    def _pair(self, weight_key: str, layer: _Layer, file: BinaryIO) -> LoraPair:
        rank = self._header.tensors[layer.keys[Part.A]].shape[0]
        alpha_name = layer.keys.get(Part.ALPHA)
        if alpha_name is None:
            scale = self._peft_scales.scale(layer.name, rank)
        else:
            scale = _read_scalar(file, self._header, alpha_name) / rank
        if not math.isfinite(scale):
            raise LoraError(
                f"“{self._header.path.name}” is damaged: the alpha of its layer {layer.name} is no number. "
                "A whole copy of the file is needed.",
                path=self._header.path,
                reason=CheckpointReason.CORRUPT,
            )
        return LoraPair(weight_key, layer.keys[Part.A], layer.keys[Part.B], alpha_name, rank, scale)


@dataclass(frozen=True, slots=True)
class _PeftScales:
    """Alphas as PEFT's configuration in the file's metadata tells them; silent (scale 1) without one."""

    alpha: float | None = None
    alpha_by_layer: Mapping[str, float] = field(default_factory=dict)
    is_rank_stabilised: bool = False

    @classmethod
    def of(cls, metadata: Mapping[str, str]) -> _PeftScales:
        """Read the configuration that diffusers saves; one that cannot be read counts as none."""
        text = metadata.get("lora_adapter_metadata", "")
        try:
            config = json.loads(text) if text else {}
            config = {key.removeprefix("transformer."): value for key, value in config.items()}
            alpha = config.get("lora_alpha")
            by_layer = {name: float(value) for name, value in (config.get("alpha_pattern") or {}).items()}
            return cls(None if alpha is None else float(alpha), by_layer, config.get("use_rslora") is True)
        except (ValueError, TypeError, AttributeError, RecursionError):
            _log.warning("The LoRA's adapter metadata cannot be read; its factors are taken as they are.")
            return cls()

    def scale(self, layer: str, rank: int) -> float:
        """Return the factor on B @ A of a layer."""
        # PEFT takes the patterns as regular expressions; in saved files they are plain ends of names, and an expression
        # from a stranger's file could run for ever.
        ends = (alpha for end, alpha in self.alpha_by_layer.items() if f".{layer}".endswith(f".{end.lstrip('^')}"))
        alpha = next(ends, self.alpha)
        if alpha is None:
            return 1.0
        return alpha / (math.sqrt(rank) if self.is_rank_stabilised else rank)


def _layers(tensors: Mapping[str, TensorInfo]) -> Iterator[_Layer]:
    """Gather the file's keys by the layer they name, in the order of the file."""
    layers: dict[tuple[str, str], _Layer] = {}
    for key, parsed in ((key, parse_key(key)) for key in tensors):
        # A difference of its own (weight or bias) stands beside a pair without changing what the pair means.
        name = key if parsed.part is Part.DIFFERENCE else parsed.layer
        layer = layers.setdefault((name, parsed.adapter), _Layer(name))
        layer.keys.setdefault(parsed.part, key)
        if parsed.algorithm:
            layer.algorithms.add(parsed.algorithm)
    for (name, adapter), layer in layers.items():
        # Alpha and the marks of other methods carry no adapter's name: they hold for every adapter of their layer.
        common = layers.get((name, "")) if adapter else None
        if common is not None:
            layer.algorithms |= common.algorithms
            layer.keys = common.keys | layer.keys
    named_adapters = {name for name, adapter in layers if adapter}
    yield from (layer for (name, adapter), layer in layers.items() if adapter or name not in named_adapters)


def _read_scalar(file: BinaryIO, header: SafetensorsHeader, key: str) -> float:
    """Return the number a tensor holds; NaN if it holds several, or in a format that no trainer uses for alpha."""
    info = header.tensors[key]
    if info.num_elements != 1 or (info.dtype not in _SCALAR_FORMATS and info.dtype != "BF16"):
        return math.nan
    file.seek(header.data_start + info.start)
    raw = file.read(info.num_bytes)
    if info.dtype == "BF16":
        # The upper half of a float32.
        raw = b"\0\0" + raw
    return float(struct.unpack(_SCALAR_FORMATS.get(info.dtype, "<f"), raw)[0])


def _count(names: list[str]) -> LayerCount:
    return LayerCount(len(names), tuple(names[:_NUM_FIRST_NAMES]))


def _named(count: LayerCount) -> str:
    names = ", ".join(count.first)
    return f"{names}, …" if count.num_layers > len(count.first) else names


def _shape(shape: tuple[int, ...]) -> str:
    return " × ".join(str(size) for size in shape) or "a single number"


def _refusal(header: SafetensorsHeader, report: LoraReport) -> str:
    """Say what a file is of which nothing can be applied, and what would be accepted."""
    name = f"“{report.file_name}”"
    counts = (report.unsupported_algorithm, report.connector, report.wrong_shape, report.unknown)
    most = max(counts, key=lambda count: count.num_layers)
    if not most.num_layers:
        return f"{name} holds no tensors. {_ACCEPTED}"
    if most is report.unsupported_algorithm:
        method = " and ".join(report.algorithms)
        return f"{name} is {'an' if method[0] in 'IO' else 'a'} {method}, which Podium cannot apply. {_ACCEPTED}"
    if most is report.connector:
        return f"{name} changes only the text connectors, which Podium leaves as they are. {_ACCEPTED}"
    if most is report.wrong_shape:
        return f"{name} does not fit this model ({most.first[0]}). A LoRA made for this model, whole, is needed."
    if any(parse_key(key).part in _FACTORS for key in header.tensors):
        return f"{name} is a LoRA for another model: this one has no layer {most.first[0]}. {_ACCEPTED}"
    return f"{name} is no LoRA: it holds no factors, but {_named(most)}. {_ACCEPTED}"
