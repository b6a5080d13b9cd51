"""Values that states show: frozen, and without Qt."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from podium.helper.requests import Thumbnail
from podium.jobs import (
    BranchStrengths,
    ClipFinished,
    FileIdentity,
    GenerationRequest,
    Phase,
    PipelineKind,
    Quantization,
)
from podium.models.lora_keys import LoraReport
from podium.models.paths import ModelPaths
from podium.models.probe.report import FileReport


@dataclass(frozen=True, slots=True)
class ErrorMessage:
    """What went wrong.

    Args:
        sentence: For the artist: what, where, and what would be accepted.
        details: Technical lines to fold beneath; may be empty.
    """

    sentence: str
    details: str = ""


@dataclass(frozen=True, slots=True)
class Aspect:
    """A shape of picture, such as 16:9."""

    width: int
    height: int

    @property
    def text(self) -> str:
        """Return it as one says it."""
        return f"{self.width}:{self.height}"

    @property
    def ratio(self) -> float:
        """Return width by height."""
        return self.width / self.height


class PackSlot(StrEnum):
    """A place for a model file: a closed set."""

    CHECKPOINT = "checkpoint"
    TEXT_ENCODER = "text_encoder"
    UPSCALER = "upscaler"
    DISTILLED_LORA = "distilled_lora"
    VIDEO_VAE = "video_vae"
    AUDIO_VAE = "audio_vae"
    DURATION_HEAD = "duration_head"


@dataclass(frozen=True, slots=True)
class PackFile:
    """A model file in its place.

    Args:
        path: None while nothing is chosen.
        report: What it is, once it was looked at.
        is_probing: It is being looked at.
        problem: A sentence on why it cannot be used; empty if nothing is known against it.
    """

    slot: PackSlot
    path: Path | None = None
    report: FileReport | None = None
    is_probing: bool = False
    problem: str = ""


@dataclass(frozen=True, slots=True)
class LoraItem:
    """A LoRA in the stack.

    Args:
        key: Names the item for as long as it is in the stack, whatever its place.
        strength: 1 as trained.
        branches: Factors by branch, on top of the strength.
        is_on: It is applied to the next clip.
        is_reading: It is being looked at.
        report: What it does to the chosen model; None without a model, before it was read, or if it cannot be used.
        problem: A sentence on why it cannot be used; empty if nothing is known against it.
        details: Technical lines for beneath the problem.
        is_for_another: It was trained for another model than the chosen one, and may do little.
    """

    key: int
    path: Path
    strength: float = 1.0
    branches: BranchStrengths = field(default_factory=BranchStrengths)
    is_on: bool = True
    is_reading: bool = False
    report: LoraReport | None = None
    problem: str = ""
    details: str = ""
    is_for_another: bool = False

    @property
    def name(self) -> str:
        """Return the file's name without its suffix."""
        return self.path.stem

    @property
    def summary(self) -> str:
        """Return in one sentence what it does; empty while that is not known."""
        return "" if self.report is None else self.report.summary()


@dataclass(frozen=True, slots=True)
class DeviceRow:
    """A GPU that can be seen.

    Args:
        index: As a fleet counts it.
        reason: A sentence on why it cannot be chosen; empty if it can.
        is_chosen: The next fleet stands on it.
    """

    index: int
    uuid: str
    name: str
    bus_id: str
    total_bytes: int
    used_bytes: int
    reason: str = ""
    is_chosen: bool = False

    @property
    def is_choosable(self) -> bool:
        """Return whether a fleet could stand on it."""
        return not self.reason


@dataclass(frozen=True, slots=True)
class DeviceChoice:
    """Where a fleet stands: on GPUs by index, or on the CPU.

    Args:
        uuids: The same GPUs by what names them for ever; what is kept, since an index changes with the machine.
    """

    devices: tuple[int, ...] = ()
    cpu_ranks: int | None = None
    uuids: tuple[str, ...] = field(default=(), compare=False)

    @property
    def num_ranks(self) -> int:
        """Return how many ranks it has."""
        return len(self.devices) if self.cpu_ranks is None else self.cpu_ranks


@dataclass(frozen=True, slots=True)
class FleetSpec:
    """All that a fleet is started with; a job that needs another one makes it start anew.

    Args:
        dtype: "bfloat16" or "float32".
        max_tokens: Most video tokens of one clip; leaves room for larger ones than the first.
        pipeline: The way to make clips.
        quantization: How the transformer's weights are held.
    """

    models: ModelPaths
    choice: DeviceChoice
    dtype: str
    max_tokens: int
    pipeline: PipelineKind = PipelineKind.FAST
    quantization: Quantization = Quantization.NONE

    def serves(self, wanted: FleetSpec) -> bool:
        """Return whether a fleet started so can make what `wanted` is for."""
        if self is wanted:
            return True
        return self.max_tokens >= wanted.max_tokens and replace(self, max_tokens=wanted.max_tokens) == wanted


class FleetPhase(StrEnum):
    """How the fleet is: a closed set."""

    STOPPED = "stopped"
    STARTING = "starting"
    READY = "ready"
    BUSY = "busy"
    STOPPING = "stopping"
    FAILED = "failed"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class RankRow:
    """How a rank is.

    Args:
        device: "cpu" or "cuda:<index>".
        text: Its state in words: alive, stopped, dead, not responding, waiting for rank 1.
        is_responding: False if it is stopped, dead or stands still.
        step: The last step that ended; None where the phase has none.
        bytes_done: Of `bytes_total`, while it loads.
        sign_age_s: Seconds since its last sign of life, in tenths.
        memory_bytes: Last heard of; None before.
        pid: Of its process; None before it has one.
    """

    rank: int
    device: str
    text: str
    is_responding: bool
    phase: Phase
    step: int | None = None
    num_steps: int | None = None
    bytes_done: int = 0
    bytes_total: int = 0
    sign_age_s: float = 0.0
    memory_bytes: int | None = None
    pid: int | None = None


class JobPhase(StrEnum):
    """How the job is: a closed set."""

    NONE = "none"
    CHECKING = "checking"
    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"
    STOPPED = "stopped"
    FAILED = "failed"
    REFUSED = "refused"

    @property
    def is_active(self) -> bool:
        """Return whether it is still going on."""
        return self in (JobPhase.CHECKING, JobPhase.WAITING, JobPhase.RUNNING)


class CancelPhase(StrEnum):
    """What the cancel button is: a closed set.

    NONE: nothing to cancel. CAN_CANCEL: *Cancel*. CANCELLING: asked, *Cancelling*, disabled. CAN_FORCE: *Force stop*.
    FORCING: *Stopping*, disabled.
    """

    NONE = "none"
    CAN_CANCEL = "can_cancel"
    CANCELLING = "cancelling"
    CAN_FORCE = "can_force"
    FORCING = "forcing"


@dataclass(frozen=True, slots=True)
class PhaseRow:
    """A phase of the job.

    Args:
        step: Steps done; None where it has none.
        fraction: 0 to 1; None where it cannot be told.
        duration_s: How long it took; None until it ended.
    """

    phase: Phase
    words: str
    is_done: bool = False
    step: int | None = None
    num_steps: int | None = None
    fraction: float | None = None
    duration_s: float | None = None


class EntryStatus(StrEnum):
    """How an entry of the queue is: a closed set.

    PENDING runs when its turn comes. PAUSED is passed over. FAILED, STOPPED and REFUSED wait for a retry.
    """

    PENDING = "pending"
    PAUSED = "paused"
    RUNNING = "running"
    FAILED = "failed"
    STOPPED = "stopped"
    REFUSED = "refused"

    @property
    def is_waiting(self) -> bool:
        """Return whether its turn is still to come."""
        return self in (EntryStatus.PENDING, EntryStatus.PAUSED)

    @property
    def is_over(self) -> bool:
        """Return whether it ran without a clip; it can be retried."""
        return self in (EntryStatus.FAILED, EntryStatus.STOPPED, EntryStatus.REFUSED)


@dataclass(frozen=True, slots=True)
class QueueEntry:
    """A clip to be made, frozen as it was when Generate was pressed.

    Args:
        key: Names it for ever; the job of it has the same.
        spec: The fleet it is for.
        error: Why it failed or was refused.
        failed_rank: The rank over which it failed; None if it was none, or is not known.
        failed_phase: The phase in which it failed.
        log_lines: The last lines of that rank, oldest first.
        added_at: UTC.
        needs_other_fleet: When its turn comes, another fleet is started for it.
        switch_s: About how many seconds that takes; None while it is not known.
        files: What its LoRAs, pictures and model files were when Generate was pressed.
        notes: What its check had to say without refusing it, a sentence each; empty before.
    """

    key: int
    request: GenerationRequest
    spec: FleetSpec
    status: EntryStatus
    added_at: datetime
    error: ErrorMessage | None = None
    failed_rank: int | None = None
    failed_phase: Phase | None = None
    log_lines: tuple[str, ...] = field(default=(), repr=False)
    needs_other_fleet: bool = False
    switch_s: float | None = None
    files: tuple[FileIdentity, ...] = field(default=(), repr=False)
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Return the first line of its prompt."""
        return title_of(self.request)


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """A clip that was made.

    Args:
        key: Names it for ever.
        finished_at: UTC.
        thumbnail: None until it is made, and for a clip that is not shown.
        model_name: Of the checkpoint; empty if it is not known.
        duration_s: Seconds that making it took; None if that is not known.
        is_missing: The file is not where it was written.
        models: The model's files; None if they are not known.
    """

    key: int
    clip: ClipFinished
    request: GenerationRequest
    finished_at: datetime
    thumbnail: Thumbnail | None = None
    is_starred: bool = False
    model_name: str = ""
    duration_s: float | None = None
    is_missing: bool = False
    models: ModelPaths | None = None

    @property
    def title(self) -> str:
        """Return the first line of its prompt."""
        return title_of(self.request)


class ReusePart(StrEnum):
    """A part of a request that can be taken into the form: a closed set."""

    PROMPT = "prompt"
    NEGATIVE_PROMPT = "negative_prompt"
    SEED = "seed"
    SIZE = "size"
    DURATION = "duration"
    IMAGES = "images"
    LORAS = "loras"
    GUIDANCE = "guidance"
    PIPELINE = "pipeline"
    MODEL = "model"


ALL_PARTS = frozenset(ReusePart)


@dataclass(frozen=True, slots=True)
class ClipOffer:
    """What a dropped clip was made with, as far as it can be made again here.

    Args:
        path: The dropped file.
        request: Its files are those of this machine.
        models: The model's files here; None if they are not all found.
        unmatched: Names of files that were not found here.
        sentence: Says what was not found, or is not the same; empty if everything was.
    """

    path: Path
    request: GenerationRequest
    models: ModelPaths | None = None
    unmatched: tuple[str, ...] = ()
    sentence: str = ""


def title_of(request: GenerationRequest) -> str:
    """Return the first line of a request's prompt."""
    return request.prompt.strip().partition("\n")[0].strip()
