"""Whether the files of a pack belong together, and the sentences of those that do not. No torch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NoReturn

from podium.models.errors import CheckpointReason
from podium.models.file_kinds import is_file
from podium.models.lora_keys import LoraReport, read_lora_plan
from podium.models.pack_checks import check_precision, check_problems, check_readable, refuse, refuse_kind
from podium.models.probe import FileKind, FileReport, Generation, Slot

_GEMMA_3 = "the folder of Gemma 3, with its config.json, tokenizer.json and all of its .safetensors files."
_GEMMA_4 = "the text encoder of LTX-2.5, a single .safetensors file that Lightricks published beside the transformer."


def check_text_encoder(report: FileReport, checkpoint: FileReport, generation: Generation) -> None:
    """Check that a text encoder is the one that a checkpoint was made with.

    Raises:
        CheckpointError: It is another, is no text encoder, or cannot be used.
    """
    is_in_one_file = generation is Generation.LTX_2_5 or checkpoint.gemma_version is not None
    wanted = _GEMMA_4 if is_in_one_file else _GEMMA_3
    check_readable(report)
    if report.kind is not FileKind.TEXT_ENCODER:
        refuse_kind(report, f"In the text encoder's place choose {wanted}")
    if is_in_one_file:
        _check_single_file(report, checkpoint, generation)
    else:
        _check_gemma_3_folder(report, checkpoint, generation)
    check_problems(report)
    check_precision(report, "Choose the text encoder in bf16.")
    if is_in_one_file:
        _check_version(report, checkpoint)
    _check_size(report, checkpoint, wanted)


def check_generations(checkpoint: FileReport, generation: Generation, parts: Iterable[FileReport | None]) -> None:
    """Check that the parts of a split pack are of the checkpoint's generation, as far as they tell theirs.

    Raises:
        CheckpointError: One is of another.
    """
    for part in parts:
        if part is not None and part.generation not in {None, generation}:
            refuse(
                part,
                CheckpointReason.WRONG_GENERATION,
                f"“{part.path.name}” is of LTX-{part.generation}, and “{checkpoint.path.name}” of LTX-{generation}. "
                f"Choose the one of LTX-{generation}.",
            )


def check_distilled_lora(
    report: FileReport, checkpoint_path: Path, shapes: Mapping[str, tuple[int, ...]]
) -> LoraReport:
    """Check that a distilled LoRA was made for a checkpoint, and return what it does to its transformer.

    Args:
        report: What the LoRA's file is.
        checkpoint_path: The checkpoint.
        shapes: Of its transformer's parameters, by official name.

    Raises:
        CheckpointError: It is no LoRA, cannot be used, or leaves layers over that this transformer does not have.
    """
    check_readable(report)
    wanted = "the distilled LoRA that was published with the checkpoint."
    if report.kind is not FileKind.LORA:
        refuse_kind(report, f"In the distilled LoRA's place choose {wanted}")
    check_problems(report)
    done = read_lora_plan(report.path, shapes).report
    if done.unknown.num_layers or done.wrong_shape.num_layers or done.unsupported_algorithm.num_layers:
        refuse(
            report,
            CheckpointReason.MISMATCHED,
            f"“{report.path.name}” was not made for “{checkpoint_path.name}”: part of it does not fit. Choose {wanted}",
            details=done.summary(),
        )
    return done


def _check_single_file(report: FileReport, checkpoint: FileReport, generation: Generation) -> None:
    is_gemma_4_file = is_file(report.path) and (report.gemma is None or report.gemma.family == 4)
    if not is_gemma_4_file:
        stock = "the Gemma 4 that Google published, which is no substitute" if _family(report) == 4 else _told(report)
        _refuse_family(report, checkpoint, generation, (stock, "an encoder of its own", _GEMMA_4))
    missing = [slot.words for slot in (Slot.TEXT_PROJECTION, Slot.TOKENIZER) if slot not in report.slots]
    if missing:
        refuse(
            report,
            CheckpointReason.INCOMPLETE,
            f"“{report.path.name}” is a text encoder without its {' and '.join(missing)}, which "
            f"“{checkpoint.path.name}” needs. Choose {_GEMMA_4}",
        )


def _check_gemma_3_folder(report: FileReport, checkpoint: FileReport, generation: Generation) -> None:
    is_other_family = _family(report) not in {None, 3}
    if is_other_family or is_file(report.path):
        _refuse_family(report, checkpoint, generation, (_told(report), "Gemma 3", _GEMMA_3))
    if Slot.TEXT_PROJECTION not in checkpoint.slots:
        refuse(
            checkpoint,
            CheckpointReason.INCOMPLETE,
            f"“{checkpoint.path.name}” lacks its text projection, which the Gemma 3 folder “{report.path.name}” does "
            "not bring along. Choose the checkpoint in one .safetensors file.",
        )


def _check_version(report: FileReport, checkpoint: FileReport) -> None:
    if report.gemma_version is not None and report.gemma_version == checkpoint.gemma_version:
        return
    silent = [told for told in (checkpoint, report) if told.gemma_version is None]
    if silent:
        refuse(
            silent[0],
            CheckpointReason.INCOMPLETE,
            f"“{silent[0].path.name}” does not say which version of the text encoder it belongs to, so it is not clear "
            f"whether “{checkpoint.path.name}” and “{report.path.name}” fit each other. Choose both as published.",
        )
    refuse(
        report,
        CheckpointReason.MISMATCHED,
        f"The text encoder “{report.path.name}” is of the version “{report.gemma_version}”, and "
        f"“{checkpoint.path.name}” was made with “{checkpoint.gemma_version}”. Choose the one published with it.",
    )


def _check_size(report: FileReport, checkpoint: FileReport, wanted: str) -> None:
    facts = report.gemma
    own = report.text_projection_dim
    expected = checkpoint.text_projection_dim if own is None else own
    if facts is not None and (expected is None or expected == facts.features_dim):
        return
    told = f"{facts.num_layers} layers of width {facts.hidden_dim}" if facts else "layers it does not tell"
    refuse(
        report,
        CheckpointReason.MISMATCHED,
        f"The text encoder “{report.path.name}” does not belong to “{checkpoint.path.name}”: it has {told}, and "
        f"the checkpoint was made for another size. Choose {wanted}",
        details=f"text projection: {expected} inputs; text encoder: {facts.features_dim if facts else None} features",
    )


def _refuse_family(
    report: FileReport, checkpoint: FileReport, generation: Generation, words: tuple[str, str, str]
) -> NoReturn:
    told, needed, wanted = words
    refuse(
        report,
        CheckpointReason.WRONG_GENERATION,
        f"“{report.path.name}” is {told}; “{checkpoint.path.name}”, a model of LTX-{generation}, needs {needed}. "
        f"Choose {wanted}",
    )


def _told(report: FileReport) -> str:
    return f"Gemma {report.gemma.family}" if report.gemma else "a single file of a text encoder"


def _family(report: FileReport) -> int | None:
    return report.gemma.family if report.gemma else None
