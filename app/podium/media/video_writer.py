"""Write a clip: pictures and sound as they come, whole under its name at the end or not there at all.

The clip and its sidecar are made under temporary names. Leaving the `with` block without an exception gives both their
names; leaving it with one removes everything.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Self

import av
import numpy as np
from numpy.typing import NDArray

from podium.geometry import ClipFormat
from podium.media.clip_reader import read_clip_info
from podium.media.errors import MediaError, describe, writing_failed
from podium.media.mp4_muxer import AAC_RATES_HZ, Mp4Muxer, VideoEncoding
from podium.media.parameters import decode_parameters, encode_parameters, sidecar_path
from podium.media.part_files import (
    PartFile,
    check_target,
    refuse_taken,
    remove_abandoned_parts,
    remove_parts_of,
    sync_folder,
    write_whole,
)

_MAX_SIDE_PX = 16384
# libx264 and the mp4 index hold a rate as two 32-bit numbers; this much keeps every time base of a clip exact.
_MAX_RATE_TERM = 1_000_000


@dataclass(frozen=True, slots=True)
class WrittenClip:
    """A clip that lies on the drive, whole.

    Args:
        path: The mp4.
        sidecar_path: The JSON beside it; None for a preview.
        num_bytes: Size of the mp4.
        num_silent_samples: Silence added so that the sound ends with the picture.
    """

    path: Path
    sidecar_path: Path | None
    num_bytes: int
    num_silent_samples: int


class ClipWriter:
    """Write one clip and its sidecar.

    Pictures become H.264 High, yuv420p, BT.709 in limited range and tagged so; every one lasts exactly 1 / fps. Sound
    becomes AAC at the rate it comes in: 24 kHz stays 24 kHz, since AAC carries it and resampling would touch every
    sample. Sound that ends before the picture is padded with silence to the picture's end, to the sample; its own
    samples are neither cut nor stretched. Sound that ends after the picture is kept whole as well: the clip then lasts
    as long as its sound, and players hold the last picture for the difference.

    The sidecar is renamed first and the clip last, so a clip that has its name has its sidecar too. If the second
    rename fails, the first is undone. A crash between the two leaves a sidecar without a clip, or beside the clip of
    that name from before; both are harmless: a clip carries the same text in its `comment` tag, and readers look there
    first.

    Args:
        path: The mp4 to write, in a folder that exists.
        clip: Its format; even sizes. Exactly `clip.num_frames` pictures are expected.
        sample_rate_hz: Rate of the sound, one of `AAC_RATES_HZ`; None makes a silent clip.
        parameters: What the clip was made with (see `podium.media.parameters`): names and hashes, no paths. None for
            a passing preview: then there is neither tag nor sidecar.
        encoding: How to compress.
        overwrite: Replace a clip or sidecar of that name; otherwise it is kept and the writer refuses.

    Raises:
        ValueError: The format, the rate or the parameters cannot be written.
    """

    def __init__(
        self,
        path: Path,
        clip: ClipFormat,
        *,
        sample_rate_hz: int | None,
        parameters: Mapping[str, object] | None,
        encoding: VideoEncoding | None = None,
        overwrite: bool = False,
    ) -> None:
        _check_format(clip, sample_rate_hz)
        self._path = path
        self._clip = clip
        self._sample_rate_hz = sample_rate_hz
        self._text = None if parameters is None else encode_parameters(parameters)
        self._overwrite = overwrite
        self._part = PartFile(path)
        self._muxer = Mp4Muxer(
            self._part.path,
            (clip.width, clip.height),
            clip.fps,
            sample_rate_hz=sample_rate_hz,
            comment=self._text,
            encoding=encoding or VideoEncoding(),
        )
        self._num_frames = 0
        self._num_samples = 0
        self._result: WrittenClip | None = None

    @property
    def num_frames(self) -> int:
        """Return how many pictures have been added."""
        return self._num_frames

    @property
    def result(self) -> WrittenClip:
        """Return what was written, once the `with` block has been left without an exception."""
        assert self._result is not None, "the clip is not written yet"
        return self._result

    def __enter__(self) -> Self:
        """Create the temporary file and open the encoders.

        Raises:
            MediaError: The name is taken, or the folder is missing, read-only or full.
        """
        check_output(self._path, overwrite=self._overwrite)
        remove_abandoned_parts(self._path.parent)
        self._part.open()
        try:
            with self._sentences():
                self._muxer.open()
        except BaseException:
            self._abort()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Publish the clip, or remove every trace of it when an exception came.

        Raises:
            MediaError: The folder is full or gone; nothing is left.
            ValueError: Pictures or the sound are missing; nothing is left.
        """
        try:
            if error is None:
                self._finish()
        finally:
            # After a clip was published this finds nothing to remove.
            self._abort()

    def add_frames(self, rgb: NDArray[np.uint8]) -> None:
        """Add the next picture [height, width, 3] or pictures [n, height, width, 3], uint8 RGB.

        Raises:
            MediaError: The folder is full or gone.
            ValueError: The pictures are of another size or type, or more than the clip has.
        """
        pictures = rgb[None] if rgb.ndim == 3 else rgb
        expected = (self._clip.height, self._clip.width, 3)
        if pictures.dtype != np.uint8 or pictures.ndim != 4 or pictures.shape[1:] != expected:
            raise ValueError(f"pictures must be uint8 {expected}, not {rgb.dtype} {rgb.shape}")
        if self._num_frames + len(pictures) > self._clip.num_frames:
            raise ValueError(f"more than the {self._clip.num_frames} pictures of the clip")
        with self._sentences():
            for picture in pictures:
                self._muxer.add_picture(picture)
                self._num_frames += 1

    def add_sound(self, sound: NDArray[np.float32]) -> None:
        """Add the next samples, float32 [2, samples], -1 to 1: before, after or between pictures.

        Raises:
            MediaError: The folder is full or gone, or a sample is not a number.
            ValueError: The sound is of another shape or type, or the clip was announced as silent.
        """
        if self._sample_rate_hz is None:
            raise ValueError("the clip was announced without sound")
        if sound.dtype != np.float32 or sound.ndim != 2 or sound.shape[0] != 2:
            raise ValueError(f"sound must be float32 [2, samples], not {sound.dtype} {sound.shape}")
        if not np.isfinite(sound).all():
            raise MediaError(
                f"The sound for “{self._path.name}” holds values that are no numbers. The clip was not written.",
                details=f"{int(np.count_nonzero(~np.isfinite(sound)))} of {sound.size} samples are not finite",
            )
        with self._sentences():
            self._muxer.add_sound(sound)
        self._num_samples += sound.shape[1]

    def _finish(self) -> None:
        if self._num_frames != self._clip.num_frames:
            raise ValueError(f"{self._num_frames} pictures came of {self._clip.num_frames}")
        with self._sentences():
            num_silent = self._pad_sound()
            self._muxer.finish()
            self._part.sync()
        _check_written(self._part.path, self._clip, has_sound=self._sample_rate_hz is not None)
        with self._sentences():
            num_bytes = self._part.path.stat().st_size
            self._publish()
        sidecar = None if self._text is None else sidecar_path(self._path)
        self._result = WrittenClip(self._path, sidecar, num_bytes, num_silent)

    def _pad_sound(self) -> int:
        if self._sample_rate_hz is None:
            return 0
        if self._num_samples == 0:
            raise ValueError("the clip was announced with sound and none came")
        num_silent = max(0, round(self._clip.duration_s * self._sample_rate_hz) - self._num_samples)
        self._muxer.add_sound(np.zeros((2, num_silent), np.float32))
        return num_silent

    def _publish(self) -> None:
        refuse_taken(self._path, overwrite=self._overwrite)
        if self._text is None:
            self._part.publish()
        else:
            self._publish_with_sidecar(self._text)
        sync_folder(self._path.parent)

    def _publish_with_sidecar(self, text: str) -> None:
        sidecar = sidecar_path(self._path)
        before = _refuse_foreign_sidecar(sidecar, overwrite=self._overwrite)
        write_whole(sidecar, text.encode())
        try:
            self._part.publish()
        except BaseException:
            _restore(sidecar, before)
            raise

    def _abort(self) -> None:
        self._muxer.abandon()
        self._part.discard()

    @contextlib.contextmanager
    def _sentences(self) -> Iterator[None]:
        """Turn what the system and FFmpeg raise into a sentence about this clip."""
        try:
            yield
        except (OSError, av.FFmpegError) as error:
            raise writing_failed(self._path.name, str(self._path.parent), error) from error


def check_output(path: Path, *, overwrite: bool = False) -> None:
    """Check, before any work, that a clip and its sidecar can be written; leaves nothing behind.

    Raises:
        MediaError: The suffix is not .mp4, a name is taken, or the folder is missing, read-only or full.
    """
    if path.suffix.lower() != ".mp4":
        raise MediaError(f"“{path.name}” does not end in .mp4. Choose a name that does.")
    check_target(path, overwrite=overwrite)
    _refuse_foreign_sidecar(sidecar_path(path), overwrite=overwrite)


def remove_unfinished(path: Path) -> None:
    """Remove what a writer of this clip has left that was killed, with all its processes gone by now; never raises."""
    for target in (path, sidecar_path(path)):
        remove_parts_of(target)


def _check_storable_rate(fps: Fraction) -> None:
    """Check that an mp4 can hold a frame rate exactly.

    Raises:
        MediaError: It cannot.
    """
    if not (fps > 0 and max(fps.numerator, fps.denominator) <= _MAX_RATE_TERM):
        nearest = fps.limit_denominator(1001)
        raise MediaError(f"An mp4 cannot hold a frame rate of {fps} exactly. {nearest} would do.")


def _check_format(clip: ClipFormat, sample_rate_hz: int | None) -> None:
    _check_storable_rate(clip.fps)
    for side in (clip.width, clip.height):
        if side % 2 or not 2 <= side <= _MAX_SIDE_PX:
            raise ValueError(f"{clip.width} x {clip.height}: sides must be even, 2 to {_MAX_SIDE_PX}")
    if clip.num_frames < 1:
        raise ValueError("a clip has at least one picture")
    if sample_rate_hz is not None and sample_rate_hz not in AAC_RATES_HZ:
        raise ValueError(f"AAC carries no sound of {sample_rate_hz} Hz, only {sorted(AAC_RATES_HZ)}")


def _check_written(path: Path, clip: ClipFormat, *, has_sound: bool) -> None:
    """Look at what was written before it gets its name: a drive or an encoder may lose data without a word."""
    sentence = "The finished clip did not read back as it was written, so it was not kept. Check the drive."
    try:
        info = read_clip_info(path)
    except MediaError as error:
        raise MediaError(sentence, details=error.details) from error
    wanted = (clip.width, clip.height, clip.num_frames, clip.fps, has_sound)
    found = (info.width, info.height, info.num_frames, info.fps, info.audio_codec is not None)
    if found != wanted:
        raise MediaError(sentence, details=f"wanted {wanted}, found {found}")


def _refuse_foreign_sidecar(sidecar: Path, *, overwrite: bool) -> bytes | None:
    """Return what a sidecar that may be replaced holds; None where there is none."""
    refuse_taken(sidecar, overwrite=overwrite)
    if not sidecar.exists():
        return None
    try:
        before = sidecar.read_bytes()
        decode_parameters(before.decode())
    except (OSError, ValueError) as error:
        raise MediaError(
            f"“{sidecar.name}” in “{sidecar.parent}” is no file of Podium's and is kept. Choose another name.",
            details=describe(error),
        ) from error
    return before


def _restore(path: Path, before: bytes | None) -> None:
    with contextlib.suppress(OSError, MediaError):
        if before is None:
            path.unlink()
        else:
            write_whole(path, before)


__all__ = [
    "AAC_RATES_HZ",
    "ClipWriter",
    "MediaError",
    "VideoEncoding",
    "WrittenClip",
    "check_output",
    "remove_unfinished",
]
