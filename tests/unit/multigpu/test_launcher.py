"""What is imported ahead, while devices are hidden, and forked: it must not keep the answer that there are none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

from podium.multigpu.launcher import preload

ASKING = """
import torch

ask = staticmethod(torch.cuda.device_count)
seen = torch.cuda.device_count(), torch.cuda.is_available()
"""


def test_what_a_module_keeps_of_hidden_devices_at_its_import_tells_the_truth_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "asking_for_devices.py").write_text(ASKING, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert preload(["asking_for_devices"]) == {}
    module = sys.modules.pop("asking_for_devices")
    assert module.seen == (0, False)
    assert module.ask() == 3
    assert torch.cuda.device_count() == 3
