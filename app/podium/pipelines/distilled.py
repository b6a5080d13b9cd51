"""The distilled pipeline: a prompt, and pictures if there are any, to video with sound in 8 + 3 steps.

Stage 1 makes a draft at half size, the latent is enlarged, stage 2 refines it; one transformer serves both.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Unpack

import torch
from torch import Tensor

from podium.jobs import Phase, Quantization, as_lora_specs
from podium.models.paths import ModelPaths
from podium.models.registry import Registry
from podium.models.weight_reader import OnProgress
from podium.pipelines.assembly import (
    assemble,
    choose_paths,
    decode_clip,
    drain,
    load_first,
    load_parts,
)
from podium.pipelines.blocks.diffusion import AVLatents, SamplerKind, StageRequest
from podium.pipelines.calls import ClipCall, LoraLike, PathLike
from podium.pipelines.events import PipelineEvent
from podium.pipelines.schedules import DISTILLED_STAGE_1_SIGMAS, DISTILLED_STAGE_2_SIGMAS

DistilledCall = ClipCall


class DistilledPipeline:
    """Makes clips from a distilled checkpoint.

    Blocks with public builder slots: `prompt_encoder`, `image_conditioner`, `stage`, `upsampler`, `video_decoder`,
    `audio_decoder`. The same class runs on one device and on several: multi-GPU builders are put into the slots.

    Args:
        checkpoint_path: The monolith.
        gemma_root: The Gemma 3 folder.
        spatial_upsampler_path: The x2 or x1.5 upscaler.
        loras: The LoRA set of jobs that name none.
        registry: Where loaded weights are kept; one of its own by default.
        quantization: "none", "fp8-cast" or "fp8-scaled".
        device: Where everything runs; the machine's accelerator by default, else the CPU.
        dtype: Of weights and activations.
        model_paths: In place of the first two, and of the upscaler's path unless that is given: a split pack's files.

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
        self.loras = as_lora_specs(loras)
        self.placement = model.placement
        self.prompt_encoder = model.prompt_encoder()
        self.image_conditioner = model.image_conditioner()
        self.stage = model.stage()
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
        load_parts(self, [self.stage.transformer_builder.with_loras(self.loras)])

    def stream(self, **call: Unpack[ClipCall]) -> Generator[PipelineEvent, None, None]:
        """Make a clip; arguments as in `ClipCall`.

        Yields:
            Phases, steps, the sound, and the frames in order.

        Raises:
            JobRefusedError: The format cannot be made, or the prompt is too long.
            CheckpointError: A file cannot be read.
            MediaError: A picture cannot be read.
        """
        job = self._model.clip_job(call, self.loras)
        yield from load_first(self)
        (context,) = yield from self.prompt_encoder.stream([job.prompt], job.trace)
        draft_images, images = self.image_conditioner.encode(job.images, (job.draft_clip, job.clip))
        transformer = yield from self.stage.build(job.loras, self.on_progress)
        first = StageRequest(
            Phase.STAGE_1,
            job.draft_clip,
            DISTILLED_STAGE_1_SIGMAS,
            context,
            job.noise,
            sampler=SamplerKind.EULER_ANCESTRAL if self._model.facts.is_distilled_ancestral else SamplerKind.EULER,
            images=draft_images,
            keyframe_slots=job.keyframe_slots,
            trace=job.trace,
        )
        draft = yield from self.stage.stream(transformer, first)
        upsampled = yield from self.upsampler.stream(draft.video_BCFHW, job.trace)
        second = StageRequest(
            Phase.STAGE_2,
            job.clip,
            DISTILLED_STAGE_2_SIGMAS,
            context,
            job.noise,
            init=AVLatents(upsampled, draft.audio_BCTM),
            images=images,
            trace=job.trace,
        )
        full = yield from self.stage.stream(transformer, second)
        yield from decode_clip(self.audio_decoder, self.video_decoder, full, job)

    def __call__(self, **call: Unpack[ClipCall]) -> tuple[Tensor, Tensor]:
        """Make a clip and return it whole; arguments as in `ClipCall`, errors as `stream`.

        Returns:
            Video [F, H, W, 3] float32 from 0 to 1, and audio [2, samples] float32.
        """
        return drain(self.stream(**call))
