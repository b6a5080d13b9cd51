"""One rank's share of a forward under sequence parallelism, compute alone: `share`, `drafts` and `guided` of one GPU.

The first rank of each fleet works on its share of tokens and heads by the product's own code; what the others would
send is made of what it has, in the right shapes, without a message. Forwards are recorded where the product records
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any
from unittest import mock

import torch
from torch import Tensor

from podium.geometry import ClipFormat
from podium.models.transformer.model import AVTransformer
from podium.models.transformer.replay import ForwardReplays, GraphCapture
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
# 1,536 tokens: the first stage of a clip of 768 x 512.
SMALL = ClipFormat(256, 384, 121, Fraction(24))


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


def share_call(
    scale: Scale,
    model: AVTransformer,
    clip: ClipFormat,
    num_ranks: int,
    *,
    batch: int = 1,
    replays: ForwardReplays | None = None,
) -> Callable[[], object]:
    """Return a forward of the first rank's share."""
    transformer = SequenceParallelTransformer(model, LonelyManager(scale, num_ranks), replays)
    return forward_call(scale, transformer, model, clip, batch=batch)


@contextmanager
def lonely_model(bench: Bench) -> Iterator[tuple[Scale, AVTransformer, torch.device]]:
    """Give a model whose collectives cost nothing."""
    scale, device = scale_of(is_small=bench.is_small), torch.device("cpu" if bench.is_small else "cuda:0")
    model = random_builder(scale, bench.folder).build(device, DTYPE)
    stand_ins: dict[str, Any] = {"all_to_all": keep, "all_gather": repeat, "_ops": NothingToWaitFor()}
    with torch.inference_mode(), mock.patch.multiple(attention, **stand_ins):
        yield scale, model, device
    if device.type == "cuda":
        tell(Figure("peak memory", torch.cuda.max_memory_allocated() / 1e9, "GB"))


def share(bench: Bench) -> None:
    """Measure shares of the second stage's forward, and that of eight ranks of the first stage's."""
    with lonely_model(bench) as (scale, model, device):
        compile_blocks(model, scale.backend)
        limit_ms = None if bench.is_small else ALLOWED_GRAPH_MS
        tell_share((scale, model, device), scale.draft, 8, limit_ms)
        whole_ms: float | None = None
        for num_ranks in (1, 8, 4, 2):
            share_ms = tell_share((scale, model, device), scale.clip, num_ranks, None)
            whole_ms = whole_ms or share_ms
            if num_ranks > 1:
                title = f"{tokens(scale.clip)}, 1 of {num_ranks}"
                limit = None if bench.is_small else ALLOWED[num_ranks]
                tell(Figure(f"{title}: times {num_ranks}, of the whole", share_ms * num_ranks / whole_ms, limit=limit))


def drafts(bench: Bench) -> None:
    """Measure the forward of a small draft on one GPU, uncompiled and compiled: what an artist tries LoRAs with."""
    with lonely_model(bench) as (scale, model, device):
        for is_compiled in (False, True):
            if is_compiled:
                compile_blocks(model, scale.backend)
            for clip in (SMALL, scale.draft):
                tell_share((scale, model, device), clip, 1, None, how="compiled" if is_compiled else "uncompiled")


def guided(bench: Bench) -> None:
    """Measure what ranks have to compute in a first-stage step of four passes, in every way to run them."""
    with lonely_model(bench) as (scale, model, device):
        compile_blocks(model, scale.backend)
        of_team: dict[int, float] = {}
        for size in (1, 2, 4, 8):
            of_team[size] = tell_share((scale, model, device), scale.draft, size, None)
        for num_ranks in (8, 4, 2):
            title = f"{tokens(scale.draft)}, {NUM_PASSES} passes on {num_ranks} ranks"
            tell(Figure(f"{title}, one after another", NUM_PASSES * of_team[num_ranks], "ms"))
            for num_teams in (2, 4):
                if num_teams <= num_ranks:
                    took_ms = NUM_PASSES // num_teams * of_team[num_ranks // num_teams]
                    tell(Figure(f"{title}, {num_teams} teams of {num_ranks // num_teams}", took_ms, "ms"))
            batch_ms = median_ms(share_call(scale, model, scale.draft, num_ranks, batch=NUM_PASSES), device)
            tell(Figure(f"{title}, one batch", batch_ms, "ms"))


def tell_share(
    on: tuple[Scale, AVTransformer, torch.device],
    clip: ClipFormat,
    num_ranks: int,
    limit_ms: float | None,
    *,
    how: str = "",
) -> float:
    """Measure a share's forward launched by the host and, where the product records it, replayed; return the latter."""
    scale, model, device = on
    title = f"{tokens(clip)}, 1 of {num_ranks}{how and f', {how}'}"
    call = share_call(scale, model, clip, num_ranks)
    tell(Figure(f"{title}: the first forward", timed_s(call, device)[1], "s"))
    launched_ms = median_ms(call, device)
    tell(Figure(f"{title}: a forward, launched by the host", launched_ms, "ms"))
    if device.type == "cpu":
        return launched_ms
    replays = ForwardReplays(GraphCapture())
    call = share_call(scale, model, clip, num_ranks, replays=replays)
    # A recording leaves the device idle, and its clocks fall: a tenth of a second of work does not bring them back.
    replayed_ms = median_ms(call, device, num_runs=11, num_warm=11)
    if not replays.num_captures:
        return launched_ms
    tell(Figure(f"{title}: a forward, replayed", replayed_ms, "ms", limit_ms))
    return replayed_ms
