"""Rows for the library's tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from podium.jobs import FileIdentity, LoraSpec
from podium.library.history_store import HistoryRow
from podium.library.queue_store import QueueRow

from tests.fakes.requests import make_clip, make_request

MOMENT = datetime(2026, 11, 29, 18, 30, 1, 123456, tzinfo=UTC)


def queue_row(key: int, *, status: str = "pending") -> QueueRow:
    files = (FileIdentity(Path("/loras/fox.safetensors"), 10, 20, "ab"),)
    return QueueRow(key, make_request(seed=key), {"devices": [0]}, status, MOMENT, files=files)


def history_row(
    prompt: str, *, minute: int = 0, loras: tuple[str, ...] = (), model_name: str = "ltx", path: str = "/clips/a.mp4"
) -> HistoryRow:
    specs = tuple(LoraSpec(Path("/loras", f"{name}.safetensors")) for name in loras)
    request = make_request(prompt, loras=specs)
    moment = MOMENT + timedelta(minutes=minute)
    return HistoryRow(make_clip(Path(path)), request, moment, fleet={"a": 1}, model_name=model_name, duration_s=12.5)
