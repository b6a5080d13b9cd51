"""How the GPUs of a fleet reach each other, as the window shows it. No Qt."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class LinkWay(StrEnum):
    """Ways from one GPU to another, from the fastest to the slowest: a closed set.

    NVLINK: wires of their own. PEER: straight over the PCI bus. HOST: through the host's memory.
    """

    NVLINK = "nvlink"
    PEER = "peer"
    HOST = "host"


@dataclass(frozen=True, slots=True)
class FleetLinks:
    """The links of a fleet.

    Args:
        way: The slowest between two of its GPUs; None where there is none to know of: one GPU, or the CPU.
        sentences: What is known of each, and what follows.
    """

    way: LinkWay | None = None
    sentences: tuple[str, ...] = ()
