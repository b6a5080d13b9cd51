"""Probe a folder that holds a text encoder: configuration, shards, tokenizer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from podium.models.errors import CheckpointError, CheckpointReason
from podium.models.file_kinds import is_file
from podium.models.header import SafetensorsHeader, TensorInfo, read_header
from podium.models.probe.contents import bytes_by_dtype, missing_numbers
from podium.models.probe.foreign_json import json_object, section, text_value
from podium.models.probe.gemma_config import gemma_facts
from podium.models.probe.quantisation import detect_quantisation
from podium.models.probe.report import Component, FileKind, FileReport, GemmaFacts, Problem, Quantisation, Slot

CONFIG_NAME = "config.json"
TOKENIZER_NAME = "tokenizer.json"
INDEX_NAME = "model.safetensors.index.json"

_SMALL_FILE_BYTES = 64_000_000
_LAYER = re.compile(r"(?:^|\.)(?:language_model|model)\.layers\.(\d{1,5})\.")
_WANTED = (
    f"The folder as Google published it is needed: {CONFIG_NAME}, {TOKENIZER_NAME} and all of its .safetensors files."
)


@dataclass(slots=True)
class _Findings:
    """What turned up so far."""

    folder: Path
    headers: list[SafetensorsHeader] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def add(self, reason: CheckpointReason, sentence: str) -> None:
        self.problems.append(Problem(reason, sentence))

    @property
    def tensors(self) -> Mapping[str, TensorInfo]:
        return {name: info for header in self.headers for name, info in header.tensors.items()}


def looks_like_gemma_folder(folder: Path) -> bool:
    """Tell whether a folder is meant as a text encoder, whole or not."""
    if any(is_file(folder / name) for name in (TOKENIZER_NAME, INDEX_NAME, "tokenizer.model")):
        return True
    model_type = _read_json(folder / CONFIG_NAME).get("model_type")
    return isinstance(model_type, str) and model_type.startswith("gemma")


def probe_gemma_folder(folder: Path) -> FileReport:
    """Say which Gemma a folder holds and whether anything of it is missing."""
    findings = _Findings(folder)
    config = _read_json(folder / CONFIG_NAME)
    facts = _facts(findings, config)
    _find_weights(findings)
    tensors = findings.tensors
    if facts is not None and findings.headers and not findings.problems:
        _check_layers(findings, facts, tensors)
    is_whole = not findings.problems
    has_tokenizer = _has_tokenizer(findings)
    quantisation, formats = _quantisation(findings, config)
    dtypes = tuple(dtype for dtype, _ in bytes_by_dtype(tensors.values()).most_common())
    return FileReport(
        folder,
        FileKind.TEXT_ENCODER,
        file_bytes=sum(header.file_bytes for header in findings.headers),
        is_whole=is_whole,
        components=_components(tensors, dtypes, has_tokenizer=has_tokenizer),
        quantisation=quantisation,
        quantisation_formats=formats,
        stored_dtype=dtypes[0] if dtypes else None,
        gemma=facts,
        gemma_version=text_value(config, "gemma_version"),
        problems=tuple(findings.problems),
    )


def _facts(findings: _Findings, config: Mapping[str, object]) -> GemmaFacts | None:
    name = findings.folder.name
    facts = gemma_facts(config)
    if not is_file(findings.folder / CONFIG_NAME):
        findings.add(CheckpointReason.INCOMPLETE, f"The text encoder “{name}” has no {CONFIG_NAME}. {_WANTED}")
    elif facts is None:
        told = config.get("model_type")
        what = f"describes a model of the type “{told}”" if isinstance(told, str) else "cannot be read"
        findings.add(CheckpointReason.WRONG_KIND, f"The {CONFIG_NAME} in “{name}” {what}. A Gemma 3 or 4 is needed.")
    return facts


def _find_weights(findings: _Findings) -> None:
    names = _shard_names(findings)
    if names is None:
        return
    if not names:
        pickled = any(findings.folder.glob("*.bin"))
        detail = ", only pickled ones, which can run any program when they are opened" if pickled else ""
        findings.add(
            CheckpointReason.PICKLE if pickled else CheckpointReason.INCOMPLETE,
            f"The text encoder “{findings.folder.name}” has no weights in .safetensors files{detail}. {_WANTED}",
        )
    for name in names:
        try:
            findings.headers.append(read_header(findings.folder / name))
        except CheckpointError as error:
            if error.reason is CheckpointReason.MISSING:
                sentence = f"The text encoder “{findings.folder.name}” lacks its file “{name}”. {_WANTED}"
                findings.add(CheckpointReason.INCOMPLETE, sentence)
            else:
                findings.add(error.reason, error.message)


def _shard_names(findings: _Findings) -> list[str] | None:
    """Return the weight files to look for: those of the index, else all there are; None if the index is damaged."""
    index = findings.folder / INDEX_NAME
    if not is_file(index):
        names = sorted(path.name for path in findings.folder.glob("*.safetensors"))
        return names + _numbered_gaps(names)
    shards = section(_read_json(index), "weight_map").values()
    names = sorted({name for name in shards if isinstance(name, str) and Path(name).name == name})
    if names:
        return names
    findings.add(CheckpointReason.CORRUPT, f"The list of files “{INDEX_NAME}” in “{findings.folder.name}” is damaged.")
    return None


def _numbered_gaps(names: list[str]) -> list[str]:
    """Return what is missing among files numbered “-00001-of-00005”."""
    gaps: set[str] = set()
    for name in names:
        match = re.fullmatch(r"(.*-)(\d{5})(-of-(\d{5})\.safetensors)", name)
        if match and int(match[4]) <= 1000:
            gaps.update(f"{match[1]}{number:05}{match[3]}" for number in range(1, int(match[4]) + 1))
    return sorted(gaps - set(names))


def _check_layers(findings: _Findings, facts: GemmaFacts, tensors: Mapping[str, TensorInfo]) -> None:
    layers = {int(match[1]) for match in map(_LAYER.search, tensors) if match and "vision" not in match.string}
    num_missing, first = missing_numbers(layers, facts.num_layers)
    if num_missing:
        findings.add(
            CheckpointReason.INCOMPLETE,
            f"The text encoder “{findings.folder.name}” lacks {num_missing:,} of its {facts.num_layers:,} layers, "
            f"layer {first} first. {_WANTED}",
        )


def _has_tokenizer(findings: _Findings) -> bool:
    name = findings.folder.name
    path = findings.folder / TOKENIZER_NAME
    if not is_file(path):
        findings.add(CheckpointReason.INCOMPLETE, f"The text encoder “{name}” has no {TOKENIZER_NAME}. {_WANTED}")
        return False
    if "model" not in _read_json(path):
        findings.add(
            CheckpointReason.CORRUPT,
            f"The {TOKENIZER_NAME} in “{name}” is damaged, or only a pointer to it. Fetch it again.",
        )
        return False
    return True


def _quantisation(findings: _Findings, config: Mapping[str, object]) -> tuple[Quantisation, tuple[str, ...]]:
    method = section(config, "quantization_config").get("quant_method")
    if isinstance(method, str):
        return Quantisation.UNKNOWN, (method,)
    return detect_quantisation(findings.tensors, {})


def _components(
    tensors: Mapping[str, TensorInfo], dtypes: tuple[str, ...], *, has_tokenizer: bool
) -> tuple[Component, ...]:
    def found() -> Iterator[Component]:
        if tensors:
            infos = tensors.values()
            num_bytes = sum(info.num_bytes for info in infos)
            yield Component(
                Slot.TEXT_ENCODER, len(tensors), num_bytes, sum(info.num_elements for info in infos), dtypes
            )
        if has_tokenizer:
            yield Component(Slot.TOKENIZER, 0, 0, 0, ())

    return tuple(found())


def _read_json(path: Path) -> Mapping[str, object]:
    try:
        with path.open("rb") as file:
            return json_object(file.read(_SMALL_FILE_BYTES))
    except (OSError, ValueError):
        return {}
