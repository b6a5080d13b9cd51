"""The cache of loaded weights."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch

from podium.models.registry import FileStamp, LoadedStateDict, StateDictKey, StateDictRegistry

CPU = torch.device("cpu")


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    path = tmp_path / "weights.safetensors"
    path.write_bytes(b"first")
    return path


def key_of(path: Path, key_map: str = "toy", dtype: torch.dtype = torch.float32) -> StateDictKey:
    return StateDictKey.of([path], key_map, device=CPU, dtype=dtype)


def loaded_from(path: Path) -> LoadedStateDict:
    return LoadedStateDict((), {"weight": torch.ones(3)}, (FileStamp.of(path.resolve()),))


def test_what_was_added_is_found(checkpoint: Path) -> None:
    registry, loaded = StateDictRegistry(), loaded_from(checkpoint)
    registry.add(key_of(checkpoint), loaded)
    assert registry.get(key_of(checkpoint)) is loaded
    assert (len(registry), registry.num_bytes) == (1, 12)


def test_two_ways_to_one_file_are_one_entry(checkpoint: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.safetensors"
    link.symlink_to(checkpoint)
    assert key_of(link) == key_of(checkpoint) == key_of(tmp_path / "nowhere" / ".." / checkpoint.name)


@pytest.mark.parametrize(
    "other", [{"key_map": "another"}, {"dtype": torch.bfloat16}], ids=["another key map", "another type"]
)
def test_other_weights_of_one_file_are_another_entry(checkpoint: Path, other: dict[str, object]) -> None:
    registry = StateDictRegistry()
    registry.add(key_of(checkpoint), loaded_from(checkpoint))
    assert registry.get(key_of(checkpoint, **other)) is None  # type: ignore[arg-type] # one keyword at a time


def test_a_file_of_another_size_is_not_the_one_that_was_read(checkpoint: Path) -> None:
    registry = StateDictRegistry()
    registry.add(key_of(checkpoint), loaded_from(checkpoint))
    status = checkpoint.stat()
    checkpoint.write_bytes(b"longer")
    os.utime(checkpoint, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert registry.get(key_of(checkpoint)) is None
    assert len(registry) == 0


def test_a_file_changed_later_is_not_the_one_that_was_read(checkpoint: Path) -> None:
    registry = StateDictRegistry()
    registry.add(key_of(checkpoint), loaded_from(checkpoint))
    status = checkpoint.stat()
    checkpoint.write_bytes(b"other")
    os.utime(checkpoint, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    assert registry.get(key_of(checkpoint)) is None


def test_a_file_that_is_gone_is_let_go(checkpoint: Path) -> None:
    registry = StateDictRegistry()
    registry.add(key_of(checkpoint), loaded_from(checkpoint))
    checkpoint.unlink()
    assert registry.get(key_of(checkpoint)) is None


def test_popping_hands_the_weights_back_once(checkpoint: Path) -> None:
    registry, loaded = StateDictRegistry(), loaded_from(checkpoint)
    registry.add(key_of(checkpoint), loaded)
    assert registry.pop(key_of(checkpoint)) is loaded
    assert registry.pop(key_of(checkpoint)) is None


def test_clearing_leaves_nothing(checkpoint: Path) -> None:
    registry = StateDictRegistry()
    registry.add(key_of(checkpoint), loaded_from(checkpoint))
    registry.clear()
    assert len(registry) == 0
    assert registry.get(key_of(checkpoint)) is None
