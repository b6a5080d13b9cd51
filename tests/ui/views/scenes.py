"""The window in every situation that has a stored picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

from podium.geometry import ClipFormat
from podium.helper.requests import (
    CheckedJob,
    CheckRequest,
    CountTokens,
    DeviceReport,
    GetDefaults,
    GuidanceDefaults,
    KeepThumbnail,
    ListDevices,
    MakeThumbnail,
    ProbeFile,
    ReadLora,
    ResolvePack,
    Thumbnail,
    TokenCount,
)
from podium.jobs import (
    ClipFinished,
    GenerationRequest,
    GuidanceSpec,
    MotionPreview,
    Phase,
    PhaseEnded,
    PhaseStarted,
    PipelineKind,
    PreviewPicture,
    RankMemory,
    StepDone,
)
from podium.models.errors import CheckpointReason
from podium.models.lora_keys import LayerCount, LoraReport
from podium.models.pack import Pack
from podium.models.paths import ModelPaths
from podium.models.probe.report import FileKind, FileReport, GemmaFacts, Generation, Problem, UpsamplerFacts
from podium.ui.state.events import FleetFailed, FleetReady, FleetStarting, JobEnded, JobNews, JobStarted
from podium.ui.state.links import FleetLinks, LinkWay
from podium.ui.state.session import SessionState
from podium.ui.state.values import DeviceChoice, ErrorMessage, FleetSpec, JobPhase, PackSlot, RankRow
from podium.ui.views.main_window import MainWindow

from tests.fakes.ui import FakeControls, FakeHelper
from tests.ui.views.scenery import evening

GIB = 2**30
MODELS = ModelPaths(
    Path("/models/ltx-2.3-22b-distilled-1.1.safetensors"),
    Path("/models/gemma-3-12b-it-qat"),
    Path("/models/ltx-2.3-spatial-upscaler-x2-1.1.safetensors"),
)
PROMPT = (
    "A wide shot over rolling hills at dusk. The camera glides slowly forward as the sun sinks behind the furthest "
    "ridge, mist gathers in the valleys, and swallows cross the frame. Distant bells, a soft wind in dry grass."
)
CLIP = ClipFormat(704, 1216, 121, Fraction(24))
SPEC = FleetSpec(MODELS, DeviceChoice((0, 1)), "bfloat16", 124_440)
NVLINK = FleetLinks(LinkWay.NVLINK, ("GPU 0 and GPU 1 exchange over NVLink.",))
LORAS = (Path("/loras/film-grain-35mm.safetensors"), Path("/loras/slow-dolly-in.safetensors"))


@dataclass(frozen=True, slots=True)
class World:
    """A window's states, and the fakes around them."""

    session: SessionState
    helper: FakeHelper
    controls: FakeControls


Scene = Callable[[World], None]


def checkpoint_report() -> FileReport:
    return FileReport(
        MODELS.checkpoint_path,
        FileKind.CHECKPOINT,
        file_bytes=43 * GIB,
        is_whole=True,
        generation=Generation.LTX_2_3,
        is_distilled=True,
        stored_dtype="BF16",
    )


def gemma_report() -> FileReport:
    facts = GemmaFacts("gemma3", 3, 3840, 48)
    return FileReport(MODELS.gemma_root, FileKind.TEXT_ENCODER, file_bytes=24 * GIB, is_whole=True, gemma=facts)


def upscaler_report() -> FileReport:
    facts = UpsamplerFacts(128, 2.0, is_temporal=False)
    return FileReport(
        MODELS.spatial_upsampler_path, FileKind.UPSAMPLER, file_bytes=996 * 2**20, is_whole=True, upsampler=facts
    )


def distilled_lora_report() -> FileReport:
    path = Path("/models/ltx-2.3-22b-distilled-lora-384.safetensors")
    return FileReport(path, FileKind.LORA, file_bytes=7 * GIB, is_whole=True, num_lora_layers=1344)


def gpus() -> tuple[DeviceReport, ...]:
    old = "It computes no bfloat16. Podium needs a GPU of the RTX 30 series or later."
    return (
        DeviceReport(0, "GPU-a", "NVIDIA RTX 6000 Ada", "0000:17:00.0", 48 * GIB, 2 * GIB),
        DeviceReport(1, "GPU-b", "NVIDIA RTX 6000 Ada", "0000:65:00.0", 48 * GIB, 600 * 2**20),
        DeviceReport(2, "GPU-c", "NVIDIA GTX 1080 Ti", "0000:b3:00.0", 11 * GIB, 400 * 2**20, None, old),
    )


def empty(world: World) -> None:
    """First run: nothing is chosen, and the devices are known."""
    world.session.devices.refresh()
    world.helper.answer(ListDevices, gpus())


def welcomed(world: World) -> None:
    """First run, the files chosen: one of them is wrong."""
    empty(world)
    pack = world.session.pack
    pack.choose_file(PackSlot.CHECKPOINT, MODELS.checkpoint_path)
    pack.choose_file(PackSlot.TEXT_ENCODER, MODELS.gemma_root)
    answer_probes(world, FileReport(MODELS.gemma_root, FileKind.UNREADABLE, problems=(no_tokenizer(),)))


def no_tokenizer() -> Problem:
    sentence = "“gemma-3-12b-it-qat” has no tokenizer.json. Choose the folder of Gemma 3 as it was published."
    return Problem(CheckpointReason.INCOMPLETE, sentence)


def answer_probes(world: World, gemma: FileReport) -> None:
    """Say of every file that is asked about what it is."""
    reports = {
        report.path: report for report in (checkpoint_report(), gemma, upscaler_report(), distilled_lora_report())
    }
    while asked := world.helper.requests(ProbeFile):
        world.helper.answer(ProbeFile, reports[asked[0].path])


def ready(world: World) -> None:
    """Model and devices are chosen, nothing is written yet."""
    empty(world)
    world.session.pack.choose_models(MODELS)
    answer_probes(world, gemma_report())
    pack = Pack(
        MODELS, Generation.LTX_2_3, (2, 3), checkpoint_report(), gemma_report(), upscaler_report(),
        num_heads=32, spatial_scale=2.0,
    )  # fmt: skip
    world.helper.answer(ResolvePack, pack)


def composed(world: World) -> None:
    """A prompt, a picture and two LoRAs: Generate can be pressed."""
    ready(world)
    session, compose = world.session, world.session.compose
    compose.set_prompt(PROMPT)
    compose.token_counter.count()
    world.helper.answer(CountTokens, TokenCount(57, 1024))
    compose.set_size(CLIP.width, CLIP.height)
    compose.set_num_frames(CLIP.num_frames)
    compose.set_seed(271828182)
    compose.set_seed_locked(True)
    compose.images.add([Path("/pictures/hills at dusk.png")])
    world.helper.answer(MakeThumbnail, Thumbnail(128, 74, evening(128, 74).tobytes()))
    compose.images.set_strength(1, 0.85)
    session.loras.add(LORAS)
    session.loras.set_strength(1, 0.8)
    world.helper.answer(ReadLora, LoraReport(LORAS[0].name, LayerCount(480, ("a",))))
    partly = LoraReport(LORAS[1].name, LayerCount(288, ("a",)), unknown=LayerCount(2, ("foo.lora_A", "bar.lora_A")))
    world.helper.answer(ReadLora, partly)


def quality_defaults() -> GuidanceDefaults:
    """What Quality does with a model of LTX-2.3."""
    video, audio = GuidanceSpec(3, 1, 0.7, 3, 0, (28,)), GuidanceSpec(7, 1, 0.7, 3, 0, (28,))
    return GuidanceDefaults(30, video, audio, (0.0, 1.0))


def guided(world: World) -> None:
    """HQ, with all that it knows: a negative prompt, three pictures, guidance set otherwise, four seeds."""
    composed(world)
    session, compose = world.session, world.session.compose
    session.pack.choose_models(
        replace(MODELS, distilled_lora_path=Path("/models/ltx-2.3-22b-distilled-lora-384.safetensors"))
    )
    answer_probes(world, gemma_report())
    pack = Pack(
        MODELS, Generation.LTX_2_3, (2, 3), checkpoint_report(), gemma_report(), upscaler_report(),
        num_heads=32, spatial_scale=2.0,
    )  # fmt: skip
    world.helper.answer(ResolvePack, pack)
    compose.set_pipeline(PipelineKind.HQ)
    video, audio = GuidanceSpec(3, 0, 0.45, 3, 0, (28,)), GuidanceSpec(7, 0, 1, 3, 0, (28,))
    world.helper.answer(GetDefaults, GuidanceDefaults(15, video, audio, (0.25, 0.5)))
    compose.guidance.set_video(replace(video, cfg=4.5))
    compose.set_negative_prompt("blur, jitter, text, watermark")
    compose.images.add([Path("/pictures/the same hills by night.png"), Path("/pictures/a swallow.png")])
    for time in (0.9, 0.5):
        world.helper.answer(MakeThumbnail, Thumbnail(128, 74, evening(128, 74, time=time).tobytes()))
    compose.set_num_seeds(4)
    for name, origin in zip(LORAS, ("LTX-2.3", "LTX-2.0"), strict=True):
        applied = LayerCount(480, ("a",))
        world.helper.answer(ReadLora, LoraReport(name.name, applied, trained_for=origin))
    session.loras.set_strength(2, 5.5)


def history(world: World) -> None:
    """Show three clips that were made before."""
    for number, time in enumerate((0.0, 0.5, 0.9)):
        path = Path(f"/clips/20261129-18{number}000-evening.mp4")
        finished = ClipFinished(path, path.with_suffix(".json"), CLIP, 48_000, 3_000_000)
        request = GenerationRequest(PROMPT, 40 + number, CLIP, path)
        world.session.history._now = lambda n=number: datetime(2026, 11, 29, 18, 10 * n, tzinfo=UTC)
        world.session.history.add(finished, request, spec=SPEC)
        answer_thumbnail(world, time)


def answer_thumbnail(world: World, time: float) -> None:
    """Show the newest clip of the history, which asks for its thumbnail, and answer with an evening."""
    model = world.session.history.model
    model.fetchMore()
    assert model.index(0, 0).data(model.ENTRY_ROLE) is not None
    for _ in world.helper.requests(KeepThumbnail):
        world.helper.answer(KeepThumbnail, Thumbnail(192, 112, evening(192, 112, time=time).tobytes()))


def start_job(world: World) -> int:
    """Press Generate, check the job, start the fleet, and hand the job to the ranks; return its key."""
    session = world.session
    session.generate()
    world.helper.answer(CheckRequest, CheckedJob(57, (), {}))
    session.apply(FleetStarting(SPEC))
    session.apply(FleetReady(SPEC, 31.0, NVLINK))
    assert session.job.key is not None
    session.apply(JobStarted(session.job.key))
    return session.job.key


def rank_rows(*, is_stuck: bool = False, phase: Phase = Phase.STAGE_2, step: int = 2) -> tuple[RankRow, ...]:
    first = RankRow(0, "cuda:0", "alive", True, phase, step, 3, sign_age_s=0.2)
    second = RankRow(1, "cuda:1", "alive", True, phase, step, 3, sign_age_s=0.3)
    if is_stuck:
        first = RankRow(0, "cuda:0", "waiting for rank 1", True, phase, step, 3, sign_age_s=0.2)
        second = RankRow(1, "cuda:1", "not responding", False, phase, step, 3, sign_age_s=41.7)
    return first, second


def run_to_stage_2(world: World) -> int:
    """Bring a job to the second step of stage 2, with motion."""
    composed(world)
    key = start_job(world)
    steps = tuple(StepDone(Phase.STAGE_1, step, 8, 1.9, 0.5) for step in range(1, 9))
    world.session.take_news(
        JobNews(
            key,
            (
                *(RankMemory(0, 41 * GIB, 44 * GIB), RankMemory(1, 40 * GIB, 44 * GIB)),
                *(PhaseStarted(Phase.SWAPPING), PhaseEnded(Phase.SWAPPING, 0.3)),
                *(PhaseStarted(Phase.ENCODING), PhaseEnded(Phase.ENCODING, 1.8)),
                *(PhaseStarted(Phase.STAGE_1, 8), *steps, PhaseEnded(Phase.STAGE_1, 15.4)),
                *(PhaseStarted(Phase.UPSAMPLING), PhaseEnded(Phase.UPSAMPLING, 0.6)),
                *(
                    PhaseStarted(Phase.STAGE_2, 3),
                    StepDone(Phase.STAGE_2, 1, 3, 9.1),
                    StepDone(Phase.STAGE_2, 2, 3, 9.0),
                ),
            ),
        )
    )
    pictures = [evening(304, 176, time=k / 16) for k in range(16)]
    rgb = b"".join(picture.tobytes() for picture in pictures)
    world.session.job.take_preview(key, MotionPreview(Phase.STAGE_2, 2, 304, 176, 16, 0.33, rgb))
    return key


def running(world: World) -> None:
    """Stage 2, step 2 of 3, with motion."""
    run_to_stage_2(world)
    world.controls.rows = rank_rows()
    world.session.fleet._poll()


def starting(world: World) -> None:
    """The first step of stage 1: a still picture full of noise."""
    composed(world)
    key = start_job(world)
    world.session.take_news(
        JobNews(
            key,
            (
                *(PhaseStarted(Phase.ENCODING), PhaseEnded(Phase.ENCODING, 1.8)),
                *(PhaseStarted(Phase.STAGE_1, 8), StepDone(Phase.STAGE_1, 1, 8, 1.9, 1.0)),
            ),
        )
    )
    picture = evening(152, 88, noise=0.8)
    world.session.job.take_preview(key, PreviewPicture(Phase.STAGE_1, 1, 152, 88, picture.tobytes()))
    world.controls.rows = rank_rows(phase=Phase.STAGE_1, step=1)
    world.session.fleet._poll()


def stuck(world: World) -> None:
    """A rank does not respond, and Force stop is offered."""
    run_to_stage_2(world)
    world.session.job.cancel()
    world.controls.rows = rank_rows(is_stuck=True)
    world.session.fleet._poll()
    world.session.job._force_timer.stop()
    world.session.job._offer_force()


def failed(world: World) -> None:
    """A rank died of too little memory, and a new fleet starts."""
    key = run_to_stage_2(world)
    message = ErrorMessage(
        "Rank 1 on GPU 1 was killed by the system, probably out of memory, in stage 2. A smaller or shorter clip needs "
        "less; so do fewer LoRAs.",
        "WorkerDiedError: rank 1, signal 9 (SIGKILL), phase stage_2, step 2 of 3\n"
        "2026-11-29 18:22:07 rank 1 job 4 info: stage_2 step 2 done in 9.04 s\n"
        "2026-11-29 18:22:07 rank 1 job 4 info: allocating 5.2 GiB for step 3",
    )
    world.session.apply(FleetFailed(message, will_restart=True))
    world.session.apply(JobEnded(key, JobPhase.FAILED, message=message))


def refused(world: World) -> None:
    """The check before the fleet found something."""
    from podium.errors import JobRefusedError

    composed(world)
    world.session.generate()
    error = JobRefusedError(
        "A clip of 1216 × 704 with 121 frames needs 22 ranks at most; 32 were chosen. Choose fewer."
    )
    world.helper.answer(CheckRequest, error=error)


def finish(world: World, clip: ClipFinished) -> None:
    """Bring a job to its end with a clip that lies on the drive."""
    history(world)
    key = run_to_stage_2(world)
    world.session.history._now = lambda: datetime(2026, 11, 29, 18, 30, tzinfo=UTC)
    world.session.apply(JobEnded(key, JobPhase.FINISHED, clip=clip))
    answer_thumbnail(world, 0.2)


def make_window(world: World, scene: Scene) -> MainWindow:
    """Return the window in a scene; it is not shown yet."""
    if scene is welcomed:
        # What is chosen before the window is there is not the first run.
        window = MainWindow(world.session, theme_name="dark", is_motion_reduced=True)
        scene(world)
        return window
    scene(world)
    return MainWindow(world.session, theme_name="dark", is_motion_reduced=True)
