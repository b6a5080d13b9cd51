"""The logs of fleets for people: found, shown, and exported without what is nobody else's business. No torch."""

from __future__ import annotations

import getpass
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

HOME_WORD, USER_WORD = "~", "<user>"
# Names that tell nothing of a person.
_PUBLIC_NAMES = frozenset({"root", "user", "admin", "home", "nobody"})
_MIN_NAME_LENGTH = 3
# Where the system and installed code lie: to know which is half of what a log is read for.
_PUBLIC_FOLDERS = ("/proc/", "/sys/", "/dev/", "/usr/", "/lib/", "/lib64/", "/etc/", "/bin/")
_CODE_MARKS = ("/site-packages/", "/dist-packages/", "/podium/")
_NOT_IN_NAMES = r"\"'“”\u2018\u2019<>|\n"
_SUFFIXES = "safetensors|json|mp4|mov|png|jpe?g|webp|tiff?|avif|wav|log|out|toml|pyc?|txt|so"
# A path between quotes, one that ends like a file and may have blanks inside, or one without blanks. Not an address's.
_PATHS = tuple(
    re.compile(rf"(?<![\w:/>.~])(?P<path>~?/{rest}", re.IGNORECASE)
    for rest in (
        rf"[^{_NOT_IN_NAMES}]+)(?=[\"'”\u2019])",
        rf"[^{_NOT_IN_NAMES}:]+?\.(?:{_SUFFIXES})(?![\w.]))",
        rf"[^\s{_NOT_IN_NAMES}:,;()\[\]{{}}]+)",
    )
)


def user_name() -> str:
    """Return the user's name; empty for one whom this system has no name for."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""


@dataclass(frozen=True, slots=True)
class RankLogs:
    """What the ranks of one fleet left behind, oldest file first for each rank.

    Args:
        folder: Its name tells when the fleet was started, in UTC.
    """

    folder: Path
    files: tuple[Path, ...]

    def text(self) -> str:
        """Return all files, each under a line with its name."""
        return "\n".join(f"== {self.folder.name}/{path.name}\n{_read(path)}" for path in self.files)


@dataclass(slots=True)
class Redactor:
    """Replaces private paths in text; one that comes again gets the same name again.

    Args:
        home: The user's home folder.
        user: The user's name.
    """

    home: Path = field(default_factory=Path.home)
    user: str = field(default_factory=user_name)
    _folders: dict[str, str] = field(default_factory=dict)

    def redact(self, text: str) -> str:
        """Return `text` with folders, the home and the user's name replaced; names of files stay."""
        if len(self.home.parts) > 1:
            text = re.sub(rf"{re.escape(str(self.home))}(?![\w.-])", HOME_WORD, text)
        for pattern in _PATHS:
            text = pattern.sub(lambda match: self._without_folder(match["path"]), text)
        for name in {self.user, self.home.name} - _PUBLIC_NAMES:
            if len(name) >= _MIN_NAME_LENGTH:
                text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", USER_WORD, text)
        return text

    def _without_folder(self, path: str) -> str:
        for mark in _CODE_MARKS:
            if mark in path and path.endswith((".py", ".pyc", ".so")):
                return f"...{mark}{path.rpartition(mark)[2]}"
        if path.startswith(_PUBLIC_FOLDERS):
            return path
        folder, _, name = path.rstrip("/").rpartition("/")
        if folder in ("", HOME_WORD) and path.endswith("/"):
            folder, name = path, ""
        word = self._folders.setdefault(folder, f"<folder {len(self._folders) + 1}>")
        return f"{word}/{name}"


def find_logs(parent: Path) -> tuple[RankLogs, ...]:
    """Return the logs that are kept of fleets, the newest fleet's first."""
    found = []
    for folder in sorted(parent.glob("fleet-*"), reverse=True):
        files = sorted((path for path in folder.glob("rank-*") if path.is_file()), key=_order)
        if files:
            found.append(RankLogs(folder, tuple(files)))
    return tuple(found)


def export_text(logs: Sequence[RankLogs], redact: Callable[[str], str]) -> Iterator[str]:
    """Return what an export holds, fleet by fleet, without private paths."""
    for fleet in logs:
        yield redact(fleet.text()) + "\n"


def _order(path: Path) -> tuple[int, str, int]:
    # rank-0.log.2 is older than rank-0.log.1, and that older than rank-0.log.
    match = re.match(r"rank-(\d+)\.(\w+)(?:\.(\d+))?$", path.name)
    return (int(match[1]), match[2], -int(match[3] or 0)) if match else (10**6, path.name, 0)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        return f"(cannot be read: {error.strerror})\n"
