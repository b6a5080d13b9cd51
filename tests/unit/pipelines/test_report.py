"""A report turns events into a clip, agrees with all ranks at the same points, and leaves nothing half-made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import cast

import pytest
import torch
from torch import Tensor

from podium.geometry import ClipFormat
from podium.jobs import (
    ClipFinished,
    GenerationRequest,
    GuidanceSpec,
    LorasApplied,
    Phase,
    PhaseEnded,
    PhaseStarted,
    PipelineKind,
    PreviewClip,
    RankMemory,
    StepDone,
)
from podium.media.clip_reader import read_clip_info, read_parameters
from podium.media.errors import MediaError
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
)
from podium.pipelines.report import OpenBoundary, ReportContext, report_clip
from podium.pipelines.stage_clips import StageClips

CLIP = ClipFormat(64, 64, 9, Fraction(24000, 1001))
PARAMETERS = {"prompt": "A fox.", "seed": 7}


class Stopped(Exception):
    """What a boundary raises in these tests."""


def latents(height: int = 1, width: int = 1) -> tuple[Tensor, Tensor]:
    return torch.zeros(1, 128, 2, height, width), torch.zeros(1, 8, 9, 16)


def job() -> list[PipelineEvent]:
    steps = [StepDenoised(Phase.STAGE_1, step, 2, 1 / step, *latents()) for step in (1, 2)]
    return [
        PhaseBegan(Phase.ENCODING, 1),
        PromptEncoded(1, 1),
        PhaseOver(Phase.ENCODING),
        PhaseBegan(Phase.SWAPPING),
        LorasFused(("style: all 2 layers applied.",)),
        PhaseOver(Phase.SWAPPING),
        PhaseBegan(Phase.STAGE_1, 2),
        *steps,
        PhaseOver(Phase.STAGE_1),
        PhaseBegan(Phase.DECODING, 9),
        SoundDecoded(torch.zeros(2, 17_000), 48_000),
        FramesDecoded(torch.full((8, 64, 64, 3), 0.5), 0),
        FramesDecoded(torch.full((1, 64, 64, 3), 0.5), 8),
        PhaseOver(Phase.DECODING),
    ]


class Pipeline:
    """Yields events that were made beforehand, and keeps the call."""

    def __init__(self, events: Sequence[PipelineEvent]) -> None:
        self._events = events
        self.call: dict[str, object] = {}

    @property
    def stream(self) -> Callable[..., Iterator[PipelineEvent]]:
        """Return the call."""
        return self._stream

    def _stream(self, **call: object) -> Iterator[PipelineEvent]:
        self.call = call
        yield from self._events


class Boundary(OpenBoundary):
    """Notes what it is called with, and may end the job at one of its calls."""

    def __init__(self, ends_at: int | None = None) -> None:
        self.calls: list[tuple[object, ...]] = []
        self._ends_at = ends_at

    def begin_phase(self, phase: Phase, num_steps: int | None = None) -> Sequence[RankMemory]:
        """Note it."""
        self._note("phase", phase, num_steps)
        return (RankMemory(0, 1, 2),)

    def checkpoint(self, phase: Phase, step: int, num_steps: int) -> None:
        """Note it."""
        self._note("step", phase, step, num_steps)

    def attempt(self, action: Callable[[], None] | None) -> None:
        """Note it, and do it."""
        self._note("attempt")
        super().attempt(action)

    def _note(self, *call: object) -> None:
        self.calls.append(call)
        if len(self.calls) == self._ends_at:
            raise Stopped


@pytest.fixture
def request_(tmp_path: Path) -> GenerationRequest:
    return GenerationRequest("A fox.", 7, CLIP, tmp_path / "clip.mp4")


def test_a_job_becomes_a_clip_and_its_events_in_order(request_: GenerationRequest) -> None:
    events = list(report_clip(Pipeline(job()), request_, ReportContext(PARAMETERS, Boundary())))
    said = [event for event in events if not isinstance(event, RankMemory)]
    phases = [(type(event), event.phase) for event in said if isinstance(event, PhaseStarted | PhaseEnded)]
    expected = [Phase.ENCODING, Phase.SWAPPING, Phase.STAGE_1, Phase.DECODING, Phase.WRITING]
    assert phases == [(kind, phase) for phase in expected for kind in (PhaseStarted, PhaseEnded)]
    steps = [(event.phase, event.step, event.num_steps) for event in said if isinstance(event, StepDone)]
    of_phases = ((Phase.ENCODING, (1,), 1), (Phase.STAGE_1, (1, 2), 2), (Phase.DECODING, (8, 9), 9))
    assert steps == [(phase, step, num_steps) for phase, done, num_steps in of_phases for step in done]
    assert LorasApplied(("style: all 2 layers applied.",)) in said
    finished = said[-1]
    assert isinstance(finished, ClipFinished)
    assert (finished.path, finished.clip, finished.sample_rate_hz) == (request_.output_path, CLIP, 48_000)
    assert finished.num_bytes == finished.path.stat().st_size
    assert read_clip_info(finished.path).fps == CLIP.fps
    assert read_parameters(finished.path) == {"podium": 1, **PARAMETERS}
    assert finished.sidecar_path.is_file()


def test_the_request_reaches_the_pipeline_whole(request_: GenerationRequest) -> None:
    pipeline = Pipeline(job())
    list(report_clip(pipeline, request_, ReportContext(PARAMETERS)))
    assert pipeline.call == {
        "prompt": "A fox.",
        "seed": 7,
        "height": 64,
        "width": 64,
        "num_frames": 9,
        "frame_rate": CLIP.fps,
        "images": (),
        "loras": (),
        "generated_keyframes": 0,
    }


def test_a_guided_request_reaches_its_pipeline_with_all_that_guides_it(request_: GenerationRequest) -> None:
    guidance = GuidanceSpec(cfg=2)
    guided = {
        "negative_prompt": "blurry",
        "num_inference_steps": 3,
        "video_guidance": guidance,
        "audio_guidance": None,
        "distilled_lora_strengths": (0.1, 0.2),
    }
    pipeline = Pipeline(job())
    asked = replace(request_, pipeline=PipelineKind.HQ, generated_keyframes=(8,), **guided)  # type: ignore[arg-type] # as named
    list(report_clip(pipeline, asked, ReportContext(PARAMETERS)))
    assert {name: pipeline.call[name] for name in guided} == guided
    assert pipeline.call["generated_keyframes"] == (8,)


def test_a_step_of_several_model_calls_can_be_stopped_between_them(request_: GenerationRequest) -> None:
    events = job()
    events.insert(7, SubstepDenoised(Phase.STAGE_1, 1, 2))
    boundary = Boundary()
    told = list(report_clip(Pipeline(events), request_, ReportContext(PARAMETERS, boundary)))
    of_stage = [call[2] for call in boundary.calls if call[:2] == ("step", Phase.STAGE_1)]
    assert of_stage == [0, 1, 2]
    assert sum(isinstance(event, StepDone) and event.phase is Phase.STAGE_1 for event in told) == 2


def test_every_rank_comes_to_the_same_boundaries_and_only_the_first_one_speaks_and_writes(
    request_: GenerationRequest, tmp_path: Path
) -> None:
    other = Boundary()
    assert list(report_clip(Pipeline(job()), request_, ReportContext(PARAMETERS, other, is_first=False))) == []
    assert list(tmp_path.iterdir()) == []
    first = Boundary()
    list(report_clip(Pipeline(job()), request_, ReportContext(PARAMETERS, first)))
    assert first.calls == other.calls
    assert ("step", Phase.STAGE_1, 2, 2) in first.calls
    assert first.calls[-2:] == [("phase", Phase.WRITING, None), ("attempt",)]


NUM_CALLS = 14


@pytest.mark.parametrize("ends_at", range(1, NUM_CALLS + 1))
def test_a_job_that_is_stopped_at_any_boundary_leaves_nothing(
    request_: GenerationRequest, tmp_path: Path, ends_at: int
) -> None:
    boundary = Boundary(ends_at)
    with pytest.raises(Stopped):
        list(report_clip(Pipeline(job()), request_, ReportContext(PARAMETERS, boundary)))
    assert len(boundary.calls) == ends_at
    assert list(tmp_path.iterdir()) == []


def test_there_are_as_many_boundaries_as_were_tried(request_: GenerationRequest) -> None:
    boundary = Boundary()
    list(report_clip(Pipeline(job()), request_, ReportContext(PARAMETERS, boundary)))
    assert len(boundary.calls) == NUM_CALLS


def test_a_listener_that_leaves_early_leaves_nothing(request_: GenerationRequest, tmp_path: Path) -> None:
    events = report_clip(Pipeline(job()), request_, ReportContext(PARAMETERS))
    assert any(isinstance(event, StepDone) and event.phase is Phase.DECODING for event in events)
    assert any(tmp_path.iterdir())
    events.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("broken", [float("nan"), float("inf")])
def test_pictures_that_are_no_numbers_are_no_clip(request_: GenerationRequest, tmp_path: Path, broken: float) -> None:
    events = job()
    frames = torch.full((8, 64, 64, 3), 0.5)
    frames[3, 2, 1, 0] = broken
    events[12] = FramesDecoded(frames, 0)
    with pytest.raises(MediaError, match="no numbers"):
        list(report_clip(Pipeline(events), request_, ReportContext(PARAMETERS)))
    assert list(tmp_path.iterdir()) == []


class FakeStageClips:
    """Stands in for the writer of first-stage clips."""

    def __init__(self, error: MediaError | None) -> None:
        self._error = error
        self.clips: list[ClipFormat] = []

    def write(self, event: StepDenoised, clip: ClipFormat) -> PreviewClip:
        """Say where it would lie, or fail."""
        self.clips.append(clip)
        if self._error is not None:
            raise self._error
        return PreviewClip(event.phase, Path("stage_1.mp4"))


def test_the_first_stage_is_shown_as_a_clip_after_its_last_step(request_: GenerationRequest) -> None:
    stage_clips = FakeStageClips(None)
    context = ReportContext(PARAMETERS, stage_clips=cast("StageClips", stage_clips))
    events = list(report_clip(Pipeline(job()), request_, context))
    shown = events.index(PreviewClip(Phase.STAGE_1, Path("stage_1.mp4")))
    assert isinstance(events[shown - 1], StepDone)
    assert stage_clips.clips == [replace(CLIP, height=32, width=32)]


def test_the_first_stages_clip_is_as_large_as_its_latent_whatever_the_upscaler(request_: GenerationRequest) -> None:
    stage_clips, events = FakeStageClips(None), job()
    events[8] = StepDenoised(Phase.STAGE_1, 2, 2, 0.5, *latents(2, 3))
    context = ReportContext(PARAMETERS, stage_clips=cast("StageClips", stage_clips))
    list(report_clip(Pipeline(events), request_, context))
    assert stage_clips.clips == [replace(CLIP, height=64, width=96)]


def test_a_preview_clip_that_cannot_be_written_costs_nobody_the_clip(
    request_: GenerationRequest, caplog: pytest.LogCaptureFixture
) -> None:
    stage_clips = FakeStageClips(MediaError("There is no room left for it."))
    context = ReportContext(PARAMETERS, stage_clips=cast("StageClips", stage_clips))
    events = list(report_clip(Pipeline(job()), request_, context))
    assert isinstance(events[-1], ClipFinished)
    assert [record.message for record in caplog.records] == ["There is no preview clip: There is no room left for it."]
    caplog.clear()
