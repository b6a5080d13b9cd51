"""The system's trash."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QFile

from podium.ui.trash import SystemTrash


def test_what_is_thrown_away_is_gone_and_can_be_taken_back(
    qapp: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "data").mkdir()
    clip = tmp_path / "fox.mp4"
    clip.write_bytes(b"clip")
    assert SystemTrash().take(clip)
    assert not clip.exists()
    (kept,) = (path for path in (tmp_path / "data").rglob("fox*.mp4") if path.is_file())
    assert kept.read_bytes() == b"clip"


def test_what_cannot_be_thrown_away_says_so(qapp: object, tmp_path: Path) -> None:
    assert not SystemTrash().take(tmp_path / "gone.mp4")
    assert not QFile.exists(str(tmp_path / "gone.mp4"))
