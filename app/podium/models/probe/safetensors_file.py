"""Probe one safetensors file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from podium.models.errors import CheckpointError, CheckpointReason
from podium.models.header import SafetensorsHeader, read_header, truncation_sentence
from podium.models.probe.contents import Contents, bytes_by_dtype, missing_numbers, sort_into_slots
from podium.models.probe.foreign_json import json_object, positive_number, section, whole_number
from podium.models.probe.gemma_config import gemma_facts, gemma_version
from podium.models.probe.generation import (
    detect_generation,
    generation_of_tensors,
    has_diffusion_decoder,
    has_keyframe_embedding,
)
from podium.models.probe.quantisation import detect_quantisation
from podium.models.probe.report import (
    FileKind,
    FileReport,
    GemmaFacts,
    Generation,
    Problem,
    Quantisation,
    Slot,
    TransformerShape,
    UpsamplerFacts,
)

_PROJECTIONS = (
    "text_embedding_projection.video_aggregate_embed.weight",
    "text_embedding_projection.aggregate_embed.weight",
)
_TEXT_LAYER = re.compile(r"(?:language_model\.)?model\.(?:language_model\.)?layers\.(\d{1,5})\.")
_UPSAMPLER_SLOTS = (Slot.SPATIAL_UPSAMPLER, Slot.TEMPORAL_UPSAMPLER)
_TEXT_SLOTS = frozenset({Slot.TEXT_ENCODER, Slot.TOKENIZER, Slot.TEXT_PROJECTION})


def probe_file(path: Path) -> FileReport:
    """Say what a file is; whatever is wrong with it stands in the report."""
    try:
        header = read_header(path, allow_truncated=True)
    except CheckpointError as error:
        is_gguf = error.reason is CheckpointReason.GGUF
        return FileReport(
            path,
            FileKind.UNREADABLE,
            quantisation=Quantisation.GGUF if is_gguf else Quantisation.NONE,
            problems=(Problem(error.reason, error.message),),
        )
    return _report(header)


def _report(header: SafetensorsHeader) -> FileReport:
    contents = sort_into_slots(header.tensors)
    foreign = _foreign_layout(header.path, contents)
    kind = FileKind.UNRECOGNISED if foreign else _kind(contents)
    config = json_object(header.metadata.get("config", ""))
    quantisation, formats = detect_quantisation(header.tensors, header.metadata)
    dtypes = bytes_by_dtype(header.tensors.values()).most_common(1)
    gemma = _gemma(contents, header.metadata)
    cuts = (
        *_truncation(header),
        *_missing_blocks(header.path, contents, config),
        *_missing_layers(header.path, contents, gemma),
    )
    is_model = kind in {FileKind.CHECKPOINT, FileKind.TEXT_ENCODER}
    return FileReport(
        header.path,
        kind,
        file_bytes=header.file_bytes,
        is_whole=not cuts,
        components=() if foreign else contents.components(),
        generation=detect_generation(contents, header.metadata) if is_model else None,
        model_version=header.metadata.get("model_version"),
        quantisation=quantisation,
        quantisation_formats=formats,
        stored_dtype=dtypes[0][0] if dtypes else None,
        prefix=contents.prefix if contents.has(Slot.TRANSFORMER) else None,
        transformer=_transformer_shape(contents, config),
        text_projection_dim=_projection_dim(contents),
        has_keyframe_embedding=has_keyframe_embedding(contents),
        has_diffusion_decoder=has_diffusion_decoder(contents),
        gemma=gemma,
        gemma_version=gemma_version(header.metadata),
        upsampler=_upsampler(contents, header.metadata),
        num_lora_layers=contents.num_lora_layers,
        problems=(*foreign, *_unrecognised(header, kind, foreign), *cuts, *_contradictions(header, contents)),
    )


def _kind(contents: Contents) -> FileKind:
    if contents.has(Slot.LORA):
        return FileKind.LORA
    if any(contents.has(slot) for slot in _UPSAMPLER_SLOTS):
        return FileKind.UPSAMPLER
    if not contents.by_slot:
        return FileKind.UNRECOGNISED
    is_text = contents.has(Slot.TEXT_ENCODER) and set(contents.by_slot) <= _TEXT_SLOTS
    return FileKind.TEXT_ENCODER if is_text else FileKind.CHECKPOINT


def _foreign_layout(path: Path, contents: Contents) -> tuple[Problem, ...]:
    """Return the problem of a transformer whose names are another program's."""
    if not contents.has(Slot.TRANSFORMER):
        return ()
    has = contents.transformer_tensor
    block = "transformer_blocks.0."
    if has(f"{block}attn1.to_out.weight") or has(f"{block}ff.proj_in.weight"):
        layout = "an MLX conversion for Apple machines"
    elif has("audio_proj_in.weight") or has("time_embed.linear.weight"):
        layout = "in the layout of diffusers"
    elif not (has("audio_patchify_proj.weight") or has(f"{block}audio_to_video_attn.to_q.weight")):
        layout = "no LTX-2 model: it has no audio stream. It may be an older LTX-Video or another model"
    else:
        return ()
    sentence = f"“{path.name}” is {layout}. Choose the checkpoint as Lightricks published it, in one .safetensors file."
    return (Problem(CheckpointReason.WRONG_KIND, sentence),)


def _unrecognised(header: SafetensorsHeader, kind: FileKind, foreign: tuple[Problem, ...]) -> tuple[Problem, ...]:
    if kind is not FileKind.UNRECOGNISED or foreign:
        return ()
    sentence = (
        f"“{header.path.name}” is a safetensors file, but its {len(header.tensors):,} tensors are no part of an LTX-2 "
        "model. Podium reads checkpoints, text encoders, upscalers and LoRAs of LTX-2."
    )
    return (Problem(CheckpointReason.WRONG_KIND, sentence),)


def _truncation(header: SafetensorsHeader) -> tuple[Problem, ...]:
    if not header.missing_bytes:
        return ()
    return (Problem(CheckpointReason.TRUNCATED, truncation_sentence(header)),)


def _missing_blocks(path: Path, contents: Contents, config: Mapping[str, object]) -> tuple[Problem, ...]:
    if not contents.has(Slot.TRANSFORMER):
        return ()
    present = _block_numbers(contents)
    expected = whole_number(section(config, "transformer"), "num_layers") or max(present, default=-1) + 1
    num_missing, first = missing_numbers(present, expected)
    if not num_missing:
        return ()
    sentence = (
        f"“{path.name}” lacks {num_missing:,} of the {expected:,} blocks of its transformer, block {first} first. "
        "Choose the whole checkpoint."
    )
    return (Problem(CheckpointReason.INCOMPLETE, sentence),)


def _missing_layers(path: Path, contents: Contents, gemma: GemmaFacts | None) -> tuple[Problem, ...]:
    if gemma is None:
        return ()
    matches = (_TEXT_LAYER.match(name) for name in contents.by_slot[Slot.TEXT_ENCODER])
    num_missing, first = missing_numbers({int(match[1]) for match in matches if match}, gemma.num_layers)
    if not num_missing:
        return ()
    sentence = (
        f"“{path.name}” lacks {num_missing:,} of the {gemma.num_layers:,} layers of its text encoder, layer {first} "
        "first. Choose the whole text encoder."
    )
    return (Problem(CheckpointReason.INCOMPLETE, sentence),)


def _contradictions(header: SafetensorsHeader, contents: Contents) -> tuple[Problem, ...]:
    by_tensors = generation_of_tensors(contents)
    told = detect_generation(contents, header.metadata)
    if not contents.has(Slot.TRANSFORMER) or told is by_tensors or by_tensors is None:
        return ()
    # Tensors of an older generation under a newer version are a newer model that this probe cannot know.
    if told is not None and list(Generation).index(told) > list(Generation).index(by_tensors):
        return ()
    sentence = (
        f"“{header.path.name}” says that it was made for LTX-{told}, but its tensors are those of LTX-{by_tensors}. "
        "Choose the checkpoint as it was published."
    )
    return (Problem(CheckpointReason.MISMATCHED, sentence),)


def _block_numbers(contents: Contents) -> set[int]:
    start = f"{contents.prefix}transformer_blocks."
    numbers = (name.removeprefix(start).partition(".")[0] for name in contents.tensors if name.startswith(start))
    return {int(number) for number in numbers if number.isdecimal() and len(number) < 6}


def _transformer_shape(contents: Contents, config: Mapping[str, object]) -> TransformerShape | None:
    if not contents.has(Slot.TRANSFORMER):
        return None
    sizes = section(config, "transformer")
    return TransformerShape(
        num_layers=whole_number(sizes, "num_layers") or len(_block_numbers(contents)),
        num_heads=whole_number(sizes, "num_attention_heads") or _num_gates(contents, "attn1"),
        head_dim=whole_number(sizes, "attention_head_dim"),
        audio_num_heads=whole_number(sizes, "audio_num_attention_heads") or _num_gates(contents, "audio_attn1"),
        audio_head_dim=whole_number(sizes, "audio_attention_head_dim"),
    )


def _num_gates(contents: Contents, attention: str) -> int | None:
    """Return the gates of an attention, one a head; None without."""
    info = contents.transformer_tensor(f"transformer_blocks.0.{attention}.to_gate_logits.weight")
    return info.shape[0] if info is not None and len(info.shape) == 2 else None


def _projection_dim(contents: Contents) -> int | None:
    shapes = (contents.shape(name) for name in _PROJECTIONS)
    return next((shape[1] for shape in shapes if shape is not None and len(shape) == 2), None)


def _gemma(contents: Contents, metadata: Mapping[str, str]) -> GemmaFacts | None:
    if not contents.has(Slot.TEXT_ENCODER):
        return None
    return gemma_facts(json_object(metadata.get("gemma_config", "")))


def _upsampler(contents: Contents, metadata: Mapping[str, str]) -> UpsamplerFacts | None:
    slot = next((slot for slot in _UPSAMPLER_SLOTS if contents.has(slot)), None)
    shape = contents.shape("initial_conv.weight")
    if slot is None or shape is None or len(shape) < 2:
        return None
    is_temporal = slot is Slot.TEMPORAL_UPSAMPLER
    told = positive_number(json_object(metadata.get("config", "")), "spatial_scale")
    return UpsamplerFacts(shape[1], 2.0 if is_temporal else told or _scale_of_tensors(contents), is_temporal)


def _scale_of_tensors(contents: Contents) -> float | None:
    """Return the scale that a spatial upscaler's tensors tell; a rational one's are equal for 1.5 and 0.75."""
    shape = contents.shape("upsampler.0.weight")
    return 2.0 if shape is not None and len(shape) == 4 and shape[0] == 4 * shape[1] else None
