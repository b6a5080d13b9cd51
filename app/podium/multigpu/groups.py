"""The process groups that a runner gets. No torch at run time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch.distributed import ProcessGroup


@dataclass(frozen=True, slots=True)
class NCCLGroups:
    """One process group per component; the name stays on every backend.

    The first three may be one and the same group.

    Args:
        gemma_group: For the text encoder.
        transformer_group: For the transformer, and the weights it shares.
        vae_group: For the decoders.
        control_group: Small values in host memory, on gloo whatever the device is.
    """

    gemma_group: ProcessGroup
    transformer_group: ProcessGroup
    vae_group: ProcessGroup
    control_group: ProcessGroup


def collective_counter(groups: NCCLGroups) -> Callable[[], int]:
    """Return how to count the collectives that this rank has begun on the fleet's groups, whoever began them.

    Any thread may count, also while another waits in a collective.

    Ranks: one rank, local.
    """
    members = (groups.gemma_group, groups.transformer_group, groups.vae_group, groups.control_group)
    distinct: dict[int, Any] = {id(group): group for group in members}
    # The number by which torch's own debugging tells collectives apart; it has no public name, and no type.
    counters = [
        group._get_sequence_number_for_group  # noqa: SLF001
        for group in distinct.values()
        if hasattr(group, "_get_sequence_number_for_group")
    ]
    return lambda: sum(int(counter()) for counter in counters)
