"""From the history's entries to what lies on disk, and back."""

from __future__ import annotations

from datetime import datetime

from podium.jobs import ClipFinished, GenerationRequest
from podium.library.history_store import HistoryRow
from podium.ui.state.fleet_json import spec_from_dict, spec_to_dict
from podium.ui.state.values import FleetSpec, HistoryEntry


def to_row(
    clip: ClipFinished,
    request: GenerationRequest,
    finished_at: datetime,
    *,
    spec: FleetSpec | None,
    duration_s: float | None,
) -> HistoryRow:
    """Return a clip as it is kept; it has no key yet.

    Args:
        spec: The fleet it was made on.
        duration_s: Seconds that making it took.
    """
    return HistoryRow(
        clip,
        request,
        finished_at,
        fleet=None if spec is None else spec_to_dict(spec),
        model_name="" if spec is None else spec.models.checkpoint_path.stem,
        duration_s=duration_s,
    )


def from_row(row: HistoryRow) -> HistoryEntry:
    """Return the entry that was kept."""
    spec = spec_in(row)
    return HistoryEntry(
        key=row.key,
        clip=row.clip,
        request=row.request,
        finished_at=row.finished_at,
        is_starred=row.is_starred,
        model_name=row.model_name,
        duration_s=row.duration_s,
        is_missing=row.is_missing,
        models=None if spec is None else spec.models,
    )


def spec_in(row: HistoryRow) -> FleetSpec | None:
    """Return the fleet that a clip was made on; None if that is not known, or was kept by a newer Podium."""
    if row.fleet is None:
        return None
    try:
        return spec_from_dict(row.fleet)
    except ValueError:
        return None
