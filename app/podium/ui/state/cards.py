"""A card for each device of the fleet: what its ranks do, and what is known of the device itself. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from podium.ui.state.readings import GpuReading, MachineReading, ProcessMemory, ReadingState
from podium.ui.state.values import DeviceRow, FleetPhase, RankRow

_GPU_PREFIX = "cuda:"
_WAITING = "waiting"


class CardState(StrEnum):
    """What is to be said of a device, the worst first: a closed set.

    BLOCKED: a process that cannot be ended holds it. LOST: the driver reaches it no more. NOT_RESPONDING: a rank on it.
    NO_ANSWER: the driver, when asked for it. WAITING: a rank on it, for another. WELL: nothing.
    """

    BLOCKED = "blocked"
    LOST = "lost"
    NOT_RESPONDING = "not_responding"
    NO_ANSWER = "no_answer"
    WAITING = "waiting"
    WELL = "well"

    @property
    def is_bad(self) -> bool:
        """Return whether somebody should act."""
        return self not in (CardState.WELL, CardState.WAITING)


@dataclass(frozen=True, slots=True)
class DeviceCard:
    """A device of the fleet, or one that is chosen for the next; what is not known is None or 0.

    Args:
        key: Names it for ever: a GPU's UUID, or "cpu" with the rank.
        name: Of the card, such as "NVIDIA RTX 6000 Ada"; empty on the CPU.
        index: As a fleet counts it; None on the CPU.
        bus_id: Its place.
        ranks: That stand on it.
        ours_bytes, others_bytes: Of its memory; on the CPU of the machine's.
        others: Who holds the latter, as far as that can be told.
        utilisation: 0 to 1 of a GPU; of a CPU rank 1 for one core.
        num_threads: Of a CPU rank.
    """

    key: str
    name: str
    index: int | None
    bus_id: str = ""
    state: CardState = CardState.WELL
    ranks: tuple[RankRow, ...] = ()
    total_bytes: int = 0
    ours_bytes: int = 0
    others_bytes: int = 0
    others: tuple[ProcessMemory, ...] = ()
    utilisation: float | None = None
    temperature_c: int | None = None
    power_w: float | None = None
    power_limit_w: float | None = None
    num_threads: int | None = None

    @property
    def free_bytes(self) -> int:
        """Return what nobody holds."""
        return max(0, self.total_bytes - self.ours_bytes - self.others_bytes)

    @property
    def waiting_text(self) -> str:
        """Return what a rank on it waits for, in words; empty if none waits."""
        return next((rank.text for rank in self.ranks if rank.text.startswith(_WAITING)), "")


def make_cards(
    rows: Sequence[RankRow],
    devices: Sequence[DeviceRow],
    reading: MachineReading | None,
    phase: FleetPhase,
) -> tuple[DeviceCard, ...]:
    """Return the cards of a fleet in rank order; without a fleet, of the GPUs that are chosen.

    Args:
        rows: Its ranks.
        devices: The GPUs of this machine.
        reading: What was last seen of them.
        phase: Of the fleet.
    """
    by_index = {device.index: device for device in devices}
    if not rows:
        chosen = (device for device in devices if device.is_chosen)
        return tuple(_gpu_card(device.index, device, (), reading, phase) for device in chosen)
    cards: list[DeviceCard] = []
    on_gpu: dict[int, list[RankRow]] = {}
    for row in rows:
        index = _gpu_index(row.device)
        if index is None:
            cards.append(_cpu_card(row, reading))
        else:
            on_gpu.setdefault(index, []).append(row)
    cards += [_gpu_card(index, by_index.get(index), tuple(of), reading, phase) for index, of in on_gpu.items()]
    return tuple(cards)


def _gpu_index(device: str) -> int | None:
    return int(device.removeprefix(_GPU_PREFIX)) if device.startswith(_GPU_PREFIX) else None


def _gpu_card(
    index: int, device: DeviceRow | None, ranks: tuple[RankRow, ...], reading: MachineReading | None, phase: FleetPhase
) -> DeviceCard:
    gpu = None if reading is None or device is None else reading.gpu(device.uuid)
    key, name, bus_id = (device.uuid, device.name, device.bus_id) if device else (f"gpu-{index}", "", "")
    # Before the first reading, what was seen when the GPUs were listed.
    total, others = (device.total_bytes, device.used_bytes) if device else (0, 0)
    if gpu is not None and (gpu.total_bytes or gpu.state is not ReadingState.WELL):
        total, others = gpu.total_bytes, gpu.others_bytes
    return DeviceCard(
        key,
        name,
        index,
        bus_id,
        _state(ranks, gpu, phase),
        ranks,
        total,
        ours_bytes=gpu.ours_bytes if gpu else 0,
        others_bytes=others,
        others=tuple(process for process in gpu.processes if not process.is_ours) if gpu else (),
        utilisation=gpu.utilisation if gpu else None,
        temperature_c=gpu.temperature_c if gpu else None,
        power_w=gpu.power_w if gpu else None,
        power_limit_w=gpu.power_limit_w if gpu else None,
    )


def _cpu_card(row: RankRow, reading: MachineReading | None) -> DeviceCard:
    process = None if reading is None else reading.process(row.pid)
    ours = process.resident_bytes if process else row.memory_bytes or 0
    return DeviceCard(
        f"cpu-{row.rank}",
        "",
        None,
        state=_state((row,), None, FleetPhase.READY),
        ranks=(row,),
        total_bytes=reading.total_bytes if reading else 0,
        ours_bytes=ours,
        others_bytes=max(0, reading.used_bytes - ours) if reading else 0,
        utilisation=process.cpu_share if process else None,
        num_threads=process.num_threads if process else None,
    )


def _state(ranks: Sequence[RankRow], gpu: GpuReading | None, phase: FleetPhase) -> CardState:
    is_held = gpu is None or gpu.ours_bytes > 0
    checks = (
        # The fleet as a whole is told to be blocked; a GPU that holds nothing of ours is not what blocks it.
        (CardState.BLOCKED, phase is FleetPhase.BLOCKED and is_held),
        (CardState.LOST, gpu is not None and gpu.state is ReadingState.LOST),
        (CardState.NOT_RESPONDING, any(not rank.is_responding for rank in ranks)),
        (CardState.NO_ANSWER, gpu is not None and gpu.state is ReadingState.SILENT),
        (CardState.WAITING, any(rank.text.startswith(_WAITING) for rank in ranks)),
    )
    return next((state for state, holds in checks if holds), CardState.WELL)
