"""Clips on their way to other programs: exports, and single pictures that are kept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from podium.helper.requests import Answer, CancelExport, ExportClip, GetExportShare, SaveFrame
from podium.media.export_kinds import ExportCancelledError, ExportKind
from podium.ui.state.images import FramePlace
from podium.ui.state.observable import ObservableState
from podium.ui.state.pictures import KeptPictures
from podium.ui.state.ports import HelperPort
from podium.ui.state.sentences import said_of
from podium.ui.state.values import ErrorMessage

POLL_MS = 200


@dataclass(frozen=True, slots=True)
class ExportJob:
    """An export at work.

    Args:
        number: Names it while the window is open.
        share: How much is done, 0 to 1.
        is_cancelling: Its end is asked for.
    """

    number: int
    source: Path
    target: Path
    kind: ExportKind
    share: float = 0.0
    is_cancelling: bool = False


class ExportsState(ObservableState):
    """The export at work, and what came of the last one.

    Args:
        helper: Exports.
        pictures: Says where pictures lie that are taken from clips to start others from.
    """

    job_changed = Signal()
    written_changed = Signal()
    error_changed = Signal()
    frame_kept = Signal(object, object)
    """A picture (`Path`) of a clip shall stand at a `FramePlace` of the form."""
    frame_saved = Signal(object)
    """A picture was saved where the artist wanted it: its `Path`."""

    def __init__(self, helper: HelperPort, pictures: KeptPictures, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._helper = helper
        self._pictures = pictures
        self._job: ExportJob | None = None
        self._written: Path | None = None
        self._error: ErrorMessage | None = None
        self._last_number = 0
        self._is_asking = False
        self._poll_timer = QTimer(self, interval=POLL_MS)
        self._poll_timer.timeout.connect(self._poll)

    @property
    def job(self) -> ExportJob | None:
        """Return the export at work; None if there is none."""
        return self._job

    @property
    def written(self) -> Path | None:
        """Return what the last export wrote; None while one is at work, and if it failed or was cancelled."""
        return self._written

    @property
    def error(self) -> ErrorMessage | None:
        """Return why the last export, or saving the last picture, failed; None if it did not."""
        return self._error

    def export(
        self,
        source: Path,
        target: Path,
        kind: ExportKind,
        *,
        max_side_px: int | None = None,
        overwrite: bool = False,
    ) -> None:
        """Export a clip, unless an export is at work.

        Args:
            source: The clip.
            target: The file to write; for pictures the folder.
            kind: What to make.
            max_side_px: Longest side of a GIF or WebP; None keeps the clip's size.
            overwrite: The artist agreed to replace a file of that name.
        """
        if self._job is not None:
            return
        self._last_number += 1
        self._update(job=ExportJob(self._last_number, source, target, kind), written=None, error=None)
        request = ExportClip(self._last_number, source, target, kind, max_side_px, overwrite)
        self._helper.ask(request, partial(self._take_export, self._last_number))
        self._poll_timer.start()

    def cancel(self) -> None:
        """End the export at work; nothing is left of it."""
        if self._job is not None and not self._job.is_cancelling:
            self._update(job=replace(self._job, is_cancelling=True))
            self._helper.ask(CancelExport(self._job.number), _ignore)

    def forget(self) -> None:
        """Show no more what came of the last export."""
        self._update(written=None, error=None)

    def use_frame(self, source: Path, number: int, place: FramePlace) -> None:
        """Take a picture of a clip, counted from 0, as the first or last one of the next clip."""
        target = self._pictures.frame_path(source, number)
        self._ask_frame(SaveFrame(source, number, target), place)

    def save_frame(self, source: Path, number: int, target: Path) -> None:
        """Write a picture of a clip, counted from 0, as PNG."""
        self._ask_frame(SaveFrame(source, number, target), None)

    def close(self) -> None:
        """Wait for nothing any more: the window goes."""
        self._poll_timer.stop()

    def _ask_frame(self, request: SaveFrame, place: FramePlace | None) -> None:
        def take(answer: Answer[Path]) -> None:
            if answer.value is None:
                self._update(error=None if answer.error is None else said_of(answer.error))
            elif place is None:
                self.frame_saved.emit(answer.value)
            else:
                self.frame_kept.emit(answer.value, place)

        self._update(error=None)
        self._helper.ask(request, take)

    def _poll(self) -> None:
        if self._job is not None and not self._is_asking:
            self._is_asking = True
            self._helper.ask(GetExportShare(self._job.number), partial(self._take_share, self._job.number))

    def _take_share(self, number: int, answer: Answer[float]) -> None:
        self._is_asking = False
        # An export that is over answers with nothing done.
        if self._job is not None and self._job.number == number and answer.value:
            self._update(job=replace(self._job, share=answer.value))

    def _take_export(self, number: int, answer: Answer[Path]) -> None:
        if self._job is None or self._job.number != number:
            return
        self._poll_timer.stop()
        is_failure = answer.error is not None and not isinstance(answer.error, ExportCancelledError)
        error = said_of(answer.error) if answer.error is not None and is_failure else None
        self._update(job=None, written=answer.value, error=error)


def _ignore(_answer: Answer[bool]) -> None:
    """Take an answer that says nothing."""
