"""The distilled pipeline: a prompt, and a picture if there is one, to video with sound in 8 + 3 steps.

Stage 1 makes a draft at half size, the latent is enlarged, stage 2 refines it; one transformer serves both.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Required, TypedDict, Unpack

import torch
from torch import Tensor

from podium.geometry import ClipFormat, check_clip_format, parse_fps
from podium.jobs import ImageSpec, LoraSpec, Phase, as_image_specs, as_lora_specs
from podium.models.audio import audio_decoder_builder, vocoder_builder
from podium.models.registry import Registry, StateDictRegistry
from podium.models.text_encoder import embeddings_processor_builder, text_encoder_builder
from podium.models.transformer.builder import transformer_builder
from podium.models.upsampler import upsampler_builder
from podium.models.video_vae import video_decoder_builder, video_encoder_builder, video_statistics_builder
from podium.models.weight_reader import OnProgress
from podium.pipelines.blocks.decoding import AudioDecoder, VideoDecoder
from podium.pipelines.blocks.diffusion import AVLatents, DiffusionStage, StageRequest
from podium.pipelines.blocks.images import ImageConditioner
from podium.pipelines.blocks.placement import Placement, default_device
from podium.pipelines.blocks.prompts import PromptEncoder
from podium.pipelines.blocks.upsampling import Upsampler
from podium.pipelines.events import FramesDecoded, PhaseBegan, PhaseOver, PipelineEvent, SoundDecoded, Trace
from podium.pipelines.noise import NoiseSource, SeededNoise
from podium.pipelines.schedules import DISTILLED_STAGE_1_SIGMAS, DISTILLED_STAGE_2_SIGMAS

LoraLike = LoraSpec | tuple[str | Path, float]
ImageLike = ImageSpec | tuple[str | Path, int, float]


class DistilledCall(TypedDict, total=False):
    """What a call of the pipeline takes, by keyword.

    Keys:
        prompt: At most 1024 tokens.
        seed: 0 to 2**64 - 1; the same seed gives the same clip on any device and number of ranks.
        height, width: Of the finished clip, multiples of 64 pixels.
        num_frames: 8k + 1.
        frame_rate: Frames per second.
        images: Pictures; only at frame 0.
        loras: The LoRA set; the pipeline's own by default.
        noise_source: Where noise comes from; `SeededNoise(seed)` by default.
        trace: Called with (name, tensor) for contexts, stages, the upsampled latent and what is decoded.
    """

    prompt: Required[str]
    seed: Required[int]
    height: Required[int]
    width: Required[int]
    num_frames: Required[int]
    frame_rate: Required[Fraction | float | str]
    images: Iterable[ImageLike]
    loras: Iterable[LoraLike] | None
    noise_source: NoiseSource | None
    trace: Trace | None


@dataclass(frozen=True, slots=True)
class _Job:
    # A call, checked and with its defaults filled in.
    prompt: str
    clip: ClipFormat
    images: tuple[ImageSpec, ...]
    loras: tuple[LoraSpec, ...]
    noise: NoiseSource
    trace: Trace | None


class DistilledPipeline:
    """Makes clips from a distilled checkpoint.

    Blocks with public builder slots: `prompt_encoder`, `image_conditioner`, `stage`, `upsampler`, `video_decoder`,
    `audio_decoder`. The same class runs on one device and on several: multi-GPU builders are put into the slots.

    Args:
        checkpoint_path: The monolith.
        gemma_root: The Gemma 3 folder.
        spatial_upsampler_path: The x2 upscaler.
        loras: The LoRA set of jobs that name none.
        registry: Where loaded weights are kept; one of its own by default.
        quantization: "none".
        device: Where everything runs; the machine's accelerator by default, else the CPU.
        dtype: Of weights and activations.

    Attributes:
        on_progress: Called between tensors with (bytes read, bytes to read) while weights are read; what it raises
            ends the job, and nothing half-read is kept.

    Raises:
        ValueError: `quantization` is none of those named.
        CheckpointError: The Gemma folder holds no weights.
    """

    def __init__(
        self,
        *,
        checkpoint_path: str | Path,
        gemma_root: str | Path,
        spatial_upsampler_path: str | Path,
        loras: Iterable[LoraLike] = (),
        registry: Registry | None = None,
        quantization: str = "none",
        device: torch.device | None = None,
        dtype: torch.dtype = torch.bfloat16,
    ) -> None:
        if quantization != "none":
            raise ValueError(f"quantization {quantization!r} is not supported; 'none' is")
        checkpoint, gemma, upscaler = Path(checkpoint_path), Path(gemma_root), Path(spatial_upsampler_path)
        registry = StateDictRegistry() if registry is None else registry
        where = Placement(default_device() if device is None else device, dtype)
        self.loras = as_lora_specs(loras)
        self.placement = where
        self.prompt_encoder = PromptEncoder(
            text_encoder_builder(gemma, registry), embeddings_processor_builder(checkpoint, registry=registry), where
        )
        self.image_conditioner = ImageConditioner(video_encoder_builder(checkpoint, registry), where)
        self.stage = DiffusionStage(transformer_builder(checkpoint, registry), where)
        self.upsampler = Upsampler(
            upsampler_builder(upscaler, registry), video_statistics_builder(checkpoint, registry), where
        )
        self.video_decoder = VideoDecoder(video_decoder_builder(checkpoint, registry), where)
        self.audio_decoder = AudioDecoder(
            audio_decoder_builder(checkpoint, registry), vocoder_builder(checkpoint, registry), where
        )
        self.on_progress: OnProgress | None = None
        self._is_loaded = False

    @property
    def dtype(self) -> torch.dtype:
        """Return the type of weights and activations."""
        return self.placement.dtype

    def load(self) -> None:
        """Read all weights but the image encoder's, so that jobs begin at once; a second call reads nothing.

        Raises:
            CheckpointError: A file cannot be read.
        """
        builders = (
            self.prompt_encoder.text_encoder_builder,
            self.prompt_encoder.embeddings_builder,
            self.stage.transformer_builder,
            self.upsampler.upsampler_builder,
            self.upsampler.statistics_builder,
            self.video_decoder.decoder_builder,
            self.audio_decoder.decoder_builder,
            self.audio_decoder.vocoder_builder,
        )
        for builder in builders:
            builder.build(self.placement.device, self.placement.dtype, on_progress=self.on_progress)
        self._is_loaded = True

    def stream(self, **call: Unpack[DistilledCall]) -> Generator[PipelineEvent, None, None]:
        """Make a clip; arguments as in `DistilledCall`.

        Yields:
            Phases, steps, the sound, and the frames in order.

        Raises:
            JobRefusedError: The format cannot be made, or the prompt is too long.
            CheckpointError: A file cannot be read.
            MediaError: A picture cannot be read.
        """
        job = self._job(call)
        yield from self._load_first()
        (context,) = yield from self.prompt_encoder.stream([job.prompt], job.trace)
        draft_images, images = self.image_conditioner.encode(job.images, (job.clip.halved(), job.clip))
        transformer = yield from self.stage.build(job.loras, self.on_progress)
        first = StageRequest(Phase.STAGE_1, job.clip.halved(), DISTILLED_STAGE_1_SIGMAS, context, job.noise)
        draft = yield from self.stage.stream(transformer, replace(first, images=draft_images, trace=job.trace))
        upsampled = yield from self.upsampler.stream(draft.video_BCFHW, job.trace)
        second = StageRequest(Phase.STAGE_2, job.clip, DISTILLED_STAGE_2_SIGMAS, context, job.noise)
        init = AVLatents(upsampled, draft.audio_BCTM)
        full = yield from self.stage.stream(transformer, replace(second, init=init, images=images, trace=job.trace))
        yield PhaseBegan(Phase.DECODING, job.clip.num_frames)
        yield self.audio_decoder.decode(full.audio_BCTM, job.trace)
        yield from self.video_decoder.stream(full.video_BCFHW, job.trace)
        yield PhaseOver(Phase.DECODING)

    def __call__(self, **call: Unpack[DistilledCall]) -> tuple[Tensor, Tensor]:
        """Make a clip and return it whole; arguments as in `DistilledCall`, errors as `stream`.

        Returns:
            Video [F, H, W, 3] float32 from 0 to 1, and audio [2, samples] float32.
        """
        frames, sound = [], None
        for event in self.stream(**call):
            if isinstance(event, FramesDecoded):
                frames.append(event.frames_FHWC)
            elif isinstance(event, SoundDecoded):
                sound = event.waveform
        assert sound is not None, "a stream that ended has decoded the sound"
        return torch.cat(frames), sound

    def _load_first(self) -> Iterator[PipelineEvent]:
        if self._is_loaded:
            return
        yield PhaseBegan(Phase.LOADING)
        self.load()
        yield PhaseOver(Phase.LOADING)

    def _job(self, call: DistilledCall) -> _Job:
        clip = ClipFormat(call["height"], call["width"], call["num_frames"], parse_fps(call["frame_rate"]))
        check_clip_format(clip)
        loras = call.get("loras")
        return _Job(
            prompt=call["prompt"],
            clip=clip,
            images=as_image_specs(call.get("images", ())),
            loras=self.loras if loras is None else as_lora_specs(loras),
            noise=call.get("noise_source") or SeededNoise(call["seed"]),
            trace=call.get("trace"),
        )
