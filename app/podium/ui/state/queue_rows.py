"""From the queue's entries to what lies on disk, and back."""

from __future__ import annotations

from typing import Any

from podium.jobs import Phase
from podium.library.queue_store import QueueRow
from podium.ui.state.fleet_json import spec_from_dict, spec_to_dict
from podium.ui.state.values import EntryStatus, ErrorMessage, QueueEntry


def to_row(entry: QueueEntry) -> QueueRow:
    """Return an entry as it is kept."""
    return QueueRow(
        key=entry.key,
        request=entry.request,
        fleet=spec_to_dict(entry.spec),
        status=entry.status.value,
        added_at=entry.added_at,
        failure=_failure_to_dict(entry),
        files=entry.files,
        notes=entry.notes,
    )


def from_row(row: QueueRow) -> QueueEntry:
    """Return the entry that was kept.

    Raises:
        ValueError: A newer Podium kept it.
    """
    failure: dict[str, Any] = dict(row.failure)
    has_error = "sentence" in failure
    return QueueEntry(
        key=row.key,
        request=row.request,
        spec=spec_from_dict(row.fleet),
        status=EntryStatus(row.status),
        added_at=row.added_at,
        error=ErrorMessage(failure["sentence"], failure.get("details", "")) if has_error else None,
        failed_rank=failure.get("rank"),
        failed_phase=None if failure.get("phase") is None else Phase(failure["phase"]),
        log_lines=tuple(failure.get("log_lines", ())),
        files=row.files,
        notes=row.notes,
    )


def _failure_to_dict(entry: QueueEntry) -> dict[str, object]:
    error = entry.error
    if error is None:
        return {}
    return {
        "sentence": error.sentence,
        "details": error.details,
        "rank": entry.failed_rank,
        "phase": None if entry.failed_phase is None else entry.failed_phase.value,
        "log_lines": list(entry.log_lines),
    }
