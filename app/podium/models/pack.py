"""Check that the files an artist chose make one model that this version can run. No torch; no weight is read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from podium.models.errors import CheckpointError, CheckpointReason
from podium.models.file_kinds import is_file, is_folder
from podium.models.paths import ModelPaths
from podium.models.probe import FileKind, FileReport, Generation, Quantisation, Slot, parse_model_version, probe

SUPPORTED_GENERATIONS = frozenset({Generation.LTX_2_3})
LOADABLE_QUANTISATIONS = frozenset({Quantisation.NONE})

CHECKPOINT_SLOTS = (
    Slot.TRANSFORMER,
    Slot.CONNECTORS,
    Slot.TEXT_PROJECTION,
    Slot.VIDEO_ENCODER,
    Slot.VIDEO_DECODER,
    Slot.AUDIO_DECODER,
    Slot.VOCODER,
)
# Source: the published upscalers, and the video VAE's latent channels.
SPATIAL_SCALES = (1.5, 2.0)
LATENT_CHANNELS = 128

_GEMMA_FAMILY = 3


@dataclass(frozen=True, slots=True)
class Pack:
    """Files that belong together and fill every slot of the distilled pipeline.

    Args:
        paths: The files.
        generation: Of the checkpoint.
        model_version: Its metadata's version as numbers, such as (2, 3); empty without one.
        checkpoint: What the checkpoint is.
        text_encoder: What the Gemma folder is.
        spatial_upsampler: What the upscaler is.
        num_heads: Heads of the transformer's video stream, the most ranks that can share it.
        spatial_scale: Factor of the upscaler, 1.5 or 2.
    """

    paths: ModelPaths
    generation: Generation
    model_version: tuple[int, ...]
    checkpoint: FileReport
    text_encoder: FileReport
    spatial_upsampler: FileReport
    num_heads: int
    spatial_scale: float


def resolve_pack(checkpoint_path: Path, gemma_root: Path, spatial_upsampler_path: Path) -> Pack:
    """Return the pack that three files make, checked by their headers alone.

    Raises:
        CheckpointError: A file is missing, damaged, of another kind or generation, or quantised; or they do not belong
            together. The first fault is raised, the checkpoint's before the text encoder's before the upscaler's.
    """
    checkpoint = _probe_file(checkpoint_path)
    generation = _check_checkpoint(checkpoint)
    text_encoder = _probe_text_encoder(gemma_root)
    _check_text_encoder(text_encoder)
    upsampler = _probe_file(spatial_upsampler_path)
    scale = _check_upsampler(upsampler)
    _check_pair(checkpoint, text_encoder)
    if checkpoint.num_heads is None:
        _refuse(
            checkpoint,
            CheckpointReason.INCOMPLETE,
            f"“{checkpoint_path.name}” does not say how its transformer is built. "
            "Choose the checkpoint as Lightricks published it, with its description inside.",
        )
    return Pack(
        ModelPaths(checkpoint_path, gemma_root, spatial_upsampler_path),
        generation,
        parse_model_version(checkpoint.model_version or ""),
        checkpoint,
        text_encoder,
        upsampler,
        num_heads=checkpoint.num_heads,
        spatial_scale=scale,
    )


def _probe_file(path: Path) -> FileReport:
    if is_folder(path):
        raise CheckpointError(
            f"“{path.name}” is a folder. Choose a file in it that ends in .safetensors.",
            path=path,
            reason=CheckpointReason.IS_FOLDER,
        )
    return probe(path)


def _probe_text_encoder(path: Path) -> FileReport:
    if not is_folder(path) and not is_file(path):
        raise CheckpointError(
            f"There is no folder “{path}”. Choose the folder of Gemma {_GEMMA_FAMILY}.",
            path=path,
            reason=CheckpointReason.MISSING,
        )
    return probe(path)


def _check_checkpoint(report: FileReport) -> Generation:
    name = report.path.name
    wanted = "choose a checkpoint of LTX-2.3, in one .safetensors file."
    _check_readable(report)
    if report.kind is not FileKind.CHECKPOINT:
        _refuse_kind(report, f"In the checkpoint's place {wanted}")
    generation = report.generation
    if generation is not None and generation not in SUPPORTED_GENERATIONS:
        _refuse_generation(report, generation)
    missing = [slot.words for slot in CHECKPOINT_SLOTS if slot not in report.slots]
    if missing or generation is None:
        holds = _listed(sorted(slot.words for slot in report.slots))
        _refuse(
            report,
            CheckpointReason.INCOMPLETE,
            f"“{name}” holds only a model's {holds}, and lacks its {_listed(missing or ['version'])}. "
            f"{wanted[0].upper()}{wanted[1:]}",
        )
    if report.has_diffusion_decoder:
        _refuse_generation(report, Generation.LTX_2_5)
    _check_precision(report, "Choose the bf16 checkpoint.")
    _check_problems(report)
    return generation


def _check_text_encoder(report: FileReport) -> None:
    name = report.path.name
    wanted = "choose the folder of Gemma 3, with its config.json, tokenizer.json and all of its .safetensors files."
    _check_readable(report)
    if report.kind is not FileKind.TEXT_ENCODER:
        _refuse_kind(report, f"In the text encoder's place {wanted}")
    is_other_family = report.gemma is not None and report.gemma.family != _GEMMA_FAMILY
    if is_other_family or is_file(report.path):
        told = f"Gemma {report.gemma.family}" if report.gemma else "a single file of a text encoder"
        _refuse(
            report,
            CheckpointReason.WRONG_GENERATION,
            f"“{name}” is {told}; a checkpoint of LTX-2.3 needs Gemma {_GEMMA_FAMILY}. {wanted[0].upper()}{wanted[1:]}",
        )
    _check_problems(report)
    _check_precision(report, "Choose the Gemma 3 folder in bf16.")


def _check_upsampler(report: FileReport) -> float:
    name = report.path.name
    wanted = "choose the spatial upscaler of LTX-2.3, x2 or x1.5."
    _check_readable(report)
    facts = report.upsampler
    if report.kind is not FileKind.UPSAMPLER or facts is None:
        _refuse_kind(report, f"In the upscaler's place {wanted}")
    if facts.is_temporal:
        _refuse(
            report,
            CheckpointReason.WRONG_KIND,
            f"“{name}” is the temporal upscaler, which adds frames. {wanted[0].upper()}{wanted[1:]}",
        )
    if facts.in_channels != LATENT_CHANNELS or facts.scale not in SPATIAL_SCALES:
        scale = "by a factor it does not tell" if facts.scale is None else f"by {facts.scale:g}"
        _refuse(
            report,
            CheckpointReason.MISMATCHED,
            f"“{name}” enlarges latents of {facts.in_channels} channels {scale}; those of LTX-2.3 have "
            f"{LATENT_CHANNELS}. {wanted[0].upper()}{wanted[1:]}",
        )
    _check_problems(report)
    _check_precision(report, "Choose the bf16 upscaler.")
    return facts.scale


def _check_pair(checkpoint: FileReport, text_encoder: FileReport) -> None:
    facts, expected = text_encoder.gemma, checkpoint.text_projection_dim
    if facts is not None and expected == facts.features_dim:
        return
    told = f"{facts.num_layers} layers of width {facts.hidden_dim}" if facts else "layers it does not tell"
    _refuse(
        text_encoder,
        CheckpointReason.MISMATCHED,
        f"The text encoder “{text_encoder.path.name}” does not belong to “{checkpoint.path.name}”: it has {told}, and "
        "the checkpoint was made for another size. Choose the Gemma 3 folder of 12 B that its publisher names.",
        details=f"text projection: {expected} inputs; text encoder: {facts.features_dim if facts else None} features",
    )


def _check_readable(report: FileReport) -> None:
    if report.kind in {FileKind.UNREADABLE, FileKind.UNRECOGNISED}:
        _check_problems(report)


def _check_problems(report: FileReport) -> None:
    for problem in report.problems:
        _refuse(report, problem.reason, problem.sentence)


def _check_precision(report: FileReport, wanted: str) -> None:
    if report.quantisation in LOADABLE_QUANTISATIONS:
        return
    formats = f" ({', '.join(report.quantisation_formats)})" if report.quantisation_formats else ""
    _refuse(
        report,
        CheckpointReason.QUANTISED,
        f"“{report.path.name}” is quantised: {report.quantisation.words}{formats}. This version of Podium reads "
        f"models that are not quantised. {wanted}",
    )


def _refuse_generation(report: FileReport, generation: Generation) -> NoReturn:
    supported = _listed(sorted(f"LTX-{supported}" for supported in SUPPORTED_GENERATIONS))
    _refuse(
        report,
        CheckpointReason.WRONG_GENERATION,
        f"“{report.path.name}” is made for LTX-{_version_words(report, generation)}. "
        f"This version of Podium makes clips with {supported} files: choose one of those.",
    )


def _version_words(report: FileReport, generation: Generation) -> str:
    """Return the generation, or the file's own version where that is a newer one of the same architecture."""
    told = report.model_version or ""
    return generation if parse_model_version(told)[:2] in {(), parse_model_version(generation)} else told


def _refuse_kind(report: FileReport, wanted: str) -> NoReturn:
    _refuse(report, CheckpointReason.WRONG_KIND, f"“{report.path.name}” is {report.kind.words}. {wanted}")


def _refuse(report: FileReport, reason: CheckpointReason, sentence: str, *, details: str = "") -> NoReturn:
    raise CheckpointError(sentence, path=report.path, reason=reason, details=details)


def _listed(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
