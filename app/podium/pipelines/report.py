"""From a pipeline's events (tensors) to job events (small values), writing the clip on the way.

Every rank runs the same report, so that all agree at the same boundaries; only the first one writes and yields.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Protocol

from podium.geometry import SPACE_FACTOR, TIME_FACTOR
from podium.jobs import (
    ClipFinished,
    GenerationRequest,
    JobEvent,
    LorasApplied,
    Phase,
    PhaseEnded,
    PhaseStarted,
    RankMemory,
    StepDone,
)
from podium.media.errors import MediaError
from podium.media.video_writer import ClipWriter
from podium.pipelines.arrays import to_pictures, to_samples
from podium.pipelines.events import (
    FramesDecoded,
    LorasFused,
    PhaseBegan,
    PhaseOver,
    PipelineEvent,
    PromptEncoded,
    SoundDecoded,
    StepDenoised,
    SubstepDenoised,
    TileDecoded,
)
from podium.pipelines.previews import Previewer
from podium.pipelines.stage_clips import StageClips

_logger = logging.getLogger(__name__)


class StreamingPipeline(Protocol):
    """What a report asks of a pipeline."""

    @property
    def stream(self) -> Callable[..., Iterator[PipelineEvent]]:
        """Return the call that yields the events of one clip."""
        ...


class JobBoundary(Protocol):
    """Where a job says what it does, and may be stopped: on a fleet, a collective of all ranks."""

    def begin_phase(self, phase: Phase, num_steps: int | None = None) -> Sequence[RankMemory]:
        """Say that a phase began; returns what every rank holds by then, or nothing where nobody keeps count."""
        ...

    def checkpoint(self, phase: Phase, step: int, num_steps: int) -> None:
        """Say that a step ended; raises alike on all ranks when the job was cancelled."""
        ...

    def attempt(self, action: Callable[[], None] | None) -> None:
        """Run what only the first rank does (None elsewhere); if it cannot be done, raises alike on all ranks."""
        ...


class OpenBoundary:
    """The boundary of a job that runs alone: nobody listens and nobody cancels."""

    def begin_phase(self, phase: Phase, num_steps: int | None = None) -> Sequence[RankMemory]:
        """Do nothing."""
        del phase, num_steps
        return ()

    def checkpoint(self, phase: Phase, step: int, num_steps: int) -> None:
        """Do nothing."""

    def attempt(self, action: Callable[[], None] | None) -> None:
        """Run `action`."""
        if action is not None:
            action()


@dataclass(frozen=True, slots=True)
class ReportContext:
    """What a report has beside the pipeline and the request.

    Args:
        parameters: For the tag and the sidecar; see `podium.pipelines.parameters`.
        boundary: Where the job may be stopped.
        is_first: This rank writes the clip and yields.
        previewer: Makes previews, on the first rank; None for none.
        stage_clips: Writes the first stage's clip, on the first rank; None for none.
    """

    parameters: Mapping[str, object]
    boundary: JobBoundary = field(default_factory=OpenBoundary)
    is_first: bool = True
    previewer: Previewer | None = None
    stage_clips: StageClips | None = None


def call_of(request: GenerationRequest) -> dict[str, object]:
    """Return what a request's pipeline is called with, by keyword."""
    clip = request.clip
    call: dict[str, object] = {
        "prompt": request.prompt,
        "seed": request.seed,
        "height": clip.height,
        "width": clip.width,
        "num_frames": clip.num_frames,
        "frame_rate": clip.fps,
        "images": request.images,
        "loras": request.loras,
        "generated_keyframes": request.generated_keyframes,
    }
    if request.pipeline.is_guided:
        call |= {
            "negative_prompt": request.negative_prompt,
            "num_inference_steps": request.num_inference_steps,
            "video_guidance": request.video_guidance,
            "audio_guidance": request.audio_guidance,
            "distilled_lora_strengths": request.distilled_lora_strengths,
        }
    return call


def report_clip(
    pipeline: StreamingPipeline, request: GenerationRequest, context: ReportContext
) -> Generator[JobEvent, None, None]:
    """Make a clip and write it; nothing is left behind where it is stopped or fails.

    Ranks: every rank. Collectives: what the boundary issues, at every step, prompt and batch of frames.

    Args:
        pipeline: The same on all ranks.
        request: The clip to make.
        context: This rank's part in it.

    Yields:
        Job events, from the first rank alone.

    Raises:
        JobRefusedError, CheckpointError, MediaError: As the pipeline and the writer do.
    """
    return _ClipReport(pipeline, request, context).events()


@dataclass(slots=True)
class _Clock:
    # Seconds since it was last read.
    last_s: float = field(default_factory=time.perf_counter)

    def lap_s(self) -> float:
        now_s = time.perf_counter()
        lap_s, self.last_s = now_s - self.last_s, now_s
        return lap_s


class _ClipReport:
    def __init__(self, pipeline: StreamingPipeline, request: GenerationRequest, context: ReportContext) -> None:
        self._pipeline = pipeline
        self._request = request
        self._context = context
        self._boundary = context.boundary
        self._files = ExitStack()
        self._writer: ClipWriter | None = None
        self._sample_rate_hz = 0
        self._num_frames_done = 0
        self._phase_clock = _Clock()
        self._step_clock = _Clock()

    def events(self) -> Generator[JobEvent, None, None]:
        # What is open when the job is stopped or fails is thrown away as the stack unwinds.
        with self._files:
            for event in self._stream():
                yield from self._handle(event)
            yield from self._finish()

    def _stream(self) -> Iterator[PipelineEvent]:
        return self._pipeline.stream(**call_of(self._request))

    def _handle(self, event: PipelineEvent) -> Iterator[JobEvent]:
        # Every rank comes here with the same events; what differs by rank is whether an action runs and what is said.
        match event:
            case PhaseBegan(phase, num_steps):
                yield from self._begin_phase(phase, num_steps)
                self._phase_clock.lap_s()
                self._step_clock.lap_s()
                yield from self._say(PhaseStarted(phase, num_steps))
            case PhaseOver(phase):
                yield from self._hand_out_previews()
                yield from self._say(PhaseEnded(phase, self._phase_clock.lap_s()))
            case StepDenoised():
                yield from self._handle_step(event)
            case SubstepDenoised(phase, step, num_steps):
                # The step itself has not ended: only a place to stop at.
                self._boundary.checkpoint(phase, step - 1, num_steps)
            case PromptEncoded(step, num_steps):
                self._boundary.checkpoint(Phase.ENCODING, step, num_steps)
                yield from self._say(StepDone(Phase.ENCODING, step, num_steps, self._step_clock.lap_s()))
            case LorasFused(summaries):
                yield from self._say(LorasApplied(summaries))
            case SoundDecoded():
                self._attempt(lambda: self._open_writer(event))
            case TileDecoded():
                # Counted in frames like the whole phase: maybe none are complete, but the job may be stopped here.
                self._boundary.checkpoint(Phase.DECODING, self._num_frames_done, self._request.clip.num_frames)
            case FramesDecoded():
                yield from self._handle_frames(event)

    def _handle_step(self, event: StepDenoised) -> Iterator[JobEvent]:
        self._boundary.checkpoint(event.phase, event.step, event.num_steps)
        yield from self._say(StepDone(event.phase, event.step, event.num_steps, self._step_clock.lap_s(), event.sigma))
        yield from self._hand_out_previews()
        if self._context.previewer is not None:
            # The first latent frame holds one frame and every other one eight: eight frames from one to the next.
            self._context.previewer.take(event, float(TIME_FACTOR / self._request.clip.fps))
        if event.phase is Phase.STAGE_1 and event.step == event.num_steps and self._context.stage_clips is not None:
            # With the last estimate the noise is gone: it is the stage's result.
            yield from self._stage_clip(self._context.stage_clips, event)

    def _stage_clip(self, stage_clips: StageClips, event: StepDenoised) -> Iterator[JobEvent]:
        # How much smaller the first stage is depends on the upscaler; its latent tells.
        height, width = (SPACE_FACTOR * cells for cells in event.video_BCFHW.shape[3:])
        try:
            yield stage_clips.write(event, replace(self._request.clip, height=height, width=width))
        except MediaError as error:
            # Only a preview, and only this rank's: the clip itself goes somewhere else.
            _logger.warning("There is no preview clip: %s", error)

    def _handle_frames(self, event: FramesDecoded) -> Iterator[JobEvent]:
        self._attempt(lambda: self._write_frames(event))
        done, num_frames = event.first_frame + len(event.frames_FHWC), self._request.clip.num_frames
        self._num_frames_done = done
        self._boundary.checkpoint(Phase.DECODING, done, num_frames)
        yield from self._say(StepDone(Phase.DECODING, done, num_frames, self._step_clock.lap_s()))

    def _finish(self) -> Iterator[JobEvent]:
        yield from self._begin_phase(Phase.WRITING)
        self._phase_clock.lap_s()
        yield from self._say(PhaseStarted(Phase.WRITING))
        self._attempt(self._files.close)
        yield from self._say(PhaseEnded(Phase.WRITING, self._phase_clock.lap_s()))
        if self._writer is not None:
            written = self._writer.result
            assert written.sidecar_path is not None, "a clip with parameters has a sidecar"
            yield ClipFinished(
                written.path, written.sidecar_path, self._request.clip, self._sample_rate_hz, written.num_bytes
            )

    def _begin_phase(self, phase: Phase, num_steps: int | None = None) -> Iterator[JobEvent]:
        for memory in self._boundary.begin_phase(phase, num_steps):
            yield from self._say(memory)

    def _say(self, event: JobEvent) -> Iterator[JobEvent]:
        if self._context.is_first:
            yield event

    def _attempt(self, action: Callable[[], None]) -> None:
        self._boundary.attempt(action if self._context.is_first else None)

    def _hand_out_previews(self) -> Iterator[JobEvent]:
        if self._context.previewer is not None:
            yield from self._context.previewer.hand_out()

    def _open_writer(self, event: SoundDecoded) -> None:
        self._sample_rate_hz = event.sample_rate_hz
        writer = ClipWriter(
            self._request.output_path,
            self._request.clip,
            sample_rate_hz=event.sample_rate_hz,
            parameters=self._context.parameters,
        )
        self._writer = self._files.enter_context(writer)
        self._writer.add_sound(to_samples(event.waveform))

    def _write_frames(self, event: FramesDecoded) -> None:
        assert self._writer is not None, "the sound comes before the frames"
        self._writer.add_frames(to_pictures(event.frames_FHWC))
