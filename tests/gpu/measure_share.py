"""One rank's share of a forward under sequence parallelism, compute alone: parts `share` and `guided` of one GPU.

The first rank of each fleet works on its share of tokens and heads by the product's own code; what the others would
send is made of what it has, in the right shapes, without a message. At the first stage's size the host is slower than
an eighth of the device, so there the share of eight is measured as one CUDA graph, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import torch
from torch import Tensor

from podium.geometry import ClipFormat
from podium.models.transformer.model import AVTransformer
from podium.multigpu import attention
from podium.multigpu.attention import AttentionManager
from podium.multigpu.sequence_layout import TokenLayout, split_heads
from podium.multigpu.sp_builder import SequenceParallelTransformer

from tests.gpu.bench import Bench
from tests.gpu.figures import Figure, tell
from tests.gpu.random_model import (
    DTYPE,
    Scale,
    compile_blocks,
    forward_call,
    median_ms,
    random_builder,
    scale_of,
    timed_s,
    tokens,
)

ALLOWED = {2: 1.05, 4: 1.05, 8: 1.08}
ALLOWED_GRAPH_MS = 70.0
NUM_PASSES = 4


class LonelyManager(AttentionManager):
    """The first rank of a fleet that is nobody else."""

    def __init__(self, scale: Scale, num_ranks: int) -> None:
        super().__init__(100_000, scale.num_heads, scale.head_dim, DTYPE, None)
        self.num_ranks = num_ranks
        self._heads = split_heads(scale.num_heads, num_ranks)
        self._layout = TokenLayout(0, num_ranks, 0)

    def broadcast_replicated(self, x: Tensor) -> Tensor:
        return x


def keep(send: Tensor, received_sizes: list[int], _sent_sizes: list[int], _group: str) -> Tensor:
    """Stand in for an all-to-all: where heads divide, as much comes in as goes out."""
    assert sum(received_sizes) == send.numel()
    return send


def repeat(x: Tensor, num_ranks: int, _group: str) -> Tensor:
    """Stand in for an all-gather."""
    return torch.cat([x] * num_ranks)


class NothingToWaitFor:
    """Stands in for torch's collectives, of which only the waiting is left."""

    @staticmethod
    def wait_tensor(x: Tensor) -> Tensor:
        return x


def as_graph(call: Callable[[], object]) -> torch.cuda.CUDAGraph:
    """Return a capture of a forward that has run before."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    # Other threads of a rank (NCCL's watchdog) may ask the device meanwhile.
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        call()
    return graph


def share_call(
    scale: Scale, model: AVTransformer, clip: ClipFormat, num_ranks: int, *, batch: int = 1
) -> Callable[[], object]:
    """Return a forward of the first rank's share."""
    transformer = SequenceParallelTransformer(model, LonelyManager(scale, num_ranks))
    return forward_call(scale, transformer, model, clip, batch=batch)


@contextmanager
def compiled_model(bench: Bench) -> Iterator[tuple[Scale, AVTransformer, torch.device]]:
    """Give a compiled model whose collectives cost nothing."""
    scale, device = scale_of(is_small=bench.is_small), torch.device("cpu" if bench.is_small else "cuda:0")
    model = random_builder(scale, bench.folder).build(device, DTYPE)
    compile_blocks(model, scale.backend)
    stand_ins: dict[str, Any] = {"all_to_all": keep, "all_gather": repeat, "_ops": NothingToWaitFor()}
    with torch.inference_mode(), mock.patch.multiple(attention, **stand_ins):
        yield scale, model, device
    if device.type == "cuda":
        tell(Figure("peak memory", torch.cuda.max_memory_allocated() / 1e9, "GB"))


def share(bench: Bench) -> None:
    """Measure shares of the second stage's forward, and that of eight ranks of the first stage's."""
    with compiled_model(bench) as (scale, model, device):
        limit_ms = None if bench.is_small else ALLOWED_GRAPH_MS
        tell_draft(share_call(scale, model, scale.draft, 8), f"{tokens(scale.draft)}, 1 of 8", device, limit_ms)
        whole_ms: float | None = None
        for num_ranks in (1, 8, 4, 2):
            call = share_call(scale, model, scale.clip, num_ranks)
            title = f"{tokens(scale.clip)}, 1 of {num_ranks}"
            tell(Figure(f"{title}: the first forward, compiling", timed_s(call, device)[1], "s"))
            share_ms = median_ms(call, device)
            whole_ms = whole_ms or share_ms
            tell(Figure(f"{title}: a forward", share_ms, "ms"))
            if num_ranks > 1:
                limit = None if bench.is_small else ALLOWED[num_ranks]
                tell(Figure(f"{title}: times {num_ranks}, of the whole", share_ms * num_ranks / whole_ms, limit=limit))


def guided(bench: Bench) -> None:
    """Measure what ranks have to compute in a first-stage step of four passes, in every way to run them."""
    with compiled_model(bench) as (scale, model, device):
        of_team: dict[int, float] = {}
        for size in (1, 2, 4, 8):
            title = f"{tokens(scale.draft)}, 1 of {size}"
            of_team[size] = tell_draft(share_call(scale, model, scale.draft, size), title, device, None)
        for num_ranks in (8, 4, 2):
            title = f"{tokens(scale.draft)}, {NUM_PASSES} passes on {num_ranks} ranks"
            tell(Figure(f"{title}, one after another", NUM_PASSES * of_team[num_ranks], "ms"))
            for num_teams in (2, 4):
                if num_teams <= num_ranks:
                    took_ms = NUM_PASSES // num_teams * of_team[num_ranks // num_teams]
                    tell(Figure(f"{title}, {num_teams} teams of {num_ranks // num_teams}", took_ms, "ms"))
            batch_ms = median_ms(share_call(scale, model, scale.draft, num_ranks, batch=NUM_PASSES), device)
            tell(Figure(f"{title}, one batch", batch_ms, "ms"))


def tell_draft(call: Callable[[], object], title: str, device: torch.device, limit_ms: float | None) -> float:
    """Measure a forward launched by the host and as one graph; return the better of the two."""
    tell(Figure(f"{title}: the first forward, compiling", timed_s(call, device)[1], "s"))
    launched_ms = median_ms(call, device)
    tell(Figure(f"{title}: a forward, launched by the host", launched_ms, "ms"))
    if device.type == "cpu":
        return launched_ms
    # A capture leaves the device idle, and its clocks fall: a tenth of a second of work does not bring them back.
    graph_ms = median_ms(as_graph(call).replay, device, num_runs=11, num_warm=11)
    tell(Figure(f"{title}: a forward as one graph", graph_ms, "ms", limit_ms))
    return min(launched_ms, graph_ms)
