"""How the GPUs of a fleet exchange data, as NVML and the kernel tell before anything opens a CUDA context. No torch.

From that follows what the artist is told, and which settings of NCCL rescue a machine whose GPUs cannot reach each
other: those go into the workers' environment, and only where they are needed.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import combinations
from pathlib import Path

import pynvml

from podium.multigpu.placement import FleetPlan

logger = logging.getLogger(__name__)

# What NCCL may want there for a rank that reaches others through the host; containers start with 64 MiB for all.
SHARED_MEMORY_BYTES = 32 << 20


class LinkKind(StrEnum):
    """Ways from one GPU to another, from the fastest to the slowest: a closed set.

    NVLINK: wires of their own. PEER: straight over the PCI bus. HOST: through the host's memory.
    """

    NVLINK = "nvlink"
    PEER = "peer"
    HOST = "host"


class NoPeerReason(StrEnum):
    """Why two GPUs have no direct link: a closed set, each half a sentence."""

    CHIPSET = "the mainboard's chipset does not allow it"
    GPU = "these cards do not offer it"
    TOPOLOGY = "they hang on different processors"
    DISABLED = "the driver's settings switch it off"
    IOMMU = "the IOMMU stands between them"
    UNKNOWN = "the driver does not say why"


@dataclass(frozen=True, slots=True)
class Link:
    """How two GPUs reach each other.

    Args:
        ranks: The two.
        devices: Their numbers, as `devices=` counts.
        kind: The way.
        reason: Why it is no better; None where it is direct.
    """

    ranks: tuple[int, int]
    devices: tuple[int, int]
    kind: LinkKind
    reason: NoPeerReason | None = None

    def describe(self) -> str:
        """Return it as a sentence."""
        pair = f"GPU {self.devices[0]} and GPU {self.devices[1]}"
        match self.kind:
            case LinkKind.NVLINK:
                return f"{pair} exchange over NVLink."
            case LinkKind.PEER:
                return f"{pair} exchange directly over the PCI bus."
            case _:
                return f"{pair} have no direct link: {self.reason or NoPeerReason.UNKNOWN}."


@dataclass(frozen=True, slots=True)
class FleetLinks:
    """The links of a fleet, and what follows.

    Args:
        links: Of every two ranks on unlike GPUs; empty on the CPU.
        settings: What workers get into their environment beside.
    """

    links: tuple[Link, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)

    def weakest(self, team_size: int) -> LinkKind | None:
        """Return the slowest link within teams of so many neighbouring ranks; None if nobody knows of any."""
        kinds = [link.kind for link in self.links if link.ranks[0] // team_size == link.ranks[1] // team_size]
        return max(kinds, key=list(LinkKind).index, default=None)

    def by_team_size(self, num_ranks: int) -> dict[int, str]:
        """Return the slowest link within a team, as text, for every size that parts the ranks evenly."""
        sizes = [size for size in range(2, num_ranks + 1) if num_ranks % size == 0]
        return {size: kind.value for size in sizes if (kind := self.weakest(size)) is not None}

    def sentences(self) -> tuple[str, ...]:
        """Return what is to be said of them; nothing where there is no link."""
        if not self.links:
            return ()
        kinds = {link.kind for link in self.links}
        if kinds == {LinkKind.NVLINK} and len(self.links) > 1:
            said = ["All GPUs of the fleet exchange over NVLink."]
        else:
            said = [link.describe() for link in self.links]
        if LinkKind.HOST in kinds:
            said.append("Steps that spread one forward over such GPUs will be slower; guidance is dealt out instead.")
        said += [f"{name}={value} was set for this fleet." for name, value in self.settings.items()]
        return tuple(said)


@dataclass(frozen=True, slots=True)
class Machine:
    """What is asked of the machine beside NVML.

    Args:
        is_translated: Says of a GPU's bus id whether an IOMMU translates its addresses.
        shared_memory_bytes: Says how much is free where processes share memory.
    """

    is_translated: Callable[[str], bool]
    shared_memory_bytes: Callable[[], int]


def look_at_links(plan: FleetPlan, environment: Mapping[str, str]) -> FleetLinks:
    """Look at the links of a fleet that is to be started, and say in the log what they are and what follows.

    Ranks: driver.
    """
    # Without its UUID it is not known which card a rank will have.
    uuids = [(place.index, place.uuid) for place in plan.places if place.index is not None and place.uuid is not None]
    if len({uuid for _, uuid in uuids}) < 2 or len(uuids) < plan.num_ranks:
        return FleetLinks()
    links = read_links(uuids, environment)
    for sentence in links.sentences():
        logger.info("%s", sentence)
    return links


def read_links(
    uuids: Sequence[tuple[int, str]], environment: Mapping[str, str], machine: Machine | None = None
) -> FleetLinks:
    """Look at how the GPUs of a fleet are connected.

    Ranks: driver.

    Args:
        uuids: Number and UUID of each rank's GPU, in rank order.
        environment: Of the workers; what the user has set there stays.
        machine: This one by default.
    """
    machine = machine or Machine(_is_translated, _free_shared_memory_bytes)
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        logger.warning("The links between the GPUs cannot be looked at: %s", error)
        return FleetLinks()
    try:
        links = tuple(_read_pairs(uuids, machine))
    except pynvml.NVMLError as error:
        logger.warning("The links between the GPUs cannot be looked at: %s", error)
        return FleetLinks()
    finally:
        pynvml.nvmlShutdown()
    return FleetLinks(links, choose_settings(links, environment, machine, len(uuids)))


def choose_settings(
    links: Sequence[Link], environment: Mapping[str, str], machine: Machine, num_ranks: int
) -> dict[str, str]:
    """Return the settings of NCCL that a machine needs whose GPUs are linked so; none where it needs none.

    Where NVML or the IOMMU rules out peers, NCCL is told, for it asks CUDA, which on some machines promises what then
    hangs. It takes to the host's memory instead, and to loopback where too little of that may be shared.

    Source: NCCL's manual, chapters on environment variables and on troubleshooting (PCI access control, shared memory).
    """
    kinds = {link.kind for link in links}
    if LinkKind.HOST not in kinds:
        return {}
    chosen: dict[str, str] = {}
    if not {"NCCL_P2P_DISABLE", "NCCL_P2P_LEVEL"} & environment.keys():
        if kinds == {LinkKind.HOST}:
            chosen["NCCL_P2P_DISABLE"] = "1"
        elif LinkKind.PEER not in kinds:
            chosen["NCCL_P2P_LEVEL"] = "NVL"
    if "NCCL_SHM_DISABLE" not in environment and machine.shared_memory_bytes() < num_ranks * SHARED_MEMORY_BYTES:
        chosen["NCCL_SHM_DISABLE"] = "1"
    return chosen


def _read_pairs(uuids: Sequence[tuple[int, str]], machine: Machine) -> list[Link]:
    handles = [pynvml.nvmlDeviceGetHandleByUUID(uuid) for _, uuid in uuids]
    links = []
    for first, second in combinations(range(len(uuids)), 2):
        if uuids[first] == uuids[second]:
            # Ranks that share a GPU.
            continue
        kind, reason = _read_pair(handles[first], handles[second], machine)
        links.append(Link((first, second), (uuids[first][0], uuids[second][0]), kind, reason))
    return links


def _read_pair(first: object, second: object, machine: Machine) -> tuple[LinkKind, NoPeerReason | None]:
    def status(capability: int) -> int:
        return int(pynvml.nvmlDeviceGetP2PStatus(first, second, capability))

    if status(pynvml.NVML_P2P_CAPS_INDEX_NVLINK) == pynvml.NVML_P2P_STATUS_OK:
        return LinkKind.NVLINK, None
    both = [status(capability) for capability in (pynvml.NVML_P2P_CAPS_INDEX_READ, pynvml.NVML_P2P_CAPS_INDEX_WRITE)]
    if refusals := [one for one in both if one != pynvml.NVML_P2P_STATUS_OK]:
        return LinkKind.HOST, _reason(refusals[0])
    if any(machine.is_translated(_bus_id(handle)) for handle in (first, second)):
        return LinkKind.HOST, NoPeerReason.IOMMU
    return LinkKind.PEER, None


def _reason(status: int) -> NoPeerReason:
    return {
        pynvml.NVML_P2P_STATUS_CHIPSET_NOT_SUPPORTED: NoPeerReason.CHIPSET,
        pynvml.NVML_P2P_STATUS_GPU_NOT_SUPPORTED: NoPeerReason.GPU,
        pynvml.NVML_P2P_STATUS_NOT_SUPPORTED: NoPeerReason.GPU,
        pynvml.NVML_P2P_STATUS_IOH_TOPOLOGY_NOT_SUPPORTED: NoPeerReason.TOPOLOGY,
        pynvml.NVML_P2P_STATUS_DISABLED_BY_REGKEY: NoPeerReason.DISABLED,
    }.get(status, NoPeerReason.UNKNOWN)


def _bus_id(handle: object) -> str:
    bus_id = pynvml.nvmlDeviceGetPciInfo(handle).busId
    return bus_id.decode() if isinstance(bus_id, bytes) else str(bus_id)


def _is_translated(bus_id: str) -> bool:
    # The kernel writes four digits of the domain, NVML eight.
    domain, _, rest = bus_id.lower().partition(":")
    path = Path("/sys/bus/pci/devices") / f"{domain[-4:]}:{rest}" / "iommu_group" / "type"
    try:
        return path.read_text(encoding="ascii").strip().startswith("DMA")
    except OSError:
        return False


def _free_shared_memory_bytes() -> int:
    try:
        stats = os.statvfs("/dev/shm")
    except OSError:
        return 0
    return stats.f_bavail * stats.f_frsize
