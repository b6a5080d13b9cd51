"""Values that cross a thread or process border: requests, phases and job events. No torch, no Qt, no files opened.

Everything here is frozen, small and picklable; pictures cross as uint8 bytes with their size.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from pathlib import Path

from podium.geometry import ClipFormat


class Phase(StrEnum):
    """What a rank or a job is doing: a closed set."""

    STARTING = "starting"
    RENDEZVOUS = "rendezvous"
    LOADING = "loading"
    IDLE = "idle"
    SWAPPING = "swapping"
    ENCODING = "encoding"
    COMPILING = "compiling"
    STAGE_1 = "stage_1"
    UPSAMPLING = "upsampling"
    STAGE_2 = "stage_2"
    DECODING = "decoding"
    WRITING = "writing"
    STOPPING = "stopping"


PHASE_WORDS: Mapping[Phase, str] = {
    Phase.STARTING: "Starting",
    Phase.RENDEZVOUS: "Joining the devices",
    Phase.LOADING: "Loading the model",
    Phase.IDLE: "Waiting",
    Phase.SWAPPING: "Applying LoRAs",
    Phase.ENCODING: "Reading the prompt",
    Phase.COMPILING: "Compiling",
    Phase.STAGE_1: "Stage 1",
    Phase.UPSAMPLING: "Enlarging",
    Phase.STAGE_2: "Stage 2",
    Phase.DECODING: "Decoding",
    Phase.WRITING: "Writing the file",
    Phase.STOPPING: "Stopping",
}
"""What each phase is called before the artist."""


class PipelineKind(StrEnum):
    """The ways to make a clip: a closed set.

    FAST: a distilled checkpoint, 8 + 3 steps. QUALITY: guided, two stages. HQ: guided by res_2s, two stages.
    """

    FAST = "fast"
    QUALITY = "quality"
    HQ = "hq"

    @property
    def is_guided(self) -> bool:
        """Return whether it takes a negative prompt, guidance, a number of steps and the distilled LoRA."""
        return self is not PipelineKind.FAST


class Quantization(StrEnum):
    """How the transformer's weights are held: a closed set."""

    NONE = "none"
    FP8_CAST = "fp8-cast"
    FP8_SCALED = "fp8-scaled"


class GuidanceMode(StrEnum):
    """The ways to run the forwards of a guided step: a closed set. All give the same clip but for rounding.

    AUTO: the cheapest of the others. SEQUENTIAL: one after another. BATCHED: as one batch. MESH: spread over the
    devices, each team of them running its share.
    """

    AUTO = "auto"
    SEQUENTIAL = "sequential"
    BATCHED = "batched"
    MESH = "mesh"


@dataclass(frozen=True, slots=True)
class GuidanceSpec:
    """How one stream (video or audio) is guided; a scale that changes nothing costs no forward.

    Args:
        cfg: Pull away from the negative prompt; 1 does nothing.
        stg: Pull away from the estimate with perturbed self-attention; 0 does nothing.
        rescale: Share of the estimate's spread that is brought back to the unguided one's, 0 to 1.
        modality: Pull away from the estimate of streams that do not hear each other; 1 does nothing.
        skip_step: Guide only on steps that `skip_step + 1` divides; on the others the last estimate stays.
        stg_blocks: Blocks whose self-attention is perturbed; empty takes the model generation's own.
    """

    cfg: float = 1.0
    stg: float = 0.0
    rescale: float = 0.0
    modality: float = 1.0
    skip_step: int = 0
    stg_blocks: tuple[int, ...] = ()


def count_passes(video: GuidanceSpec, audio: GuidanceSpec) -> int:
    """Return how many forwards a step takes in which both streams are guided: 1 to 4."""
    both = (video, audio)
    pulls = (
        any(spec.cfg != 1 for spec in both),
        any(spec.stg != 0 for spec in both),
        any(spec.modality != 1 for spec in both),
    )
    return 1 + sum(pulls)


@dataclass(frozen=True, slots=True)
class BranchStrengths:
    """Factors on a LoRA's strength by branch of the transformer."""

    video: float = 1.0
    audio: float = 1.0
    audio_to_video: float = 1.0
    video_to_audio: float = 1.0


@dataclass(frozen=True, slots=True)
class LoraSpec:
    """One LoRA of a set.

    Args:
        path: The safetensors file.
        strength: Factor on its delta; any finite number, 1 as trained.
        branches: Factors by branch, on top of `strength`.
    """

    path: Path
    strength: float = 1.0
    branches: BranchStrengths = field(default_factory=BranchStrengths)


@dataclass(frozen=True, slots=True)
class ImageSpec:
    """A picture that conditions the clip.

    Args:
        path: The image file.
        frame: Pixel frame of the clip it stands at; 0 is the first.
        strength: 0 (ignored) to 1 (kept as it is).
        crf: H.264 quality of its re-compression, 0 (none) to 51; None takes the model generation's own.
    """

    path: Path
    frame: int = 0
    strength: float = 1.0
    crf: int | None = None


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """One clip to make, whole: what `podium generate` and the window hand to a fleet.

    Args:
        prompt: What to show and sound; not empty.
        seed: 0 to 2**64 - 1.
        clip: Format of the finished clip.
        output_path: The mp4 to write; its sidecar lies beside it.
        images: Conditioning pictures.
        loras: The LoRA set of this job.
        pipeline: The way to make it; a fleet is started for one.
        negative_prompt: What to stay away from; guided pipelines only.
        num_inference_steps: Of the first stage of guided pipelines; None takes the model generation's own.
        video_guidance, audio_guidance: Of guided pipelines; None takes the pipeline's and generation's own.
        distilled_lora_strengths: In stage 1 and stage 2 of guided pipelines; None takes the pipeline's own.
        generated_keyframes: Slots of key frames that the model makes itself (2.5): how many, spread evenly, or their
            pixel frames.
        stage_2_tiles: Rows and columns of tiles that stage 2 of guided pipelines works in; (1, 1) is the whole
            picture at once. None takes what suits the fleet.
        guidance_mode: How the forwards of a guided step run; guided pipelines only.
    """

    prompt: str
    seed: int
    clip: ClipFormat
    output_path: Path
    images: tuple[ImageSpec, ...] = ()
    loras: tuple[LoraSpec, ...] = ()
    pipeline: PipelineKind = PipelineKind.FAST
    negative_prompt: str = ""
    num_inference_steps: int | None = None
    video_guidance: GuidanceSpec | None = None
    audio_guidance: GuidanceSpec | None = None
    distilled_lora_strengths: tuple[float, float] | None = None
    generated_keyframes: int | tuple[int, ...] = 0
    stage_2_tiles: tuple[int, int] | None = None
    guidance_mode: GuidanceMode = GuidanceMode.AUTO


@dataclass(frozen=True, slots=True)
class FileIdentity:
    """What tells one content of a file from another: size and time at once, the fingerprint when they differ.

    Args:
        path: Where it lies.
        num_bytes: Its size.
        mtime_ns: When it was last changed.
        fingerprint: 16 hex digits of its content; empty until it was read.
    """

    path: Path
    num_bytes: int
    mtime_ns: int
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class EnhanceRequest:
    """A prompt that the text encoder's own language model shall write out in more detail.

    Args:
        prompt: The artist's words; not empty.
        seed: 0 to 2**64 - 1; decides the words.
        image_path: The picture that the clip starts from, or None.
    """

    prompt: str
    seed: int = 0
    image_path: Path | None = None


@dataclass(frozen=True, slots=True)
class PromptEnhanced:
    """The prompt written out, to be shown before anybody uses it.

    Args:
        prompt: The text.
        note: A sentence on what was left aside, such as a picture that could not be looked at; empty if nothing was.
    """

    prompt: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class DurationRequest:
    """A prompt whose clip's length the model shall tell; models with a duration head can.

    Args:
        prompt: Not empty.
        fps: Frames per second of the clip, exact.
    """

    prompt: str
    fps: Fraction


@dataclass(frozen=True, slots=True)
class DurationPredicted:
    """The prompt asks for a clip of `num_frames` frames: 8k + 1, of 1 to 20 seconds."""

    num_frames: int


@dataclass(frozen=True, slots=True)
class PhaseStarted:
    """A phase began; `num_steps` is None where it has none."""

    phase: Phase
    num_steps: int | None = None


@dataclass(frozen=True, slots=True)
class PhaseEnded:
    """A phase ended after `duration_s` seconds."""

    phase: Phase
    duration_s: float


@dataclass(frozen=True, slots=True)
class StepDone:
    """Step `step` of `num_steps` (from 1) ended.

    Args:
        sigma: Noise level the step started from, 0 to 1; None where steps are not denoising steps.
        duration_s: Seconds the step took.
    """

    phase: Phase
    step: int
    num_steps: int
    duration_s: float
    sigma: float | None = None


@dataclass(frozen=True, slots=True)
class LorasApplied:
    """What each LoRA of the set did to the transformer, one line a LoRA."""

    summaries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PreviewPicture:
    """One picture of the clip as it stands: RGB, uint8, rows from the top."""

    phase: Phase
    step: int
    width: int
    height: int
    rgb: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class MotionPreview:
    """All latent frames of the clip as it stands, to be looped: `num_frames` RGB pictures one after another.

    Args:
        frame_s: Seconds from one picture to the next.
    """

    phase: Phase
    step: int
    width: int
    height: int
    num_frames: int
    frame_s: float
    rgb: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class PreviewClip:
    """A playable low-resolution clip of a finished stage, written to `path`."""

    phase: Phase
    path: Path


@dataclass(frozen=True, slots=True)
class RankMemory:
    """Memory a rank holds on its device (host memory for a CPU rank)."""

    rank: int
    used_bytes: int
    peak_bytes: int


@dataclass(frozen=True, slots=True)
class ClipFinished:
    """The clip lies at `path`, whole, with its sidecar beside it."""

    path: Path
    sidecar_path: Path
    clip: ClipFormat
    sample_rate_hz: int
    num_bytes: int


JobEvent = (
    PhaseStarted
    | PhaseEnded
    | StepDone
    | LorasApplied
    | PreviewPicture
    | MotionPreview
    | PreviewClip
    | RankMemory
    | PromptEnhanced
    | DurationPredicted
    | ClipFinished
)


def as_lora_specs(loras: Iterable[LoraSpec | tuple[str | Path, float]]) -> tuple[LoraSpec, ...]:
    """Return LoRA specs from specs or plain `(path, strength)` tuples."""
    return tuple(item if isinstance(item, LoraSpec) else LoraSpec(Path(item[0]), item[1]) for item in loras)


def as_image_specs(images: Iterable[ImageSpec | tuple[str | Path, int, float]]) -> tuple[ImageSpec, ...]:
    """Return image specs from specs or plain `(path, frame, strength)` tuples."""
    return tuple(item if isinstance(item, ImageSpec) else ImageSpec(Path(item[0]), item[1], item[2]) for item in images)


__all__ = [
    "PHASE_WORDS",
    "BranchStrengths",
    "ClipFinished",
    "ClipFormat",
    "DurationPredicted",
    "DurationRequest",
    "EnhanceRequest",
    "FileIdentity",
    "GenerationRequest",
    "GuidanceMode",
    "GuidanceSpec",
    "ImageSpec",
    "JobEvent",
    "LoraSpec",
    "LorasApplied",
    "MotionPreview",
    "Phase",
    "PhaseEnded",
    "PhaseStarted",
    "PipelineKind",
    "PreviewClip",
    "PreviewPicture",
    "PromptEnhanced",
    "Quantization",
    "RankMemory",
    "StepDone",
    "as_image_specs",
    "as_lora_specs",
]
