"""The two-stage pipeline: guided by a negative prompt and by the model's own weaker estimates, then refined.

Stage 1 makes a draft at half size, every step of it guided; the latent is enlarged, and stage 2 refines it in 3 steps
with the distilled LoRA, unguided. The clip's sound is the first stage's.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Unpack

import torch
from torch import Tensor

from podium.jobs import Phase, PipelineKind, Quantization, as_lora_specs
from podium.models.paths import ModelPaths
from podium.models.registry import Registry
from podium.models.weight_reader import OnProgress
from podium.pipelines.assembly import (
    DistilledLora,
    as_lora_spec,
    assemble,
    choose_paths,
    decode_clip,
    drain,
    encode_guided,
    load_first,
    load_slots,
)
from podium.pipelines.blocks.diffusion import AVLatents, StageRequest
from podium.pipelines.calls import GuidedCall, LoraLike, PathLike
from podium.pipelines.events import PipelineEvent
from podium.pipelines.schedules import DISTILLED_STAGE_2_SIGMAS, shifted_schedule


class TI2VidTwoStagesPipeline:
    """Makes clips from a full checkpoint and its distilled LoRA.

    Blocks with public builder slots: `prompt_encoder`, `image_conditioner`, `stage_1`, `stage_2`, `upsampler`,
    `video_decoder`, `audio_decoder`; how the forwards of a guided step are run is a slot of `stage_1`.

    Args:
        checkpoint_path: The monolith.
        distilled_lora: What stage 2 refines with, and how strongly.
        spatial_upsampler_path: The x2 or x1.5 upscaler.
        gemma_root: The Gemma 3 folder.
        loras: The LoRA set of jobs that name none; fused in both stages.
        registry: Where loaded weights are kept; one of its own by default.
        quantization: "none", "fp8-cast" or "fp8-scaled".
        device: Where everything runs; the machine's accelerator by default, else the CPU.
        dtype: Of weights and activations.
        model_paths: In place of checkpoint and Gemma folder, and of the upscaler's path unless that is given: a split
            pack's files.

    Attributes:
        on_progress: Called between tensors with (bytes read, bytes to read) while weights are read; what it raises
            ends the job, and nothing half-read is kept.

    Raises:
        ValueError: `quantization` is none of those named, or a path is missing.
        CheckpointError: The Gemma folder holds no weights.
    """

    def __init__(  # noqa: PLR0913 - the published signature
        self,
        *,
        distilled_lora: LoraLike,
        checkpoint_path: PathLike | None = None,
        gemma_root: PathLike | None = None,
        spatial_upsampler_path: PathLike | None = None,
        loras: Iterable[LoraLike] = (),
        registry: Registry | None = None,
        quantization: Quantization | str = Quantization.NONE,
        device: torch.device | None = None,
        dtype: torch.dtype = torch.bfloat16,
        model_paths: ModelPaths | None = None,
    ) -> None:
        paths = choose_paths(model_paths, checkpoint_path, gemma_root, spatial_upsampler_path)
        model = assemble(paths, registry=registry, quantization=quantization, device=device, dtype=dtype)
        self._model = model
        distilled = as_lora_spec(distilled_lora)
        self.distilled_lora = DistilledLora(distilled, (0.0, distilled.strength))
        self.loras = as_lora_specs(loras)
        self.placement = model.placement
        self.prompt_encoder = model.prompt_encoder()
        self.image_conditioner = model.image_conditioner()
        self.stage_1 = model.stage()
        self.stage_2 = model.stage()
        self.upsampler = model.upsampler()
        self.video_decoder = model.video_decoder()
        self.audio_decoder = model.audio_decoder()
        self.on_progress: OnProgress | None = None
        self.is_loaded = False

    @property
    def dtype(self) -> torch.dtype:
        """Return the type of weights and activations."""
        return self.placement.dtype

    def load(self) -> None:
        """Read all weights but the image encoder's, so that jobs begin at once; a second call reads nothing.

        Raises:
            CheckpointError: A file cannot be read.
        """
        # With the set that jobs begin with, so that a set fixed for all of them is the only one there ever is.
        loras, _ = self.distilled_lora.sets(self.loras)
        slots = (
            self.prompt_encoder.text_encoder_builder,
            self.prompt_encoder.embeddings_builder,
            self.stage_1.transformer_builder.with_loras(loras),
            self.stage_2.transformer_builder.with_loras(loras),
            self.upsampler.upsampler_builder,
            self.upsampler.statistics_builder,
            self.video_decoder.decoder_builder,
            self.audio_decoder.decoder_builder,
            self.audio_decoder.vocoder_builder,
        )
        load_slots(slots, self.placement, self.on_progress)
        self.is_loaded = True

    def stream(self, **call: Unpack[GuidedCall]) -> Generator[PipelineEvent, None, None]:
        """Make a clip; arguments as in `GuidedCall`.

        Yields:
            Phases, steps, the sound, and the frames in order.

        Raises:
            JobRefusedError: The format or the guidance cannot be made, or a prompt is too long.
            CheckpointError: A file cannot be read.
            MediaError: A picture cannot be read.
        """
        guided = self._model.guided_job(call, PipelineKind.QUALITY, self.loras, self.distilled_lora)
        job = guided.clip_job
        sigmas = shifted_schedule(guided.num_steps)
        yield from load_first(self)
        context, negative = yield from encode_guided(self.prompt_encoder, guided)
        draft_images, images = self.image_conditioner.encode(job.images, (job.draft_clip, job.clip))
        first = StageRequest(
            Phase.STAGE_1,
            job.draft_clip,
            sigmas,
            context,
            job.noise,
            guidance=guided.guidance,
            negative=negative,
            images=draft_images,
            keyframe_slots=job.keyframe_slots,
            trace=job.trace,
        )
        draft = yield from self.stage_1.run(guided.draft_loras, first, self.on_progress)
        upsampled = yield from self.upsampler.stream(draft.video_BCFHW, job.trace)
        second = StageRequest(
            Phase.STAGE_2,
            job.clip,
            self.stage_2.schedule(DISTILLED_STAGE_2_SIGMAS),
            context,
            job.noise,
            init=AVLatents(upsampled, draft.audio_BCTM),
            images=images,
            trace=job.trace,
        )
        full = yield from self.stage_2.run(guided.loras, second, self.on_progress)
        latents = AVLatents(full.video_BCFHW, draft.audio_BCTM)
        yield from decode_clip(self.audio_decoder, self.video_decoder, latents, job)

    def __call__(self, **call: Unpack[GuidedCall]) -> tuple[Tensor, Tensor]:
        """Make a clip and return it whole; arguments as in `GuidedCall`, errors as `stream`.

        Returns:
            Video [F, H, W, 3] float32 from 0 to 1, and audio [2, samples] float32.
        """
        return drain(self.stream(**call))
