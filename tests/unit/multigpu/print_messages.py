"""Print what ranks send each other in a step under sequence parallelism, beside the published code's exchange.

    python -m tests.unit.multigpu.print_messages

A table for each number of ranks and size: messages and megabytes that the first rank sends, by collective. Ours are
counted: the transformer of true size runs on tensors without memory, in a group that moves nothing, and each operator
is looked at as it is called. The published code's are reckoned from what it is known to send.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction

import torch

from podium.geometry import ClipFormat
from podium.models.transformer.config import TransformerConfig
from podium.models.transformer.inputs import StreamInput, TokenLevels
from podium.models.transformer.model import AVTransformer, Ropes
from podium.multigpu.attention import AttentionManager
from podium.multigpu.guidance_planner import GuidedStep, TransformerSize, exchanged_bytes
from podium.multigpu.sp_builder import SequenceParallelTransformer
from podium.pipelines.latents import audio_positions, video_positions

from tests.fakes.spread_jobs import CollectiveCounter, group_that_moves_nothing
from tests.gpu.random_model import TRUE

META = torch.device("meta")
RANKS = (2, 4, 8)
# 121 frames at these sizes make 6,144 and 24,576 video tokens, and 126 of sound.
CLIPS = {6144: ClipFormat(512, 768, 121, Fraction(24)), 24576: ClipFormat(1024, 1536, 121, Fraction(24))}
NUM_LAYERS, NUM_HEADS, HEAD_DIM, AUDIO_HEAD_DIM = TRUE.num_layers, TRUE.num_heads, TRUE.head_dim, TRUE.audio_head_dim
SIZE = TransformerSize(NUM_LAYERS, NUM_HEADS * HEAD_DIM, NUM_HEADS * AUDIO_HEAD_DIM, NUM_HEADS)


@dataclass(frozen=True, slots=True)
class Traffic:
    """Messages, and bytes that one rank sends to others, by collective."""

    messages: Counter[str]
    sent_bytes: Counter[str]


def true_size(num_layers: int = NUM_LAYERS) -> TransformerConfig:
    """Return the configuration of the 2.3 checkpoints with so many blocks."""
    return replace(TRUE, num_layers=num_layers).config


def count_ours(num_ranks: int, clip: ClipFormat, num_layers: int = NUM_LAYERS, batch: int = 1) -> Traffic:
    """Return what the first rank sends in a forward of true size."""
    with META:
        model = AVTransformer(true_size(num_layers)).to(torch.bfloat16).requires_grad_(requires_grad=False)
    with group_that_moves_nothing(num_ranks) as group, torch.inference_mode():
        manager = AttentionManager(100_000, NUM_HEADS, HEAD_DIM, torch.bfloat16, group)
        transformer = SequenceParallelTransformer(model, manager)
        video = transformer.video_ropes(video_positions(clip))
        audio = transformer.audio_ropes(audio_positions(clip.num_audio_latents))
        inputs = _stream(clip.latent_grid.num_tokens, video, 4096, batch), _stream(126, audio, 2048, batch)
        with CollectiveCounter(num_ranks, 0) as counter:
            transformer(*inputs)
    return Traffic(counter.messages, counter.sent_bytes)


def reckon_ours(num_ranks: int, clip: ClipFormat, num_layers: int = NUM_LAYERS) -> Traffic:
    """Return the same by arithmetic, the planner's for what blocks send."""
    share = clip.latent_grid.num_tokens // num_ranks
    size = TransformerSize(num_layers, SIZE.video_dim, SIZE.audio_dim, SIZE.audio_heads)
    step = GuidedStep(num_ranks, 1, clip.latent_grid.num_tokens, clip.num_audio_latents, size=size)
    to_audio = num_layers * (num_ranks - 1) * clip.num_audio_latents * (size.audio_dim * 2 + 4 * NUM_HEADS)
    sent = {
        "all_to_all_single": int(exchanged_bytes(step, num_ranks)) - to_audio,
        "all_gather_into_tensor": to_audio + (num_ranks - 1) * share * 128 * 2,
        "broadcast": (num_ranks - 1) * clip.num_audio_latents * 128 * 2,
    }
    messages = {"all_to_all_single": 2 * num_layers, "all_gather_into_tensor": num_layers + 1, "broadcast": 1}
    return Traffic(Counter(messages), Counter(sent))


def reckon_published(num_ranks: int, clip: ClipFormat, num_layers: int = NUM_LAYERS) -> Traffic:
    """Return what the published code sends in its blocks' attention alone.

    Four exchanges of video tokens by heads; for video to audio two of the video's keys and values, as wide as the
    audio, and a gather of the output's heads.
    """
    share, others = clip.latent_grid.num_tokens / num_ranks, (num_ranks - 1) / num_ranks
    video = share * SIZE.video_dim * 2 * others
    keys = share * SIZE.audio_dim * 2 * others
    heads = clip.num_audio_latents * SIZE.audio_dim / num_ranks * 2 * (num_ranks - 1)
    return Traffic(
        Counter({"all_to_all_single": 6 * num_layers, "all_gather_into_tensor": num_layers}),
        Counter(
            {
                "all_to_all_single": int(num_layers * (4 * video + 2 * keys)),
                "all_gather_into_tensor": int(num_layers * heads),
            }
        ),
    )


def _stream(num_tokens: int, ropes: Ropes, context_dim: int, batch: int) -> StreamInput:
    sigma = torch.ones(batch, device=META)
    return StreamInput(
        latent=torch.empty(batch, num_tokens, 128, device=META, dtype=torch.bfloat16),
        timesteps=TokenLevels(torch.ones(1, device=META), None).at(sigma),
        sigma=sigma,
        context=torch.empty(batch, 1024, context_dim, device=META, dtype=torch.bfloat16),
        rope=ropes.own,
        cross_rope=ropes.cross,
    )


def table(num_ranks: int, num_tokens: int) -> list[str]:
    """Return the lines for one fleet and size."""
    clip = CLIPS[num_tokens]
    ours, published = count_ours(num_ranks, clip), reckon_published(num_ranks, clip)
    lines = [f"{num_ranks} ranks, {num_tokens:,} video tokens:"]
    for name in ("all_to_all_single", "all_gather_into_tensor", "broadcast", ""):
        cells = [
            f"{sum(count for key, count in of.messages.items() if name in ('', key)):4d} messages, "
            f"{sum(count for key, count in of.sent_bytes.items() if name in ('', key)) / 1e6:9.1f} MB"
            for of in (ours, published)
        ]
        lines.append(f"  {name or 'all':24}ours {cells[0]}; published {cells[1]}")
    return lines


def main() -> None:
    """Print."""
    for num_ranks in RANKS:
        for num_tokens in CLIPS:
            print(*table(num_ranks, num_tokens), sep="\n", flush=True)


if __name__ == "__main__":
    main()
