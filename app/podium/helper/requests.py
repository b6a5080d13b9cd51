"""What the helper process can be asked, and what it answers. Frozen, small and picklable; loads nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Generic, TypeVar

from podium.errors import PodiumError
from podium.jobs import GenerationRequest
from podium.models.lora_keys import LoraReport
from podium.models.pack import Pack
from podium.models.paths import ModelPaths
from podium.models.probe.report import FileReport

AnswerT = TypeVar("AnswerT")


class HelperError(PodiumError):
    """Report that the helper process failed at a request through a fault of its own, or died over it twice."""


class Lane(StrEnum):
    """Which of the helper's queues a request waits in, so that what takes seconds delays nothing else."""

    QUICK = "quick"
    SLOW = "slow"
    DEVICES = "devices"


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
class WriteDemoPack(Request[ModelPaths]):
    """Write the demo model into a cache folder unless it is there."""

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
    """

    num_prompt_tokens: int
    lora_reports: tuple[LoraReport, ...]
    parameters: dict[str, object] = field(repr=False)


@dataclass(frozen=True, slots=True)
class CheckRequest(Request[CheckedJob]):
    """Check a whole request before any rank sees it.

    Args:
        num_ranks: Of the fleet it is for.
        dtype: Of the weights, such as "bfloat16".
    """

    request: GenerationRequest
    models: ModelPaths
    num_ranks: int
    dtype: str


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
    "CheckRequest",
    "CheckedJob",
    "CountTokens",
    "DeviceReason",
    "DeviceReport",
    "HelperError",
    "Lane",
    "ListDevices",
    "MakeThumbnail",
    "ProbeFile",
    "ReadLora",
    "Request",
    "ResolvePack",
    "Thumbnail",
    "TokenCount",
    "WriteDemoPack",
]
