"""Whether a model and a clip fit the devices, and where each part lives so that they do. No torch; before any start.

The rule a caller must know: a plan's figures are those that NVML shows of a rank's process, phase by phase; the whole
process counts, its CUDA context too. `plan_memory` decides, `check_memory` refuses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from podium.errors import JobRefusedError
from podium.geometry import TIME_FACTOR, ClipFormat, size_step_px
from podium.jobs import PHASE_WORDS, Phase, Quantization
from podium.models.cast_layers import is_cast_layer
from podium.models.residency import ModelPart, Place, ResidencyPlan
from podium.multigpu.host_memory import GPU_RANK_BYTES, RANK_BYTES
from podium.multigpu.memory_activations import (
    PlannedJob,
    decoding_bytes,
    encoding_bytes,
    forward_bytes,
    image_bytes,
    swap_bytes,
    upsampling_bytes,
)
from podium.multigpu.memory_parts import ModelMemory
from podium.multigpu.memory_recordings import NO_RECORDINGS, Recordings, stages_of
from podium.multigpu.memory_segments import segment_bytes
from podium.multigpu.ownership import owned_sizes

CONTEXT_BYTES = 1310 * 10**6
"""What a process holds on its GPU beside tensors: its CUDA context, the libraries' code and workspaces.

They come with the first kernels of each kind. Source: `python -m tests.gpu.one_gpu FOLDER --parts memory`, an H200.
"""

LINK_BYTES = 762 * 10**6
"""What NCCL holds beside on each of several GPUs. Source: as seen on H200s, driver 580, torch 2.11."""

# Memory taken in blocks of many sizes is never full: what torch had taken from an H200 was 1.2 to 1.45 times of what
# was alive. Of a forward on a GPU it is more: what attention leaves free comes in pieces that are a fourth of what the
# feed-forward layer asks for. Where ranks exchange tokens, attention itself takes most, and less is left over.
_SLACK, _FORWARD_SLACK, _SPREAD_SLACK = 0.35, 0.75, 0.4
_DECODERS = (
    ModelPart.CONNECTORS,
    ModelPart.VIDEO_DECODER,
    ModelPart.AUDIO_DECODER,
    ModelPart.VOCODER,
    ModelPart.UPSAMPLER,
)
_VISITED: Mapping[Phase, tuple[ModelPart, ...]] = {
    Phase.ENCODING: (ModelPart.CONNECTORS,),
    Phase.UPSAMPLING: (ModelPart.UPSAMPLER,),
    Phase.DECODING: (ModelPart.VIDEO_DECODER, ModelPart.AUDIO_DECODER, ModelPart.VOCODER),
}
_PHASES = (Phase.ENCODING, Phase.SWAPPING, Phase.STAGE_1, Phase.UPSAMPLING, Phase.STAGE_2, Phase.DECODING)
# The quickest first: Gemma leaves the GPU, then the decoders, then it comes block by block, then the clean copy goes.
_RESIDENCIES = (
    ResidencyPlan(),
    ResidencyPlan(text_encoder=Place.VISITING),
    ResidencyPlan(text_encoder=Place.VISITING, decoders=Place.VISITING),
    ResidencyPlan(text_encoder=Place.STREAMED, decoders=Place.VISITING),
    ResidencyPlan(text_encoder=Place.VISITING, decoders=Place.VISITING, clean=Place.HOST),
    ResidencyPlan(text_encoder=Place.STREAMED, decoders=Place.VISITING, clean=Place.HOST),
)
_GB = 2**30


@dataclass(frozen=True, slots=True)
class Room:
    """The memory that a fleet may take.

    Args:
        device_bytes: Of each rank's GPU, in rank order: what is free there and what this fleet holds already; empty on
            the CPU.
        host_bytes: Of the machine, the same way; None where it is not to be looked at.
        names: What to call the GPUs in a sentence, in rank order.
        num_more: GPUs like these that the fleet could have and does not.
    """

    device_bytes: tuple[int, ...]
    host_bytes: int | None = None
    names: tuple[str, ...] = ()
    num_more: int = 0

    @property
    def is_on_cpu(self) -> bool:
        """Return whether there are no GPUs."""
        return not self.device_bytes

    def name_of(self, rank: int) -> str:
        """Return what to call a rank's GPU."""
        return self.names[rank] if rank < len(self.names) else f"GPU {rank}"


@dataclass(frozen=True, slots=True)
class RankNeed:
    """What a rank holds in a phase, by part, in the order of `ModelPart`; nothing that takes nothing."""

    parts: tuple[tuple[ModelPart, int], ...]

    @property
    def num_bytes(self) -> int:
        """Return all of it."""
        return sum(num_bytes for _, num_bytes in self.parts)

    def of(self, part: ModelPart) -> int:
        """Return what a part takes."""
        return dict(self.parts).get(part, 0)


@dataclass(frozen=True, slots=True)
class PhaseNeed:
    """What every rank holds in a phase."""

    phase: Phase
    ranks: tuple[RankNeed, ...]


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """Where each part lives, and what that takes.

    Args:
        residency: What ranks are set up with.
        phases: In the order a job has them.
        host_bytes: What the fleet takes of the machine's memory for parts that do not stay on their GPU.
        problem: Why the clip cannot be made on these devices, with figures; empty if it can.
    """

    residency: ResidencyPlan
    phases: tuple[PhaseNeed, ...] = field(repr=False)
    host_bytes: int
    problem: str = ""

    @property
    def num_ranks(self) -> int:
        """Return how many ranks it is for."""
        return len(self.phases[0].ranks)

    def largest(self, rank: int) -> PhaseNeed:
        """Return the phase in which a rank holds most."""
        return max(self.phases, key=lambda need: need.ranks[rank].num_bytes)

    @property
    def rank_bytes(self) -> tuple[int, ...]:
        """Return the most that each rank holds."""
        return tuple(self.largest(rank).ranks[rank].num_bytes for rank in range(self.num_ranks))


def plan_memory(model: ModelMemory, job: PlannedJob, room: Room) -> MemoryPlan:
    """Return the quickest way in which a clip fits, or with a problem the one that takes least.

    Ranks: driver.
    """
    setting = _Setting.of(model, room, job.num_ranks)
    plans = [_plan(setting, job, residency) for residency in setting.residencies]
    fitting = next((plan for plan in plans if _fits(plan, room)), None)
    if fitting is not None:
        return fitting
    least = min(plans, key=lambda plan: max(plan.rank_bytes))
    return replace(least, problem=f"{_shortage(least, room)} {_advice(setting, job)}")


def check_memory(plan: MemoryPlan) -> ResidencyPlan:
    """Return where parts live.

    Raises:
        JobRefusedError: The clip does not fit; what would is named.
    """
    if plan.problem:
        raise JobRefusedError(plan.problem, details="\n".join(table_lines(plan)))
    return plan.residency


def table_lines(plan: MemoryPlan) -> list[str]:
    """Return what every rank holds in every phase, by part, as lines of a table in gigabytes of 1024."""
    lines = []
    for need in plan.phases:
        for rank, of_rank in enumerate(need.ranks):
            parts = ", ".join(f"{part.value} {num_bytes / _GB:.2f}" for part, num_bytes in of_rank.parts)
            lines.append(f"{PHASE_WORDS[need.phase]}, rank {rank}: {of_rank.num_bytes / _GB:.2f} GB ({parts})")
    return lines


@dataclass(frozen=True, slots=True)
class _Setting:
    # A model on a fleet: whatever clip is planned, the ranks own the same shares.
    model: ModelMemory
    room: Room
    working: int
    clean: tuple[int, ...]

    @classmethod
    def of(cls, model: ModelMemory, room: Room, num_ranks: int) -> _Setting:
        sizes = model.transformer_bytes
        # On a GPU tensors come one by one, the working ones in the files' order and the clean ones as copies of them.
        taken = sum if room.is_on_cpu else segment_bytes
        return cls(model, room, taken(sizes.values()), tuple(map(taken, owned_sizes(sizes, num_ranks))))

    @property
    def residencies(self) -> tuple[ResidencyPlan, ...]:
        # On the CPU a part that leaves its device would stay where it is.
        return _RESIDENCIES[:1] if self.room.is_on_cpu else _RESIDENCIES


def _plan(setting: _Setting, job: PlannedJob, residency: ResidencyPlan) -> MemoryPlan:
    # The CPU does not wait for a host that launches kernels: nothing is recorded there.
    recorded = NO_RECORDINGS if setting.room.is_on_cpu else Recordings.of(setting.model, job)
    phases = tuple(
        PhaseNeed(
            phase,
            tuple(_rank_need(setting, job, residency, recorded, (phase, rank)) for rank in range(job.num_ranks)),
        )
        for phase in _PHASES
    )
    return MemoryPlan(residency, phases, _host_bytes(setting.model, job, residency))


def _rank_need(
    setting: _Setting, job: PlannedJob, residency: ResidencyPlan, recorded: Recordings, place: tuple[Phase, int]
) -> RankNeed:
    phase, rank = place
    model = setting.model
    activations = recorded.beside(phase, _activation_bytes(model, job, residency, place))
    slack = _forward_slack(setting, job) if phase in (Phase.STAGE_1, Phase.STAGE_2) else _SLACK
    held = {
        ModelPart.CONTEXT: _context_bytes(setting, job),
        ModelPart.TRANSFORMER: setting.working,
        ModelPart.CLEAN: setting.clean[rank] if residency.clean is Place.DEVICE else 0,
        ModelPart.TEXT_ENCODER: _text_bytes(setting, job, residency, place),
        # It is read with the first picture, and stays.
        ModelPart.VIDEO_ENCODER: model.part_bytes[ModelPart.VIDEO_ENCODER] if job.num_images else 0,
        ModelPart.RECORDINGS: recorded.input_bytes + round(recorded.pool_bytes * (1 + _forward_slack(setting, job))),
        ModelPart.ACTIVATIONS: round(activations * (1 + slack)),
    }
    for part in _DECODERS:
        is_there = residency.decoders is Place.DEVICE or part in _VISITED.get(phase, ())
        held[part] = model.part_bytes[part] if is_there else 0
    return RankNeed(tuple((part, held[part]) for part in ModelPart if held.get(part)))


def _forward_slack(setting: _Setting, job: PlannedJob) -> float:
    if setting.room.is_on_cpu:
        return _SLACK
    return _FORWARD_SLACK if job.num_ranks == 1 else _SPREAD_SLACK


def _context_bytes(setting: _Setting, job: PlannedJob) -> int:
    if setting.room.is_on_cpu:
        return RANK_BYTES
    return CONTEXT_BYTES + (LINK_BYTES if job.num_ranks > 1 else 0)


def _text_bytes(setting: _Setting, job: PlannedJob, residency: ResidencyPlan, place: tuple[Phase, int]) -> int:
    (phase, rank), model = place, setting.model
    whole, block = model.part_bytes[ModelPart.TEXT_ENCODER], model.text_block_bytes
    if residency.text_encoder is not Place.DEVICE and phase is not Phase.ENCODING:
        return 0
    if setting.room.is_on_cpu or job.num_ranks == 1 or residency.text_encoder is Place.STREAMED:
        if rank > 0:
            return 0
        # One block at work and one on its way; the table of tokens stays as long as they come.
        streamed = 2 * block + model.text_embedding_bytes
        return min(whole, streamed) if residency.text_encoder is Place.STREAMED else whole
    # Whole blocks in order, evenly: every device but the last may have one more.
    return min(whole, whole // job.num_ranks + (block if rank < job.num_ranks - 1 else 0))


def _activation_bytes(model: ModelMemory, job: PlannedJob, residency: ResidencyPlan, place: tuple[Phase, int]) -> int:
    phase, rank = place
    if phase is Phase.ENCODING:
        return max(encoding_bytes(model, job), image_bytes(model, job))
    if phase is Phase.SWAPPING:
        return swap_bytes(model, job, is_clean_on_host=residency.clean is Place.HOST)
    if phase is Phase.UPSAMPLING:
        return upsampling_bytes(model, job)
    if phase is Phase.DECODING:
        return decoding_bytes(model, job, rank)
    grid, num_batched = next((grid, count) for stage, grid, count in stages_of(model, job) if stage is phase)
    return forward_bytes(model, job, grid, num_batched=num_batched)


def _host_bytes(model: ModelMemory, job: PlannedJob, residency: ResidencyPlan) -> int:
    clean = model.working_bytes if residency.clean is Place.HOST else 0
    text = model.part_bytes[ModelPart.TEXT_ENCODER] if residency.text_encoder is not Place.DEVICE else 0
    decoders = sum(model.part_bytes[part] for part in _DECODERS) if residency.decoders is Place.VISITING else 0
    return clean + text + job.num_ranks * decoders


def _fits(plan: MemoryPlan, room: Room) -> bool:
    if room.is_on_cpu:
        return room.host_bytes is None or sum(plan.rank_bytes) <= room.host_bytes
    if not _fits_devices(plan, room):
        return False
    return room.host_bytes is None or plan.host_bytes + plan.num_ranks * GPU_RANK_BYTES <= room.host_bytes


def _fits_devices(plan: MemoryPlan, room: Room) -> bool:
    return all(need <= free for need, free in zip(plan.rank_bytes, room.device_bytes, strict=True))


def _shortage(plan: MemoryPlan, room: Room) -> str:
    if room.is_on_cpu:
        needed, free = sum(plan.rank_bytes), room.host_bytes or 0
        return f"This clip needs {_size(needed)} of this machine's memory, and {_size(free)} are free."
    missing = [need - free for need, free in zip(plan.rank_bytes, room.device_bytes, strict=True)]
    rank = missing.index(max(missing))
    if missing[rank] <= 0:
        free = room.host_bytes or 0
        needed = plan.host_bytes + plan.num_ranks * GPU_RANK_BYTES
        return (
            f"The GPUs have no room for the whole model, and what has to wait in this machine's memory needs "
            f"{_size(needed)} there, of which {_size(free)} are free."
        )
    need = plan.largest(rank)
    return (
        f"This clip needs {_size(plan.rank_bytes[rank])} on {room.name_of(rank)} "
        f"({PHASE_WORDS[need.phase].lower()}), and {_size(room.device_bytes[rank])} are free there."
    )


def _advice(setting: _Setting, job: PlannedJob) -> str:
    found = [*_smaller_clips(setting, job), *_other_ways(setting, job)]
    if not found:
        return "No smaller clip would fit either: take a GPU with more memory, or close what else uses this one."
    listed = found[0] if len(found) == 1 else f"{', '.join(found[:-1])} or {found[-1]}"
    return f"What would fit: {listed}."


def _smaller_clips(setting: _Setting, job: PlannedJob) -> Iterator[str]:
    """Yield the longest clip of this size that fits, and the largest size of this length."""
    clip = job.clip
    lengths = (replace(clip, num_frames=n) for n in range(clip.num_frames - TIME_FACTOR, TIME_FACTOR, -TIME_FACTOR))
    shorter = _first_fitting(setting, job, tuple(lengths))
    if shorter is not None:
        yield f"{shorter.num_frames} frames"
    smaller = _first_fitting(setting, job, tuple(_smaller_sizes(clip, setting.model.spatial_scale)))
    if smaller is not None:
        yield f"{smaller.width} × {smaller.height} pixels"


def _smaller_sizes(clip: ClipFormat, scale: float) -> Iterator[ClipFormat]:
    """Yield formats of about the same shape, the larger side a step smaller each time."""
    step = size_step_px(scale)
    longer = max(clip.width, clip.height)
    for side in range(longer - step, step, -step):
        height, width = (max(step, round(px * side / longer / step) * step) for px in (clip.height, clip.width))
        yield replace(clip, height=height, width=width)


def _first_fitting(setting: _Setting, job: PlannedJob, clips: tuple[ClipFormat, ...]) -> ClipFormat | None:
    """Return the first of ever smaller clips that fits; by halving, for there may be hundreds."""
    low, high = 0, len(clips)
    while low < high:
        middle = (low + high) // 2
        if _would_fit(setting, replace(job, clip=clips[middle])):
            high = middle
        else:
            low = middle + 1
    return clips[low] if low < len(clips) else None


def _other_ways(setting: _Setting, job: PlannedJob) -> Iterator[str]:
    model, room = setting.model, setting.room
    if model.quantization is Quantization.NONE and not room.is_on_cpu:
        sizes = {name: _as_fp8(name, size, model) for name, size in model.transformer_bytes.items()}
        reduced = replace(model, quantization=Quantization.FP8_CAST, transformer_bytes=sizes)
        if _would_fit(_Setting.of(reduced, room, job.num_ranks), job):
            yield "the same clip with fp8 weights"
    for num_ranks in range(job.num_ranks + 1, job.num_ranks + room.num_more + 1):
        added = (min(room.device_bytes),) * (num_ranks - job.num_ranks)
        wider = _Setting.of(model, replace(room, device_bytes=(*room.device_bytes, *added)), num_ranks)
        if _would_fit(wider, replace(job, num_ranks=num_ranks)):
            yield f"the same clip on {num_ranks} GPUs"
            return


def _as_fp8(name: str, size: int, model: ModelMemory) -> int:
    return size // model.item_bytes if is_cast_layer(name.rpartition(".")[0]) else size


def _would_fit(setting: _Setting, job: PlannedJob) -> bool:
    *others, least = setting.residencies
    plan = _plan(setting, job, least)
    if _fits(plan, setting.room):
        return True
    # Where the one that takes least of the devices does not fit them, no other does.
    has_devices = not setting.room.is_on_cpu and _fits_devices(plan, setting.room)
    return has_devices and any(_fits(_plan(setting, job, residency), setting.room) for residency in others)


def _size(num_bytes: int) -> str:
    return f"{num_bytes / _GB:.1f} GB"
