"""The process groups that a runner gets. No torch at run time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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
