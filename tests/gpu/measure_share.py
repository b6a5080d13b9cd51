"""Measure one rank's share of a forward under sequence parallelism, compute alone, on a GPU with random weights.

    python -m tests.gpu.measure_share [--layers 48] [--ranks 1 2 4 8] [--tokens 6144 24576]

The first rank of each fleet works on its share of tokens and heads by the product's own code; what the others would
send is made of what it has, in the right shapes, without a message. Prints milliseconds a forward with compiled blocks,
and N times the share against the whole: 1.05 is allowed at 24,576 tokens for 2 and 4 ranks, 1.08 for 8. At 6,144 tokens
the host is slower than an eighth of the device, so that is also measured as one CUDA graph: at most 70 ms are allowed
for 8 ranks. Then what guided steps of four passes take each rank, one after another, as one batch and in teams.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from unittest import mock

import torch
from torch import Tensor

from podium.models.module_weights import without_weights
from podium.models.transformer.inputs import StreamInput, TokenLevels
from podium.models.transformer.model import AVTransformer, Ropes
from podium.multigpu import attention
from podium.multigpu.attention import AttentionManager
from podium.multigpu.sequence_layout import TokenLayout, split_heads
from podium.multigpu.sp_builder import SequenceParallelTransformer
from podium.pipelines.latents import audio_positions, video_positions

from tests.gpu.measure_transformer import CLIPS, CUDA, NUM_TEXT_TOKENS, compile_blocks, config, fill, median_ms

ALLOWED = {2: 1.05, 4: 1.05, 8: 1.08}
ALLOWED_GRAPH_MS = 70.0
NUM_PASSES = 4


class LonelyManager(AttentionManager):
    """The first rank of a fleet that is nobody else."""

    def __init__(self, num_ranks: int) -> None:
        super().__init__(100_000, 32, 128, torch.bfloat16, None)
        self.num_ranks = num_ranks
        self._heads = split_heads(32, num_ranks)
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


def stream(num_tokens: int, ropes: Ropes, context_dim: int, batch: int) -> StreamInput:
    """Return random input of a stream."""
    sigma = torch.full((batch,), 0.725, device=CUDA)
    return StreamInput(
        latent=torch.randn(batch, num_tokens, 128, device=CUDA, dtype=torch.bfloat16),
        timesteps=TokenLevels(torch.ones(1, device=CUDA), None).at(sigma),
        sigma=sigma,
        context=torch.randn(batch, NUM_TEXT_TOKENS, context_dim, device=CUDA, dtype=torch.bfloat16),
        rope=ropes.own,
        cross_rope=ropes.cross,
    )


def share_call(model: AVTransformer, num_tokens: int, num_ranks: int, batch: int = 1) -> Callable[[], object]:
    """Return a forward of the first rank's share."""
    clip = CLIPS[num_tokens]
    transformer = SequenceParallelTransformer(model, LonelyManager(num_ranks))
    video = transformer.video_ropes(video_positions(clip))
    audio = transformer.audio_ropes(audio_positions(clip.num_audio_latents))
    inputs = stream(num_tokens, video, 4096, batch), stream(clip.num_audio_latents, audio, 2048, batch)
    return lambda: transformer(*inputs)


def as_graph(call: Callable[[], object]) -> Callable[[], object]:
    """Return a replay of a forward that has run before."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kept = call()

    def replay() -> object:
        graph.replay()
        # The graph writes there.
        return kept

    return replay


def measure_shares(model: AVTransformer, ranks: list[int], num_tokens: int) -> dict[int, float]:
    """Measure and print every fleet's share, launched by the host and as one graph; return the better ones."""
    shares: dict[int, float] = {}
    whole_ms = None
    for num_ranks in sorted(ranks):
        call = share_call(model, num_tokens, num_ranks)
        launched_ms = shares[num_ranks] = median_ms(call)
        whole_ms = whole_ms or launched_ms * num_ranks
        told = f"{launched_ms:.1f} ms, {launched_ms * num_ranks / whole_ms:.3f} of an even share"
        allowed = f", {ALLOWED[num_ranks]} allowed" if num_ranks in ALLOWED and num_tokens == 24576 else ""
        print(f"{num_tokens} tokens, 1 of {num_ranks}: {told}{allowed}", flush=True)
        if num_tokens == 6144:
            shares[num_ranks] = median_ms(as_graph(call))
            allowed = f", {ALLOWED_GRAPH_MS:.0f} allowed" if num_ranks == 8 else ""
            print(f"  as one graph: {shares[num_ranks]:.1f} ms{allowed}", flush=True)
    return shares


def print_guided(model: AVTransformer, shares: dict[int, float], num_tokens: int) -> None:
    """Print what a step of four passes takes each rank, messages left out."""
    for num_ranks in (count for count in shares if count > 1):
        ways = [f"one after another {NUM_PASSES * shares[num_ranks]:.0f}"]
        batch = median_ms(share_call(model, num_tokens, num_ranks, NUM_PASSES))
        ways.append(f"one batch {batch:.0f}")
        for num_teams in (2, 4):
            size, rest = divmod(num_ranks, num_teams)
            if not rest and size in shares:
                ways.append(f"{num_teams} teams of {size} {NUM_PASSES // num_teams * shares[size]:.0f}")
        print(f"{num_tokens} tokens, {NUM_PASSES} passes on {num_ranks} ranks, ms: {', '.join(ways)}", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--layers", type=int, default=48)
    parser.add_argument("--ranks", type=int, nargs="*", default=[1, 2, 4, 8])
    parser.add_argument("--tokens", type=int, nargs="*", default=list(CLIPS))
    parser.add_argument("--guided", action="store_true", help="measure guided steps too")
    values = parser.parse_args()
    with torch.no_grad(), without_weights():
        bare = AVTransformer(config(values.layers))
    with torch.no_grad():
        model = fill(bare)
    assert isinstance(model, AVTransformer)
    compile_blocks(model)
    with torch.inference_mode(), mock.patch.multiple(attention, all_to_all=keep, all_gather=repeat):
        for num_tokens in values.tokens:
            shares = measure_shares(model, values.ranks, num_tokens)
            if values.guided:
                print_guided(model, shares, num_tokens)
    print(f"peak memory {torch.cuda.max_memory_allocated() / 1e9:.1f} GB")


if __name__ == "__main__":
    main()
