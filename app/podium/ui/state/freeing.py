"""What a fleet held when it was told to end, and what of that is free again as read back from its devices. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from podium.ui.state.cards import DeviceCard
from podium.ui.state.readings import GpuReading, MachineReading, ReadingState

# A GPU's answer in a reading may be a second older than the reading: the second one is of after the end.
FIRST_READING = 2
PATIENCE_READINGS = 5


@dataclass(frozen=True, slots=True)
class HeldMemory:
    """What was held on a device.

    Args:
        index: Of the GPU, as a fleet counts; None on the CPU.
        pids: Of the ranks there.
    """

    key: str
    index: int | None
    num_bytes: int
    pids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Remainder:
    """What is held still.

    Args:
        num_bytes: None where the device does not answer.
        holders: Whose it is, in words.
    """

    held: HeldMemory
    num_bytes: int | None
    holders: tuple[str, ...] = ()


def held_by(cards: Sequence[DeviceCard]) -> tuple[HeldMemory, ...]:
    """Return what a fleet holds, device by device; nothing of a device that shows nothing."""
    return tuple(
        HeldMemory(card.key, card.index, card.ours_bytes, tuple(row.pid for row in card.ranks if row.pid is not None))
        for card in cards
        if card.ours_bytes
    )


def remainders(held: Sequence[HeldMemory], reading: MachineReading) -> tuple[Remainder, ...]:
    """Return what is not free yet, or cannot be told to be."""
    found = (_of_cpu(one, reading) if one.index is None else _of_gpu(one, reading.gpu(one.key)) for one in held)
    return tuple(one for one in found if one is not None)


def _of_gpu(held: HeldMemory, gpu: GpuReading | None) -> Remainder | None:
    if gpu is None or gpu.state is not ReadingState.WELL:
        return Remainder(held, None)
    ours = [process for process in gpu.processes if process.is_ours]
    if not ours:
        return None
    names = tuple(f"{process.name}, {process.pid}" for process in ours)
    return Remainder(held, gpu.ours_bytes, names)


def _of_cpu(held: HeldMemory, reading: MachineReading) -> Remainder | None:
    left = [process for pid in held.pids if (process := reading.process(pid)) is not None]
    if not left:
        return None
    return Remainder(held, sum(p.resident_bytes for p in left), tuple(f"process {p.pid}" for p in left))
