"""What the helper knows of clips that were made, and of the files they are made with."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import tempfile
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from PIL import Image

from podium.errors import JobRefusedError
from podium.geometry import ClipFormat
from podium.helper.file_finder import FileFinder, Fingerprints
from podium.helper.requests import ClipContents, FindMissing, IdentifyFiles, KeepThumbnail, ReadClip, Thumbnail
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
from podium.media.cache_limit import CacheLimit, note_use
from podium.media.clip_reader import read_clip_info, read_frames, read_parameters
from podium.media.errors import MediaError, describe
from podium.media.parameters import sidecar_path
from podium.models.paths import ModelPaths

THUMBNAIL_FOLDER, DRAFT_FOLDER = "thumbnails", "drafts"
CHECK_EVERY = 64
"""So many new thumbnails are written between two looks at how large the cache is."""

_WEBP_QUALITY = 80
_PIPELINES = {
    "distilled": PipelineKind.FAST,
    "ti2vid_two_stages": PipelineKind.QUALITY,
    "ti2vid_two_stages_hq": PipelineKind.HQ,
}
_MODEL_KEYS = {
    "checkpoint_path": "checkpoint",
    "gemma_root": "text_encoder",
    "spatial_upsampler_path": "spatial_upsampler",
    "distilled_lora_path": "distilled_lora",
    "video_vae_path": "video_vae",
    "audio_vae_path": "audio_vae",
    "duration_head_path": "duration_head",
}
_NEEDED = frozenset({"checkpoint_path", "gemma_root", "spatial_upsampler_path"})
_log = logging.getLogger(__name__)


class ClipDesk:
    """Answers what is asked about clips and their files, each kind of question in one thread."""

    def __init__(self) -> None:
        self._fingerprints = Fingerprints()
        self._num_until_look = 0

    def identify(self, request: IdentifyFiles) -> tuple[FileIdentity, ...]:
        """Return what files are."""
        found = map(self._fingerprints.identify, request.paths)
        return tuple(identity for identity in found if identity is not None)

    def find_missing(self, request: FindMissing) -> tuple[Path, ...]:
        """Return the files that are not there."""
        return tuple(path for path in request.paths if not path.exists())

    def read_clip(self, request: ReadClip) -> ClipContents:
        """Return what a clip was made with.

        Raises:
            MediaError: It is no clip, was not made by Podium, or by one that writes other parameters.
        """
        parameters = read_parameters(request.path)
        files = _Files(FileFinder(request.folders, request.known, self._fingerprints))
        try:
            made = _request_of(parameters, request.path, files)
            models = _models_of(parameters, files)
        except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
            raise MediaError(
                f"The parameters in “{request.path.name}” cannot be read. Another Podium may have written them.",
                details=describe(error),
            ) from error
        clip = _finished(request.path, made.clip)
        return ClipContents(clip, made, models, tuple(files.unmatched), tuple(files.changed))

    def keep_thumbnail(self, request: KeepThumbnail) -> Thumbnail:
        """Return a clip's thumbnail from the cache, or make it and keep it there.

        Raises:
            MediaError: The clip is missing, or cannot be read.
        """
        kept = _thumbnail_path(request)
        if (thumbnail := _read_kept(kept)) is not None:
            return thumbnail
        image = Image.fromarray(next(read_frames(request.path)))
        image.thumbnail((request.max_side_px, request.max_side_px))
        self._keep(image, kept, request)
        return Thumbnail(image.width, image.height, image.tobytes())

    def check_unchanged(self, files: tuple[FileIdentity, ...]) -> None:
        """Check that files are what they were when a clip was asked for.

        Raises:
            JobRefusedError: One is gone, or another by now.
        """
        for file in files:
            now, name = _stamp(file.path), f"“{file.path.name}”"
            if now is None:
                raise JobRefusedError(
                    f"{name} is no longer where it was when this clip was asked for. Put it back and retry, or edit "
                    "the clip.",
                    details=str(file.path),
                )
            # A file that was copied over itself has another time and the same content.
            is_same = now == (file.num_bytes, file.mtime_ns) or Fingerprints().of(file.path) == file.fingerprint
            if not is_same:
                raise JobRefusedError(
                    f"{name} was changed since this clip was asked for. Put the earlier file back and retry, or edit "
                    "the clip to take the new one.",
                    details=f"{file.path}: fingerprint {file.fingerprint} then",
                )

    def _keep(self, image: Image.Image, path: Path, request: KeepThumbnail) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", suffix=".webp", delete=False) as part:
                image.save(part, "WEBP", quality=_WEBP_QUALITY)
            Path(part.name).replace(path)
        except OSError as error:
            # It is made again when it is wanted again.
            _log.info("A thumbnail could not be kept: %s", error)
            return
        self._num_until_look -= 1
        if self._num_until_look < 0:
            self._num_until_look = CHECK_EVERY
            folders = (request.cache_folder / THUMBNAIL_FOLDER, request.cache_folder / DRAFT_FOLDER)
            CacheLimit(folders, request.max_bytes).keep()


class _Files:
    """Files that a clip names, looked for one after another.

    Args:
        finder: Looks.
    """

    def __init__(self, finder: FileFinder) -> None:
        self._finder = finder
        self.unmatched: list[str] = []
        self.changed: list[str] = []

    def find(self, data: Mapping[str, Any]) -> Path | None:
        """Return the file that is meant; None if it is not here."""
        name = str(data["name"])
        match = self._finder.find(name, str(data.get("fingerprint", "")))
        if match is None:
            self.unmatched.append(name)
            return None
        if not match.is_same:
            self.changed.append(name)
        return match.path


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


def _request_of(data: Mapping[str, Any], path: Path, files: _Files) -> GenerationRequest:
    steps, strengths = data.get("num_inference_steps"), data.get("distilled_lora_strengths")
    keyframes, stage_2 = data.get("generated_keyframes", 0), data.get("stage_2")
    return GenerationRequest(
        prompt=str(data["prompt"]),
        seed=int(data["seed"]),
        clip=ClipFormat(
            int(data["height"]), int(data["width"]), int(data["num_frames"]), Fraction(str(data["frame_rate"]))
        ),
        output_path=path,
        images=tuple(image for item in data.get("images", ()) if (image := _image(item, files)) is not None),
        loras=tuple(lora for item in data.get("loras", ()) if (lora := _lora(item, files)) is not None),
        pipeline=_pipeline(str(data.get("pipeline", "distilled"))),
        negative_prompt=str(data.get("negative_prompt") or ""),
        num_inference_steps=None if steps is None else int(steps),
        video_guidance=_guidance(data.get("video_guidance")),
        audio_guidance=_guidance(data.get("audio_guidance")),
        distilled_lora_strengths=None if strengths is None else (float(strengths[0]), float(strengths[1])),
        generated_keyframes=tuple(keyframes) if isinstance(keyframes, list) else int(keyframes),
        stage_2_tiles=None if stage_2 is None else (int(stage_2["tiles"][0]), int(stage_2["tiles"][1])),
        guidance_mode=GuidanceMode(str(data.get("guidance_mode", GuidanceMode.AUTO))),
    )


def _models_of(data: Mapping[str, Any], files: _Files) -> ModelPaths | None:
    named = {field: data[key] for field, key in _MODEL_KEYS.items() if isinstance(data.get(key), Mapping)}
    found = {field: files.find(item) for field, item in named.items()}
    if not named.keys() >= _NEEDED or None in found.values():
        return None
    return ModelPaths(**{field: path for field, path in found.items() if path is not None})


def _pipeline(name: str) -> PipelineKind:
    return _PIPELINES.get(name) or PipelineKind(name)


def _image(data: Mapping[str, Any], files: _Files) -> ImageSpec | None:
    path, crf = files.find(data), data.get("crf")
    if path is None:
        return None
    return ImageSpec(path, int(data["frame"]), float(data["strength"]), None if crf is None else int(crf))


def _lora(data: Mapping[str, Any], files: _Files) -> LoraSpec | None:
    path = files.find(data)
    return None if path is None else LoraSpec(path, float(data["strength"]), BranchStrengths(**data["branches"]))


def _guidance(data: Mapping[str, Any] | None) -> GuidanceSpec | None:
    return None if data is None else GuidanceSpec(**{**data, "stg_blocks": tuple(data.get("stg_blocks", ()))})


def _finished(path: Path, clip: ClipFormat) -> ClipFinished:
    info = read_clip_info(path)
    # What plays counts: the parameters may be another clip's.
    seen = ClipFormat(info.height, info.width, info.num_frames, clip.fps if info.fps == clip.fps else info.fps)
    return ClipFinished(path, sidecar_path(path), seen, info.audio_sample_rate_hz or 0, path.stat().st_size)


def _thumbnail_path(request: KeepThumbnail) -> Path:
    try:
        status = request.path.stat()
    except OSError as error:
        raise MediaError(f"“{request.path.name}” is not there any more.", details=describe(error)) from error
    text = f"{request.path}\n{status.st_size}\n{status.st_mtime_ns}\n{request.max_side_px}"
    name = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return request.cache_folder / THUMBNAIL_FOLDER / name[:2] / f"{name}.webp"


def _read_kept(path: Path) -> Thumbnail | None:
    with contextlib.suppress(OSError):
        if path.is_file():
            with Image.open(path) as image:
                rgb = image.convert("RGB")
            note_use(path)
            return Thumbnail(rgb.width, rgb.height, rgb.tobytes())
    return None
