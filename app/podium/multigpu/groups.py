"""The process groups that a runner gets. No torch at run time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from podium.multigpu.links import LinkKind

if TYPE_CHECKING:
    from torch.distributed import ProcessGroup


class TeamGroups:
    """The groups of the teams that the passes of a guided step are dealt to, as far as this rank belongs to them.

    Teams have unlike work to do, so their collectives are counted apart: `level` brings every rank to one count where
    their work is over, and until then the rank that began the fewest of its team still holds the others up.
    """

    def __init__(self) -> None:
        self._groups: dict[int, ProcessGroup] = {}
        # What `level` has credited, and how many collectives had begun by then: one value, for another thread reads it.
        self._credit = (0, 0)

    def add(self, num_teams: int, group: ProcessGroup) -> None:
        """Take in this rank's group of the mesh with so many teams."""
        # Another thread may be counting: it keeps the ones it has.
        self._groups = {**self._groups, num_teams: group}

    def find(self, num_teams: int) -> ProcessGroup | None:
        """Return this rank's group of the mesh with so many teams; None where none was made."""
        return self._groups.get(num_teams)

    def level(self, most: int) -> None:
        """Say that every rank's part of a step is over, which took no rank more than `most` collectives.

        Ranks: one rank, local; all of them, with the same number.
        """
        self._credit = (self._credit[0] + most, num_begun(self._groups.values()))

    def num_collectives(self) -> int:
        """Return how many collectives this rank has begun in its teams, brought level with the other ranks."""
        credited, counted = self._credit
        return credited + num_begun(self._groups.values()) - counted


class ReplayedCollectives:
    """The collectives that replays of recorded forwards began; torch counts those of a recording when it is made."""

    def __init__(self) -> None:
        self._num = 0

    def add(self, num_collectives: int) -> None:
        """Count some as begun.

        Ranks: one rank, local.
        """
        self._num += num_collectives

    @property
    def num_begun(self) -> int:
        """Return how many there were."""
        return self._num


@dataclass(frozen=True, slots=True)
class NCCLGroups:
    """One process group per component; the name stays on every backend.

    The first three may be one and the same group.

    Args:
        gemma_group: For the text encoder.
        transformer_group: For the transformer, and the weights it shares.
        vae_group: For the decoders.
        control_group: Small values in host memory, on gloo whatever the device is.
        teams: Parts of the transformer's group; none until somebody makes them.
        replayed: What torch does not count of the transformer's group.
        links: The slowest link between the ranks of one team, by the team's size, and between all by theirs; empty
            where nobody looked, as on the CPU.
    """

    gemma_group: ProcessGroup
    transformer_group: ProcessGroup
    vae_group: ProcessGroup
    control_group: ProcessGroup
    teams: TeamGroups = field(default_factory=TeamGroups)
    replayed: ReplayedCollectives = field(default_factory=ReplayedCollectives)
    links: Mapping[int, LinkKind] = field(default_factory=dict)


def collective_counter(groups: NCCLGroups) -> Callable[[], int]:
    """Return how to count the collectives that this rank has begun on the fleet's groups, whoever began them.

    Any thread may count, also while another waits in a collective.

    Ranks: one rank, local.
    """
    members = (groups.gemma_group, groups.transformer_group, groups.vae_group, groups.control_group)
    distinct: dict[int, Any] = {id(group): group for group in members}
    return lambda: num_begun(distinct.values()) + groups.teams.num_collectives() + groups.replayed.num_begun


def num_begun(groups: Iterable[Any]) -> int:
    """Return how many collectives this rank has begun on groups, as torch counts them.

    Ranks: one rank, local.
    """
    # The number by which torch's own debugging tells collectives apart; it has no public name, and no type.
    counted = [group for group in groups if hasattr(group, "_get_sequence_number_for_group")]
    return sum(int(group._get_sequence_number_for_group()) for group in counted)  # noqa: SLF001
