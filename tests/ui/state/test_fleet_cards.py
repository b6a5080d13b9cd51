"""The fleet's devices as cards, and what is said of memory that was given back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from podium.helper.requests import DeviceReport, ListDevices
from podium.jobs import Phase
from podium.ui.state.cards import CardState, DeviceCard, make_cards
from podium.ui.state.events import FleetFailed, FleetReady, FleetStarting, FleetStopped
from podium.ui.state.fleet import FleetState
from podium.ui.state.readings import GpuReading, MachineReading, ProcessMemory, ProcessReading, ReadingState
from podium.ui.state.session import SessionState
from podium.ui.state.values import DeviceRow, ErrorMessage, FleetPhase, RankRow

from tests.fakes.ui import SPEC, FakeControls, FakeHelper

GB = 1 << 30
World = tuple[SessionState, FakeHelper, FakeControls]
DEVICES = (
    DeviceRow(0, "GPU-a", "NVIDIA RTX 6000 Ada", "0000:17:00.0", 48 * GB, 2 * GB, is_chosen=True),
    DeviceRow(1, "GPU-b", "NVIDIA RTX 4090", "0000:65:00.0", 24 * GB, 0, is_chosen=True),
    DeviceRow(2, "GPU-c", "NVIDIA RTX 4090", "0000:b3:00.0", 24 * GB, 0),
)
ROWS = (
    RankRow(0, "cuda:0", "alive", True, Phase.STAGE_1, 2, 8, pid=800),
    RankRow(1, "cuda:1", "alive", True, Phase.STAGE_1, 2, 8, pid=801),
)
OURS = ProcessMemory(800, "python", 6 * GB, is_ours=True)
THEIRS = ProcessMemory(4711, "blender", 2 * GB, is_ours=False)


def gpu(uuid: str = "GPU-a", *processes: ProcessMemory, state: ReadingState = ReadingState.WELL) -> GpuReading:
    used = GB // 2 + sum(process.num_bytes or 0 for process in processes)
    return GpuReading(uuid, state, 48 * GB, used, processes, 0.98, 71, 287.4, 300.0)


def reading(*gpus: GpuReading, processes: tuple[ProcessReading, ...] = ()) -> MachineReading:
    return MachineReading(1.0, gpus, processes, total_bytes=64 * GB, used_bytes=20 * GB)


def cards(
    *gpus: GpuReading, rows: tuple[RankRow, ...] = ROWS, phase: FleetPhase = FleetPhase.BUSY
) -> tuple[DeviceCard, ...]:
    return make_cards(rows, DEVICES, reading(*gpus), phase)


def test_a_card_joins_a_rank_with_its_device() -> None:
    first, second = cards(gpu("GPU-a", OURS, THEIRS))
    assert (first.name, first.index, first.bus_id) == ("NVIDIA RTX 6000 Ada", 0, "0000:17:00.0")
    assert first.ranks == ROWS[:1]
    assert (first.ours_bytes, first.others_bytes, first.free_bytes) == (6 * GB, 2.5 * GB, 39.5 * GB)
    assert first.others == (THEIRS,)
    assert (first.utilisation, first.temperature_c, first.power_w) == (0.98, 71, 287.4)
    assert (second.name, second.utilisation) == ("NVIDIA RTX 4090", None)


def test_before_the_first_reading_a_card_shows_what_was_listed() -> None:
    first, _ = make_cards(ROWS, DEVICES, None, FleetPhase.STARTING)
    assert (first.total_bytes, first.ours_bytes, first.others_bytes) == (48 * GB, 0, 2 * GB)


def test_a_rank_whose_device_is_not_known_has_a_card_all_the_same() -> None:
    (card,) = make_cards(ROWS[:1], (), None, FleetPhase.STARTING)
    assert (card.key, card.name, card.index, card.total_bytes) == ("gpu-0", "", 0, 0)


def test_two_ranks_on_one_gpu_share_a_card() -> None:
    (card,) = cards(gpu(), rows=(ROWS[0], replace(ROWS[1], device="cuda:0")))
    assert [rank.rank for rank in card.ranks] == [0, 1]


def test_without_a_fleet_the_chosen_gpus_are_shown() -> None:
    shown = cards(gpu(), rows=(), phase=FleetPhase.STOPPED)
    assert [card.key for card in shown] == ["GPU-a", "GPU-b"]
    assert all(card.ranks == () for card in shown)


def test_a_rank_on_the_cpu_has_a_card_with_its_process() -> None:
    row = RankRow(1, "cpu", "alive", True, Phase.LOADING, pid=901)
    processes = (ProcessReading(901, 3 * GB, 0.97, 4),)
    (card,) = make_cards((row,), DEVICES, reading(processes=processes), FleetPhase.STARTING)
    assert (card.key, card.name, card.index) == ("cpu-1", "", None)
    assert (card.ours_bytes, card.others_bytes, card.total_bytes) == (3 * GB, 17 * GB, 64 * GB)
    assert (card.utilisation, card.num_threads) == (0.97, 4)


@pytest.mark.parametrize(
    ("row", "of_gpu", "phase", "state"),
    [
        (ROWS[0], gpu(), FleetPhase.BUSY, CardState.WELL),
        (replace(ROWS[0], text="waiting for rank 1"), gpu(), FleetPhase.BUSY, CardState.WAITING),
        (
            replace(ROWS[0], is_responding=False, text="not responding"),
            gpu(),
            FleetPhase.BUSY,
            CardState.NOT_RESPONDING,
        ),
        (ROWS[0], gpu(state=ReadingState.SILENT), FleetPhase.BUSY, CardState.NO_ANSWER),
        (ROWS[0], gpu(state=ReadingState.LOST), FleetPhase.BUSY, CardState.LOST),
        (
            replace(ROWS[0], is_responding=False),
            gpu(state=ReadingState.SILENT),
            FleetPhase.BUSY,
            CardState.NOT_RESPONDING,
        ),
    ],
)
def test_the_worst_of_rank_and_device_is_what_a_card_says(
    row: RankRow, of_gpu: GpuReading, phase: FleetPhase, state: CardState
) -> None:
    (card,) = cards(of_gpu, rows=(row,), phase=phase)
    assert card.state is state
    assert card.state.is_bad == (state not in (CardState.WELL, CardState.WAITING))


def test_only_a_gpu_that_is_held_is_blocked() -> None:
    shown = cards(gpu("GPU-a", OURS), gpu("GPU-b"), rows=(), phase=FleetPhase.BLOCKED)
    assert [card.state for card in shown] == [CardState.BLOCKED, CardState.WELL]


def test_what_a_card_waits_for_is_named() -> None:
    (card,) = cards(gpu(), rows=(replace(ROWS[0], text="waiting for rank 3"),))
    assert card.waiting_text == "waiting for rank 3"


def test_devices_chosen_in_the_session_become_cards(world: World) -> None:
    session, helper, _ = world
    session.devices.refresh()
    helper.answer(ListDevices, (DeviceReport(0, "GPU-a", "NVIDIA H200", "0000:17:00.0", 139 * GB, GB),))
    assert [card.name for card in session.fleet.cards] == ["NVIDIA H200"]
    session.devices.use_cpu()
    assert session.fleet.cards == ()


def test_a_monitor_is_told_of_ranks_on_the_cpu_and_of_no_others(world: World) -> None:
    session, _, controls = world
    session.apply(FleetStarting(SPEC))
    controls.rows = (replace(ROWS[0], device="cpu"), replace(ROWS[1], device="cuda:1"))
    session.fleet._poll()
    assert session.fleet.watched_pids == {800}


@pytest.fixture
def loaded(world: World) -> Callable[[tuple[RankRow, ...], MachineReading], FleetState]:
    """Return a function that has a fleet up whose memory was seen."""
    session, _, controls = world

    def start(rows: tuple[RankRow, ...], seen: MachineReading) -> FleetState:
        session.fleet.set_devices(DEVICES)
        session.apply(FleetStarting(SPEC))
        session.apply(FleetReady(SPEC, 2.0))
        controls.rows = rows
        session.fleet._poll()
        session.fleet.take_reading(seen)
        return session.fleet

    return start


Loaded = Callable[[tuple[RankRow, ...], MachineReading], FleetState]


def test_memory_is_said_to_be_freed_once_it_was_read_back(loaded: Loaded) -> None:
    fleet = loaded(ROWS, reading(gpu("GPU-a", OURS), gpu("GPU-b", replace(OURS, pid=801, num_bytes=5 * GB))))
    fleet.unload()
    fleet.take_reading(reading(gpu("GPU-a"), gpu("GPU-b")))
    assert fleet.note == ""
    fleet.apply(FleetStopped())
    fleet.take_reading(reading(gpu("GPU-a"), gpu("GPU-b")))
    assert fleet.note == ""
    fleet.take_reading(reading(gpu("GPU-a"), gpu("GPU-b")))
    assert fleet.note == "6.0 GB freed on GPU 0, 5.0 GB freed on GPU 1."


def test_memory_that_is_not_freed_is_told_with_who_holds_it_until_it_is(loaded: Loaded) -> None:
    fleet = loaded(ROWS[:1], reading(gpu("GPU-a", OURS, THEIRS)))
    fleet.stop()
    fleet.apply(FleetStopped())
    for _ in range(5):
        fleet.take_reading(reading(gpu("GPU-a", replace(OURS, num_bytes=GB), THEIRS)))
    assert fleet.note == "1.0 GB on GPU 0 are held still, by python, 800."
    fleet.take_reading(reading(gpu("GPU-a", THEIRS)))
    assert fleet.note == "6.0 GB freed on GPU 0."


def test_of_a_gpu_that_gives_no_answer_nothing_is_claimed(loaded: Loaded) -> None:
    fleet = loaded(ROWS[:1], reading(gpu("GPU-a", OURS)))
    fleet.unload()
    fleet.apply(FleetStopped())
    for _ in range(5):
        fleet.take_reading(reading(gpu("GPU-a", state=ReadingState.SILENT)))
    assert "cannot be told" in fleet.note


def test_many_gpus_are_summed_up(loaded: Loaded) -> None:
    rows = (*ROWS, RankRow(2, "cuda:2", "alive", True, Phase.IDLE, pid=802))
    uuids = ("GPU-a", "GPU-b", "GPU-c")
    fleet = loaded(rows, reading(*(gpu(uuid, OURS) for uuid in uuids)))
    fleet.unload()
    fleet.apply(FleetStopped())
    for _ in range(2):
        fleet.take_reading(reading(*map(gpu, uuids)))
    assert fleet.note == "18 GB freed on 3 devices."


def test_memory_of_the_cpu_is_free_when_its_processes_are_gone(loaded: Loaded) -> None:
    rows = (RankRow(0, "cpu", "alive", True, Phase.IDLE, pid=901),)
    held = (ProcessReading(901, 3 * GB, 0.0, 4),)
    fleet = loaded(rows, reading(processes=held))
    fleet.unload()
    fleet.apply(FleetStopped())
    assert fleet.watched_pids == {901}
    for _ in range(5):
        fleet.take_reading(reading(processes=held))
    assert fleet.note == "3.0 GB on the CPU are held still, by process 901."
    fleet.take_reading(reading())
    assert fleet.note == "3.0 GB freed on the CPU."
    assert fleet.watched_pids == frozenset()


def test_a_new_fleet_ends_the_talk_of_what_was_freed(loaded: Loaded) -> None:
    fleet = loaded(ROWS[:1], reading(gpu("GPU-a", OURS)))
    fleet.unload()
    fleet.apply(FleetStopped())
    for _ in range(2):
        fleet.take_reading(reading(gpu("GPU-a")))
    assert fleet.note
    fleet.apply(FleetStarting(SPEC))
    assert fleet.note == ""


def test_a_fleet_that_comes_by_itself_still_says_so_while_it_starts(world: World) -> None:
    fleet = world[0].fleet
    fleet.apply(FleetFailed(ErrorMessage("Rank 0 died."), will_restart=True))
    fleet.apply(FleetStarting(SPEC))
    assert fleet.note == "A new fleet is started."


def test_an_equal_reading_is_silent(loaded: Loaded) -> None:
    fleet = loaded(ROWS, reading(gpu()))
    told = []
    fleet.changed.connect(lambda: told.append(1))
    fleet.take_reading(reading(gpu()))
    assert told == []
