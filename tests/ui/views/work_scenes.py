"""A day's work: a queue in every state, a history of many clips, two of them compared."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

from podium.geometry import ClipFormat
from podium.helper.requests import CheckedJob, CheckRequest, KeepThumbnail, Thumbnail
from podium.jobs import ClipFinished, GenerationRequest, LoraSpec, Phase, PhaseStarted, PipelineKind, StepDone
from podium.models.paths import ModelPaths
from podium.ui.state.events import FleetReady, FleetStarting, JobEnded, JobNews, JobStarted
from podium.ui.state.values import ErrorMessage, FleetSpec, HistoryEntry, JobPhase

from tests.ui.views.scenery import evening
from tests.ui.views.scenes import CLIP, LORAS, MODELS, SPEC, World, composed

PROMPTS = (
    "A wide shot over rolling hills at dusk, mist in the valleys, swallows cross the frame",
    "Close-up of rain on a café window, neon behind it, a tram passes",
    "An old lighthouse in a storm, waves break over the rocks",
    "Slow dolly through a greenhouse full of ferns, drops fall from the leaves",
    "A paper boat drifts along a gutter after the rain",
    "Two dancers in an empty factory hall, dust in the light",
    "Macro of a watch movement, gears turn, soft ticking",
    "A night market from above, lanterns, steam, voices",
)
OTHER = FleetSpec(
    ModelPaths(Path("/models/ltx-2-19b-dev.safetensors"), MODELS.gemma_root, MODELS.spatial_upsampler_path),
    SPEC.choice,
    "bfloat16",
    SPEC.max_tokens,
    PipelineKind.QUALITY,
)
FAILURE = ErrorMessage(
    "Rank 1 on GPU 1 was killed by the system, probably out of memory, in stage 2. A smaller clip needs less.",
    "WorkerDiedError: rank 1, signal 9 (SIGKILL), phase stage_2, step 2 of 3",
)


def make_request(number: int, *, clip: ClipFormat = CLIP, folder: Path = Path("/clips")) -> GenerationRequest:
    """Return one of a row of requests that differ."""
    path = folder / f"20261129-18{number:02}00-000Z.mp4"
    loras = tuple(LoraSpec(lora, 0.8) for lora in LORAS[: number % 3])
    return GenerationRequest(PROMPTS[number % len(PROMPTS)], 400 + number, clip, path, loras=loras)


def add_clip(world: World, number: int, *, clip: ClipFinished | None = None, spec: FleetSpec = SPEC) -> HistoryEntry:
    """Put a clip into the history as made some minutes after the one before; return its entry."""
    history = world.session.history
    request = make_request(number) if clip is None else replace(make_request(number), output_path=clip.path)
    if clip is None:
        path = request.output_path
        clip = ClipFinished(path, path.with_suffix(".json"), request.clip, 48_000, 3_000_000)
    made_at = datetime(2026, 11, 29, 9, tzinfo=UTC) + timedelta(minutes=17 * number)
    history._now = lambda: made_at
    history.add(clip, replace(request, clip=clip.clip), spec=spec, duration_s=31.0 + number)
    history.model.fetchMore()
    entry = history.model.index(0, 0).data(history.model.ENTRY_ROLE)
    assert isinstance(entry, HistoryEntry)
    return entry


def answer_thumbnails(world: World) -> None:
    """Make the thumbnails that are wanted, each another hour of the evening."""
    number = 0
    while asked := world.helper.requests(KeepThumbnail):
        number = int(asked[0].path.stem[11:13]) if asked[0].path.stem[11:13].isdigit() else number + 1
        picture = evening(192, 112, time=(number % 8) / 8)
        world.helper.answer(KeepThumbnail, Thumbnail(192, 112, picture.tobytes()))


def day(world: World, num_clips: int = 12) -> None:
    """Fill the history with a day's clips: some starred, of two models, with and without LoRAs."""
    history = world.session.history
    for number in range(num_clips):
        entry = add_clip(world, number, spec=OTHER if number % 5 == 3 else SPEC)
        if number % 4 == 1:
            history.set_starred(entry.key, True)
    for row in range(history.model.rowCount()):
        history.model.index(row, 0).data(history.model.ENTRY_ROLE)
        answer_thumbnails(world)


NOTE = (
    "“slow-dolly-in.safetensors” was trained for LTX-2.0, and this model is LTX-2.3: it may do little, or something "
    "else."
)


def start_next(world: World, *, notes: tuple[str, ...] = ()) -> int:
    """Check the entry whose turn it is, start its fleet, and hand it to the ranks; return its key."""
    session = world.session
    world.helper.answer(CheckRequest, CheckedJob(57, (), {}, notes=notes))
    session.apply(FleetStarting(SPEC))
    session.apply(FleetReady(SPEC, 31.0))
    assert session.job.key is not None
    session.apply(JobStarted(session.job.key))
    return session.job.key


def fail(world: World, key: int) -> None:
    """End the job at work by a death, as its owner tells it."""
    news = (PhaseStarted(Phase.STAGE_2, 3), StepDone(Phase.STAGE_2, 1, 3, 9.1), StepDone(Phase.STAGE_2, 2, 3, 9.0))
    world.session.take_news(JobNews(key, news))
    lines = ("18:22:07 rank 1 info: stage_2 step 2 done in 9.04 s", "18:22:07 rank 1 info: allocating 5.2 GiB")
    event = JobEnded(key, JobPhase.FAILED, message=FAILURE, rank=1, phase=Phase.STAGE_2, log_lines=lines)
    world.session.apply(event)


def queued(world: World) -> None:
    """One at work, one failed, others waiting: one passed over, two for another model."""
    composed(world)
    queue = world.session.queue
    queue.add([make_request(0)], SPEC)
    fail(world, start_next(world))
    short = ClipFormat(512, 768, 49, Fraction(24))
    queue.add([make_request(2), make_request(3, clip=short), make_request(4)], SPEC)
    quality = replace(make_request(5), pipeline=PipelineKind.QUALITY)
    queue.add([quality, replace(make_request(6), pipeline=PipelineKind.QUALITY)], OTHER)
    start_next(world, notes=(NOTE,))
    queue.set_entry_paused(queue.entries[3].key, True)


def paused(world: World) -> None:
    """The queue stands still, and says why."""
    queued(world)
    world.session.queue.pause_for(
        "The queue is paused, since two fleets failed one after another: rank 1 was killed by the system, probably out "
        "of memory. Resume the queue to try again."
    )
