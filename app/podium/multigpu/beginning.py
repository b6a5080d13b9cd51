"""What a rank is told when it begins: who it is, who the others are, and the environment it lives in. No torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from podium.multigpu.child import search_path
from podium.multigpu.forkserver import OFFLINE
from podium.multigpu.links import FleetLinks
from podium.multigpu.messages import BeginMessage, LogFiles
from podium.multigpu.placement import PCI_ORDER, FleetPlan

_SAME_FOR_ALL = {
    "MASTER_ADDR": "localhost",
    # Nothing listens beyond this machine.
    "GLOO_SOCKET_IFNAME": "lo",
    "NCCL_SOCKET_IFNAME": "lo",
    # A monitor of torch's own would end ranks that the driver still waits for.
    "TORCH_NCCL_ENABLE_MONITORING": "0",
    "TOKENIZERS_PARALLELISM": "false",
    **OFFLINE,
}


@dataclass(frozen=True, slots=True)
class Beginning:
    """What all ranks of a fleet begin with.

    Args:
        plan: Where each stands.
        folder: Private to the fleet; they meet in it.
        environment: Variables of the driver, before ours are added.
        links: Between the ranks.
        preloaded: Modules that they were forked with.
    """

    plan: FleetPlan
    folder: Path
    environment: Mapping[str, str] = field(repr=False)
    links: FleetLinks
    preloaded: tuple[str, ...]

    def of_rank(self, rank: int, logs: LogFiles) -> BeginMessage:
        """Return what one rank is told.

        Ranks: driver.
        """
        place, num_ranks = self.plan.places[rank], self.plan.num_ranks
        return BeginMessage(
            rank=rank,
            world_size=num_ranks,
            device=place.device,
            uuid=place.uuid,
            backend=self.plan.backend,
            store_path=str(self.folder / "rendezvous"),
            environment=self._environment(rank),
            folder=str(Path.cwd()),
            search_path=search_path(),
            logs=logs,
            preloaded=self.preloaded,
            links=self.links.by_team_size(num_ranks),
        )

    def _environment(self, rank: int) -> dict[str, str]:
        number, world_size = str(rank), str(self.plan.num_ranks)
        ours = {"RANK": number, "LOCAL_RANK": number, "WORLD_SIZE": world_size, "LOCAL_WORLD_SIZE": world_size}
        # The user's own order of devices stands; the rest of ours does.
        return {"CUDA_DEVICE_ORDER": PCI_ORDER, **self.environment, **ours, **_SAME_FOR_ALL}
