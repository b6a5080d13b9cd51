"""What the pipelines are put together from: blocks out of a model's files, and calls into checked jobs.

The rule a caller must know: no weight is read before a pipeline's first call, and that call is checked first. Pipelines
own their blocks; this module only makes them.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Protocol

import torch
from torch import Tensor

from podium.geometry import SPACE_FACTOR, ClipFormat, check_clip_format, parse_fps, size_step_px
from podium.jobs import (
    ImageSpec,
    LoraSpec,
    Phase,
    PipelineKind,
    Quantization,
    as_image_specs,
    as_lora_specs,
)
from podium.models.audio import audio_decoder_builder, vocoder_builder
from podium.models.diffusion_decoder import frame_decoder_builder
from podium.models.errors import CheckpointError, CheckpointReason
from podium.models.paths import ModelPaths
from podium.models.probe import probe
from podium.models.registry import Registry, StateDictRegistry
from podium.models.text_encoder import PromptContext, embeddings_processor_builder, text_encoder_builder
from podium.models.transformer.builder import transformer_builder
from podium.models.upsampler import upsampler_builder
from podium.models.video_vae import video_encoder_builder, video_statistics_builder
from podium.models.weight_reader import OnProgress
from podium.pipelines.blocks.decoding import AudioDecoder, VideoDecoder
from podium.pipelines.blocks.diffusion import AVLatents, DiffusionStage
from podium.pipelines.blocks.images import ImageConditioner
from podium.pipelines.blocks.placement import Placement, default_device
from podium.pipelines.blocks.prompts import PromptEncoder
from podium.pipelines.blocks.slots import BuilderSlot, Preloads
from podium.pipelines.blocks.upsampling import Upsampler
from podium.pipelines.calls import ClipCall, GuidedCall, LoraLike, PathLike
from podium.pipelines.events import FramesDecoded, PhaseBegan, PhaseOver, PipelineEvent, SoundDecoded, Trace
from podium.pipelines.generation_defaults import (
    CheckpointFacts,
    check_frame,
    pipeline_defaults,
    read_checkpoint_facts,
    resolve_guidance,
    resolve_keyframe_slots,
    resolve_num_steps,
)
from podium.pipelines.guidance import Guidance
from podium.pipelines.noise import NoiseSource, SeededNoise


@dataclass(frozen=True, slots=True)
class ClipJob:
    """A call, checked and with its defaults filled in.

    Args:
        prompt: As it was given.
        clip: Format of the finished clip.
        draft_clip: Format of the first stage.
        images: Pictures, the quality of their re-compression named.
        loras: The LoRA set.
        keyframe_slots: Pixel frames of key frames that the model makes itself.
        noise: Where noise comes from.
        trace: Takes results by name, or None.
    """

    prompt: str
    clip: ClipFormat
    draft_clip: ClipFormat
    images: tuple[ImageSpec, ...]
    loras: tuple[LoraSpec, ...]
    keyframe_slots: tuple[int, ...]
    noise: NoiseSource
    trace: Trace | None


@dataclass(frozen=True, slots=True)
class GuidedJob:
    """A call of a guided pipeline, checked and with its defaults filled in.

    Args:
        clip_job: What all pipelines have.
        negative_prompt: What to stay away from.
        num_steps: Of the first stage.
        guidance: Of the first stage.
        draft_loras, loras: The LoRA sets of the first and the second stage, the distilled one among them.
    """

    clip_job: ClipJob
    negative_prompt: str
    num_steps: int
    guidance: Guidance
    draft_loras: tuple[LoraSpec, ...]
    loras: tuple[LoraSpec, ...]


@dataclass(frozen=True)
class Assembly:
    """A model's files and where they run, as blocks.

    Args:
        paths: The files.
        registry: Where loaded weights are kept.
        quantization: How the transformer's weights are held.
        placement: Where everything runs.
    """

    paths: ModelPaths
    registry: Registry
    quantization: Quantization
    placement: Placement

    def prompt_encoder(self) -> PromptEncoder:
        """Return the block from text to contexts."""
        # The text projection of a split pack lies with the text encoder, which otherwise is a folder.
        more_paths = (self.paths.gemma_root,) if self.paths.is_split else ()
        return PromptEncoder(
            text_encoder_builder(self.paths.gemma_root, self.registry),
            embeddings_processor_builder(self.paths.checkpoint_path, *more_paths, registry=self.registry),
            self.placement,
        )

    def image_conditioner(self) -> ImageConditioner:
        """Return the block from pictures to latents."""
        return ImageConditioner(video_encoder_builder(self.paths.video_path, self.registry), self.placement)

    def stage(self) -> DiffusionStage:
        """Return a block that denoises; stages of one assembly share their weights."""
        builder = transformer_builder(self.paths.checkpoint_path, self.registry, quantization=self.quantization)
        return DiffusionStage(builder, self.placement)

    def upsampler(self) -> Upsampler:
        """Return the block between the stages."""
        return Upsampler(
            upsampler_builder(self.paths.spatial_upsampler_path, self.registry),
            video_statistics_builder(self.paths.video_path, self.registry),
            self.placement,
        )

    def video_decoder(self) -> VideoDecoder:
        """Return the block from latents to frames."""
        return VideoDecoder(frame_decoder_builder(self.paths.video_path, self.registry), self.placement)

    def audio_decoder(self) -> AudioDecoder:
        """Return the block from latents to sound."""
        return AudioDecoder(
            audio_decoder_builder(self.paths.audio_path, self.registry),
            vocoder_builder(self.paths.audio_path, self.registry),
            self.placement,
        )

    @cached_property
    def facts(self) -> CheckpointFacts:
        """What the checkpoint's header tells.

        Raises:
            CheckpointError: It cannot be read.
        """
        return read_checkpoint_facts(self.paths.checkpoint_path)

    @cached_property
    def spatial_scale(self) -> float:
        """How many times the upscaler enlarges, as its header tells.

        Raises:
            CheckpointError: It cannot be read, or enlarges by no factor.
        """
        path = self.paths.spatial_upsampler_path
        report = probe(path)
        if report.upsampler is not None and report.upsampler.scale is not None and not report.upsampler.is_temporal:
            return report.upsampler.scale
        problem = report.problems[0] if report.problems else None
        raise CheckpointError(
            problem.sentence if problem else f"“{path.name}” is not a spatial upscaler. Choose one of x2 or x1.5.",
            path=path,
            reason=problem.reason if problem else CheckpointReason.WRONG_KIND,
        )

    def clip_job(self, call: ClipCall, loras: tuple[LoraSpec, ...]) -> ClipJob:
        """Return a call checked against the model, `loras` its LoRA set where it names none.

        Raises:
            JobRefusedError: The clip cannot be made.
            CheckpointError: A header cannot be read.
        """
        clip = ClipFormat(call["height"], call["width"], call["num_frames"], parse_fps(call["frame_rate"]))
        self._check_format(clip)
        images = as_image_specs(call.get("images", ()))
        for image in images:
            check_frame(image.frame, clip)
        asked = call.get("loras")
        return ClipJob(
            prompt=call["prompt"],
            clip=clip,
            draft_clip=clip.reduced(self.spatial_scale),
            images=tuple(self._with_crf(image) for image in images),
            loras=loras if asked is None else as_lora_specs(asked),
            keyframe_slots=resolve_keyframe_slots(call.get("generated_keyframes", 0), clip, self.facts),
            noise=call.get("noise_source") or SeededNoise(call["seed"]),
            trace=call.get("trace"),
        )

    def guided_job(
        self, call: GuidedCall, kind: PipelineKind, loras: tuple[LoraSpec, ...], distilled_lora: DistilledLora
    ) -> GuidedJob:
        """Return a call of a guided pipeline checked against the model; see `clip_job`."""
        defaults = pipeline_defaults(kind, self.facts)
        clip_job = self.clip_job(call, loras)
        draft_loras, final_loras = distilled_lora.sets(clip_job.loras, call.get("distilled_lora_strengths"))
        return GuidedJob(
            clip_job=clip_job,
            negative_prompt=call.get("negative_prompt", ""),
            num_steps=resolve_num_steps(call.get("num_inference_steps"), defaults.num_inference_steps),
            guidance=Guidance(
                resolve_guidance(call.get("video_guidance"), defaults.video_guidance, self.facts),
                resolve_guidance(call.get("audio_guidance"), defaults.audio_guidance, self.facts),
            ),
            draft_loras=draft_loras,
            loras=final_loras,
        )

    def _check_format(self, clip: ClipFormat) -> None:
        if clip.height % SPACE_FACTOR or clip.width % SPACE_FACTOR:
            # Good for no upscaler: refused before one is looked at.
            check_clip_format(clip)
        check_clip_format(clip, size_step_px(self.spatial_scale))

    def _with_crf(self, image: ImageSpec) -> ImageSpec:
        return image if image.crf is not None else replace(image, crf=self.facts.image_crf)


@dataclass(frozen=True, slots=True)
class DistilledLora:
    """The LoRA that guided pipelines refine with.

    Args:
        spec: The file; its own strength is replaced by those of the stages.
        strengths: In the first and the second stage; 0 leaves it out.
    """

    spec: LoraSpec
    strengths: tuple[float, float]

    def sets(
        self, loras: tuple[LoraSpec, ...], strengths: tuple[float, float] | None = None
    ) -> tuple[tuple[LoraSpec, ...], tuple[LoraSpec, ...]]:
        """Return the LoRA sets of the first and the second stage: `loras`, and this one by its strength there."""
        draft, final = strengths or self.strengths
        return self._with_own(loras, draft), self._with_own(loras, final)

    def _with_own(self, loras: tuple[LoraSpec, ...], strength: float) -> tuple[LoraSpec, ...]:
        return (*loras, replace(self.spec, strength=strength)) if strength else loras


def as_lora_spec(lora: LoraLike) -> LoraSpec:
    """Return a LoRA spec from a spec or a plain `(path, strength)` tuple."""
    return as_lora_specs((lora,))[0]


def assemble(
    paths: ModelPaths,
    *,
    registry: Registry | None,
    quantization: Quantization | str,
    device: torch.device | None,
    dtype: torch.dtype,
) -> Assembly:
    """Return the assembly of a pipeline's constructor arguments, their defaults filled in.

    Raises:
        ValueError: `quantization` is none of `Quantization`.
    """
    return Assembly(
        paths,
        StateDictRegistry() if registry is None else registry,
        Quantization(quantization),
        Placement(default_device() if device is None else device, dtype),
    )


def choose_paths(
    model_paths: ModelPaths | None,
    checkpoint_path: PathLike | None,
    gemma_root: PathLike | None,
    spatial_upsampler_path: PathLike | None,
) -> ModelPaths:
    """Return the files that a pipeline's constructor was given, as one value or one by one.

    Raises:
        ValueError: One is missing, or the checkpoint or the text encoder is given twice.
    """
    if model_paths is not None:
        if checkpoint_path is not None or gemma_root is not None:
            raise ValueError("model_paths takes the place of checkpoint_path and gemma_root")
        upscaler = model_paths.spatial_upsampler_path if spatial_upsampler_path is None else spatial_upsampler_path
        return replace(model_paths, spatial_upsampler_path=Path(upscaler))
    if checkpoint_path is None or gemma_root is None or spatial_upsampler_path is None:
        raise ValueError("checkpoint_path, gemma_root and spatial_upsampler_path are needed, or model_paths")
    return ModelPaths(Path(checkpoint_path), Path(gemma_root), Path(spatial_upsampler_path))


class Loadable(Protocol):
    """A pipeline whose weights are read ahead of its jobs."""

    placement: Placement
    prompt_encoder: PromptEncoder
    upsampler: Upsampler
    video_decoder: VideoDecoder
    audio_decoder: AudioDecoder
    on_progress: OnProgress | None
    is_loaded: bool

    def load(self) -> None:
        """Read the weights."""
        ...


def load_first(pipeline: Loadable) -> Iterator[PipelineEvent]:
    """Read the weights of a pipeline that has not done so, as a phase."""
    if pipeline.is_loaded:
        return
    yield PhaseBegan(Phase.LOADING)
    pipeline.load()
    yield PhaseOver(Phase.LOADING)


def load_parts(pipeline: Loadable, transformers: Iterable[BuilderSlot[object]]) -> None:
    """Have all weights of a pipeline read but the image encoder's, by building what has no other way.

    Args:
        pipeline: Is loaded then.
        transformers: With the set that jobs begin with, so that a set fixed for all of them is the only one there ever
            is.

    Raises:
        CheckpointError: A file cannot be read.
    """
    slots = (
        pipeline.prompt_encoder.text_encoder_builder,
        pipeline.prompt_encoder.embeddings_builder,
        *transformers,
        pipeline.upsampler.upsampler_builder,
        pipeline.upsampler.statistics_builder,
        pipeline.video_decoder.decoder_builder,
        pipeline.audio_decoder.decoder_builder,
        pipeline.audio_decoder.vocoder_builder,
    )
    for slot in slots:
        read = slot.preload if isinstance(slot, Preloads) else slot.build
        read(pipeline.placement.device, pipeline.placement.dtype, on_progress=pipeline.on_progress)
    pipeline.is_loaded = True


def encode_guided(
    encoder: PromptEncoder, job: GuidedJob
) -> Generator[PipelineEvent, None, tuple[PromptContext, PromptContext | None]]:
    """Return the contexts of the prompt and, where the guidance asks for it, of the negative prompt."""
    prompts = [job.clip_job.prompt, *([job.negative_prompt] if job.guidance.needs_negative else [])]
    context, *negative = yield from encoder.stream(prompts, job.clip_job.trace)
    return context, negative[0] if negative else None


def decode_clip(
    audio_decoder: AudioDecoder, video_decoder: VideoDecoder, latents: AVLatents, job: ClipJob
) -> Iterator[PipelineEvent]:
    """Yield the sound of a clip, then its frames in order."""
    yield PhaseBegan(Phase.DECODING, job.clip.num_frames)
    yield audio_decoder.decode(latents.audio_BCTM, job.trace)
    yield from video_decoder.stream(latents.video_BCFHW, job.trace)
    yield PhaseOver(Phase.DECODING)


def drain(events: Iterable[PipelineEvent]) -> tuple[Tensor, Tensor]:
    """Return the whole clip of a stream: video [F, H, W, 3] from 0 to 1 and audio [2, samples], float32."""
    frames, sound = [], None
    for event in events:
        if isinstance(event, FramesDecoded):
            frames.append(event.frames_FHWC)
        elif isinstance(event, SoundDecoded):
            sound = event.waveform
    assert sound is not None, "a stream that ended has decoded the sound"
    return torch.cat(frames), sound
