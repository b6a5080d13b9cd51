"""A clip as a folder of numbered PNGs and a WAV: for programs that take pictures rather than movies.

The folder is filled under a hidden name and renamed at the end, so that it is there whole or not at all.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

import av
import imageio.v3 as iio
import numpy as np
from numpy.typing import NDArray

from podium.media.clip_reader import ClipInfo, read_frames, read_sound
from podium.media.errors import writing_failed
from podium.media.export_kinds import ExportRun
from podium.media.master_movie import add_pcm_stream, write_pcm
from podium.media.part_files import refuse_taken, sync_folder

if sys.platform != "win32":
    import fcntl

_PREFIX, _SUFFIX = ".podium-", ".parts"
_MIN_ABANDONED_AGE_S = 60.0
# Pictures of a film weigh much either way; more effort gains a few percent and takes several times as long.
_PNG_LEVEL = 3


class PartFolder:
    """A folder under a temporary name beside its target; removed at the end unless it was published.

    It is locked while it is written, so that what a killed process left behind can be told from what is at work.

    Args:
        target: The name it is to have.
    """

    def __init__(self, target: Path) -> None:
        self.target = target
        self.path = target.parent / f"{_PREFIX}{secrets.token_hex(8)}{_SUFFIX}"
        self._fd: int | None = None

    def publish(self) -> None:
        """Rename to the target.

        Raises:
            OSError: The rename failed, or a folder of that name holds something.
        """
        self._close()
        self.path.rename(self.target)
        sync_folder(self.target.parent)

    def __enter__(self) -> Self:
        """Create the empty folder.

        Raises:
            MediaError: The folder that it is to lie in is missing, read-only or full.
        """
        remove_abandoned_folders(self.target.parent)
        try:
            self.path.mkdir()
        except OSError as error:
            raise writing_failed(self.target.name, str(self.target.parent), error) from error
        self._fd = _open_locked(self.path)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._close()
        if self.path.exists():
            shutil.rmtree(self.path, ignore_errors=True)

    def _close(self) -> None:
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)


def write_pictures(target: Path, source: Path, info: ClipInfo, run: ExportRun) -> None:
    """Write a clip as `<target>/<name>_00001.png` and on, and its sound as `<target>/<name>.wav` in 24 bits.

    Pictures are 8-bit RGB without a profile, which programs take for sRGB. A silent clip has no WAV.

    Raises:
        MediaError: The name is taken, the clip cannot be read, or the end of it was asked for.
        OSError, av.FFmpegError: The drive is full or gone.
    """
    refuse_taken(target, overwrite=False)
    with PartFolder(target) as folder:
        run.part = folder.path
        for number, picture in enumerate(read_frames(source)):
            run.step()
            _write_png(folder.path / f"{target.name}_{number + 1:05d}.png", picture)
        run.check_whole()
        if info.audio_sample_rate_hz is not None:
            _write_wav(folder.path / f"{target.name}.wav", read_sound(source), info.audio_sample_rate_hz)
        folder.publish()


def remove_abandoned_folders(parent: Path) -> None:
    """Remove part folders whose writers were killed; never raises."""
    with contextlib.suppress(OSError):
        for path in parent.glob(f"{_PREFIX}*{_SUFFIX}"):
            # A folder exists for an instant before its lock does.
            is_young = time.time() - path.stat().st_mtime < _MIN_ABANDONED_AGE_S
            fd = None if is_young else _open_locked(path)
            if fd is not None:
                os.close(fd)
                shutil.rmtree(path, ignore_errors=True)


def _open_locked(folder: Path) -> int | None:
    """Return a descriptor that holds the folder's lock until it is closed; None if another has it, or none can be."""
    if sys.platform == "win32":
        return None
    fd = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        return None
    return fd


def _write_png(path: Path, picture: NDArray[np.uint8]) -> None:
    data = iio.imwrite("<bytes>", picture, extension=".png", plugin="pillow", compress_level=_PNG_LEVEL)
    path.write_bytes(data)


def _write_wav(path: Path, sound: NDArray[np.float32], sample_rate_hz: int) -> None:
    with av.open(str(path), "w", format="wav") as container:
        stream = add_pcm_stream(container, sample_rate_hz, "mono" if sound.shape[0] == 1 else "stereo")
        write_pcm(container, stream, sound)
        container.mux(stream.encode(None))
