"""What the helper process can be asked, and what it answers. Frozen, small and picklable; loads nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Generic, TypeVar

from podium.errors import PodiumError
from podium.geometry import ClipFormat
from podium.jobs import (
    ClipFinished,
    FileIdentity,
    GenerationRequest,
    GuidanceMode,
    GuidanceSpec,
    Phase,
    PipelineKind,
    Quantization,
)
from podium.media.export_kinds import ExportKind
from podium.models.demo_pack import DemoModel
from podium.models.lora_keys import LoraReport
from podium.models.pack import Pack
from podium.models.paths import ModelPaths
from podium.models.probe.report import FileReport
from podium.models.residency import ResidencyPlan

AnswerT = TypeVar("AnswerT")


class HelperError(PodiumError):
    """Report that the helper process failed at a request through a fault of its own, or died over it twice."""


class Lane(StrEnum):
    """Which of the helper's queues a request waits in, so that what takes seconds delays nothing else."""

    QUICK = "quick"
    SLOW = "slow"
    DEVICES = "devices"
    EXPORTS = "exports"
    FILES = "files"
    THUMBNAILS = "thumbnails"
    TIDYING = "tidying"
    ESTIMATES = "estimates"


class Request(Generic[AnswerT]):
    """Something the helper process can be asked; the type parameter is what it answers."""

    __slots__ = ()
    lane = Lane.QUICK


@dataclass(frozen=True, slots=True)
class TokenCount:
    """How long a prompt is.

    Args:
        num_tokens: The beginning-of-sequence token included.
        max_tokens: How many the model reads.
    """

    num_tokens: int
    max_tokens: int


@dataclass(frozen=True, slots=True)
class CountTokens(Request[TokenCount]):
    """Count a prompt's tokens with the tokenizer of a Gemma folder."""

    gemma_root: Path
    prompt: str


@dataclass(frozen=True, slots=True)
class ProbeFile(Request[FileReport]):
    """Say what a model file or folder is."""

    path: Path


@dataclass(frozen=True, slots=True)
class ResolvePack(Request[Pack]):
    """Check that three files make one model."""

    models: ModelPaths


@dataclass(frozen=True, slots=True)
class WriteDemoPack(Request[DemoModel]):
    """Put the demo model into a cache folder unless it is there."""

    cache_folder: Path
    lane = Lane.SLOW


@dataclass(frozen=True, slots=True)
class ReadLora(Request[LoraReport]):
    """Say what a LoRA would do to a checkpoint's transformer."""

    path: Path
    checkpoint_path: Path


@dataclass(frozen=True, slots=True)
class CheckedJob:
    """What checking a request found.

    Args:
        num_prompt_tokens: The beginning-of-sequence token included.
        lora_reports: What each LoRA of the set will do.
        parameters: Everything that makes the same clip again, for the clip's own tag.
        resolved: The request with the model's defaults filled in.
        notes: Sentences on what can be made and may not be meant.
        residency: Where the parts of the model shall live for it; None on the CPU, and where the GPUs do not tell.
    """

    num_prompt_tokens: int
    lora_reports: tuple[LoraReport, ...]
    parameters: dict[str, object] = field(repr=False)
    resolved: GenerationRequest | None = None
    notes: tuple[str, ...] = ()
    residency: ResidencyPlan | None = None


@dataclass(frozen=True, slots=True)
class CheckRequest(Request[CheckedJob]):
    """Check a whole request before any rank sees it.

    Args:
        num_ranks: Of the fleet it is for.
        dtype: Of the weights, such as "bfloat16".
        quantization: How the transformer's weights are held.
        files: What its files were when it was asked for; none may be another by now.
        is_on_cpu: The fleet's ranks stand on the CPU.
        devices: The GPUs of the fleet, as it counts them; none where nothing is to be planned on them.
    """

    request: GenerationRequest
    models: ModelPaths
    num_ranks: int
    dtype: str
    quantization: Quantization = Quantization.NONE
    files: tuple[FileIdentity, ...] = field(default=(), repr=False)
    is_on_cpu: bool = False
    devices: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """A small picture: RGB, uint8, rows from the top."""

    width: int
    height: int
    rgb: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class MakeThumbnail(Request[Thumbnail]):
    """Make a small picture of a picture file, or of the first frame of a clip.

    Args:
        max_side_px: Of its longer side.
    """

    path: Path
    max_side_px: int
    lane = Lane.SLOW


@dataclass(frozen=True, slots=True)
class KeepThumbnail(Request[Thumbnail]):
    """Make a small picture of a clip, or take the one that is kept in the cache.

    Args:
        cache_folder: Keeps them, as WebP, the last used ones.
        max_bytes: Of all in the cache that can be made again, drafts included.
    """

    path: Path
    max_side_px: int
    cache_folder: Path
    max_bytes: int
    lane = Lane.THUMBNAILS


@dataclass(frozen=True, slots=True)
class IdentifyFiles(Request[tuple[FileIdentity, ...]]):
    """Say what files are, in the order asked for; those that cannot be read, and folders, are left out."""

    paths: tuple[Path, ...]
    lane = Lane.FILES


@dataclass(frozen=True, slots=True)
class FindMissing(Request[tuple[Path, ...]]):
    """Say which of some files are not there."""

    paths: tuple[Path, ...] = field(repr=False)
    lane = Lane.FILES


@dataclass(frozen=True, slots=True)
class ClipContents:
    """What a clip is and was made with, in files of this machine.

    Args:
        request: Its LoRAs and pictures are those that were found here; it writes where the clip lies.
        models: The model's files; None if they were not all found.
        unmatched: Names of files that were not found.
        changed: Names of files that were found by name alone: their content is another.
    """

    clip: ClipFinished
    request: GenerationRequest
    models: ModelPaths | None = None
    unmatched: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadClip(Request[ClipContents]):
    """Read what a clip made by Podium was made with.

    Args:
        folders: Where its files are looked for.
        known: Where files lay last, with their fingerprints.
    """

    path: Path
    folders: tuple[Path, ...] = ()
    known: tuple[FileIdentity, ...] = field(default=(), repr=False)
    lane = Lane.FILES


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What a model can do beside making clips.

    Args:
        can_write_prompts: Its text encoder can write prompts out.
        can_make_keyframes: It can make key frames of its own.
        can_tell_length: It can tell from a prompt how long its clip should be.
    """

    can_write_prompts: bool = False
    can_make_keyframes: bool = False
    can_tell_length: bool = False


@dataclass(frozen=True, slots=True)
class GetModelFacts(Request[ModelFacts]):
    """Say what a model can do beside making clips, from its files' headers."""

    models: ModelPaths


@dataclass(frozen=True, slots=True)
class GuidanceDefaults:
    """What a guided pipeline does with a model unless it is told otherwise.

    Args:
        num_steps: Of the first stage.
        video, audio: How each stream is guided, with the blocks that are perturbed.
        lora_strengths: Of the distilled LoRA, in stage 1 and in stage 2.
        num_blocks: Of the transformer, any of which can be perturbed.
    """

    num_steps: int
    video: GuidanceSpec
    audio: GuidanceSpec
    lora_strengths: tuple[float, float]
    num_blocks: int = 48


@dataclass(frozen=True, slots=True)
class GetDefaults(Request[GuidanceDefaults]):
    """Say what a guided pipeline does with a model unless it is told otherwise."""

    models: ModelPaths
    pipeline: PipelineKind


@dataclass(frozen=True, slots=True)
class DeviceNeed:
    """What a clip takes of the device of a rank.

    Args:
        num_bytes: The most that its rank will hold, weights and all.
        phase: In which.
        by_phase: What it holds in each phase.
    """

    num_bytes: int
    phase: Phase
    by_phase: tuple[tuple[Phase, int], ...] = ()


@dataclass(frozen=True, slots=True)
class JobEstimate:
    """What a clip takes of the devices.

    Args:
        needs: Of each rank.
        residency: Where the parts of the model live so that it fits.
        problem: Why it does not fit, with what would; empty if it does.
    """

    needs: tuple[DeviceNeed, ...]
    residency: ResidencyPlan
    problem: str = ""


@dataclass(frozen=True, slots=True)
class EstimateJob(Request[JobEstimate]):
    """Say what a clip takes of the devices' memory, from its model's headers.

    Args:
        num_ranks: Of the fleet.
        dtype: Of weights and activations, such as "bfloat16".
        num_images, num_loras: As the clip has them.
        num_prompt_tokens: Of its prompt; None takes the most there can be.
        device_bytes: What each rank's GPU has to give, what a fleet of this window holds there among it; empty for the
            CPU.
        held_bytes: What a fleet of this window holds of the machine's memory.
        names: What to call the GPUs.
        num_more: GPUs that could be chosen beside.
        guidance: How the forwards of guided steps run, and how picture and sound are guided; None where that is not
            known, or steps are not guided.
    """

    models: ModelPaths
    clip: ClipFormat
    pipeline: PipelineKind
    quantization: Quantization
    dtype: str
    num_ranks: int
    num_images: int = 0
    num_loras: int = 0
    num_prompt_tokens: int | None = None
    device_bytes: tuple[int, ...] = ()
    held_bytes: int = 0
    names: tuple[str, ...] = ()
    num_more: int = 0
    guidance: tuple[GuidanceMode, GuidanceSpec, GuidanceSpec] | None = None
    lane = Lane.ESTIMATES


@dataclass(frozen=True, slots=True)
class ExportClip(Request[Path]):
    """Export a clip and answer with what was written.

    Args:
        number: Names the export while it is at work.
        source: The clip.
        target: The file to write, or for pictures the folder.
        max_side_px: Longest side of a GIF or WebP.
        overwrite: Replace a file of that name.
    """

    number: int
    source: Path
    target: Path
    kind: ExportKind
    max_side_px: int | None = None
    overwrite: bool = False
    lane = Lane.EXPORTS


@dataclass(frozen=True, slots=True)
class GetExportShare(Request[float]):
    """Say how much of an export is done, 0 to 1."""

    number: int


@dataclass(frozen=True, slots=True)
class CancelExport(Request[bool]):
    """End an export; it is then answered with an `ExportCancelledError`."""

    number: int


@dataclass(frozen=True, slots=True)
class SaveFrame(Request[Path]):
    """Write one picture of a clip as PNG, and answer with where it lies.

    Args:
        source: The clip.
        number: Of the picture, from 0.
        target: The PNG to write, over whatever has that name.
    """

    source: Path
    number: int
    target: Path
    lane = Lane.SLOW


@dataclass(frozen=True, slots=True)
class MeasureFolder(Request[int]):
    """Say how many bytes the files of a folder have; 0 of one that is not there."""

    folder: Path
    lane = Lane.TIDYING


@dataclass(frozen=True, slots=True)
class TidyPictures(Request[int]):
    """Remove the oldest pictures of a folder where there is too much of them; answer with the bytes that freed.

    Args:
        kept: Pictures that something refers to: they stay, and do not count.
        max_bytes: Of all others together; those of the last day stay in any case.
    """

    folder: Path
    kept: frozenset[Path] = field(repr=False)
    max_bytes: int
    lane = Lane.TIDYING


class DeviceReason(StrEnum):
    """Why a GPU cannot be chosen: a closed set."""

    CPU_BUILD = "cpu_build"
    OLD_DRIVER = "old_driver"
    ARCHITECTURE = "architecture"
    NO_BF16 = "no_bf16"
    LITTLE_MEMORY = "little_memory"
    HELD = "held"
    MIG = "mig"
    NO_ANSWER = "no_answer"


@dataclass(frozen=True, slots=True)
class DeviceReport:
    """A GPU as NVML shows it.

    Args:
        index: Number in PCI order within CUDA_VISIBLE_DEVICES, which is how a fleet counts.
        uuid: What settings keep.
        bus_id: Its place, such as "0000:17:00.0".
        total_bytes: Memory; 0 if it does not answer.
        used_bytes: Of it, by whomever.
        reason: Why it cannot be chosen; None if it can.
        sentence: The reason for the artist; empty without one.
    """

    index: int
    uuid: str
    name: str
    bus_id: str
    total_bytes: int
    used_bytes: int
    reason: DeviceReason | None = None
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class ListDevices(Request[tuple[DeviceReport, ...]]):
    """List the GPUs that this process may use, and say of each whether it can be chosen.

    Args:
        cache_folder: Keeps what the installed PyTorch was built for, which takes seconds to find out.
    """

    cache_folder: Path
    lane = Lane.DEVICES


@dataclass(frozen=True, slots=True)
class Answer(Generic[AnswerT]):
    """What came of a request: a value, or an error for the artist; exactly one of them is there."""

    value: AnswerT | None = None
    error: PodiumError | None = None


__all__ = [
    "Answer",
    "CancelExport",
    "CheckRequest",
    "CheckedJob",
    "ClipContents",
    "CountTokens",
    "DeviceNeed",
    "DeviceReason",
    "DeviceReport",
    "EstimateJob",
    "ExportClip",
    "FindMissing",
    "GetDefaults",
    "GetExportShare",
    "GetModelFacts",
    "GuidanceDefaults",
    "HelperError",
    "IdentifyFiles",
    "JobEstimate",
    "KeepThumbnail",
    "Lane",
    "ListDevices",
    "MakeThumbnail",
    "MeasureFolder",
    "ModelFacts",
    "ProbeFile",
    "ReadClip",
    "ReadLora",
    "Request",
    "ResolvePack",
    "SaveFrame",
    "Thumbnail",
    "TidyPictures",
    "TokenCount",
    "WriteDemoPack",
]
