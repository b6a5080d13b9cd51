"""What both guided pipelines are: two stages, the first one guided, the second with the distilled LoRA."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Sequence
from typing import ClassVar, Unpack

import torch
from torch import Tensor

from podium.geometry import ClipFormat
from podium.jobs import Phase, PipelineKind, as_lora_specs
from podium.models.weight_reader import OnProgress
from podium.pipelines.assembly import (
    Assembly,
    DistilledLora,
    decode_clip,
    drain,
    encode_guided,
    load_first,
    load_parts,
)
from podium.pipelines.blocks.diffusion import AVLatents, SamplerKind, StageRequest
from podium.pipelines.calls import GuidedCall, LoraLike
from podium.pipelines.events import PipelineEvent
from podium.pipelines.schedules import DISTILLED_STAGE_2_SIGMAS


class GuidedPipeline(ABC):
    """Makes clips in two stages; the clip's sound is the first stage's.

    Args:
        model: Makes the blocks.
        loras: The LoRA set of jobs that name none; fused in both stages.
        distilled_lora: What the stages are refined with.

    Attributes:
        on_progress: Called between tensors with (bytes read, bytes to read) while weights are read; what it raises
            ends the job, and nothing half-read is kept.
    """

    kind: ClassVar[PipelineKind]
    sampler: ClassVar[SamplerKind]

    def __init__(self, model: Assembly, loras: Iterable[LoraLike], distilled_lora: DistilledLora) -> None:
        self._model = model
        self.distilled_lora = distilled_lora
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

    @abstractmethod
    def _sigmas(self, num_steps: int, draft_clip: ClipFormat) -> Sequence[float]:
        """Return the noise levels of the first stage.

        Raises:
            JobRefusedError: There are none for so large a clip.
        """

    @property
    def dtype(self) -> torch.dtype:
        """Return the type of weights and activations."""
        return self.placement.dtype

    def load(self) -> None:
        """Read all weights but the image encoder's, so that jobs begin at once; a second call reads nothing.

        Raises:
            CheckpointError: A file cannot be read.
        """
        loras, _ = self.distilled_lora.sets(self.loras)
        load_parts(self, [stage.transformer_builder.with_loras(loras) for stage in (self.stage_1, self.stage_2)])

    def stream(self, **call: Unpack[GuidedCall]) -> Generator[PipelineEvent, None, None]:
        """Make a clip; arguments as in `GuidedCall`.

        Yields:
            Phases, steps, the sound, and the frames in order.

        Raises:
            JobRefusedError: The format or the guidance cannot be made, or a prompt is too long.
            CheckpointError: A file cannot be read.
            MediaError: A picture cannot be read.
        """
        guided = self._model.guided_job(call, self.kind, self.loras, self.distilled_lora)
        job = guided.clip_job
        sigmas = self._sigmas(guided.num_steps, job.draft_clip)
        yield from load_first(self)
        context, negative = yield from encode_guided(self.prompt_encoder, guided)
        draft_images, images = self.image_conditioner.encode(job.images, (job.draft_clip, job.clip))
        first = StageRequest(
            Phase.STAGE_1,
            job.draft_clip,
            sigmas,
            context,
            job.noise,
            sampler=self.sampler,
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
            sampler=self.sampler,
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
