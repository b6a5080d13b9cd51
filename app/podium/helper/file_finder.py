"""Finds files of this machine by what a clip says of its own: a name, and mostly a fingerprint."""

from __future__ import annotations

import logging
import os
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from podium.jobs import FileIdentity
from podium.pipelines.parameters import fingerprint

MAX_DEPTH = 4
MAX_FILES = 20_000
SEARCH_LIMIT_S = 5.0
"""For a file that has another name here: each that might be it is read in samples."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Match:
    """A file that was found.

    Args:
        is_same: Its content is the one looked for, as far as that is told; False if only its name is.
    """

    path: Path
    is_same: bool = True


class Fingerprints:
    """Fingerprints of files, read once for each content."""

    def __init__(self) -> None:
        self._known: dict[tuple[Path, int, int], str] = {}

    def identify(self, path: Path) -> FileIdentity | None:
        """Return what a file is; None if it is none, or cannot be read."""
        try:
            status = path.stat()
            if not path.is_file():
                return None
            key = (path, status.st_size, status.st_mtime_ns)
            if key not in self._known:
                self._known[key] = fingerprint(path)
        except OSError as error:
            _log.info("%s cannot be looked at: %s", path, error)
            return None
        return FileIdentity(*key, self._known[key])

    def learn(self, identity: FileIdentity) -> None:
        """Take over a fingerprint that was read before."""
        if identity.fingerprint:
            self._known[(identity.path, identity.num_bytes, identity.mtime_ns)] = identity.fingerprint

    def of(self, path: Path) -> str:
        """Return a file's fingerprint; empty if it cannot be read."""
        identity = self.identify(path)
        return "" if identity is None else identity.fingerprint


class FileFinder:
    """Finds files in some folders, and those that were used before wherever they lie.

    Args:
        folders: They are looked through four levels deep.
        known: Where files lay last.
        fingerprints: Those that were read.
    """

    def __init__(self, folders: Iterable[Path], known: Iterable[FileIdentity], fingerprints: Fingerprints) -> None:
        self._fingerprints = fingerprints
        self._known: dict[str, list[Path]] = defaultdict(list)
        self._by_name: dict[str, list[Path]] = defaultdict(list)
        for identity in known:
            fingerprints.learn(identity)
            self._known[identity.fingerprint].append(identity.path)
        for path in _files_below(dict.fromkeys(folders)):
            self._by_name[path.name].append(path)

    def find(self, name: str, wanted: str) -> Match | None:
        """Return the file of a fingerprint, or else one of that name; None without either.

        Args:
            name: The file's or folder's name where the clip was made.
            wanted: Its fingerprint; empty for a folder, which has none.
        """
        named = self._by_name.get(name, [])
        if not wanted:
            return Match(named[0]) if named else None
        for path in (*self._known.get(wanted, ()), *named):
            if self._fingerprints.of(path) == wanted:
                return Match(path)
        if (renamed := self._find_renamed(Path(name).suffix, wanted)) is not None:
            return Match(renamed)
        return Match(named[0], is_same=False) if named else None

    def _find_renamed(self, suffix: str, wanted: str) -> Path | None:
        deadline_s = time.monotonic() + SEARCH_LIMIT_S
        for path in (path for paths in self._by_name.values() for path in paths if path.suffix == suffix):
            if time.monotonic() > deadline_s:
                return None
            if self._fingerprints.of(path) == wanted:
                return path
        return None


def _files_below(folders: Iterable[Path]) -> Iterator[Path]:
    """Iterate over files and folders below some folders, each folder's own first; at most 20,000."""
    num_found, seen = 0, set[Path]()
    for root in folders:
        for parent, folder_names, names in os.walk(root):
            here = Path(parent)
            if here in seen or len(here.relative_to(root).parts) >= MAX_DEPTH:
                folder_names.clear()
                continue
            seen.add(here)
            for name in (*sorted(names), *sorted(folder_names)):
                yield here / name
                num_found += 1
                if num_found >= MAX_FILES:
                    return
