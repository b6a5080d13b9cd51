"""The memory plan beside what NVML says: the part `memory` of one GPU and of several.

Each rank holds what it would hold of a model of true size, text encoder apart: the working copy and its share of the
clean one, decoder, upscaler and vocoder. It goes through the phases of a job, first as a job does, then each with what
the phases before it had left behind given back.

What is held is told apart: `alive` is what tensors have, `taken` what torch has taken from the device for them, and
`context` what the device counts beside that: the process's CUDA context and the libraries' own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import psutil
import torch
import torch.distributed as dist
from torch import Tensor

from podium.geometry import ClipFormat
from podium.jobs import LoraSpec, Phase
from podium.models.registry import StateDictRegistry
from podium.models.residency import ModelPart
from podium.models.tile_layout import TileSizeConfig
from podium.models.tiled_decoding import decode_parts
from podium.multigpu import MGPURunner
from podium.multigpu.attention import AttentionManager
from podium.multigpu.decoder_tiling import decoder_tiling
from podium.multigpu.memory_activations import PlannedJob
from podium.multigpu.memory_plan import MemoryPlan, RankNeed, Room, plan_memory, table_lines
from podium.multigpu.sp_builder import SequenceParallelTransformer
from podium.multigpu.transformer_spread import make_replays
from podium.multigpu.vae_builders import DistributedDecoder
from podium.multigpu.weight_tracker import TransformerWeightTracker

from tests.gpu.bench import Bench, pids_on_gpus, tell_all, used_gpu_bytes
from tests.gpu.figures import Figure
from tests.gpu.measure_lora_swap import write_lora
from tests.gpu.measure_memory import MODEL
from tests.gpu.random_model import DTYPE, forward_call, random_builder, scale_of, synchronise
from tests.gpu.random_networks import random_latent, random_mel, random_networks

RUNNER = "tests.gpu.measure_plan:PlanRunner"
ALLOWED = 0.03
# Of the LoRA that is fused: what a swap takes hangs on the largest weight.
LORA_RANK = 16
# As they are written, recorded, and replayed.
NUM_FORWARDS = 3
# What comes and goes; all else lies there from the start.
PASSING = (ModelPart.CONTEXT, ModelPart.RECORDINGS, ModelPart.ACTIVATIONS)


@dataclass(frozen=True, slots=True)
class Held:
    """What a rank holds of its device, in bytes; on the CPU only what is resident is known."""

    num_bytes: int
    taken: int = 0
    alive: int = 0

    @property
    def words(self) -> str:
        """Return the parts of it."""
        context = self.num_bytes - self.taken
        return f"alive {_gb(self.alive)}, taken and free {_gb(self.taken - self.alive)}, context {_gb(context)}"


class PlanRunner(MGPURunner):
    """Goes through the phases of a job."""

    def setup(self, *, is_small: bool, folder: Path) -> None:
        self._scale, self._is_small = scale_of(is_small=is_small), is_small
        own = folder / f"rank-{self.rank}"
        groups, video = self.groups, self._scale.config.video
        self._builder, self._registry = random_builder(self._scale, own), StateDictRegistry()
        self._tracker = TransformerWeightTracker(groups.transformer_group, control_group=groups.control_group)
        self._model = self._tracker.build(self._builder, self._registry, (self.device, DTYPE)).module
        manager = AttentionManager(100_000, video.num_heads, video.head_dim, DTYPE, groups.transformer_group)
        self._replays = make_replays(groups, self.device)
        self._transformer = SequenceParallelTransformer(self._model, manager, self._replays)
        self._networks = random_networks(own / "pack", self.device, is_small=is_small)
        self._decoder = DistributedDecoder(
            self._networks.decoder,
            groups.vae_group,
            decoder_tiling(self.world_size),
            driver_rank=0,
            dtype=DTYPE,
        )
        self._lora = LoraSpec(folder / "lora.safetensors", 0.8)
        if self.rank == 0:
            shapes = {key: tuple(tensor.shape) for key, tensor in self._tracker.broadcast_sd.items()}
            write_lora(self._lora.path, shapes, LORA_RANK, self.device)
        dist.barrier(groups.control_group)
        # As the runner does once everything is read.
        self._give_back()

    def close(self) -> None:
        if self._replays is not None:
            self._replays.clear()

    @torch.inference_mode()
    def __call__(self, *, before: list[int]) -> Iterator[Figure]:
        self._before = before[self.device.index] if self.device.type == "cuda" else 0
        plan = self._plan()
        if self.rank == 0:
            for line in table_lines(plan):
                title, _, words = line.partition(": ")
                yield Figure(f"the plan, {title}", words)
        needs = {need.phase: need.ranks[self.rank] for need in plan.phases}
        phases = self._phases()
        yield from self._loaded(needs[Phase.DECODING])
        for phase, work in phases.items():
            yield from self._goes_through(phase, work, needs[phase])
        most = max(needs[phase].num_bytes for phase in phases)
        yield from self._beside(most, "as a job goes, the largest", is_promised=True)
        if self.device.type == "cuda":
            told = pids_on_gpus()[self.device.index].get(psutil.Process().pid, 0)
            yield Figure(f"rank {self.rank}: of that this process's, as NVML says", told / 1e9, "GB")
        for phase, work in phases.items():
            self._give_back()
            yield from self._goes_through(phase, work, needs[phase], ", by itself")
            yield from self._beside(needs[phase].num_bytes, f"{phase}, by itself", is_promised=False)

    def _loaded(self, planned: RankNeed) -> Iterator[Figure]:
        held, began = self._held(), f"rank {self.rank}, before the first phase"
        lasting = sum(num_bytes for part, num_bytes in planned.parts if part not in PASSING)
        context = planned.of(ModelPart.CONTEXT)
        yield Figure(f"{began}: planned", f"taken {_gb(lasting)}, context {_gb(context)}")
        yield Figure(f"{began}: held", f"{_gb(held.num_bytes)} ({held.words})")

    def _goes_through(
        self, phase: Phase, work: Callable[[], object], planned: RankNeed, title: str = ""
    ) -> Iterator[Figure]:
        before = self._held()
        if self.device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(self.device)
        work()
        if self.device.type != "cuda":
            return
        after = self._held()
        alive = torch.cuda.max_memory_allocated(self.device) - before.alive
        taken = torch.cuda.max_memory_reserved(self.device) - before.taken
        passing = planned.of(ModelPart.ACTIVATIONS), planned.of(ModelPart.RECORDINGS)
        began = f"rank {self.rank}, {phase}{title}"
        yield Figure(f"{began}: before it", before.words)
        told = f"at most {_gb(alive)} alive and {_gb(taken)} taken beside that"
        yield Figure(f"{began}: within", f"{told}; planned {_gb(passing[0])} and recordings {_gb(passing[1])}")
        yield Figure(f"{began}: after it", after.words)

    def _plan(self) -> MemoryPlan:
        weights = self._tracker.broadcast_sd
        model = replace(
            MODEL,
            transformer_bytes={key: tensor.nbytes for key, tensor in weights.items()},
            largest_weight=max(tensor.numel() for tensor in weights.values()),
            part_bytes=dict.fromkeys(ModelPart, 0) | self._networks.part_bytes,
            video_dim=self._scale.config.video.dim,
        )
        # Room for everything: where parts live is not the question here.
        room = Room(() if self.device.type == "cpu" else (1 << 50,) * self.world_size)
        return plan_memory(model, PlannedJob(self._scale.clip, self.world_size, num_loras=1), room)

    def _phases(self) -> dict[Phase, Callable[[], object]]:
        done: dict[Phase, Callable[[], object]] = {
            Phase.SWAPPING: self._swap,
            Phase.STAGE_1: partial(self._forward, self._scale.draft),
            Phase.UPSAMPLING: self._upsample,
            Phase.STAGE_2: partial(self._forward, self._scale.clip),
            Phase.DECODING: self._decode,
        }
        return done

    def _forward(self, clip: ClipFormat) -> None:
        # Inputs are made in the phase that needs them, as a pipeline makes them.
        call = forward_call(self._scale, self._transformer, self._model, clip)
        for _ in range(NUM_FORWARDS):
            call()

    def _swap(self) -> None:
        for loras in ((self._lora,), ()):
            self._tracker.build(self._builder.with_loras(loras), self._registry, (self.device, DTYPE))

    def _upsample(self) -> Tensor:
        grid = self._scale.draft.latent_grid
        return self._networks.upsample(random_latent((grid.frames, grid.height, grid.width), self.device))

    def _decode(self) -> None:
        if self.rank == 0:
            self._networks.synthesize(random_mel(float(self._scale.clip.duration_s), self.device))
        grid = self._scale.clip.latent_grid
        latent = random_latent((grid.frames, grid.height, grid.width), self.device)
        for _part in decode_parts(self._decoder, latent, TileSizeConfig()):
            pass

    def _beside(self, planned: int, title: str, *, is_promised: bool) -> Iterator[Figure]:
        held = self._held().num_bytes
        began = f"rank {self.rank}, {title}"
        yield Figure(f"{began}: planned", planned / 1e9, "GB")
        yield Figure(f"{began}: held, as NVML says" if not self._is_small else f"{began}: resident", held / 1e9, "GB")
        limit = ALLOWED if is_promised and not self._is_small else None
        yield Figure(f"{began}: the plan is off by", abs(planned / held - 1), limit=limit)
        yield Figure(f"{began}: planned less held", (planned - held) / 1e9, "GB")

    def _held(self) -> Held:
        synchronise(self.device)
        if self.device.type == "cpu":
            return Held(int(psutil.Process().memory_info().rss))
        return Held(
            used_gpu_bytes()[self.device.index] - self._before,
            torch.cuda.memory_reserved(self.device),
            torch.cuda.memory_allocated(self.device),
        )

    def _give_back(self) -> None:
        if self.device.type == "cuda":
            synchronise(self.device)
            torch.cuda.empty_cache()


def _gb(num_bytes: int) -> str:
    return f"{num_bytes / 1e9:.3f} GB"


def memory(bench: Bench) -> None:
    """Measure and tell."""
    before = bench.used_bytes()
    with bench.fleet(RUNNER, folder=bench.folder) as fleet:
        tell_all(fleet.stream(before=before))
