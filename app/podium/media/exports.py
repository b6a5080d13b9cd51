"""Export a finished clip: whole under its name at the end, or not there at all.

Rule for callers: an export that ends by an exception leaves nothing, whatever the exception is.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import av

from podium.media.animations import write_gif, write_webp
from podium.media.clip_reader import ClipInfo, decode_pictures, read_clip_info, read_frame, read_sound
from podium.media.errors import MediaError, writing_failed
from podium.media.export_kinds import (
    DNXHR_MIN_SIZE_PX,
    ExportCancelledError,
    ExportKind,
    ExportRun,
    fitted_size,
)
from podium.media.master_movie import MasterMovie
from podium.media.part_files import PartFile, check_target, refuse_taken, remove_abandoned_parts, sync_folder
from podium.media.picture_sequence import write_pictures
from podium.media.stills import write_png

_MOVIES = frozenset({ExportKind.PRORES_422_HQ, ExportKind.DNXHR_HQX})
_Animate = Callable[[Path, Path, tuple[int, int], Fraction, ExportRun], None]
_ANIMATIONS: dict[ExportKind, _Animate] = {ExportKind.GIF: write_gif, ExportKind.WEBP: write_webp}


@dataclass(frozen=True, slots=True)
class _Export:
    """What is exported, where to and how."""

    source: Path
    target: Path
    kind: ExportKind
    info: ClipInfo
    size_px: tuple[int, int]
    overwrite: bool
    run: ExportRun


def export_clip(
    source: Path,
    target: Path,
    kind: ExportKind,
    *,
    max_side_px: int | None = None,
    overwrite: bool = False,
    run: ExportRun | None = None,
) -> Path:
    """Export a clip and return what was written.

    ProRes and DNxHR keep every picture, the exact rate and the whole sound, are 4:2:2 in 10 bits, and name BT.709 in
    limited range. Pictures are PNGs and a WAV in a folder of their own. GIF and WebP are silent.

    Args:
        source: The clip.
        target: The file to write, or for `PICTURES` the folder.
        kind: What to make.
        max_side_px: Longest side of a GIF or WebP; the others keep the clip's size.
        overwrite: Replace a file of that name. A folder is never replaced.
        run: Told how far it is, and asked whether to go on.

    Raises:
        ExportCancelledError: `run` asked for the end.
        MediaError: The clip cannot be read, the name is taken, or the folder is missing, read-only or full.
    """
    run = run or ExportRun()
    info = read_clip_info(source)
    check_export(target, kind, info, overwrite=overwrite)
    run.num_pictures = info.num_frames
    export = _Export(source, target, kind, info, fitted_size(info.width, info.height, max_side_px), overwrite, run)
    try:
        if kind is ExportKind.PICTURES:
            write_pictures(target, source, info, run)
        else:
            _write_file(export)
    except (OSError, av.FFmpegError) as error:
        raise writing_failed(target.name, str(target.parent), error) from error
    return target


def check_export(target: Path, kind: ExportKind, info: ClipInfo, *, overwrite: bool = False) -> None:
    """Check, before any work, that an export can be written; leaves nothing behind.

    Raises:
        MediaError: The suffix is another kind's, the size cannot be held, the name is taken, or the folder is missing,
            read-only or full.
    """
    if target.suffix.lower() != kind.suffix and kind is not ExportKind.PICTURES:
        raise MediaError(f"“{target.name}” does not end in {kind.suffix}. Choose a name that does.")
    if kind is ExportKind.DNXHR_HQX and (info.width < DNXHR_MIN_SIZE_PX[0] or info.height < DNXHR_MIN_SIZE_PX[1]):
        least = " × ".join(map(str, DNXHR_MIN_SIZE_PX))
        raise MediaError(
            f"DNxHR holds no picture of {info.width} × {info.height}: it takes {least} pixels and more. "
            "ProRes would do."
        )
    check_target(target, overwrite=overwrite and kind is not ExportKind.PICTURES)


def save_frame(source: Path, number: int, target: Path) -> Path:
    """Write one picture of a clip, counted from 0, as PNG over whatever has that name, and return it.

    Raises:
        MediaError: The clip cannot be read or has no such picture, or the folder is missing, read-only or full.
    """
    write_png(target, read_frame(source, number))
    return target


def remove_part(run: ExportRun) -> None:
    """Remove what an export has written so far, for a process that ends before the export can; never raises."""
    if run.part is not None:
        with contextlib.suppress(OSError):
            run.part.unlink()
        # Where it is a folder.
        shutil.rmtree(run.part, ignore_errors=True)


def _write_file(export: _Export) -> None:
    target = export.target
    remove_abandoned_parts(target.parent)
    with PartFile(target) as part:
        export.run.part = part.path
        if export.kind in _MOVIES:
            _write_movie(export, part.path)
            _check_movie(part.path, export.info)
        else:
            _ANIMATIONS[export.kind](part.path, export.source, export.size_px, export.info.fps, export.run)
        export.run.check_whole()
        part.sync()
        # Somebody may have taken the name meanwhile.
        refuse_taken(target, overwrite=export.overwrite)
        part.publish()
    sync_folder(target.parent)


def _write_movie(export: _Export, path: Path) -> None:
    info = export.info
    movie = MasterMovie(
        path,
        export.kind,
        (info.width, info.height),
        info.fps,
        sample_rate_hz=info.audio_sample_rate_hz,
        num_channels=info.num_audio_channels,
    )
    try:
        movie.open()
        if info.audio_sample_rate_hz is not None:
            movie.add_sound(read_sound(export.source))
        for picture in decode_pictures(export.source):
            export.run.step()
            movie.add_picture(picture)
        movie.finish()
    finally:
        movie.abandon()


def _check_movie(path: Path, info: ClipInfo) -> None:
    """Look at what was written before it gets its name: a drive or an encoder may lose data without a word."""
    found = read_clip_info(path)
    wanted = (info.width, info.height, info.num_frames, info.fps, info.audio_sample_rate_hz)
    seen = (found.width, found.height, found.num_frames, found.fps, found.audio_sample_rate_hz)
    if seen != wanted:
        sentence = "The exported movie did not read back as it was written, so it was not kept. Check the drive."
        raise MediaError(sentence, details=f"wanted {wanted}, found {seen}")


__all__ = [
    "ExportCancelledError",
    "ExportKind",
    "ExportRun",
    "check_export",
    "export_clip",
    "remove_part",
    "save_frame",
]
