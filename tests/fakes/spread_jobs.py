"""Forwards of the tiny transformer with its tokens spread over ranks, for fleets and for one process alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed import ProcessGroup
from torch.testing._internal.distributed.fake_pg import FakeStore
from torch.utils._python_dispatch import TorchDispatchMode

from podium.models.registry import StateDictRegistry
from podium.models.transformer.builder import transformer_builder
from podium.models.transformer.inputs import Perturbations, StreamInput, Timesteps
from podium.multigpu.attention import AttentionManager, send_to_all
from podium.multigpu.sp_builder import SequenceParallelBuilder, SequenceParallelTransformer
from podium.multigpu.weight_tracker import TransformerWeightTracker
from podium.pipelines.latents import audio_positions

from tests.fakes.tiled_jobs import CPU, NUM_AUDIO, Stage, make_stage

MAX_TOKENS = 200


@dataclass(frozen=True, slots=True)
class SpreadCase:
    """A forward: as one batch of `batch` unlike samples, perturbed where there are several."""

    batch: int = 1
    has_mask: bool = True
    sends_values_ahead: bool = False


class CollectiveCounter(TorchDispatchMode):
    """Counts collectives and the bytes that a rank sends to others, by what torch is really called with."""

    def __init__(self, num_ranks: int, rank: int) -> None:
        super().__init__()
        self.num_ranks, self.rank = num_ranks, rank
        self.messages: Counter[str] = Counter()
        self.sent_bytes: Counter[str] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.namespace == "_c10d_functional" and func.overloadpacket.__name__ != "wait_tensor":
            name = func.overloadpacket.__name__
            self.messages[name] += 1
            self.sent_bytes[name] += self._sent_bytes(name, args)
        return func(*args, **(kwargs or {}))

    def _sent_bytes(self, name: str, args: Any) -> int:
        x = args[0]
        if name == "all_to_all_single":
            sizes = args[2]
            return (sum(sizes) - sizes[self.rank]) * x.element_size()
        if name == "all_gather_into_tensor":
            return (self.num_ranks - 1) * x.nbytes
        assert name == "broadcast", name
        return (self.num_ranks - 1) * x.nbytes if self.rank == args[1] else 0


def repeated(stream: StreamInput, batch: int) -> StreamInput:
    """Return a batch of samples that differ in latent and level; what has one sample for all keeps it."""
    scale = torch.linspace(1, 0.5, batch, device=stream.latent.device)
    mask = stream.attention_mask
    return replace(
        stream,
        latent=stream.latent * scale[:, None, None],
        timesteps=Timesteps(stream.timesteps.values * scale[:, None], stream.timesteps.index),
        sigma=stream.sigma * scale,
        context=stream.context.expand(batch, -1, -1),
        attention_mask=mask if mask is None else mask.expand(batch, -1, -1),
    )


def perturbed(batch: int) -> Perturbations:
    """Return perturbations of one sample each for the last ones of a batch."""
    flags = [tuple(sample == batch - k for sample in range(batch)) for k in (1, 2, 3)]
    if batch < 4:
        return Perturbations()
    return Perturbations(frozenset({1}), *flags)


def run_stage_spread(transformer: Any, stage: Stage, case: SpreadCase) -> tuple[Tensor, Tensor]:
    """Return the velocities of both streams."""
    ropes = transformer.video_ropes(stage.positions), transformer.audio_ropes(audio_positions(NUM_AUDIO))
    video, audio = (repeated(stream, case.batch) for stream in (stage.video(ropes[0]), stage.audio(ropes[1])))
    video = video if case.has_mask else replace(video, attention_mask=None)
    with torch.inference_mode():
        video_v, audio_v = transformer(video, audio, perturbed(case.batch))
    return video_v, audio_v


@contextmanager
def group_that_moves_nothing(num_ranks: int, rank: int = 0) -> Iterator[ProcessGroup]:
    """Be one of so many ranks of which there is no other."""
    dist.init_process_group("fake", store=FakeStore(), rank=rank, world_size=num_ranks)
    try:
        world = dist.group.WORLD
        assert world is not None
        yield world
    finally:
        dist.destroy_process_group()


def build(
    checkpoint: Path,
    group: ProcessGroup | None,
    case: SpreadCase,
    device: torch.device = CPU,
    *,
    is_alone: bool = False,
) -> SequenceParallelTransformer:
    """Return the tiny transformer, spread; `is_alone` has this process read the weights for itself."""
    registry = StateDictRegistry()
    inner = transformer_builder(checkpoint, registry)
    heads = inner.make_empty_module().config.video
    manager = AttentionManager(
        MAX_TOKENS, heads.num_heads, heads.head_dim, torch.float32, group, sends_values_ahead=case.sends_values_ahead
    )
    builder = SequenceParallelBuilder(inner, manager, registry, TransformerWeightTracker(None if is_alone else group))
    return builder.build(device, torch.float32)


def spread_job(runner: Any, *, checkpoint: Path, cases: list[SpreadCase]) -> Iterator[Any]:
    """Yield (rank, velocities of both streams) for each case."""
    for case in cases:
        transformer = build(checkpoint, runner.groups.transformer_group, case, runner.device)
        stage = make_stage(transformer._inner).to(runner.device)
        yield runner.rank, *(velocity.cpu() for velocity in run_stage_spread(transformer, stage, case))


def gather_job(runner: Any, *, num_rows: int) -> Iterator[Any]:
    """Yield (rank, what an all-gather gives, what sending to all gives) of rows that tell ranks apart."""
    group = runner.groups.transformer_group
    mine = torch.arange(num_rows * 3.0, device=runner.device).view(num_rows, 3) + 100 * runner.rank
    whole = [torch.empty_like(mine) for _ in range(runner.world_size)]
    dist.all_gather(whole, mine, group=group)
    yield runner.rank, torch.cat(whole).cpu(), send_to_all(mine, runner.world_size, group.group_name).cpu()


def count_job(runner: Any, *, checkpoint: Path, case: SpreadCase) -> Iterator[Any]:
    """Yield (rank, messages, bytes sent) of a forward, by collective."""
    transformer = build(checkpoint, runner.groups.transformer_group, case)
    stage = make_stage(transformer._inner)
    with CollectiveCounter(runner.world_size, runner.rank) as counter:
        run_stage_spread(transformer, stage, case)
    yield runner.rank, counter.messages, counter.sent_bytes


def count_alone(checkpoint: Path, num_ranks: int, rank: int, case: SpreadCase) -> CollectiveCounter:
    """Return what a rank would send, counted where there is nobody to send it to."""
    with group_that_moves_nothing(num_ranks, rank) as group:
        transformer = build(checkpoint, group, case, is_alone=True)
        with CollectiveCounter(num_ranks, rank) as counter:
            run_stage_spread(transformer, make_stage(transformer._inner), case)
    return counter


def compiled_job(runner: Any, *, checkpoint: Path, case: SpreadCase) -> Iterator[Any]:
    """Yield (rank, velocities of both streams, number of graphs) of blocks that are compiled without a break."""
    transformer = build(checkpoint, runner.groups.transformer_group, case)
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    for block in transformer._inner.transformer_blocks:  # type: ignore[union-attr] # a ModuleList
        # The tracing is what is asked about, not what is made of the graph.
        block.compile(backend="eager", fullgraph=True, dynamic=False)  # type: ignore[operator]
    velocities = run_stage_spread(transformer, make_stage(transformer._inner), case)
    yield runner.rank, *velocities, torch._dynamo.utils.counters["stats"]["unique_graphs"]
