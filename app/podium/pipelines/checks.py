"""Everything about a request that can be refused before a rank starts. No torch; no weight is read.

Rule for callers: `check_form` needs no model and costs nothing, so a form may ask it at every keystroke;
`check_request` reads pictures, headers and the tokenizer (25 MB), and runs once before the job.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from podium.errors import JobRefusedError
from podium.geometry import check_clip_format, parse_fps
from podium.jobs import GenerationRequest, ImageSpec
from podium.media.errors import MediaError
from podium.media.stills import check_still
from podium.media.video_writer import check_output
from podium.models.errors import CheckpointError, CheckpointReason
from podium.models.header import read_header
from podium.models.key_maps import TRANSFORMER
from podium.models.lora_keys import LoraReport, check_strengths, read_lora_plan
from podium.models.pack import Pack, resolve_pack
from podium.models.paths import ModelPaths
from podium.models.tokenizer import MAX_PROMPT_TOKENS, PromptTokenizer

MAX_SEED = 2**64 - 1
MAX_CRF = 51
MAX_SIDE_PX = 16384
"""Longest side of a clip: what H.264 can hold."""

MAX_RATE_TERM = 1_000_000
"""Largest numerator and denominator of a frame rate: what keeps every time stamp of an mp4 exact."""

_STAGE_2_SCALE = 2.0


@dataclass(frozen=True, slots=True)
class CheckedRequest:
    """A request that can be made, and what checking it found.

    Args:
        request: The request.
        pack: The model it is for.
        num_prompt_tokens: The beginning-of-sequence token included.
        lora_reports: What each LoRA of the set will do.
    """

    request: GenerationRequest
    pack: Pack
    num_prompt_tokens: int
    lora_reports: tuple[LoraReport, ...]


def check_request(request: GenerationRequest, models: ModelPaths) -> CheckedRequest:
    """Check that a request can be made with these model files; the cheap checks come first.

    Raises:
        JobRefusedError: Something in the request has to change.
        CheckpointError: A model file, the text encoder or a LoRA cannot be used.
    """
    check_form(request)
    check_places(request)
    pack = check_models(models)
    lora_reports = check_loras(request, models.checkpoint_path)
    num_prompt_tokens = check_prompt_length(request.prompt, models.gemma_root)
    return CheckedRequest(request, pack, num_prompt_tokens, lora_reports)


def check_form(request: GenerationRequest) -> None:
    """Check the values of a request; opens no file.

    Raises:
        JobRefusedError: With what would be accepted.
    """
    _check_prompt(request.prompt)
    if not 0 <= request.seed <= MAX_SEED:
        raise JobRefusedError(f"A seed of {request.seed} cannot be used. It must lie from 0 to {MAX_SEED}.")
    _check_clip(request)
    for image in request.images:
        _check_image_values(image)
    frames = Counter(image.frame for image in request.images)
    if frames and max(frames.values()) > 1:
        raise JobRefusedError("Several pictures stand at the same frame. Each frame can be given one.")
    for lora in request.loras:
        check_strengths(lora)


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
        CheckpointError: A file cannot be used, the files do not belong together, or the upscaler is not the x2 one.
    """
    pack = resolve_pack(models.checkpoint_path, models.gemma_root, models.spatial_upsampler_path)
    if pack.spatial_scale != _STAGE_2_SCALE:
        raise CheckpointError(
            f"“{models.spatial_upsampler_path.name}” enlarges {pack.spatial_scale:g} times, and the second stage works "
            f"at {_STAGE_2_SCALE:g} times the size of the first. Choose the spatial upscaler x{_STAGE_2_SCALE:g}.",
            path=models.spatial_upsampler_path,
            reason=CheckpointReason.MISMATCHED,
        )
    return pack


def check_loras(request: GenerationRequest, checkpoint_path: Path) -> tuple[LoraReport, ...]:
    """Return what each LoRA will do to the checkpoint's transformer; reads headers only.

    Raises:
        CheckpointError: The checkpoint or a LoRA cannot be read, or a LoRA changes nothing in it.
    """
    if not request.loras:
        return ()
    shapes = transformer_shapes(checkpoint_path)
    return tuple(read_lora_plan(lora.path, shapes).report for lora in request.loras)


def transformer_shapes(checkpoint_path: Path) -> Mapping[str, tuple[int, ...]]:
    """Return the shape of each of the transformer's parameters by official name, from the checkpoint's header.

    Raises:
        CheckpointError: The header cannot be read.
    """
    header = read_header(checkpoint_path)
    return {name: header.tensors[key].shape for key, name in TRANSFORMER(header.tensors.keys()).items()}


def check_prompt_length(prompt: str, gemma_root: Path) -> int:
    """Return how many tokens a prompt has.

    Raises:
        JobRefusedError: They are more than the model reads.
        CheckpointError: The text encoder's tokenizer cannot be read.
    """
    num_tokens = PromptTokenizer(gemma_root).count(prompt)
    if num_tokens > MAX_PROMPT_TOKENS:
        raise JobRefusedError(
            f"The prompt is too long: it has {num_tokens} tokens, and the model reads {MAX_PROMPT_TOKENS} at most. "
            f"About {math.ceil(100 - 100 * MAX_PROMPT_TOKENS / num_tokens)} % of it has to go."
        )
    return num_tokens


def _check_prompt(prompt: str) -> None:
    if not prompt.strip():
        raise JobRefusedError("The prompt is empty. Write what the clip shall show, and what is to be heard.")
    try:
        prompt.encode("utf-8")
    except UnicodeEncodeError as error:
        raise JobRefusedError(
            f"The prompt holds something at its character {error.start + 1} that is no text. Type that part again."
        ) from error


def _check_clip(request: GenerationRequest) -> None:
    clip = request.clip
    # First, or the nearest sizes that would do would be too large as well.
    if max(clip.height, clip.width) > MAX_SIDE_PX:
        raise JobRefusedError(
            f"A clip of {clip.width} × {clip.height} pixels cannot be written. No side may exceed {MAX_SIDE_PX} pixels."
        )
    check_clip_format(clip)
    parse_fps(clip.fps)
    if max(clip.fps.numerator, clip.fps.denominator) > MAX_RATE_TERM:
        raise JobRefusedError(
            f"A frame rate of {float(clip.fps)} cannot be kept exactly. {clip.fps.limit_denominator(1001)} would do."
        )


def _check_image_values(image: ImageSpec) -> None:
    name = f"“{image.path.name}”"
    if image.frame != 0:
        raise JobRefusedError(f"{name} is meant for frame {image.frame}. A picture can stand at frame 0, the first.")
    if not 0 <= image.strength <= 1:
        raise JobRefusedError(
            f"A strength of {image.strength:g} for {name} cannot be used. It must lie from 0 (ignored) to 1 (kept)."
        )
    if image.crf is not None and not 0 <= image.crf <= MAX_CRF:
        raise JobRefusedError(
            f"A CRF of {image.crf} for {name} cannot be used. It must lie from 0 (not re-compressed) to {MAX_CRF}."
        )
