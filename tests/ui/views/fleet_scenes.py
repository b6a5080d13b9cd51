"""Fleets in every state that their cards show: at work, silent, lost, blocked, on the CPU; and what clips will take."""

from __future__ import annotations

from podium.helper.requests import DeviceNeed, EstimateJob, JobEstimate
from podium.jobs import Phase
from podium.models.residency import Place, ResidencyPlan
from podium.ui.state.events import FleetFailed, FleetReady, FleetStarting, FleetStopped
from podium.ui.state.links import FleetLinks, LinkWay
from podium.ui.state.readings import GpuReading, MachineReading, ProcessMemory, ProcessReading, ReadingState
from podium.ui.state.values import ErrorMessage, RankRow

from tests.ui.views.scenes import GIB, SPEC, World, composed, empty, rank_rows, run_to_stage_2

MIB = 2**20
BLENDER = ProcessMemory(4711, "blender", 1900 * MIB, is_ours=False)


def our_process(pid: int, num_bytes: int) -> ProcessMemory:
    return ProcessMemory(pid, "python", num_bytes, is_ours=True)


def gpu(
    uuid: str, ours: int, *, pid: int = 800, used: int | None = None, others: tuple[ProcessMemory, ...] = ()
) -> GpuReading:
    """Return a GPU of 48 GB at work."""
    processes = (*((our_process(pid, ours),) if ours else ()), *others)
    beside = sum(process.num_bytes or 0 for process in others)
    return GpuReading(
        uuid,
        ReadingState.WELL,
        48 * GIB,
        ours + beside + 600 * MIB if used is None else used,
        processes,
        utilisation=0.98 if ours else 0.0,
        temperature_c=71 if ours else 38,
        power_w=287.4 if ours else 22.8,
        power_limit_w=300.0,
    )


def reading(*gpus: GpuReading, time_s: float = 1.0, processes: tuple[ProcessReading, ...] = ()) -> MachineReading:
    return MachineReading(time_s, gpus, processes, total_bytes=64 * GIB, used_bytes=21 * GIB)


def at_work(world: World) -> None:
    """Stage 2 on two GPUs, one of which somebody else uses, too."""
    run_to_stage_2(world)
    world.controls.rows = rank_rows()
    world.session.fleet._poll()
    both = gpu("GPU-a", 41 * GIB, pid=801, others=(BLENDER,)), gpu("GPU-b", 40 * GIB, pid=802)
    world.session.fleet.take_reading(reading(*both))


def one_stands_still(world: World) -> None:
    """One rank does not respond, the other waits for it."""
    at_work(world)
    world.controls.rows = rank_rows(is_stuck=True)
    world.session.fleet._poll()


def no_direct_link(world: World) -> None:
    """The GPUs reach each other through the host's memory."""
    at_work(world)
    pair = "GPU 0 and GPU 1 have no direct link: the mainboard's chipset does not allow it."
    follows = "Steps that spread one forward over such GPUs will be slower; guidance is dealt out instead."
    links = FleetLinks(LinkWay.HOST, (pair, follows, "NCCL_P2P_DISABLE=1 was set for this fleet."))
    world.session.apply(FleetReady(SPEC, 31.0, links))


def not_ending(world: World) -> None:
    """A rank does not respond, and the fleet that was told to end can only be killed."""
    one_stands_still(world)
    fleet = world.session.fleet
    fleet.stop()
    fleet._force_timer.stop()
    fleet._offer_force()


def silent(world: World) -> None:
    """The driver gives no answer for one GPU, and has lost the other."""
    at_work(world)
    mute = GpuReading("GPU-a", ReadingState.SILENT, 48 * GIB, 42 * GIB, (our_process(801, 41 * GIB),))
    world.session.fleet.take_reading(reading(mute, GpuReading("GPU-b", ReadingState.LOST)))


def idle(world: World) -> None:
    """No fleet: the GPUs that are chosen for the next one."""
    empty(world)
    world.session.fleet.take_reading(reading(gpu("GPU-a", 0, others=(BLENDER,)), gpu("GPU-b", 0)))


def freed(world: World) -> None:
    """Unloaded, and the memory read back."""
    composed(world)
    fleet = world.session.fleet
    world.session.apply(FleetStarting(SPEC))
    world.session.apply(FleetReady(SPEC, 31.0))
    world.controls.rows = rank_rows(phase=Phase.IDLE, step=0)
    fleet._poll()
    fleet.take_reading(reading(gpu("GPU-a", 41 * GIB, pid=801), gpu("GPU-b", 40 * GIB, pid=802)))
    fleet.unload()
    world.session.apply(FleetStopped())
    for time_s in (2.0, 3.0):
        fleet.take_reading(reading(gpu("GPU-a", 0), gpu("GPU-b", 0), time_s=time_s))


def blocked(world: World) -> None:
    """A rank that nothing ends keeps its GPU."""
    composed(world)
    message = ErrorMessage(
        "Process 801 of the last fleet cannot be ended, and holds GPU 0. The other GPUs can be used meanwhile."
    )
    world.session.apply(FleetFailed(message, is_blocked=True))
    world.session.fleet.take_reading(reading(gpu("GPU-a", 38 * GIB, pid=801), gpu("GPU-b", 0)))


def many(world: World) -> None:
    """Eight GPUs in a window that has no room for all of them."""
    from podium.helper.requests import DeviceReport, ListDevices

    reports = tuple(
        DeviceReport(k, f"GPU-{k}", "NVIDIA H200", f"0000:{k:02x}:00.0", 139 * GIB, 600 * MIB) for k in range(8)
    )
    world.session.devices.refresh()
    world.helper.answer(ListDevices, reports)
    world.session.apply(FleetStarting(SPEC))
    world.session.apply(FleetReady(SPEC, 31.0))
    world.controls.rows = tuple(
        RankRow(k, f"cuda:{k}", "alive", True, Phase.STAGE_1, 3, 8, sign_age_s=0.1 * k) for k in range(8)
    )
    world.session.fleet.set_busy(True)
    world.session.fleet._poll()


def on_the_cpu(world: World) -> None:
    """Two ranks on the CPU, the model being loaded."""
    empty(world)
    world.session.devices.use_cpu(2)
    world.session.apply(FleetStarting(SPEC))
    world.controls.rows = (
        RankRow(0, "cpu", "alive", True, Phase.LOADING, bytes_done=3 * GIB, bytes_total=46 * GIB, pid=901),
        RankRow(1, "cpu", "alive", True, Phase.LOADING, bytes_done=2 * GIB, bytes_total=46 * GIB, pid=902),
    )
    world.session.fleet._poll()
    ranks = ProcessReading(901, 3 * GIB, 1.0, 4), ProcessReading(902, 2200 * MIB, 0.97, 4)
    world.session.fleet.take_reading(reading(processes=ranks))


def answer_estimate(world: World, estimate: JobEstimate) -> EstimateJob:
    """Have the helper say what the composed clip takes; return what it was asked."""
    world.session.estimate.refresh()
    request = world.helper.answer(EstimateJob, estimate)
    world.session.estimate._timer.stop()
    assert isinstance(request, EstimateJob)
    return request


def need(gigabytes: float) -> DeviceNeed:
    phases = (
        (Phase.ENCODING, round((gigabytes - 2) * GIB)),
        (Phase.STAGE_1, round((gigabytes - 4) * GIB)),
        (Phase.STAGE_2, round(gigabytes * GIB)),
        (Phase.DECODING, round((gigabytes - 1) * GIB)),
    )
    return DeviceNeed(round(gigabytes * GIB), Phase.STAGE_2, phases)


def estimated(world: World) -> None:
    """It will fit, with the text encoder beside the GPUs."""
    composed(world)
    residency = ResidencyPlan(text_encoder=Place.VISITING)
    answer_estimate(world, JobEstimate((need(43.4), need(41.9)), residency))


def too_large(world: World) -> None:
    """It will not fit, and what would is named."""
    composed(world)
    residency = ResidencyPlan(text_encoder=Place.STREAMED, decoders=Place.VISITING, clean=Place.HOST)
    problem = (
        "This clip needs 53.2 GB on GPU 0 (stage 2), and 45.4 GB are free there. What would fit: 329 frames, "
        "1600 × 896 pixels or the same clip with fp8 weights."
    )
    answer_estimate(world, JobEstimate((need(53.2), need(51.0)), residency, problem))
