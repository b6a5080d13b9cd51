"""Everything about a request that can be refused before a rank starts. No torch; no weight is read.

Rule for callers: `check_form` needs no model and costs nothing, so a form may ask it at every keystroke;
`check_request` reads pictures, headers and the tokenizer (25 MB), and runs once before the job.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from podium.errors import JobRefusedError
from podium.geometry import SPACE_FACTOR, ClipFormat, check_clip_format, parse_fps, size_step_px
from podium.jobs import GenerationRequest, GuidanceMode, ImageSpec, LoraSpec, PipelineKind, Quantization, count_passes
from podium.media.errors import MediaError
from podium.media.stills import check_still
from podium.media.video_writer import check_output
from podium.models.errors import CheckpointError, CheckpointReason
from podium.models.lora_keys import LoraReport, check_strengths, read_lora_plan
from podium.models.lora_origin import is_for_another
from podium.models.pack import Pack, resolve_pack, transformer_shapes
from podium.models.paths import ModelPaths
from podium.models.probe import Quantisation
from podium.models.tokenizer import MAX_PROMPT_TOKENS, PromptTokenizer
from podium.pipelines.generation_defaults import (
    CheckpointFacts,
    check_frame,
    pipeline_defaults,
    resolve_guidance,
    resolve_keyframe_slots,
    resolve_num_steps,
)

MAX_SEED = 2**64 - 1
MAX_CRF = 51
MAX_SIDE_PX = 16384
"""Longest side of a clip: what H.264 can hold."""

MAX_RATE_TERM = 1_000_000
"""Largest numerator and denominator of a frame rate: what keeps every time stamp of an mp4 exact."""

STAGE_2_OVERLAP = 5
"""Latent cells that tiles of a second stage share with the next; those of `podium.multigpu.tdp_builder`."""

# Source: `podium.pipelines.schedules`, whose shift by the number of tokens this is.
_SHIFT_1024, _SHIFT_4096 = 0.95, 2.05


@dataclass(frozen=True, slots=True)
class CheckedRequest:
    """A request that can be made, and what checking it found.

    Args:
        request: The request, as it was asked for.
        resolved: The request with the model's defaults filled in: steps, guidance, strengths of the distilled LoRA.
        pack: The model it is for.
        quantization: How the transformer's weights are held: as asked, or as suits the file.
        num_prompt_tokens: Of the prompt, the beginning-of-sequence token included.
        lora_reports: What each LoRA of the set will do.
        notes: Sentences on what can be made and may not be meant.
    """

    request: GenerationRequest
    resolved: GenerationRequest
    pack: Pack
    quantization: Quantization
    num_prompt_tokens: int
    lora_reports: tuple[LoraReport, ...]
    notes: tuple[str, ...] = ()


def check_request(
    request: GenerationRequest,
    models: ModelPaths,
    quantization: Quantization | None = None,
    *,
    is_length_open: bool = False,
) -> CheckedRequest:
    """Check that a request can be made with these model files; the cheap checks come first.

    Args:
        request: The request.
        models: The model's files.
        quantization: How the transformer's weights shall be held; None takes what suits the file.
        is_length_open: How many frames the clip has is still to be told: what hangs on that is left to another check.

    Raises:
        JobRefusedError: Something in the request has to change.
        CheckpointError: A model file, the text encoder or a LoRA cannot be used.
    """
    check_form(request, is_length_open=is_length_open)
    check_places(request)
    pack = check_models(models)
    held = check_quantization(pack, quantization)
    check_clip_format(request.clip, size_step_px(pack.spatial_scale))
    resolved = resolve_request(request, pack, is_length_open=is_length_open)
    lora_reports = check_loras(request, models.checkpoint_path)
    num_prompt_tokens = _check_prompts(request, models.gemma_root)
    notes = _generation_notes(lora_reports, pack)
    return CheckedRequest(request, resolved, pack, held, num_prompt_tokens, lora_reports, notes)


def check_form(request: GenerationRequest, *, is_length_open: bool = False) -> None:
    """Check the values of a request; opens no file.

    Raises:
        JobRefusedError: With what would be accepted.
    """
    _check_text(request.prompt, "prompt")
    if not request.prompt.strip():
        raise JobRefusedError("The prompt is empty. Write what the clip shall show, and what is to be heard.")
    if not 0 <= request.seed <= MAX_SEED:
        raise JobRefusedError(f"A seed of {request.seed} cannot be used. It must lie from 0 to {MAX_SEED}.")
    _check_pipeline(request)
    _check_clip(request.clip)
    _check_tiles(request)
    for image in request.images:
        _check_image_values(image)
        if not is_length_open:
            check_frame(image.frame, request.clip)
    frames = Counter(image.frame for image in request.images)
    if frames and max(frames.values()) > 1:
        raise JobRefusedError("Several pictures stand at the same frame. Each frame can be given one.")
    for lora in request.loras:
        check_strengths(lora)


def check_guidance_mode(request: GenerationRequest, num_ranks: int) -> None:
    """Check that the forwards of a guided step can run as they shall, on as many ranks.

    Args:
        request: Resolved, or what it leaves to the model counts as guided in several ways.
        num_ranks: Of the fleet.

    Raises:
        JobRefusedError: There is nothing to batch or to spread, or nobody to spread it over.
    """
    mode = request.guidance_mode
    if mode in (GuidanceMode.AUTO, GuidanceMode.SEQUENTIAL):
        return
    if mode is GuidanceMode.MESH and num_ranks == 1:
        raise JobRefusedError(
            "The forwards of a step can be spread over two devices or more, and the clip is made on one. Have them run "
            "as one batch or one after another, or choose more devices."
        )
    video, audio = request.video_guidance, request.audio_guidance
    if video is not None and audio is not None and count_passes(video, audio) == 1:
        raise JobRefusedError(
            "With these scales nothing is guided: each step takes one forward, and there is nothing to batch or to "
            "spread. Leave the way to run guidance to Podium, or raise a scale."
        )


def check_places(request: GenerationRequest) -> None:
    """Check that the pictures can be read, whole, and the clip can be written where it shall lie.

    Raises:
        JobRefusedError: One of them cannot.
    """
    try:
        check_output(request.output_path)
        for image in request.images:
            check_still(image.path)
    except MediaError as error:
        raise JobRefusedError(error.message, details=error.details) from error


def check_models(models: ModelPaths) -> Pack:
    """Return the pack that the files make; reads headers only.

    Raises:
        CheckpointError: A file cannot be used, or the files do not belong together.
    """
    return resolve_pack(models)


def check_quantization(pack: Pack, asked: Quantization | None) -> Quantization:
    """Return how a pack's transformer is held: as asked, or as suits its file.

    Raises:
        CheckpointError: The file cannot be held as asked.
    """
    is_fp8_file = pack.quantisation is Quantisation.FP8_SCALED
    if asked is None:
        return Quantization.FP8_SCALED if is_fp8_file else Quantization.NONE
    if is_fp8_file == (asked is Quantization.FP8_SCALED):
        return asked
    name = f"“{pack.paths.checkpoint_path.name}”"
    if is_fp8_file:
        sentence = (
            f"{name} is an fp8 file with scales, which cannot be held as “{asked}”. Choose the quantisation "
            f"“{Quantization.FP8_SCALED}” for it, or the bf16 file of the model."
        )
    else:
        sentence = (
            f"{name} holds its weights in full, without fp8 scales. Choose the quantisation “{Quantization.FP8_CAST}” "
            f"or “{Quantization.NONE}” for it, or the official fp8 file of the model."
        )
    raise CheckpointError(sentence, path=pack.paths.checkpoint_path, reason=CheckpointReason.QUANTISED)


def resolve_request(request: GenerationRequest, pack: Pack, *, is_length_open: bool = False) -> GenerationRequest:
    """Return a request with the model's defaults filled in.

    Raises:
        JobRefusedError: The model cannot make it: guidance, steps, key frames, or a clip too large for its schedule.
    """
    facts = CheckpointFacts.of(pack.checkpoint)
    if not is_length_open:
        resolve_keyframe_slots(request.generated_keyframes, request.clip, facts)
    if not request.pipeline.is_guided:
        return request
    defaults = pipeline_defaults(request.pipeline, facts)
    strengths = request.distilled_lora_strengths or defaults.distilled_lora_strengths
    if pack.paths.distilled_lora_path is None:
        raise JobRefusedError(
            f"{_NAMES[request.pipeline]} refines its clips with the model's distilled LoRA, and none was chosen. "
            "Choose the one of the same generation, or take Fast with a distilled checkpoint."
        )
    for strength in strengths:
        check_strengths(LoraSpec(pack.paths.distilled_lora_path, strength))
    resolved = replace(
        request,
        num_inference_steps=resolve_num_steps(request.num_inference_steps, defaults.num_inference_steps),
        video_guidance=resolve_guidance(request.video_guidance, defaults.video_guidance, facts),
        audio_guidance=resolve_guidance(request.audio_guidance, defaults.audio_guidance, facts),
        distilled_lora_strengths=strengths,
    )
    if request.pipeline is PipelineKind.HQ and not is_length_open:
        num_tokens = request.clip.reduced(pack.spatial_scale).latent_grid.num_tokens
        assert resolved.num_inference_steps is not None, "it was just filled in"
        _check_schedule(resolved.num_inference_steps, num_tokens)
    return resolved


def check_loras(request: GenerationRequest, checkpoint_path: Path) -> tuple[LoraReport, ...]:
    """Return what each LoRA will do to the checkpoint's transformer; reads headers only.

    Raises:
        CheckpointError: The checkpoint or a LoRA cannot be read, or a LoRA changes nothing in it.
    """
    if not request.loras:
        return ()
    shapes = transformer_shapes(checkpoint_path)
    return tuple(read_lora_plan(lora.path, shapes).report for lora in request.loras)


def check_prompt_length(tokenizer: PromptTokenizer, prompt: str, name: str = "prompt") -> int:
    """Return how many tokens a prompt has.

    Raises:
        JobRefusedError: They are more than the model reads.
    """
    num_tokens = tokenizer.count(prompt)
    if num_tokens > MAX_PROMPT_TOKENS:
        raise JobRefusedError(
            f"The {name} is too long: it has {num_tokens} tokens, and the model reads {MAX_PROMPT_TOKENS} at most. "
            f"About {math.ceil(100 - 100 * MAX_PROMPT_TOKENS / num_tokens)} % of it has to go."
        )
    return num_tokens


_NAMES = {PipelineKind.FAST: "Fast", PipelineKind.QUALITY: "Quality", PipelineKind.HQ: "HQ"}


def _check_prompts(request: GenerationRequest, gemma_root: Path) -> int:
    tokenizer = PromptTokenizer(gemma_root)
    if request.negative_prompt:
        check_prompt_length(tokenizer, request.negative_prompt, "negative prompt")
    return check_prompt_length(tokenizer, request.prompt)


def _check_text(text: str, name: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise JobRefusedError(
            f"The {name} holds something at its character {error.start + 1} that is no text. Type that part again."
        ) from error


def _check_pipeline(request: GenerationRequest) -> None:
    _check_text(request.negative_prompt, "negative prompt")
    if request.pipeline.is_guided:
        return
    why = "Leave it out, or take Quality or HQ."
    if request.negative_prompt:
        raise JobRefusedError(f"Fast is not guided, so it has no use for a negative prompt. {why}")
    if request.num_inference_steps is not None:
        raise JobRefusedError(f"Fast always takes 8 and 3 steps, so it has no use for a number of steps. {why}")
    if request.video_guidance is not None or request.audio_guidance is not None:
        raise JobRefusedError(f"Fast is not guided, so it has no use for scales of guidance. {why}")
    if request.guidance_mode is not GuidanceMode.AUTO:
        raise JobRefusedError(f"Fast is not guided, so it has no use for a way to run guidance. {why}")
    if request.distilled_lora_strengths is not None:
        raise JobRefusedError(
            f"Fast runs a checkpoint that is distilled already, so it has no use for strengths of the distilled LoRA. "
            f"{why}"
        )


def _check_clip(clip: ClipFormat) -> None:
    # First, or the nearest sizes that would do would be too large as well.
    if max(clip.height, clip.width) > MAX_SIDE_PX:
        raise JobRefusedError(
            f"A clip of {clip.width} × {clip.height} pixels cannot be written. No side may exceed {MAX_SIDE_PX} pixels."
        )
    if clip.height % SPACE_FACTOR or clip.width % SPACE_FACTOR:
        # Good for no upscaler; which multiples are good for the one that was chosen, its header tells later.
        check_clip_format(clip)
    check_clip_format(clip, SPACE_FACTOR)
    parse_fps(clip.fps)
    if max(clip.fps.numerator, clip.fps.denominator) > MAX_RATE_TERM:
        raise JobRefusedError(
            f"A frame rate of {float(clip.fps)} cannot be kept exactly. {clip.fps.limit_denominator(1001)} would do."
        )


def _check_tiles(request: GenerationRequest) -> None:
    if request.stage_2_tiles is None:
        return
    if not request.pipeline.is_guided:
        raise JobRefusedError(
            "Fast makes its second stage of the whole picture, so it has no use for tiles. Leave them out, or take "
            "Quality or HQ."
        )
    grid = request.clip.latent_grid
    for name, count, num_cells in zip(
        ("rows", "columns"), request.stage_2_tiles, (grid.height, grid.width), strict=True
    ):
        most = max(1, num_cells - STAGE_2_OVERLAP)
        if not 1 <= count <= most:
            raise JobRefusedError(
                f"A second stage in {count} {name} of tiles cannot be made at this size: each tile has to exceed its "
                f"overlap with the next. Take 1 to {most}."
            )


def _check_image_values(image: ImageSpec) -> None:
    name = f"“{image.path.name}”"
    if not 0 <= image.strength <= 1:
        raise JobRefusedError(
            f"A strength of {image.strength:g} for {name} cannot be used. It must lie from 0 (ignored) to 1 (kept)."
        )
    if image.crf is not None and not 0 <= image.crf <= MAX_CRF:
        raise JobRefusedError(
            f"A CRF of {image.crf} for {name} cannot be used. It must lie from 0 (not re-compressed) to {MAX_CRF}."
        )


def _check_schedule(num_steps: int, num_tokens: int) -> None:
    """Check that the levels of HQ's first stage fall; its sampler divides by the logarithm of two neighbours.

    The pipeline checks its own levels, too: these are the same up to their rounding, and need no tensor library.
    """
    if num_steps == 1:
        raise JobRefusedError("One step is too few for HQ. Take two or more; 15 are usual.")
    slope = (_SHIFT_4096 - _SHIFT_1024) / (4096 - 1024)
    # Far beyond what can be told apart, and within what float32 holds.
    shift = np.float32(math.exp(min(num_tokens * slope + (_SHIFT_1024 - slope * 1024), 80)))
    even = np.linspace(1, 0, num_steps + 1, dtype=np.float32)[:-1]
    levels = shift / (shift + (1 / even - 1))
    # How far they are stretched afterwards makes no two of them the same, nor parts them.
    if any(level <= following for level, following in pairwise(levels.tolist())):
        raise JobRefusedError(
            f"This clip is too large for HQ: its first stage has {num_tokens:,} video tokens, and beyond about 35,000 "
            "the noise levels of its steps cannot be told apart. Make it smaller or shorter, or take Quality.",
            details=f"schedule of {num_steps} steps at {num_tokens} tokens, in float32",
        )


def _generation_notes(reports: tuple[LoraReport, ...], pack: Pack) -> tuple[str, ...]:
    model = f"LTX-{pack.generation}"
    return tuple(
        f"“{report.file_name}” was trained for {report.trained_for}, and this model is {model}: it may do little, or "
        "something else."
        for report in reports
        if is_for_another(report.trained_for, model)
    )
