"""Which clip the Stage plays: what is selected, what was just finished, or the preview of what is being made."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from podium.geometry import ClipFormat
from podium.ui.state.history import HistoryState
from podium.ui.state.job import JobState
from podium.ui.state.values import HistoryEntry

# A clip that was just finished is among the newest.
_NUM_NEWEST = 8


@dataclass(frozen=True, slots=True)
class ShownClip:
    """A clip on the Stage.

    Args:
        is_preview: It is the first stage's, which is gone once the clip is finished.
    """

    path: Path
    clip: ClipFormat
    is_preview: bool = False


def shown_clip(job: JobState, history: HistoryState) -> ShownClip | None:
    """Return the clip that the Stage plays; None where it shows the live picture or words."""
    finished = history.selected.clip if history.selected else job.clip
    if finished is not None:
        return ShownClip(finished.path, finished.clip)
    if job.phase.is_active and job.preview_clip is not None and job.format is not None:
        return ShownClip(job.preview_clip, job.format.halved(), is_preview=True)
    return None


def entry_of_path(history: HistoryState, path: Path) -> HistoryEntry | None:
    """Return the entry of the clip that is selected or among the newest; None where there is none."""
    selected = history.selected
    if selected is not None:
        return selected if selected.clip.path == path else None
    model = history.model
    for row in range(min(_NUM_NEWEST, model.rowCount())):
        entry = model.index(row, 0).data(model.ENTRY_ROLE)
        if isinstance(entry, HistoryEntry) and entry.clip.path == path:
            return entry
    return None
