"""Whether a single file can stand in its place of a pack, and the sentences of those that cannot. No torch."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import NoReturn

from podium.models.errors import CheckpointError, CheckpointReason
from podium.models.file_kinds import is_file, is_folder
from podium.models.probe import FileKind, FileReport, Generation, Quantisation, Slot, probe

LOADABLE_QUANTISATIONS = frozenset({Quantisation.NONE, Quantisation.FP8_SCALED})
"""Of the transformer; every other part is read unquantised."""

# Source: the published upscalers, and the video VAE's latent channels.
SPATIAL_SCALES = (1.5, 2.0)
LATENT_CHANNELS = 128

_PLACES = {
    "video VAE": "choose the video VAE of LTX-2.5, with the convolutional decoder or the diffusion decoder.",
    "audio VAE": "choose the audio VAE of LTX-2.5, which has the vocoder in it.",
    "duration head": "choose the duration head of LTX-2.5, or none.",
}
# Both fill the same place of a model in one file and of a split one.
_CHECKPOINT = (
    "choose a checkpoint of LTX-2 in one .safetensors file, or the transformer and all other files of its model."
)


def probe_file(path: Path) -> FileReport:
    """Say what a file is.

    Raises:
        CheckpointError: It is a folder.
    """
    if is_folder(path):
        raise CheckpointError(
            f"“{path.name}” is a folder. Choose a file in it that ends in .safetensors.",
            path=path,
            reason=CheckpointReason.IS_FOLDER,
        )
    return probe(path)


def probe_text_encoder(path: Path, generation: Generation) -> FileReport:
    """Say what a text encoder's folder or file is.

    Raises:
        CheckpointError: There is neither.
    """
    if not is_folder(path) and not is_file(path):
        is_in_one_file = generation is Generation.LTX_2_5
        wanted = "the text encoder's file of LTX-2.5" if is_in_one_file else "the folder of Gemma 3"
        raise CheckpointError(
            f"There is no {'file' if is_in_one_file else 'folder'} “{path}”. Choose {wanted}.",
            path=path,
            reason=CheckpointReason.MISSING,
        )
    return probe(path)


def check_checkpoint(report: FileReport, slots: Collection[Slot]) -> Generation:
    """Check the monolith, or the transformer's file of a split pack, and return its generation.

    Raises:
        CheckpointError: It cannot fill `slots`, or cannot be used.
    """
    check_readable(report)
    if report.kind is not FileKind.CHECKPOINT:
        refuse_kind(report, f"In the checkpoint's place {_CHECKPOINT}")
    missing = [slot.words for slot in slots if slot not in report.slots]
    generation = report.generation
    if missing or generation is None:
        _refuse_incomplete(report, missing or ["version"], _CHECKPOINT)
    check_precision(report, "Choose the bf16 or the fp8 checkpoint as Lightricks published it.")
    check_problems(report)
    return generation


def check_part(report: FileReport, slots: Collection[Slot], place: str) -> None:
    """Check the file of a split pack's VAE or duration head.

    Args:
        report: What it is.
        slots: What it has to fill.
        place: "video VAE", "audio VAE" or "duration head".

    Raises:
        CheckpointError: It cannot fill `slots`, or cannot be used.
    """
    wanted = _PLACES[place]
    check_readable(report)
    if report.kind is not FileKind.CHECKPOINT or not report.slots.intersection(slots):
        refuse_kind(report, f"In the {place}'s place {wanted}")
    missing = [slot.words for slot in slots if slot not in report.slots]
    if missing:
        _refuse_incomplete(report, missing, wanted)
    check_problems(report)
    check_precision(report, f"Choose the bf16 {place}.")


def check_upsampler(report: FileReport) -> float:
    """Check the latent upscaler and return its factor.

    Raises:
        CheckpointError: It is none, enlarges time or other latents, or cannot be used.
    """
    name = report.path.name
    wanted = "choose a spatial upscaler of LTX-2, x2 or x1.5."
    check_readable(report)
    facts = report.upsampler
    if report.kind is not FileKind.UPSAMPLER or facts is None:
        refuse_kind(report, f"In the upscaler's place {wanted}")
    if facts.is_temporal:
        sentence = f"“{name}” is the temporal upscaler, which adds frames. {_sentence(wanted)}"
        refuse(report, CheckpointReason.WRONG_KIND, sentence)
    if facts.in_channels != LATENT_CHANNELS or facts.scale not in SPATIAL_SCALES:
        scale = "by a factor it does not tell" if facts.scale is None else f"by {facts.scale:g}"
        refuse(
            report,
            CheckpointReason.MISMATCHED,
            f"“{name}” enlarges latents of {facts.in_channels} channels {scale}; those of LTX-2 have "
            f"{LATENT_CHANNELS}. {_sentence(wanted)}",
        )
    check_problems(report)
    check_precision(report, "Choose the bf16 upscaler.")
    return facts.scale


def check_readable(report: FileReport) -> None:
    """Raise what is wrong with a file that is nothing Podium knows.

    Raises:
        CheckpointError: There is something.
    """
    if report.kind in {FileKind.UNREADABLE, FileKind.UNRECOGNISED}:
        check_problems(report)


def check_problems(report: FileReport) -> None:
    """Raise the first problem that the probe found.

    Raises:
        CheckpointError: There is one.
    """
    for problem in report.problems:
        refuse(report, problem.reason, problem.sentence)


def check_precision(report: FileReport, wanted: str) -> None:
    """Check that a file's weights can be read: a transformer's in fp8 with scales too, all others unquantised.

    Raises:
        CheckpointError: They are reduced in another way.
    """
    reduced = [
        part.slot.words
        for part in report.components
        if part.slot is not Slot.TRANSFORMER and any(dtype.startswith("F8") for dtype in part.dtypes)
    ]
    if report.quantisation is Quantisation.NONE:
        return
    formats = f" ({', '.join(report.quantisation_formats)})" if report.quantisation_formats else ""
    told = f"“{report.path.name}” is quantised: {report.quantisation.words}{formats}"
    has_transformer = Slot.TRANSFORMER in report.slots
    if report.quantisation not in LOADABLE_QUANTISATIONS or not has_transformer:
        accepted = "unquantised or in fp8 with scales" if has_transformer else "unquantised"
        which = "transformers" if has_transformer else "this part of a model"
        refuse(report, CheckpointReason.QUANTISED, f"{told}. Podium reads {which} {accepted}. {wanted}")
    if reduced:
        sentence = f"{told}, its {listed(reduced)} too. Podium reads only the transformer in fp8. {wanted}"
        refuse(report, CheckpointReason.QUANTISED, sentence)


def refuse_untold_heads(report: FileReport) -> NoReturn:
    """Refuse a checkpoint without a description of its transformer."""
    refuse(
        report,
        CheckpointReason.INCOMPLETE,
        f"“{report.path.name}” does not say how its transformer is built. "
        "Choose the checkpoint as Lightricks published it, with its description inside.",
    )


def refuse_kind(report: FileReport, wanted: str) -> NoReturn:
    """Refuse a file that is something else; it is named for what it holds."""
    holds = report.kind.words
    if report.kind is FileKind.CHECKPOINT and Slot.TRANSFORMER not in report.slots:
        holds = f"a model's {listed([slot.words for slot in Slot if slot in report.slots])}"
    refuse(report, CheckpointReason.WRONG_KIND, f"“{report.path.name}” is {holds}. {wanted}")


def refuse(report: FileReport, reason: CheckpointReason, sentence: str, *, details: str = "") -> NoReturn:
    """Refuse a file with a sentence."""
    raise CheckpointError(sentence, path=report.path, reason=reason, details=details)


def listed(words: list[str]) -> str:
    """Return words as a sentence lists them: "a, b and c"."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _refuse_incomplete(report: FileReport, missing: list[str], wanted: str) -> NoReturn:
    holds = listed(sorted(slot.words for slot in report.slots))
    sentence = (
        f"“{report.path.name}” holds only a model's {holds}, and lacks its {listed(missing)}. {_sentence(wanted)}"
    )
    refuse(report, CheckpointReason.INCOMPLETE, sentence)


def _sentence(wanted: str) -> str:
    return wanted[0].upper() + wanted[1:]
