"""`podium generate`: from options to a checked request, from its events to a clip."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Generator
from contextlib import closing
from dataclasses import fields, replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import platformdirs

from podium.cli.devices import check_devices, choose_residency
from podium.cli.errors import ExitCode
from podium.cli.fleet_job import FleetOptions, JobPlan, run_job
from podium.cli.generate_arguments import DEFAULT_FRAME_RATE
from podium.cli.options import GenerateOptions
from podium.cli.progress import JobSummary, Progress, make_progress
from podium.cli.terminal import ask, hand_out, say
from podium.errors import JobRefusedError
from podium.geometry import TIME_FACTOR, ClipFormat, parse_fps, size_step_px, snap_num_frames
from podium.jobs import EnhanceRequest, GenerationRequest, JobEvent, PipelineKind, PromptEnhanced
from podium.media.names import clip_name
from podium.models.demo_cache import ensure_demo_model
from podium.models.demo_pack import (
    MOST_DEMO_FRAMES,
    MOST_DEMO_HEIGHT,
    MOST_DEMO_WIDTH,
    DemoModel,
    demo_form,
    is_known_to_demo,
)
from podium.models.file_kinds import is_folder
from podium.models.pack import Pack
from podium.models.paths import ModelPaths
from podium.models.probe import Generation
from podium.multigpu import preload_forkserver
from podium.multigpu.host_memory import check_host_memory
from podium.multigpu.sequence_layout import check_num_tokens, num_frames_behind, split_heads
from podium.pipelines.checks import CheckedRequest, check_form, check_guidance_mode, check_models, check_request
from podium.pipelines.generation_defaults import CheckpointFacts, PipelineDefaults, pipeline_defaults

SHORTEST_NUM_FRAMES = TIME_FACTOR + 1
_DEMO_NOTICE = (
    "Demo: a tiny model that knows one thing, a shape that moves over a background of one colour, and makes no sound.\n"
    "Try other words, another --seed, and its LoRAs:"
)


def generate(options: GenerateOptions) -> int:
    """Make one clip and print its path; everything that can be refused is refused before torch is loaded.

    Raises:
        PodiumError: The request was refused, or the job failed.
        KeyboardInterrupt: It was stopped; nothing half-written is left.
    """
    num_ranks = check_devices(options.devices)
    request = make_request(options, datetime.now(UTC))
    check_form(request, is_length_open=options.length.is_predicted)
    _check_distilled_lora(options)
    check_tokens(request)
    # It loads while the files are looked at; a refusal takes it down again.
    preload_forkserver()
    models = _model_paths(options)
    if options.output_path is None:
        _make_folder(request.output_path.parent)
    pack = check_models(models)
    request = fit_to_model(request, options, pack)
    checked = check_request(request, models, options.quantization, is_length_open=options.length.is_predicted)
    for note in filter(None, (*checked.notes, _demo_note(options, checked.request.clip))):
        say(note)
    fleet = _check_fleet(options, checked, num_ranks)
    job = run_job(_plan(options, checked), models, fleet, accept=_accept)
    summary = show_events(job, make_progress())
    assert summary.finished is not None, "a job that ended without an error has finished its clip"
    say(summary.table())
    if not hand_out(str(summary.finished.path)):
        say(f"The clip lies at “{summary.finished.path}”.")
    return ExitCode.DONE


def make_request(options: GenerateOptions, now_utc: datetime) -> GenerationRequest:
    """Return the request that the options spell, defaults filled in; nothing is checked or made yet.

    What hangs on the model (see `fit_to_model`) is as for LTX-2.3. A length that is to be predicted is the shortest.

    Raises:
        JobRefusedError: The frame rate or the length is no number, or the output path neither a folder nor an .mp4.
    """
    prompt = options.prompt
    if prompt is None:
        prompt = demo_form().prompt
    defaults = pipeline_defaults(options.pipeline, CheckpointFacts(Generation.LTX_2_3))
    return GenerationRequest(
        prompt=prompt,
        seed=options.seed,
        clip=_clip(options, defaults),
        output_path=choose_output(options.output_path, prompt, now_utc),
        images=options.images,
        loras=options.loras,
        pipeline=options.pipeline,
        negative_prompt=options.negative_prompt,
        num_inference_steps=options.num_inference_steps,
        video_guidance=options.video_guidance.filled(defaults.video_guidance),
        audio_guidance=options.audio_guidance.filled(defaults.audio_guidance),
        distilled_lora_strengths=_lora_strengths(options),
        generated_keyframes=options.generated_keyframes,
        stage_2_tiles=options.stage_2_tiles,
        guidance_mode=options.guidance_mode,
    )


def fit_to_model(request: GenerationRequest, options: GenerateOptions, pack: Pack) -> GenerationRequest:
    """Return the request with what was left to the model's own defaults as this model has it."""
    defaults = pipeline_defaults(options.pipeline, CheckpointFacts.of(pack.checkpoint))
    step = size_step_px(pack.spatial_scale)
    clip = request.clip
    height = clip.height if options.height is not None else max(step, round(clip.height / step) * step)
    width = clip.width if options.width is not None else max(step, round(clip.width / step) * step)
    return replace(
        request,
        clip=replace(clip, height=height, width=width),
        video_guidance=options.video_guidance.filled(defaults.video_guidance),
        audio_guidance=options.audio_guidance.filled(defaults.audio_guidance),
    )


def check_tokens(request: GenerationRequest) -> None:
    """Check that a fleet can hold a clip's tokens, those of its pictures and key frames too.

    Raises:
        JobRefusedError: It cannot.
    """
    check_num_tokens(request.clip, num_pictures=num_frames_behind(request))


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


def show_events(events: Generator[JobEvent, None, None], progress: Progress) -> JobSummary:
    """Show a job's events as they come; return what the job came to.

    The events are closed before an interruption or an error goes on, so that nothing half-written outlives it.
    """
    with closing(progress), closing(events) as stream:
        for event in stream:
            progress.show(event)
    return progress.summary


def _clip(options: GenerateOptions, defaults: PipelineDefaults) -> ClipFormat:
    height, width, num_frames = defaults.clip.height, defaults.clip.width, defaults.clip.num_frames
    if options.is_demo:
        form = demo_form()
        height, width, num_frames = form.height, form.width, form.num_frames
    fps = parse_fps(options.frame_rate or DEFAULT_FRAME_RATE)
    return ClipFormat(
        height if options.height is None else options.height,
        width if options.width is None else options.width,
        _num_frames(options, fps, num_frames),
        fps,
    )


def _num_frames(options: GenerateOptions, fps: Fraction, default: int) -> int:
    length = options.length
    if length.is_predicted:
        return SHORTEST_NUM_FRAMES
    if length.duration_s is None:
        return default if length.num_frames is None else length.num_frames
    if not 0 < length.duration_s <= MAX_DURATION_S:
        raise JobRefusedError(
            f"A clip of {length.duration_s:g} seconds cannot be made. Its length must lie above 0 and be at most "
            f"{MAX_DURATION_S} seconds."
        )
    return snap_num_frames(length.duration_s, fps)


MAX_DURATION_S = 3600
"""No model makes that much; what one can make is told by its tokens."""


def _lora_strengths(options: GenerateOptions) -> tuple[float, float] | None:
    if options.distilled_lora_strengths is not None:
        return options.distilled_lora_strengths
    if options.distilled_lora_strength is None or options.pipeline is not PipelineKind.QUALITY:
        return None
    return 0.0, options.distilled_lora_strength


def _check_distilled_lora(options: GenerateOptions) -> None:
    if options.pipeline is PipelineKind.FAST and options.model.distilled_lora_path is not None:
        raise JobRefusedError(
            "Fast runs a checkpoint that is distilled already, so it has no use for a distilled LoRA. Leave out "
            "--distilled-lora, or take --pipeline quality or hq with a full checkpoint."
        )
    if options.pipeline is PipelineKind.HQ and options.distilled_lora_strength is not None:
        first, second = options.distilled_lora_strengths or (0.25, 0.5)
        say(
            f"HQ runs both stages with the distilled LoRA, at {first:g} and {second:g}: the strength beside its path "
            "is not used. Give both with --distilled-lora-strengths."
        )


def _model_paths(options: GenerateOptions) -> ModelPaths:
    """Return the model's files; those that were not given come from the demo model, unpacked at its first use."""
    given = {one.name: getattr(options.model, one.name) for one in fields(options.model)}
    given = {name: path for name, path in given.items() if path is not None}
    if not options.is_demo:
        return ModelPaths(**given)
    demo = _demo_model().paths
    if not options.pipeline.is_guided:
        demo = replace(demo, distilled_lora_path=None)
    return replace(demo, **given)


def _demo_model() -> DemoModel:
    model = ensure_demo_model(
        platformdirs.user_cache_path("podium", appauthor=False),
        progress=lambda part: say(f"Unpacking the demo model, once: {part} ..."),
    )
    loras = [f"  --lora {shlex.quote(str(path))} 1" for path in model.style_loras]
    say("\n".join([_DEMO_NOTICE, *loras]))
    return model


def _demo_note(options: GenerateOptions, clip: ClipFormat) -> str:
    if not options.is_demo or is_known_to_demo(clip.width, clip.height, clip.num_frames):
        return ""
    return (
        f"The demo model was trained on small, short clips: beyond {MOST_DEMO_WIDTH} x {MOST_DEMO_HEIGHT} pixels or "
        f"{MOST_DEMO_FRAMES} frames it gets shapes and their motion wrong."
    )


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise JobRefusedError(
            f"The folder for clips, “{folder}”, cannot be made. Give another place with --output-path.",
            details=str(error),
        ) from error


def _check_fleet(options: GenerateOptions, checked: CheckedRequest, num_ranks: int) -> FleetOptions:
    pack, is_on_cpu = checked.pack, options.devices.cpu_ranks is not None
    # What it returns does not matter here, only whether the heads can be dealt out at all.
    split_heads(pack.num_heads, num_ranks)
    check_guidance_mode(checked.resolved, num_ranks)
    if options.length.is_predicted and not pack.has_duration_head:
        raise JobRefusedError(
            "This model cannot tell how long a clip a prompt asks for: it has no duration head. Give --duration in "
            "seconds, or --num-frames."
        )
    dtype = options.dtype or ("float32" if is_on_cpu else "bfloat16")
    check_host_memory(pack, num_ranks=num_ranks, dtype=dtype, is_on_cpu=is_on_cpu, quantization=checked.quantization)
    residency = choose_residency(checked, options.devices, dtype)
    return FleetOptions(options.devices, dtype, checked.quantization, options.is_compiled, residency)


def _plan(options: GenerateOptions, checked: CheckedRequest) -> JobPlan:
    request = checked.resolved
    enhance = None
    if options.is_enhanced:
        first = next((image.path for image in request.images if image.frame == 0), None)
        enhance = EnhanceRequest(request.prompt, request.seed, first)
    return JobPlan(request, enhance, predicts_duration=options.length.is_predicted)


def _accept(enhanced: PromptEnhanced) -> bool:
    """Show a prompt that was written out; return whether it shall be used."""
    say(f"The prompt, written out:\n\n{enhanced.prompt}\n")
    if enhanced.note:
        say(enhanced.note)
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return True
    is_taken = ask("Use this prompt?")
    if not is_taken:
        say("The prompt is used as it was typed.")
    return is_taken
