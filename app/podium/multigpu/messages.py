"""What the driver tells a worker first. Plain values only: a worker reads it before it has its module path."""

from __future__ import annotations

from dataclasses import dataclass, field

# Exit codes by which a rank says why it ended by itself.
EXIT_NOT_BORN = 70
EXIT_LINK_BROKEN = 71


@dataclass(frozen=True, slots=True)
class LogFiles:
    """Where a rank writes, empty for nowhere.

    Args:
        log: Its log, rotated.
        stdout: What it prints; empty keeps the driver's console.
        stderr: The same for errors.
    """

    log: str
    stdout: str
    stderr: str


@dataclass(frozen=True, slots=True)
class BeginMessage:
    """All that a worker has to know before it loads its runner.

    Args:
        device: "cpu" or "cuda:<index>".
        uuid: Of the GPU that this has to be; None if it cannot be told.
        backend: For the collectives.
        store_path: The file by which the ranks find each other.
        environment: All variables.
        search_path: Where modules are looked for.
        preloaded: Modules that should have been loaded ahead.
        links: The slowest link within a team of ranks, by its size.
    """

    rank: int
    world_size: int
    device: str
    uuid: str | None
    backend: str
    store_path: str
    environment: dict[str, str]
    folder: str
    search_path: list[str]
    logs: LogFiles
    preloaded: tuple[str, ...]
    links: dict[int, str] = field(default_factory=dict)
