"""What a clip was made with, as it is kept in the mp4's tag and in the sidecar. No torch.

File names and fingerprints only, never a path: a clip can be given away without telling whose machine made it.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import asdict
from pathlib import Path

from podium import __version__
from podium.errors import JobRefusedError
from podium.jobs import GenerationRequest, GuidanceSpec, ImageSpec, LoraSpec, PipelineKind, Quantization
from podium.models.file_kinds import is_file
from podium.models.paths import ModelPaths

_NUM_SAMPLES = 64
_SAMPLE_BYTES = 65536


def fingerprint(path: Path) -> str:
    """Return 16 hex digits that tell one content of a file from another without reading a 46 GB checkpoint whole.

    SHA-256 over the size and 64 evenly spaced samples of 64 KiB; files up to 4 MiB are read whole.

    Raises:
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        num_bytes = os.fstat(file.fileno()).st_size
        digest = hashlib.sha256(str(num_bytes).encode())
        if num_bytes <= _NUM_SAMPLES * _SAMPLE_BYTES:
            digest.update(file.read())
        else:
            for index in range(_NUM_SAMPLES):
                file.seek((num_bytes - _SAMPLE_BYTES) * index // (_NUM_SAMPLES - 1))
                digest.update(file.read(_SAMPLE_BYTES))
    return digest.hexdigest()[:16]


def clip_parameters(
    request: GenerationRequest,
    models: ModelPaths,
    *,
    dtype: str,
    quantization: Quantization = Quantization.NONE,
) -> dict[str, object]:
    """Return everything that makes the same clip again, beside the files themselves and what the fleet adds.

    Args:
        request: The clip; what it leaves to the model's defaults is kept as that (see `CheckedRequest.resolved`).
        models: The files of the model.
        dtype: Of the weights, such as "bfloat16".
        quantization: How the transformer's weights are held.

    Raises:
        JobRefusedError: A file can no longer be read.
    """
    clip, keyframes = request.clip, request.generated_keyframes
    return {
        "podium": 1,
        "version": __version__,
        "pipeline": _PIPELINES[request.pipeline],
        "prompt": request.prompt,
        "seed": request.seed,
        "height": clip.height,
        "width": clip.width,
        "num_frames": clip.num_frames,
        "frame_rate": str(clip.fps),
        "images": [_image(image) for image in request.images],
        "loras": [_lora(lora) for lora in request.loras],
        "generated_keyframes": keyframes if isinstance(keyframes, int) else list(keyframes),
        **(_guided(request) if request.pipeline.is_guided else {}),
        **_models(models, request.pipeline),
        "quantization": quantization.value,
        "dtype": dtype,
    }


_PIPELINES = {
    PipelineKind.FAST: "distilled",
    PipelineKind.QUALITY: "ti2vid_two_stages",
    PipelineKind.HQ: "ti2vid_two_stages_hq",
}


def _guided(request: GenerationRequest) -> dict[str, object]:
    strengths = request.distilled_lora_strengths
    return {
        "negative_prompt": request.negative_prompt,
        "num_inference_steps": request.num_inference_steps,
        "video_guidance": _guidance(request.video_guidance),
        "audio_guidance": _guidance(request.audio_guidance),
        "distilled_lora_strengths": None if strengths is None else list(strengths),
        "guidance_mode": request.guidance_mode.value,
    }


def _guidance(guidance: GuidanceSpec | None) -> dict[str, object] | None:
    return None if guidance is None else {**asdict(guidance), "stg_blocks": list(guidance.stg_blocks)}


def _models(models: ModelPaths, pipeline: PipelineKind) -> dict[str, object]:
    # A text encoder's folder has no fingerprint; the file of a split pack has one.
    encoder = models.gemma_root
    named = {
        "checkpoint": models.checkpoint_path,
        "spatial_upsampler": models.spatial_upsampler_path,
        "distilled_lora": models.distilled_lora_path if pipeline.is_guided else None,
        "video_vae": models.video_vae_path,
        "audio_vae": models.audio_vae_path,
        "duration_head": models.duration_head_path,
    }
    found = {key: _file(path) for key, path in named.items() if path is not None}
    return {**found, "text_encoder": _file(encoder) if is_file(encoder) else {"name": _name(encoder)}}


def _file(path: Path) -> dict[str, object]:
    try:
        return {"name": _name(path), "fingerprint": fingerprint(path)}
    except OSError as error:
        raise JobRefusedError(
            f"“{path.name}” can no longer be read. Put it back, or choose another file.", details=str(error)
        ) from error


def _name(path: Path) -> str:
    # A folder may be given as “.”, which names nothing.
    return Path(os.path.abspath(path)).name  # noqa: PTH100 - `resolve` would follow a link to a name nobody chose


def _image(image: ImageSpec) -> dict[str, object]:
    return {**_file(image.path), "frame": image.frame, "strength": image.strength, "crf": image.crf}


def _lora(lora: LoraSpec) -> dict[str, object]:
    branches = lora.branches
    return {
        **_file(lora.path),
        "strength": lora.strength,
        "branches": {
            "video": branches.video,
            "audio": branches.audio,
            "audio_to_video": branches.audio_to_video,
            "video_to_audio": branches.video_to_audio,
        },
    }
