"""The per-process cache of loaded weights, so that builders of one file read it from disk once.

A caller must know one rule: what the registry hands out is shared and clean. Never write into it; whoever changes
weights puts changed tensors beside it (a LoRA fuse) or owns a copy.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, Self

import torch

from podium.models.header import SafetensorsHeader

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FileStamp:
    """What tells one content of a file from the next without reading it.

    Args:
        path: The resolved path.
        num_bytes: Size of the file.
        mtime_ns: Time of its last change in nanoseconds.
    """

    path: Path
    num_bytes: int
    mtime_ns: int

    @classmethod
    def of(cls, path: Path) -> Self:
        """Take the stamp of a file as it lies on disk.

        Raises:
            OSError: It cannot be looked at.
        """
        status = path.stat()
        return cls(path, status.st_size, status.st_mtime_ns)

    def is_current(self) -> bool:
        """Say whether the file still is what it was when stamped; a file that cannot be looked at is not."""
        try:
            return FileStamp.of(self.path) == self
        except OSError:
            return False


@dataclass(frozen=True, slots=True)
class StateDictKey:
    """Which weights: the files, the names they got, where they lie and what they were turned into.

    Build it with `of`, which resolves the paths.
    """

    paths: tuple[Path, ...]
    key_map: str
    device: str
    dtype: str
    policy: str

    @classmethod
    def of(
        cls, paths: Sequence[Path], key_map: str, *, device: torch.device, dtype: torch.dtype, policy: str = "cast"
    ) -> Self:
        """Name weights by the resolved `paths`, so that two ways to one file are one entry."""
        return cls(tuple(path.resolve() for path in paths), key_map, str(device), str(dtype), policy)


@dataclass(frozen=True, slots=True)
class LoadedStateDict:
    """Weights as read from disk: shared, clean, not to be written into.

    Args:
        headers: The headers of the files, in the order of the key's paths.
        tensors: Weights by module key.
        stamps: The files as they were before reading began.
    """

    headers: tuple[SafetensorsHeader, ...]
    tensors: Mapping[str, torch.Tensor] = field(repr=False)
    stamps: tuple[FileStamp, ...]

    @property
    def num_bytes(self) -> int:
        """Memory the tensors hold, in bytes."""
        return sum(tensor.nbytes for tensor in self.tensors.values())

    def is_current(self) -> bool:
        """Say whether every file still is what was read."""
        return all(stamp.is_current() for stamp in self.stamps)


class Registry(Protocol):
    """What a builder asks of a cache of weights."""

    def get(self, key: StateDictKey) -> LoadedStateDict | None:
        """Return the weights of `key` if they are held and still those on disk."""

    def add(self, key: StateDictKey, loaded: LoadedStateDict) -> None:
        """Hold weights that were read whole."""

    def pop(self, key: StateDictKey) -> LoadedStateDict | None:
        """Let go of the weights of `key` and return them."""

    def clear(self) -> None:
        """Let go of everything."""


class StateDictRegistry:
    """The registry of one process, which notices a file that was replaced in place.

    Only the thread that touches torch calls it.
    """

    def __init__(self) -> None:
        self._entries: dict[StateDictKey, LoadedStateDict] = {}

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def num_bytes(self) -> int:
        """Memory that all entries hold, in bytes."""
        return sum(entry.num_bytes for entry in self._entries.values())

    def get(self, key: StateDictKey) -> LoadedStateDict | None:
        """Return the weights of `key`, or None if they are not held or the file on disk is another one by now."""
        entry = self._entries.get(key)
        if entry is None or entry.is_current():
            return entry
        logger.info("weights of %s are read again: the file was replaced", ", ".join(p.name for p in key.paths))
        del self._entries[key]
        return None

    def add(self, key: StateDictKey, loaded: LoadedStateDict) -> None:
        """Hold weights that were read whole, in place of what was held for `key`."""
        self._entries[key] = loaded

    def pop(self, key: StateDictKey) -> LoadedStateDict | None:
        """Let go of the weights of `key` and return them; None if they were not held."""
        return self._entries.pop(key, None)

    def clear(self) -> None:
        """Let go of everything. Tensors that a module still uses live on with it."""
        self._entries.clear()
