"""The diffusion stage: from noise, or a noised draft, to latents of picture and sound."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from podium.geometry import ClipFormat
from podium.jobs import LoraSpec, Phase
from podium.models.text_encoder import PromptContext
from podium.models.transformer.inputs import StreamInput, TokenLevels
from podium.models.transformer.model import Ropes
from podium.models.weight_reader import OnProgress
from podium.pipelines.blocks.placement import Placement
from podium.pipelines.blocks.slots import Transformer, TransformerSlot
from podium.pipelines.events import LorasFused, PhaseBegan, PhaseOver, PipelineEvent, StepDenoised, Trace
from podium.pipelines.latents import (
    LatentState,
    audio_state,
    keep_first_frame,
    tokens_to_audio,
    tokens_to_video,
    video_state,
)
from podium.pipelines.noise import NoiseSource
from podium.pipelines.samplers import AVState, Denoised, sample_euler


@dataclass(frozen=True, slots=True)
class ImageCondition:
    """An encoded picture that the clip's first frame is held to.

    Args:
        latent_BCFHW: [1, 128, 1, H, W] normalised, at the stage's size.
        strength: 0 (free) to 1 (kept).
    """

    latent_BCFHW: Tensor
    strength: float


@dataclass(frozen=True, slots=True)
class AVLatents:
    """Latents of picture [1, 128, F, H, W] and sound [1, 8, T, 16], normalised, float32."""

    video_BCFHW: Tensor
    audio_BCTM: Tensor


@dataclass(frozen=True, slots=True)
class StageRequest:
    """What one run of a stage makes.

    Args:
        phase: Stage 1 or stage 2; names the noise and the trace.
        clip: Format of this stage.
        sigmas: Noise levels, falling, ending in 0.
        context: The encoded prompt.
        noise: Where noise comes from.
        init: Latents to start from, noised to `sigmas[0]`; None starts from noise alone.
        images: Pictures at this stage's size.
        trace: Takes results by name, or None.
    """

    phase: Phase
    clip: ClipFormat
    sigmas: Sequence[float]
    context: PromptContext
    noise: NoiseSource
    init: AVLatents | None = None
    images: Sequence[ImageCondition] = ()
    trace: Trace | None = None


class DiffusionStage:
    """Denoises both streams together.

    Args:
        transformer_builder: The slot that multi-GPU builders are put into.
        placement: Where it runs.
    """

    def __init__(self, transformer_builder: TransformerSlot, placement: Placement) -> None:
        self.transformer_builder = transformer_builder
        self.placement = placement

    def with_builder(self, transformer_builder: TransformerSlot) -> Self:
        """Return a stage that builds its transformer otherwise."""
        return type(self)(transformer_builder, self.placement)

    def build(
        self, loras: tuple[LoraSpec, ...], on_progress: OnProgress | None = None
    ) -> Generator[PipelineEvent, None, Transformer]:
        """Build the transformer with a LoRA set fused.

        Yields:
            The phase's begin and end, and what each LoRA did.

        Returns:
            The transformer, good until the next build.
        """
        yield PhaseBegan(Phase.SWAPPING)
        builder = self.transformer_builder.with_loras(loras)
        built = builder.build_with_report(self.placement.device, self.placement.dtype, on_progress=on_progress)
        yield LorasFused(tuple(report.summary() for report in built.lora_reports))
        yield PhaseOver(Phase.SWAPPING)
        return built.module

    def stream(self, transformer: Transformer, request: StageRequest) -> Generator[PipelineEvent, None, AVLatents]:
        """Denoise along the request's schedule.

        Yields:
            The phase's begin and end, and each step; before them the compiling phase, where a shape is new to compiled
            blocks.

        Returns:
            The latents at the last noise level.
        """
        num_steps = len(request.sigmas) - 1
        state = self._start(request)
        denoise = _Denoise(transformer, request, state, self.placement)
        if denoise.is_cold(state, request.sigmas[0]):
            yield PhaseBegan(Phase.COMPILING)
            denoise(state, request.sigmas[0])
            yield PhaseOver(Phase.COMPILING)
        yield PhaseBegan(request.phase, num_steps)
        for step in sample_euler(denoise, state, request.sigmas):
            state = step.state
            estimate = _latents(step.denoised.video, step.denoised.audio, request.clip)
            yield StepDenoised(
                request.phase, step.index + 1, num_steps, step.sigma, estimate.video_BCFHW, estimate.audio_BCTM
            )
        result = _latents(state.video.generated(), state.audio.generated(), request.clip)
        if request.trace is not None:
            request.trace(f"{request.phase}.video", result.video_BCFHW)
            request.trace(f"{request.phase}.audio", result.audio_BCTM)
        yield PhaseOver(request.phase)
        return result

    def _start(self, request: StageRequest) -> AVState:
        device, init = self.placement.device, request.init
        video = video_state(request.clip, device, None if init is None else init.video_BCFHW)
        audio = audio_state(request.clip, device, None if init is None else init.audio_BCTM)
        for image in request.images:
            video = keep_first_frame(video, image.latent_BCFHW, image.strength)
        noisy = [
            state.with_noise(
                request.noise.draw(f"{request.phase}.{name}", tuple(state.latent.shape)).to(device), request.sigmas[0]
            )
            for name, state in (("video", video), ("audio", audio))
        ]
        return AVState(*noisy)


class _Denoise:
    # Estimates the clean tokens of both streams; what is constant over a stage is made once.

    def __init__(self, transformer: Transformer, request: StageRequest, state: AVState, placement: Placement) -> None:
        self._transformer = transformer
        self._device, self._dtype = placement.device, placement.dtype
        with torch.inference_mode():
            self._video = _StreamSetup(
                transformer.video_ropes(state.video.positions), request.context.video, state.video, placement
            )
            self._audio = _StreamSetup(
                transformer.audio_ropes(state.audio.positions), request.context.audio, state.audio, placement
            )

    def is_cold(self, state: AVState, sigma: float) -> bool:
        return self._transformer.is_cold(*self._inputs(state, sigma))

    @torch.inference_mode()
    def __call__(self, state: AVState, sigma: float) -> Denoised:
        video_v, audio_v = self._transformer(*self._inputs(state, sigma))
        assert video_v is not None and audio_v is not None, "both streams were given"
        return Denoised(
            self._video.estimate(state.video.latent, video_v, sigma),
            self._audio.estimate(state.audio.latent, audio_v, sigma),
        )

    def _inputs(self, state: AVState, sigma: float) -> tuple[StreamInput, StreamInput]:
        level = torch.tensor([sigma], dtype=torch.float32, device=self._device)
        return self._video.input_at(state.video.latent, level), self._audio.input_at(state.audio.latent, level)


class _StreamSetup:
    # One stream's part of the transformer's input that no step changes.

    def __init__(self, ropes: Ropes, context: Tensor, state: LatentState, placement: Placement) -> None:
        self._ropes = ropes
        self._dtype = placement.dtype
        self._context = context.to(placement.device, placement.dtype)
        self._levels = TokenLevels.from_mask(state.denoise_mask, placement.device)
        self._mask = state.denoise_mask.to(placement.device)[None, :, None]
        self._keyframes_mask = state.keyframes_mask

    def input_at(self, latent: Tensor, sigma: Tensor) -> StreamInput:
        return StreamInput(
            latent=latent.to(self._dtype),
            timesteps=self._levels.at(sigma),
            sigma=sigma,
            context=self._context,
            rope=self._ropes.own,
            cross_rope=self._ropes.cross,
            keyframes_mask=self._keyframes_mask,
        )

    def estimate(self, latent: Tensor, velocity: Tensor, sigma: float) -> Tensor:
        # A token's own noise level is its mask times the stream's.
        return latent - self._mask * sigma * velocity.float()


def _latents(video_tokens: Tensor, audio_tokens: Tensor, clip: ClipFormat) -> AVLatents:
    grid = clip.latent_grid
    return AVLatents(tokens_to_video(video_tokens[:, : grid.num_tokens], grid), tokens_to_audio(audio_tokens))
