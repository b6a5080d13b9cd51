"""`podium generate`: from options to a checked request, from its events to a clip."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import platformdirs

from podium.assets import read_text
from podium.cli.arguments import (
    DEFAULT_FRAME_RATE,
    DEFAULT_HEIGHT,
    DEFAULT_NUM_FRAMES,
    DEFAULT_WIDTH,
    GenerateOptions,
)
from podium.cli.devices import check_devices
from podium.cli.errors import ExitCode
from podium.cli.fleet_job import FleetOptions, run_job
from podium.cli.progress import JobSummary, Progress, make_progress
from podium.cli.terminal import hand_out, say
from podium.errors import JobRefusedError
from podium.geometry import ClipFormat, parse_fps
from podium.jobs import GenerationRequest, JobEvent
from podium.media.names import clip_name
from podium.models.file_kinds import is_folder
from podium.models.paths import ModelPaths
from podium.models.tiny_pack import TinyPack, ensure_tiny_pack
from podium.multigpu import preload_forkserver
from podium.multigpu.host_memory import check_host_memory
from podium.multigpu.sequence_layout import check_num_tokens, split_heads
from podium.pipelines.checks import check_form, check_request

DEMO_HEIGHT, DEMO_WIDTH = 192, 256
DEMO_NUM_FRAMES = 25
_DEMO_NOTICE = "Demo: random-weight pack: coloured noise until a trained one ships."


def generate(options: GenerateOptions) -> int:
    """Make one clip and print its path; everything that can be refused is refused before torch is loaded.

    Raises:
        PodiumError: The request was refused, or the job failed.
        KeyboardInterrupt: It was stopped; nothing half-written is left.
    """
    num_ranks = check_devices(options.devices)
    request = make_request(options, datetime.now(UTC))
    check_form(request)
    check_num_tokens(request.clip)
    # It loads while the files are looked at; a refusal takes it down again.
    preload_forkserver()
    models = _model_paths(options)
    if options.output_path is None:
        _make_folder(request.output_path.parent)
    pack = check_request(request, models).pack
    # What it returns does not matter here, only whether the heads can be dealt out at all.
    split_heads(pack.num_heads, num_ranks)
    dtype = options.dtype or ("bfloat16" if options.devices.cpu_ranks is None else "float32")
    check_host_memory(pack, num_ranks=num_ranks, dtype=dtype, is_on_cpu=options.devices.cpu_ranks is not None)
    job = run_job(request, models, FleetOptions(options.devices, dtype, options.quantization, options.is_compiled))
    summary = show_events(job, make_progress())
    assert summary.finished is not None, "a job that ended without an error has finished its clip"
    say(summary.table())
    if not hand_out(str(summary.finished.path)):
        say(f"The clip lies at “{summary.finished.path}”.")
    return ExitCode.DONE


def make_request(options: GenerateOptions, now_utc: datetime) -> GenerationRequest:
    """Return the request that the options spell, defaults filled in; nothing is checked or made yet.

    Raises:
        JobRefusedError: The frame rate is no number, or the output path neither a folder nor an .mp4.
    """
    prompt = options.prompt
    if prompt is None:
        prompt = read_text("prompts/demo.txt")
    height, width, num_frames = (
        (DEMO_HEIGHT, DEMO_WIDTH, DEMO_NUM_FRAMES)
        if options.is_demo
        else (DEFAULT_HEIGHT, DEFAULT_WIDTH, DEFAULT_NUM_FRAMES)
    )
    clip = ClipFormat(
        height if options.height is None else options.height,
        width if options.width is None else options.width,
        num_frames if options.num_frames is None else options.num_frames,
        parse_fps(options.frame_rate or DEFAULT_FRAME_RATE),
    )
    return GenerationRequest(
        prompt=prompt,
        seed=options.seed,
        clip=clip,
        output_path=choose_output(options.output_path, prompt, now_utc),
        images=options.images,
        loras=options.loras,
    )


def choose_output(output_path: Path | None, prompt: str, now_utc: datetime) -> Path:
    """Return the mp4 to write: the path itself, or a name of its own in a folder.

    Args:
        output_path: An .mp4 or a folder that exists; None takes the folder Podium among the user's videos.
        prompt: Gives the name its words.
        now_utc: Gives it its time.

    Raises:
        JobRefusedError: It is neither.
    """
    name = f"{clip_name(prompt, now_utc)}.mp4"
    if output_path is None:
        return platformdirs.user_videos_path() / "Podium" / name
    if is_folder(output_path):
        return output_path / name
    if output_path.suffix.lower() != ".mp4":
        raise JobRefusedError(
            f"“{output_path}” is neither a folder nor the name of an mp4. Give a folder that exists, or a name that "
            "ends in .mp4."
        )
    return output_path


def _model_paths(options: GenerateOptions) -> ModelPaths:
    """Return the model's files; those that were not given come from the demo pack, written at its first use."""
    checkpoint = options.model.checkpoint_path
    gemma = options.model.gemma_root
    upsampler = options.model.spatial_upsampler_path
    if checkpoint is None or gemma is None or upsampler is None:
        assert options.is_demo, "the grammar asks for all three files unless it is the demo"
        pack = _demo_pack()
        checkpoint = checkpoint or pack.checkpoint_path
        gemma = gemma or pack.gemma_root
        upsampler = upsampler or pack.spatial_upsampler_path
    return ModelPaths(checkpoint, gemma, upsampler)


def _demo_pack() -> TinyPack:
    say(_DEMO_NOTICE)
    return ensure_tiny_pack(
        platformdirs.user_cache_path("podium", appauthor=False),
        progress=lambda part: say(f"Writing the demo model, once: {part} ..."),
    )


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise JobRefusedError(
            f"The folder for clips, “{folder}”, cannot be made. Give another place with --output-path.",
            details=str(error),
        ) from error


def show_events(events: Generator[JobEvent, None, None], progress: Progress) -> JobSummary:
    """Show a job's events as they come; return what the job came to.

    The events are closed before an interruption or an error goes on, so that nothing half-written outlives it.
    """
    with closing(progress), closing(events) as stream:
        for event in stream:
            progress.show(event)
    return progress.summary
