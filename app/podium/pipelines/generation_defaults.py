"""What a checkpoint's generation decides: defaults of each pipeline, told by its header. No torch; no weight is read.

The rule a caller must know: `CheckpointFacts` are of a checkpoint, `pipeline_defaults` of a checkpoint and a pipeline,
and `resolve_guidance` turns what an artist asked for into what a pipeline runs, or refuses it.

Source of all numbers: the published pipelines' own defaults for LTX-2.0, 2.3 and 2.5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from podium.errors import JobRefusedError
from podium.geometry import TIME_FACTOR, ClipFormat
from podium.jobs import GuidanceSpec, PipelineKind
from podium.models.errors import CheckpointError
from podium.models.probe import FileKind, FileReport, Generation, generation_of_version, parse_model_version, probe

MAX_STEPS = 200
MAX_SCALE = 100.0
_FIRST_FINE_CRF_VERSION = (2, 4)
_OLD_CRF, _FINE_CRF = 33, 18
_NUM_PUBLISHED_BLOCKS = 48
_GUIDED_STEPS = {Generation.LTX_2_0: 40, Generation.LTX_2_3: 30, Generation.LTX_2_5: 30}
_STG_BLOCK = {Generation.LTX_2_0: 29, Generation.LTX_2_3: 28, Generation.LTX_2_5: 28}
_DISTILLED_STEPS = 8
_HQ_STEPS = 15


@dataclass(frozen=True, slots=True)
class CheckpointFacts:
    """What a pipeline needs to know of a checkpoint before it runs.

    Args:
        generation: By its metadata, else by its tensors, else 2.0.
        image_crf: H.264 quality at which conditioning pictures are re-compressed.
        num_blocks: Of its transformer.
        has_keyframe_embedding: It can make key frames of its own.
    """

    generation: Generation
    image_crf: int = _OLD_CRF
    num_blocks: int = _NUM_PUBLISHED_BLOCKS
    has_keyframe_embedding: bool = False

    @classmethod
    def of(cls, report: FileReport) -> CheckpointFacts:
        """Return the facts that a probed checkpoint tells."""
        version = parse_model_version(report.model_version or "")
        generation = generation_of_version(version) if version else report.generation or Generation.LTX_2_0
        is_fine = version >= _FIRST_FINE_CRF_VERSION if version else generation is Generation.LTX_2_5
        shape = report.transformer
        return cls(
            generation,
            image_crf=_FINE_CRF if is_fine else _OLD_CRF,
            num_blocks=(shape and shape.num_layers) or _NUM_PUBLISHED_BLOCKS,
            has_keyframe_embedding=report.has_keyframe_embedding,
        )

    @property
    def is_distilled_ancestral(self) -> bool:
        """Return whether the distilled pipeline's first stage renews its noise at every step."""
        return self.generation is Generation.LTX_2_5

    @property
    def stg_block(self) -> int:
        """Return the block that is perturbed unless blocks are named.

        The published block belongs to models of 48. A smaller one, such as the demo model, has none of that number;
        there it is the last but one, after which one is left through which each stream still hears the other.
        """
        published = _STG_BLOCK[self.generation]
        return published if published < self.num_blocks else max(0, self.num_blocks - 2)


@dataclass(frozen=True, slots=True)
class PipelineDefaults:
    """What a pipeline does unless it is told otherwise.

    Args:
        clip: Format of the finished clip.
        num_inference_steps: Of the first stage.
        video_guidance, audio_guidance: Of the first stage, the blocks to perturb named.
        distilled_lora_strengths: In the first and the second stage.
        image_crf: Of conditioning pictures.
    """

    clip: ClipFormat
    num_inference_steps: int
    video_guidance: GuidanceSpec
    audio_guidance: GuidanceSpec
    distilled_lora_strengths: tuple[float, float]
    image_crf: int


def read_checkpoint_facts(checkpoint_path: Path) -> CheckpointFacts:
    """Return the facts of a monolith or of a split pack's transformer file; reads its header.

    Raises:
        CheckpointError: It cannot be read.
    """
    report = probe(checkpoint_path)
    if report.kind is FileKind.UNREADABLE and report.problems:
        problem = report.problems[0]
        raise CheckpointError(problem.sentence, path=checkpoint_path, reason=problem.reason)
    return CheckpointFacts.of(report)


def pipeline_defaults(kind: PipelineKind, facts: CheckpointFacts) -> PipelineDefaults:
    """Return the defaults of a pipeline with a checkpoint."""
    height, width = (1088, 1920) if kind is PipelineKind.HQ else (1024, 1536)
    video, audio = _GUIDANCE[kind]
    blocks = (facts.stg_block,)
    return PipelineDefaults(
        clip=ClipFormat(height, width, 121, Fraction(24)),
        num_inference_steps=_num_steps(kind, facts.generation),
        video_guidance=replace(video, stg_blocks=blocks) if video.stg else video,
        audio_guidance=replace(audio, stg_blocks=blocks) if audio.stg else audio,
        distilled_lora_strengths=_LORA_STRENGTHS[kind],
        image_crf=facts.image_crf,
    )


def resolve_guidance(asked: GuidanceSpec | None, default: GuidanceSpec, facts: CheckpointFacts) -> GuidanceSpec:
    """Return the guidance to run: what was asked for, its blocks named where it perturbs any.

    Raises:
        JobRefusedError: A value is out of range, or the transformer has no such block.
    """
    if asked is None:
        return default
    for name, value in (("cfg", asked.cfg), ("stg", asked.stg), ("modality", asked.modality)):
        if not math.isfinite(value) or abs(value) > MAX_SCALE:
            raise JobRefusedError(
                f"A guidance scale {name} of {value:g} cannot be used. It must lie from -{MAX_SCALE:g} to "
                f"{MAX_SCALE:g}; 1 to 10 are usual."
            )
    if not 0 <= asked.rescale <= 1:
        raise JobRefusedError(f"A rescale of {asked.rescale:g} cannot be used. It must lie from 0 (none) to 1 (all).")
    if asked.skip_step < 0:
        raise JobRefusedError(f"A skip step of {asked.skip_step} cannot be used. 0 guides every step, 1 every second.")
    for block in asked.stg_blocks:
        if not 0 <= block < facts.num_blocks:
            raise JobRefusedError(
                f"This model has no block {block} to perturb. Its blocks are numbered from 0 to {facts.num_blocks - 1}."
            )
    if asked.stg == 0:
        return replace(asked, stg_blocks=())
    return asked if asked.stg_blocks else replace(asked, stg_blocks=(facts.stg_block,))


def resolve_num_steps(asked: int | None, default: int) -> int:
    """Return the steps of a guided first stage.

    Raises:
        JobRefusedError: Fewer than one, or more than `MAX_STEPS`.
    """
    if asked is None:
        return default
    if not 1 <= asked <= MAX_STEPS:
        raise JobRefusedError(f"{asked} steps cannot be made. The number must lie from 1 to {MAX_STEPS}.")
    return asked


def resolve_keyframe_slots(asked: int | Sequence[int], clip: ClipFormat, facts: CheckpointFacts) -> tuple[int, ...]:
    """Return the pixel frames of the key frames that the model makes itself.

    Args:
        asked: How many, spread evenly between the first and the last frame, or their frames.
        clip: Format of the finished clip.
        facts: Of the checkpoint.

    Raises:
        JobRefusedError: The model makes none, or they do not fit into the clip.
    """
    if asked == 0 or (not isinstance(asked, int) and not asked):
        return ()
    if not facts.has_keyframe_embedding:
        raise JobRefusedError(
            f"This model makes no key frames of its own: LTX-{facts.generation} has not learned it. "
            "Take a model of LTX-2.5, or ask for none."
        )
    most = (clip.num_frames - 1) // TIME_FACTOR
    if isinstance(asked, int):
        if not 0 < asked <= most:
            raise JobRefusedError(f"{asked} key frames do not fit into this clip. It can have 1 to {most} of them.")
        return spread_frames(asked, clip.num_frames)
    frames = tuple(sorted(asked))
    for frame in frames:
        check_frame(frame, clip)
    if len(set(frames)) < len(frames) or len(frames) > most:
        raise JobRefusedError(f"Give up to {most} key frames for this clip, each at a frame of its own.")
    return frames


def spread_frames(num_slots: int, num_frames: int) -> tuple[int, ...]:
    """Return pixel frames of `num_slots` key frames, evenly between the first and the last frame."""
    ends = num_slots + 1
    return tuple(round((num_frames - 1) * slot / ends) for slot in range(1, ends))


def check_frame(frame: int, clip: ClipFormat) -> None:
    """Check that a clip has a pixel frame.

    Raises:
        JobRefusedError: It has not.
    """
    if not 0 <= frame < clip.num_frames:
        raise JobRefusedError(
            f"This clip has no frame {frame}. Its {clip.num_frames} frames are numbered from 0 to "
            f"{clip.num_frames - 1}."
        )


def _num_steps(kind: PipelineKind, generation: Generation) -> int:
    match kind:
        case PipelineKind.FAST:
            return _DISTILLED_STEPS
        case PipelineKind.QUALITY:
            return _GUIDED_STEPS[generation]
        case PipelineKind.HQ:
            return _HQ_STEPS


_GUIDANCE = {
    PipelineKind.FAST: (GuidanceSpec(), GuidanceSpec()),
    PipelineKind.QUALITY: (
        GuidanceSpec(cfg=3, stg=1, rescale=0.7, modality=3),
        GuidanceSpec(cfg=7, stg=1, rescale=0.7, modality=3),
    ),
    PipelineKind.HQ: (
        GuidanceSpec(cfg=3, stg=0, rescale=0.45, modality=3),
        GuidanceSpec(cfg=7, stg=0, rescale=1.0, modality=3),
    ),
}
_LORA_STRENGTHS = {
    PipelineKind.FAST: (0.0, 0.0),
    PipelineKind.QUALITY: (0.0, 1.0),
    PipelineKind.HQ: (0.25, 0.5),
}
