"""The clips that were finished while the window is open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from podium.helper.requests import Answer, MakeThumbnail, Thumbnail
from podium.jobs import ClipFinished, GenerationRequest
from podium.ui.state.observable import ObservableState
from podium.ui.state.ports import HelperPort
from podium.ui.state.values import HistoryEntry

THUMBNAIL_PX = 192


class HistoryState(ObservableState):
    """The clips that were finished while the window is open, newest first.

    Args:
        helper: Makes thumbnails.
        now: Gives the time.
    """

    entries_changed = Signal()
    selected_changed = Signal()

    def __init__(
        self,
        helper: HelperPort,
        parent: QObject | None = None,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        super().__init__(parent)
        self._helper = helper
        self._now = now
        self._entries: tuple[HistoryEntry, ...] = ()
        self._selected: HistoryEntry | None = None

    @property
    def entries(self) -> tuple[HistoryEntry, ...]:
        """Return the clips, newest first."""
        return self._entries

    @property
    def selected(self) -> HistoryEntry | None:
        """Return the clip that is looked at; None for the live one."""
        return self._selected

    def add(self, clip: ClipFinished, request: GenerationRequest) -> None:
        """Put a finished clip in front."""
        entry = HistoryEntry(clip, request, self._now())
        self._update(entries=(entry, *self._entries))
        self._helper.ask(MakeThumbnail(clip.path, THUMBNAIL_PX), partial(self._take_thumbnail, clip.path))

    def select(self, path: Path | None) -> None:
        """Look at a clip; None looks at the live one again."""
        self._update(selected=next((entry for entry in self._entries if entry.clip.path == path), None))

    def _take_thumbnail(self, path: Path, answer: Answer[Thumbnail]) -> None:
        entries = tuple(
            replace(entry, thumbnail=answer.value) if entry.clip.path == path else entry for entry in self._entries
        )
        selected = self._selected and next(entry for entry in entries if entry.clip.path == self._selected.clip.path)
        self._update(entries=entries, selected=selected)
