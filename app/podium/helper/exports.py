"""Exports in the helper process: one at a time in a lane of their own, watched and ended from the quick lane."""

from __future__ import annotations

import threading
from pathlib import Path

from podium.helper.requests import CancelExport, ExportClip, GetExportShare, SaveFrame
from podium.media.errors import writing_failed
from podium.media.export_kinds import ExportRun
from podium.media.exports import export_clip, remove_part, save_frame


class ExportDesk:
    """Exports clips, says how far each is, and ends those that nobody wants any more."""

    def __init__(self) -> None:
        self._runs: dict[int, ExportRun] = {}
        self._lock = threading.Lock()
        self._idle = threading.Event()
        self._idle.set()

    def export(self, request: ExportClip) -> Path:
        """Export a clip and return what was written.

        Raises:
            MediaError: It cannot be exported, or its end was asked for.
        """
        self._idle.clear()
        try:
            return export_clip(
                request.source,
                request.target,
                request.kind,
                max_side_px=request.max_side_px,
                overwrite=request.overwrite,
                run=self._run(request.number),
            )
        finally:
            self._idle.set()
            with self._lock:
                self._runs.pop(request.number, None)

    def share(self, request: GetExportShare) -> float:
        """Return how much of an export is done, 0 to 1; 0 of one that has not begun or is over."""
        with self._lock:
            run = self._runs.get(request.number)
        return 0.0 if run is None else run.share

    def cancel(self, request: CancelExport) -> bool:
        """Ask for the end of an export, also of one that has not begun, and return true."""
        self._run(request.number).is_cancelled = True
        return True

    def close(self, limit_s: float) -> None:
        """End what is at work and wait for that, so that nothing half written is left."""
        with self._lock:
            runs = tuple(self._runs.values())
        for run in runs:
            run.is_cancelled = True
        if not self._idle.wait(limit_s):
            # It waits for the drive, or is at a picture that takes long: the process does not.
            for run in runs:
                remove_part(run)

    def _run(self, number: int) -> ExportRun:
        with self._lock:
            return self._runs.setdefault(number, ExportRun())


def save_one_frame(request: SaveFrame) -> Path:
    """Write one picture of a clip as PNG; a folder that is missing is made.

    Raises:
        MediaError: The clip cannot be read, or the folder cannot be written to.
    """
    try:
        request.target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise writing_failed(request.target.name, str(request.target.parent), error) from error
    return save_frame(request.source, request.number, request.target)
