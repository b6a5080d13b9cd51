"""The diffusion stage: from noise, or a noised draft, to latents of picture and sound."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
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
from podium.pipelines.blocks.slots import OwnSchedule, PassRunner, Transformer, TransformerSlot
from podium.pipelines.events import (
    LorasFused,
    PhaseBegan,
    PhaseOver,
    PipelineEvent,
    StepDenoised,
    SubstepDenoised,
    Trace,
)
from podium.pipelines.guidance import ContextChoice, Guidance, OneAfterAnother, Pass, stack_perturbations
from podium.pipelines.latents import (
    LatentState,
    append_image,
    append_keyframe_slot,
    audio_state,
    keep_first_frame,
    tokens_to_audio,
    tokens_to_video,
    video_state,
)
from podium.pipelines.noise import NoiseSource
from podium.pipelines.samplers import (
    AVState,
    Denoised,
    SamplerStep,
    SamplerSubstep,
    sample_euler,
    sample_euler_ancestral,
    sample_res_2s,
)


class SamplerKind(StrEnum):
    """The ways from noise to a clip: a closed set."""

    EULER = "euler"
    EULER_ANCESTRAL = "euler_ancestral"
    RES_2S = "res_2s"


@dataclass(frozen=True, slots=True)
class ImageCondition:
    """An encoded picture that a frame of the clip is held to.

    Args:
        latent_BCFHW: [1, 128, 1, H, W] normalised, at the stage's size.
        strength: 0 (free) to 1 (kept).
        frame: Pixel frame. At 0 the first latent frame is held to it; elsewhere its tokens stand behind the clip's own.
    """

    latent_BCFHW: Tensor
    strength: float
    frame: int = 0


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
        sampler: The way along `sigmas`.
        guidance: How both streams are guided; by default not at all.
        negative: The encoded negative prompt; needed where the guidance asks for it.
        init: Latents to start from, noised to `sigmas[0]`; None starts from noise alone.
        images: Pictures at this stage's size.
        keyframe_slots: Pixel frames of key frames that the model makes itself.
        trace: Takes results by name, or None.
    """

    phase: Phase
    clip: ClipFormat
    sigmas: Sequence[float]
    context: PromptContext
    noise: NoiseSource
    sampler: SamplerKind = SamplerKind.EULER
    guidance: Guidance = field(default_factory=Guidance)
    negative: PromptContext | None = None
    init: AVLatents | None = None
    images: Sequence[ImageCondition] = ()
    keyframe_slots: Sequence[int] = ()
    trace: Trace | None = None


class DiffusionStage:
    """Denoises both streams together.

    Args:
        transformer_builder: The slot that multi-GPU builders are put into.
        placement: Where it runs.
        guidance_runner: The slot of what runs the forwards of a guided step; one after another by default.
    """

    def __init__(
        self,
        transformer_builder: TransformerSlot,
        placement: Placement,
        guidance_runner: PassRunner | None = None,
    ) -> None:
        self.transformer_builder = transformer_builder
        self.placement = placement
        self.guidance_runner: PassRunner = OneAfterAnother() if guidance_runner is None else guidance_runner

    def with_builder(self, transformer_builder: TransformerSlot) -> Self:
        """Return a stage that builds its transformer otherwise."""
        return type(self)(transformer_builder, self.placement, self.guidance_runner)

    def schedule(self, default: Sequence[float]) -> Sequence[float]:
        """Return the noise levels that the transformer's slot asks for, or `default` where it does not care."""
        builder = self.transformer_builder
        return builder.sigmas if isinstance(builder, OwnSchedule) else default

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

    def run(
        self, loras: tuple[LoraSpec, ...], request: StageRequest, on_progress: OnProgress | None = None
    ) -> Generator[PipelineEvent, None, AVLatents]:
        """Build the transformer with a LoRA set fused, denoise, and let the transformer go; see `build`, `stream`."""
        transformer = yield from self.build(loras, on_progress)
        return (yield from self.stream(transformer, request))

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
        denoise = _Denoise(transformer, request, self.placement, self.guidance_runner, state)
        if cold := denoise.cold_passes(state):
            yield PhaseBegan(Phase.COMPILING)
            denoise.warm_up(state, cold)
            yield PhaseOver(Phase.COMPILING)
        yield PhaseBegan(request.phase, num_steps)
        for step in _sample(denoise, state, request):
            if isinstance(step, SamplerSubstep):
                yield SubstepDenoised(request.phase, step.index + 1, num_steps)
                continue
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
        video = _condition(video, request)
        noisy = [
            state.with_noise(
                request.noise.draw(f"{request.phase}.{name}", tuple(state.latent.shape)).to(device), request.sigmas[0]
            )
            for name, state in (("video", video), ("audio", audio))
        ]
        return AVState(*noisy)


def _condition(video: LatentState, request: StageRequest) -> LatentState:
    # What is appended keeps its order: pictures as they were given, then the slots.
    for image in request.images:
        if image.frame == 0:
            video = keep_first_frame(video, image.latent_BCFHW, image.strength)
        else:
            video = append_image(video, request.clip, image.latent_BCFHW, frame=image.frame, strength=image.strength)
    for frame in request.keyframe_slots:
        video = append_keyframe_slot(video, request.clip, frame)
    return video


def _sample(denoise: _Denoise, state: AVState, request: StageRequest) -> Iterator[SamplerStep | SamplerSubstep]:
    match request.sampler:
        case SamplerKind.EULER:
            yield from sample_euler(denoise, state, request.sigmas)
        case SamplerKind.EULER_ANCESTRAL:
            yield from sample_euler_ancestral(denoise, state, request.sigmas, _StageNoise(request))
        case SamplerKind.RES_2S:
            yield from sample_res_2s(denoise, state, request.sigmas, _StageNoise(request))


@dataclass(frozen=True, slots=True)
class _StageNoise:
    # The noise of a stage's stochastic sampler, by its name.
    request: StageRequest

    def __call__(self, stream: str, kind: str, step: int, like: Tensor) -> Tensor:
        name = f"{self.request.phase}.{stream}.{kind}.{step}"
        return self.request.noise.draw(name, tuple(like.shape)).to(like.device)


class _Denoise:
    # Estimates the clean tokens of both streams; what is constant over a stage is made once.

    def __init__(
        self,
        transformer: Transformer,
        request: StageRequest,
        placement: Placement,
        runner: PassRunner,
        state: AVState,
    ) -> None:
        self._transformer = transformer
        self._guidance, self._runner = request.guidance, runner
        self._sigmas = request.sigmas
        self._last: Denoised | None = None
        contexts = {ContextChoice.PROMPT: request.context}
        if request.negative is not None:
            contexts[ContextChoice.NEGATIVE] = request.negative
        with torch.inference_mode():
            self._video = _StreamSetup(
                transformer.video_ropes(state.video.positions),
                {choice: context.video for choice, context in contexts.items()},
                state.video,
                placement,
            )
            self._audio = _StreamSetup(
                transformer.audio_ropes(state.audio.positions),
                {choice: context.audio for choice, context in contexts.items()},
                state.audio,
                placement,
            )

    def cold_passes(self, state: AVState) -> list[tuple[Pass, ...]]:
        # The distinct kinds of steps whose forwards would compile first.
        steps = {self._guidance.passes_at(step) for step in range(len(self._sigmas) - 1)}
        forward = self._forward(state, self._sigmas[0])
        return [passes for passes in sorted(steps, key=len) if passes and self._runner.is_cold(forward, passes)]

    @torch.inference_mode()
    def warm_up(self, state: AVState, cold: Sequence[tuple[Pass, ...]]) -> None:
        for passes in cold:
            self._runner(self._forward(state, self._sigmas[0]), passes)

    @torch.inference_mode()
    def __call__(self, state: AVState, sigma: float, step: int) -> Denoised:
        passes = self._guidance.passes_at(step)
        estimates = self._runner(self._forward(state, sigma), passes) if passes else []
        by_kind = {one.kind: estimate for one, estimate in zip(passes, estimates, strict=True)}
        self._last = self._guidance.combine(step, by_kind, self._last)
        return self._last

    def _forward(self, state: AVState, sigma: float) -> _Forward:
        return _Forward(self._transformer, self._video, self._audio, state, sigma)


@dataclass(frozen=True, slots=True)
class _Forward:
    # The transformer at one state and level: a batch of passes in, their estimates out.
    transformer: Transformer
    video: _StreamSetup
    audio: _StreamSetup
    state: AVState
    sigma: float

    @property
    def like(self) -> Denoised:
        return Denoised(self.state.video.latent, self.state.audio.latent)

    def is_cold(self, passes: Sequence[Pass]) -> bool:
        return self.transformer.is_cold(*self._inputs(passes), stack_perturbations(passes))

    def __call__(self, passes: Sequence[Pass]) -> list[Denoised]:
        video_v, audio_v = self.transformer(*self._inputs(passes), stack_perturbations(passes))
        assert video_v is not None and audio_v is not None, "both streams were given"
        video = self.video.estimate(self.state.video.latent, video_v, self.sigma)
        audio = self.audio.estimate(self.state.audio.latent, audio_v, self.sigma)
        return [Denoised(*both) for both in zip(video.split(1), audio.split(1), strict=True)]

    def _inputs(self, passes: Sequence[Pass]) -> tuple[StreamInput, StreamInput]:
        return (
            self.video.input_at(self.state.video.latent, self.sigma, passes),
            self.audio.input_at(self.state.audio.latent, self.sigma, passes),
        )


class _StreamSetup:
    # One stream's part of the transformer's input that no step changes.

    def __init__(
        self, ropes: Ropes, contexts: Mapping[ContextChoice, Tensor], state: LatentState, placement: Placement
    ) -> None:
        self._ropes = ropes
        self._device, self._dtype = placement.device, placement.dtype
        self._contexts = {choice: context.to(placement.device, placement.dtype) for choice, context in contexts.items()}
        self._levels = TokenLevels.from_mask(state.denoise_mask, placement.device)
        self._mask = state.denoise_mask.to(placement.device)[None, :, None]
        self._keyframes_mask = state.keyframes_mask

    def input_at(self, latent: Tensor, sigma: float, passes: Sequence[Pass]) -> StreamInput:
        levels = torch.full((len(passes),), sigma, dtype=torch.float32, device=self._device)
        return StreamInput(
            latent=latent.to(self._dtype).expand(len(passes), -1, -1),
            timesteps=self._levels.at(levels),
            sigma=levels,
            context=self._context(passes),
            rope=self._ropes.own,
            cross_rope=self._ropes.cross,
            keyframes_mask=self._keyframes_mask,
        )

    def estimate(self, latent: Tensor, velocity: Tensor, sigma: float) -> Tensor:
        # A token's own noise level is its mask times the stream's.
        return latent - self._mask * sigma * velocity.float()

    def _context(self, passes: Sequence[Pass]) -> Tensor:
        each = [self._contexts[one.context] for one in passes]
        return each[0] if len(each) == 1 else torch.cat(each)


def _latents(video_tokens: Tensor, audio_tokens: Tensor, clip: ClipFormat) -> AVLatents:
    grid = clip.latent_grid
    return AVLatents(tokens_to_video(video_tokens[:, : grid.num_tokens], grid), tokens_to_audio(audio_tokens))
