"""What a command was asked for, as typed values. No torch."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from podium.jobs import GuidanceMode, GuidanceSpec, ImageSpec, LoraSpec, PipelineKind, Quantization


@dataclass(frozen=True, slots=True)
class DeviceOptions:
    """Which devices to use; at most one field is set, and none means as many GPUs as there are.

    Args:
        num_gpus: The first so many GPUs.
        devices: GPUs by index, in PCI order.
        cpu_ranks: So many processes on the CPU instead.
    """

    num_gpus: int | None = None
    devices: tuple[int, ...] | None = None
    cpu_ranks: int | None = None


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """The model's files as given, by the names of `ModelPaths`; None where nothing was, or the demo model stands in."""

    checkpoint_path: Path | None = None
    gemma_root: Path | None = None
    spatial_upsampler_path: Path | None = None
    distilled_lora_path: Path | None = None
    video_vae_path: Path | None = None
    audio_vae_path: Path | None = None
    duration_head_path: Path | None = None


@dataclass(frozen=True, slots=True)
class GuidanceOptions:
    """How one stream shall be guided; None where the pipeline's own value stays."""

    cfg: float | None = None
    stg: float | None = None
    rescale: float | None = None
    modality: float | None = None
    skip_step: int | None = None
    stg_blocks: tuple[int, ...] | None = None

    def filled(self, defaults: GuidanceSpec) -> GuidanceSpec | None:
        """Return the guidance that is asked for on top of a pipeline's own; None where nothing is."""
        given = {one.name: getattr(self, one.name) for one in fields(self) if getattr(self, one.name) is not None}
        return replace(defaults, **given) if given else None


@dataclass(frozen=True, slots=True)
class ClipLength:
    """How long the clip shall be; at most one field is set, and none means the default.

    Args:
        num_frames: So many frames.
        duration_s: About so many seconds.
        is_predicted: As long as the prompt asks for, by the model's duration head.
    """

    num_frames: int | None = None
    duration_s: float | None = None
    is_predicted: bool = False


@dataclass(frozen=True, slots=True)
class GenerateOptions:
    """What `podium generate` was asked for; None where a default depends on other options.

    Args:
        distilled_lora_strength: What was given beside the LoRA's path, for stage 2 of the two-stage pipeline.
        distilled_lora_strengths: For both stages; goes before it.
        is_enhanced: Have the prompt written out first.
    """

    model: ModelOptions
    devices: DeviceOptions
    is_demo: bool = False
    pipeline: PipelineKind = PipelineKind.FAST
    prompt: str | None = None
    negative_prompt: str = ""
    is_enhanced: bool = False
    seed: int = 0
    height: int | None = None
    width: int | None = None
    length: ClipLength = field(default_factory=ClipLength)
    frame_rate: str | None = None
    images: tuple[ImageSpec, ...] = ()
    generated_keyframes: int | tuple[int, ...] = 0
    loras: tuple[LoraSpec, ...] = ()
    distilled_lora_strength: float | None = None
    distilled_lora_strengths: tuple[float, float] | None = None
    num_inference_steps: int | None = None
    video_guidance: GuidanceOptions = field(default_factory=GuidanceOptions)
    audio_guidance: GuidanceOptions = field(default_factory=GuidanceOptions)
    stage_2_tiles: tuple[int, int] | None = None
    guidance_mode: GuidanceMode = GuidanceMode.AUTO
    quantization: Quantization | None = None
    is_compiled: bool = False
    dtype: str | None = None
    output_path: Path | None = None
    is_verbose: bool = False


@dataclass(frozen=True, slots=True)
class ProbeOptions:
    """What `podium probe` was asked for."""

    paths: tuple[Path, ...]
    as_json: bool
    is_verbose: bool


@dataclass(frozen=True, slots=True)
class LogsOptions:
    """What `podium logs` was asked for.

    Args:
        export_path: The file to write; None prints.
    """

    export_path: Path | None
    is_verbose: bool


Options = GenerateOptions | ProbeOptions | LogsOptions
