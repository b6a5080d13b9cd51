"""What the owner of the fleet tells the window: frozen events, made in the owner's thread."""

from __future__ import annotations

from dataclasses import dataclass, field

from podium.jobs import ClipFinished, DurationPredicted, JobEvent, Phase, PromptEnhanced
from podium.ui.state.links import FleetLinks
from podium.ui.state.values import ErrorMessage, FleetSpec, JobPhase


@dataclass(frozen=True, slots=True)
class FleetStarting:
    """A fleet starts; it can be looked at and force-stopped from now on."""

    spec: FleetSpec


@dataclass(frozen=True, slots=True)
class FleetReady:
    """The fleet is up, `duration_s` seconds after its start began; its GPUs reach each other by `links`."""

    spec: FleetSpec
    duration_s: float
    links: FleetLinks = field(default_factory=FleetLinks)


@dataclass(frozen=True, slots=True)
class FleetStopping:
    """The fleet was asked to end."""


@dataclass(frozen=True, slots=True)
class FleetStopped:
    """There is no fleet any more, as was asked."""


@dataclass(frozen=True, slots=True)
class FleetFailed:
    """The fleet is gone, or did not come up, although nobody asked for that.

    Args:
        will_restart: Another is started right away.
        is_blocked: Its devices cannot be had: one is gone, or does not let go of its last fleet.
        is_end: It was one too many in a row: no other is started, and the queue has to wait for the artist.
    """

    message: ErrorMessage
    will_restart: bool = False
    is_blocked: bool = False
    is_end: bool = False


FleetEvent = FleetStarting | FleetReady | FleetStopping | FleetStopped | FleetFailed


@dataclass(frozen=True, slots=True)
class JobTaken:
    """A job's turn has come: its fleet is started if need be."""

    key: int


@dataclass(frozen=True, slots=True)
class JobStarted:
    """A job was handed to the ranks: it can be cancelled from now on."""

    key: int


@dataclass(frozen=True, slots=True)
class JobEnded:
    """A job is over.

    Args:
        outcome: FINISHED with `clip`, or of a prompt with `answer`; STOPPED; FAILED or REFUSED with `message`.
        rank: Over which it failed; None if it was none, or is not known.
        phase: In which it failed, as far as that is known.
        log_lines: The last lines of that rank, oldest first.
    """

    key: int
    outcome: JobPhase
    clip: ClipFinished | None = None
    message: ErrorMessage | None = None
    rank: int | None = None
    phase: Phase | None = None
    log_lines: tuple[str, ...] = ()
    answer: PromptEnhanced | DurationPredicted | None = None


@dataclass(frozen=True, slots=True)
class JobNews:
    """What ranks said of a job since the last news, coalesced, in order."""

    key: int
    events: tuple[JobEvent, ...]


OwnerEvent = FleetEvent | JobTaken | JobStarted | JobEnded
