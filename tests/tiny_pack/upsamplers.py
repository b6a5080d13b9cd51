"""The three latent upsamplers and the duration head of a tiny pack."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tests.tiny_pack.random_source import TensorCollection
from tests.tiny_pack.traits import AUDIO_DIM, KERNEL_3D, LATENT_CHANNELS, VIDEO_DIM, Config

_MID_CHANNELS = 32
_DURATION_DIM = 32
_NUM_DURATION_QUERIES = 2
_DURATION_MLP_DIM = 32


@dataclass(frozen=True, slots=True)
class UpsamplerTraits:
    """One upsampler file: its name without suffix, and what it enlarges by how much."""

    name: str
    scale: float
    is_temporal: bool = False
    is_rational: bool = False


SPATIAL_X2 = UpsamplerTraits("spatial-upscaler-x2", 2.0)
SPATIAL_X1_5 = UpsamplerTraits("spatial-upscaler-x1.5", 1.5, is_rational=True)
TEMPORAL_X2 = UpsamplerTraits("temporal-upscaler-x2", 2.0, is_temporal=True)


def upsampler_config(traits: UpsamplerTraits) -> Config:
    """Return the whole config of an upsampler file."""
    return {
        "_class_name": "LatentUpsampler",
        "in_channels": LATENT_CHANNELS,
        "mid_channels": _MID_CHANNELS,
        "num_blocks_per_stage": 1,
        "dims": 3,
        "spatial_upsample": not traits.is_temporal,
        "temporal_upsample": traits.is_temporal,
        "spatial_scale": traits.scale,
        "rational_resampler": traits.is_rational,
    }


def add_upsampler(collection: TensorCollection, traits: UpsamplerTraits) -> None:
    """Add every tensor of one upsampler."""
    collection.conv("initial_conv", _MID_CHANNELS, LATENT_CHANNELS, KERNEL_3D)
    _add_norm(collection, "initial_norm")
    for stage in ("res_blocks.0", "post_upsample_res_blocks.0"):
        for index in (1, 2):
            collection.conv(f"{stage}.conv{index}", _MID_CHANNELS, _MID_CHANNELS, KERNEL_3D)
            _add_norm(collection, f"{stage}.norm{index}")
    if traits.is_temporal:
        collection.conv("upsampler.0", 2 * _MID_CHANNELS, _MID_CHANNELS, KERNEL_3D)
    elif traits.is_rational:
        # 1.5 is up by 3 and, blurred, down by 2.
        collection.conv("upsampler.conv", 3 * 3 * _MID_CHANNELS, _MID_CHANNELS, (3, 3))
        row = np.array([1.0, 4.0, 6.0, 4.0, 1.0])
        collection.put("upsampler.blur_down.kernel", (np.outer(row, row) / 256.0)[None, None])
    else:
        collection.conv("upsampler.0", 4 * _MID_CHANNELS, _MID_CHANNELS, (3, 3))
    collection.conv("final_conv", LATENT_CHANNELS, _MID_CHANNELS, KERNEL_3D, gain=1.5)


def duration_head_config() -> Config:
    """Return the whole config of the duration head's file."""
    return {
        "transformer": {"cross_attention_dim": VIDEO_DIM, "audio_cross_attention_dim": AUDIO_DIM},
        "duration_head": {
            "pooler_hidden_dim": _DURATION_DIM,
            "num_queries": _NUM_DURATION_QUERIES,
            "num_pooler_heads": 4,
            "mlp_hidden": _DURATION_MLP_DIM,
        },
    }


def add_duration_head(collection: TensorCollection) -> None:
    """Add every tensor of the duration head; its answers lie near two seconds."""
    pooler, dim = "duration_head.attention_pooler", _DURATION_DIM
    collection.linear("duration_head.video_input_proj", dim, VIDEO_DIM)
    collection.linear("duration_head.audio_input_proj", dim, AUDIO_DIM)
    collection.normal("duration_head.video_modality_emb", (dim,), 0.1)
    collection.normal("duration_head.audio_modality_emb", (dim,), 0.1)
    collection.normal(f"{pooler}.query_tokens", (_NUM_DURATION_QUERIES, dim), 1.0)
    collection.normal(f"{pooler}.cross_attn.in_proj_weight", (3 * dim, dim), 1 / math.sqrt(dim))
    collection.normal(f"{pooler}.cross_attn.in_proj_bias", (3 * dim,), 0.05)
    collection.linear(f"{pooler}.cross_attn.out_proj", dim, dim)
    collection.linear("duration_head.mlp_hidden", _DURATION_MLP_DIM, dim * _NUM_DURATION_QUERIES)
    collection.linear("duration_head.mlp_out", 1, _DURATION_MLP_DIM)
    collection.put("duration_head.mlp_out.bias", np.array([0.7]))


def _add_norm(collection: TensorCollection, name: str) -> None:
    collection.norm_weight(f"{name}.weight", _MID_CHANNELS)
    collection.normal(f"{name}.bias", (_MID_CHANNELS,), 0.05)
