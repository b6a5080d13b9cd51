"""The duration head of LTX-2.5: how long a clip the prompt asks for.

Shapes: B batch (1), N tokens of the prompt's context, D width.
"""

from __future__ import annotations

import logging
import math
from fractions import Fraction
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own name for it

from podium.geometry import TIME_FACTOR
from podium.models.builder import Headers, SingleGPUModelBuilder
from podium.models.configs import JsonObject, config_section, metadata_config, reading_config
from podium.models.key_maps import DURATION_HEAD
from podium.models.registry import Registry

logger = logging.getLogger(__name__)

_STREAMS = ("video", "audio")
# Source: diffusers' LTX2DurationHead.predict_num_frames, its bounds.
MIN_DURATION_S, MAX_DURATION_S = 1.0, 20.0


class DurationHead(nn.Module):
    """Reads a duration off the contexts that the transformer attends.

    Args:
        config: The `duration_head` section of the file's configuration.
        video_dim, audio_dim: Widths of both contexts.
    """

    def __init__(self, config: JsonObject, *, video_dim: int, audio_dim: int) -> None:
        super().__init__()
        dim, num_queries = config["pooler_hidden_dim"], config["num_queries"]
        self.video_input_proj = nn.Linear(video_dim, dim)
        self.audio_input_proj = nn.Linear(audio_dim, dim)
        self.video_modality_emb = nn.Parameter(torch.empty(dim))
        self.audio_modality_emb = nn.Parameter(torch.empty(dim))
        self.attention_pooler = _AttentionPooler(dim, num_queries, config["num_pooler_heads"])
        self.mlp_hidden = nn.Linear(dim * num_queries, config["mlp_hidden"])
        self.mlp_out = nn.Linear(config["mlp_hidden"], 1)

    def predict_duration_s(self, video_1ND: Tensor, audio_1ND: Tensor) -> float:
        """Return the duration in seconds, any positive number, that one prompt's contexts ask for.

        Args:
            video_1ND: [1, 1024, Dv], the context of the video stream, any floating type.
            audio_1ND: [1, 1024, Da], that of the audio stream.
        """
        dtype = self.mlp_out.weight.dtype
        video = self.video_input_proj(video_1ND.to(dtype)) + self.video_modality_emb
        audio = self.audio_input_proj(audio_1ND.to(dtype)) + self.audio_modality_emb
        pooled = self.attention_pooler(torch.cat([video, audio], dim=1)).flatten(1)
        hidden = F.gelu(self.mlp_hidden(pooled), approximate="tanh")
        # It was trained on the logarithm.
        return math.exp(self.mlp_out(hidden).float().item())

    def predict_num_frames(self, video_1ND: Tensor, audio_1ND: Tensor, fps: Fraction) -> int:
        """Return the frames 8k + 1, of 1 to 20 seconds, that one prompt's contexts ask for at a frame rate."""
        duration_s = self.predict_duration_s(video_1ND, audio_1ND)
        num_frames = frames_of_duration(duration_s, fps)
        logger.info("The prompt asks for %.2f s: %d frames at %s fps", duration_s, num_frames, fps)
        return num_frames


class _AttentionPooler(nn.Module):
    """Learned queries that attend all tokens of both contexts."""

    def __init__(self, dim: int, num_queries: int, num_heads: int) -> None:
        super().__init__()
        self.query_tokens = nn.Parameter(torch.empty(num_queries, dim))
        self.cross_attn = _CrossAttention(dim, num_heads)

    def forward(self, tokens_BND: Tensor) -> Tensor:
        """Return [B, queries, D]."""
        pooled: Tensor = self.cross_attn(self.query_tokens.expand(len(tokens_BND), -1, -1), tokens_BND)
        return pooled


class _CrossAttention(nn.Module):
    """Multi-head attention with one projection for queries, keys and values, under its official names."""

    def __init__(self, dim: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.in_proj_weight = nn.Parameter(torch.empty(3 * dim, dim))
        self.in_proj_bias = nn.Parameter(torch.empty(3 * dim))
        self.out_proj = nn.Linear(dim, dim)

    def forward(self, query_BQD: Tensor, tokens_BND: Tensor) -> Tensor:
        """Return [B, Q, D]."""
        weights, biases = self.in_proj_weight.chunk(3), self.in_proj_bias.chunk(3)
        inputs = (query_BQD, tokens_BND, tokens_BND)
        query, key, value = (
            F.linear(x, weight, bias).unflatten(2, (self.num_heads, -1)).transpose(1, 2)
            for x, weight, bias in zip(inputs, weights, biases, strict=True)
        )
        attended = F.scaled_dot_product_attention(query, key, value).transpose(1, 2).flatten(2)
        out: Tensor = self.out_proj(attended)
        return out


def frames_of_duration(duration_s: float, fps: Fraction) -> int:
    """Return the frames 8k + 1, at least 9, of a predicted duration, which is first brought to 1 to 20 seconds.

    Source: diffusers' LTX2DurationHead.predict_num_frames: the count is brought between the bounds, then down to the
    grid, and up again where that falls short of the shortest.
    """
    rate = float(fps)
    shortest, longest = max(1, round(MIN_DURATION_S * rate)), round(MAX_DURATION_S * rate)
    wanted = max(shortest, min(round(duration_s * rate), longest))
    below = (wanted - 1) // TIME_FACTOR * TIME_FACTOR + 1
    num_frames = below if below >= shortest else below + TIME_FACTOR
    # At a few frames a second the grid would allow a single one, which is no clip.
    return max(num_frames, TIME_FACTOR + 1)


def duration_head_builder(duration_path: Path, registry: Registry | None = None) -> SingleGPUModelBuilder[DurationHead]:
    """Return the builder of the duration head in a file of its own, or inside a monolith."""
    return SingleGPUModelBuilder((duration_path,), DURATION_HEAD, _make_duration_head, registry)


def _make_duration_head(headers: Headers) -> DurationHead:
    path = headers[0].path
    config = config_section(path, metadata_config(path, headers[0].metadata), "duration_head")
    with reading_config(path, "duration_head"):
        # The widths belong to the transformer, which the file need not describe.
        video, audio = (headers[0].tensors[f"duration_head.{stream}_input_proj.weight"] for stream in _STREAMS)
        return DurationHead(config, video_dim=video.shape[-1], audio_dim=audio.shape[-1])
