"""Requests, clips and file identities as JSON that loses nothing, with a version for whoever reads it later."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from podium.geometry import ClipFormat
from podium.jobs import (
    BranchStrengths,
    ClipFinished,
    FileIdentity,
    GenerationRequest,
    GuidanceMode,
    GuidanceSpec,
    ImageSpec,
    LoraSpec,
    PipelineKind,
)

VERSION = 1
_VERSION_KEY = "version"


def request_to_dict(request: GenerationRequest) -> dict[str, object]:
    """Return a request as JSON holds it."""
    keyframes = request.generated_keyframes
    strengths, tiles = request.distilled_lora_strengths, request.stage_2_tiles
    return {
        _VERSION_KEY: VERSION,
        "prompt": request.prompt,
        "seed": request.seed,
        "clip": clip_to_dict(request.clip),
        "output_path": str(request.output_path),
        "images": [_image_to_dict(image) for image in request.images],
        "loras": [_lora_to_dict(lora) for lora in request.loras],
        "pipeline": request.pipeline.value,
        "negative_prompt": request.negative_prompt,
        "num_inference_steps": request.num_inference_steps,
        "video_guidance": _guidance_to_dict(request.video_guidance),
        "audio_guidance": _guidance_to_dict(request.audio_guidance),
        "distilled_lora_strengths": None if strengths is None else list(strengths),
        "generated_keyframes": keyframes if isinstance(keyframes, int) else list(keyframes),
        "stage_2_tiles": None if tiles is None else list(tiles),
        "guidance_mode": request.guidance_mode.value,
    }


def request_from_dict(data: Mapping[str, Any]) -> GenerationRequest:
    """Return the request that `request_to_dict` was given.

    Raises:
        ValueError: It is none, or one that a newer Podium wrote.
    """
    version = data.get(_VERSION_KEY)
    if version != VERSION:
        raise ValueError(f"a request of version {version!r}; this Podium reads {VERSION}")
    keyframes, strengths = data["generated_keyframes"], data["distilled_lora_strengths"]
    tiles = data.get("stage_2_tiles")
    try:
        return GenerationRequest(
            prompt=data["prompt"],
            seed=data["seed"],
            clip=clip_from_dict(data["clip"]),
            output_path=Path(data["output_path"]),
            images=tuple(_image_from_dict(image) for image in data["images"]),
            loras=tuple(_lora_from_dict(lora) for lora in data["loras"]),
            pipeline=PipelineKind(data["pipeline"]),
            negative_prompt=data["negative_prompt"],
            num_inference_steps=data["num_inference_steps"],
            video_guidance=_guidance_from_dict(data["video_guidance"]),
            audio_guidance=_guidance_from_dict(data["audio_guidance"]),
            distilled_lora_strengths=None if strengths is None else (strengths[0], strengths[1]),
            generated_keyframes=keyframes if isinstance(keyframes, int) else tuple(keyframes),
            stage_2_tiles=None if tiles is None else (tiles[0], tiles[1]),
            guidance_mode=GuidanceMode(data.get("guidance_mode", GuidanceMode.AUTO)),
        )
    except (KeyError, TypeError, IndexError) as error:
        raise ValueError(f"no whole request: {error!r}") from error


def clip_to_dict(clip: ClipFormat) -> dict[str, object]:
    """Return a clip's format as JSON holds it; the frame rate stays exact."""
    return {"height": clip.height, "width": clip.width, "num_frames": clip.num_frames, "fps": str(clip.fps)}


def clip_from_dict(data: Mapping[str, Any]) -> ClipFormat:
    """Return the format that `clip_to_dict` was given."""
    return ClipFormat(data["height"], data["width"], data["num_frames"], Fraction(data["fps"]))


def finished_to_dict(clip: ClipFinished) -> dict[str, object]:
    """Return a finished clip as JSON holds it."""
    return {
        "path": str(clip.path),
        "sidecar_path": str(clip.sidecar_path),
        "clip": clip_to_dict(clip.clip),
        "sample_rate_hz": clip.sample_rate_hz,
        "num_bytes": clip.num_bytes,
    }


def finished_from_dict(data: Mapping[str, Any]) -> ClipFinished:
    """Return the clip that `finished_to_dict` was given."""
    return ClipFinished(
        Path(data["path"]),
        Path(data["sidecar_path"]),
        clip_from_dict(data["clip"]),
        data["sample_rate_hz"],
        data["num_bytes"],
    )


def identity_to_dict(identity: FileIdentity) -> dict[str, object]:
    """Return a file's identity as JSON holds it."""
    return {
        "path": str(identity.path),
        "num_bytes": identity.num_bytes,
        "mtime_ns": identity.mtime_ns,
        "fingerprint": identity.fingerprint,
    }


def identity_from_dict(data: Mapping[str, Any]) -> FileIdentity:
    """Return the identity that `identity_to_dict` was given."""
    return FileIdentity(Path(data["path"]), data["num_bytes"], data["mtime_ns"], data["fingerprint"])


def to_text(data: object) -> str:
    """Return JSON text of ASCII alone: a file's name may hold what has no UTF-8, and comes back as it was."""
    return json.dumps(data, ensure_ascii=True, separators=(",", ":"))


def _image_to_dict(image: ImageSpec) -> dict[str, object]:
    return {"path": str(image.path), "frame": image.frame, "strength": image.strength, "crf": image.crf}


def _image_from_dict(data: Mapping[str, Any]) -> ImageSpec:
    return ImageSpec(Path(data["path"]), data["frame"], data["strength"], data["crf"])


def _lora_to_dict(lora: LoraSpec) -> dict[str, object]:
    branches = lora.branches
    return {
        "path": str(lora.path),
        "strength": lora.strength,
        "branches": {
            "video": branches.video,
            "audio": branches.audio,
            "audio_to_video": branches.audio_to_video,
            "video_to_audio": branches.video_to_audio,
        },
    }


def _lora_from_dict(data: Mapping[str, Any]) -> LoraSpec:
    return LoraSpec(Path(data["path"]), data["strength"], BranchStrengths(**data["branches"]))


def _guidance_to_dict(guidance: GuidanceSpec | None) -> dict[str, object] | None:
    if guidance is None:
        return None
    return {
        "cfg": guidance.cfg,
        "stg": guidance.stg,
        "rescale": guidance.rescale,
        "modality": guidance.modality,
        "skip_step": guidance.skip_step,
        "stg_blocks": list(guidance.stg_blocks),
    }


def _guidance_from_dict(data: Mapping[str, Any] | None) -> GuidanceSpec | None:
    if data is None:
        return None
    return GuidanceSpec(**{**data, "stg_blocks": tuple(data["stg_blocks"])})
