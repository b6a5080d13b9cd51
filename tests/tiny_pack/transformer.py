"""Transformer, embeddings connectors and text projection of a tiny pack, under their official names."""

from __future__ import annotations

from dataclasses import dataclass

from tests.tiny_pack.random_source import TensorCollection
from tests.tiny_pack.traits import (
    AUDIO_DIM,
    AUDIO_HEAD_DIM,
    GEMMA_HIDDEN_DIM,
    LATENT_CHANNELS,
    NUM_BLOCKS,
    NUM_CONNECTOR_BLOCKS,
    NUM_CONNECTOR_HEADS_2_0,
    NUM_GEMMA_LAYERS,
    NUM_HEADS,
    NUM_REGISTERS,
    VIDEO_DIM,
    VIDEO_HEAD_DIM,
    Config,
    GenerationTraits,
)

PREFIX = "model.diffusion_model."


@dataclass(frozen=True, slots=True)
class _AttentionShape:
    """Widths of an attention's query, key and output sides."""

    query_dim: int
    context_dim: int
    num_heads: int
    head_dim: int


@dataclass(frozen=True, slots=True)
class _Stream:
    """One stream of the transformer: the prefix of its names, its width and its heads' width."""

    side: str
    dim: int
    head_dim: int


_VIDEO = _Stream("", VIDEO_DIM, VIDEO_HEAD_DIM)
_AUDIO = _Stream("audio_", AUDIO_DIM, AUDIO_HEAD_DIM)


def transformer_config(traits: GenerationTraits) -> Config:
    """Return the `transformer` section of the checkpoint's config."""
    return {
        "_class_name": "AVTransformer3DModel",
        **_video_config(),
        **_audio_config(),
        **_connector_config(traits),
        **_generation_config(traits),
    }


def add_transformer(collection: TensorCollection, traits: GenerationTraits) -> None:
    """Add every tensor of the transformer, connectors apart."""
    for stream in (_VIDEO, _AUDIO):
        _add_stream_ends(collection, traits, stream)
    for name, dim, num_coefficients in (
        ("av_ca_video_scale_shift", VIDEO_DIM, 4),
        ("av_ca_audio_scale_shift", AUDIO_DIM, 4),
        ("av_ca_a2v_gate", VIDEO_DIM, 1),
        ("av_ca_v2a_gate", AUDIO_DIM, 1),
    ):
        _add_timestep_network(collection, f"{PREFIX}{name}_adaln_single", dim, num_coefficients)
    if traits.has_keyframe_embedding:
        collection.normal(f"{PREFIX}keyframes_abs_pos_embedding", (1, VIDEO_DIM), 0.3)
    for index in range(NUM_BLOCKS):
        _add_block(collection, traits, f"{PREFIX}transformer_blocks.{index}.")


def add_connectors(collection: TensorCollection, traits: GenerationTraits) -> None:
    """Add the embeddings connectors of both streams."""
    for side, stream in (("video", _VIDEO), ("audio", _AUDIO)):
        num_heads = NUM_HEADS if traits.has_gates else NUM_CONNECTOR_HEADS_2_0
        dim = stream.dim if traits.has_gates else GEMMA_HIDDEN_DIM
        prefix = f"{PREFIX}{side}_embeddings_connector"
        collection.normal(f"{prefix}.learnable_registers", (NUM_REGISTERS, dim), 1.0)
        for index in range(NUM_CONNECTOR_BLOCKS):
            block = f"{prefix}.transformer_1d_blocks.{index}"
            shape = _AttentionShape(dim, dim, num_heads, dim // num_heads)
            _add_attention(collection, f"{block}.attn1", shape, is_gated=traits.has_gates)
            _add_feed_forward(collection, f"{block}.ff", dim)


def add_text_projection(collection: TensorCollection, traits: GenerationTraits) -> None:
    """Add the projection of all of Gemma's hidden states, laid side by side, to the connectors' width."""
    num_in = GEMMA_HIDDEN_DIM * (NUM_GEMMA_LAYERS + 1)
    name = "text_embedding_projection"
    if traits.has_gates:
        collection.linear(f"{name}.video_aggregate_embed", VIDEO_DIM, num_in)
        collection.linear(f"{name}.audio_aggregate_embed", AUDIO_DIM, num_in)
    else:
        collection.linear(f"{name}.aggregate_embed", GEMMA_HIDDEN_DIM, num_in, has_bias=False)


def _add_stream_ends(collection: TensorCollection, traits: GenerationTraits, stream: _Stream) -> None:
    prefix = f"{PREFIX}{stream.side}"
    collection.linear(f"{prefix}patchify_proj", stream.dim, LATENT_CHANNELS)
    collection.linear(f"{prefix}proj_out", LATENT_CHANNELS, stream.dim)
    collection.normal(f"{prefix}scale_shift_table", (2, stream.dim), 0.3)
    _add_timestep_network(collection, f"{prefix}adaln_single", stream.dim, traits.num_adaln_rows)
    if traits.has_prompt_mlp:
        _add_timestep_network(collection, f"{prefix}prompt_adaln_single", stream.dim, 2)
    if not traits.has_gates:
        collection.linear(f"{prefix}caption_projection.linear_1", stream.dim, GEMMA_HIDDEN_DIM)
        collection.linear(f"{prefix}caption_projection.linear_2", stream.dim, stream.dim)


def _add_block(collection: TensorCollection, traits: GenerationTraits, prefix: str) -> None:
    for stream in (_VIDEO, _AUDIO):
        name = f"{prefix}{stream.side}"
        shape = _AttentionShape(stream.dim, stream.dim, NUM_HEADS, stream.head_dim)
        _add_attention(collection, f"{name}attn1", shape, is_gated=traits.has_gates)
        _add_attention(collection, f"{name}attn2", shape, is_gated=traits.has_gates)
        _add_feed_forward(collection, f"{name}ff", stream.dim, has_bias=traits.has_ff_bias or stream is _AUDIO)
        collection.normal(f"{name}scale_shift_table", (traits.num_adaln_rows, stream.dim), 0.3)
        if traits.has_gates:
            collection.normal(f"{name}prompt_scale_shift_table", (2, stream.dim), 0.3)
    for name, query, context in (("audio_to_video", _VIDEO, _AUDIO), ("video_to_audio", _AUDIO, _VIDEO)):
        shape = _AttentionShape(query.dim, context.dim, NUM_HEADS, AUDIO_HEAD_DIM)
        _add_attention(collection, f"{prefix}{name}_attn", shape, is_gated=traits.has_gates)
    collection.normal(f"{prefix}scale_shift_table_a2v_ca_audio", (5, AUDIO_DIM), 0.3)
    collection.normal(f"{prefix}scale_shift_table_a2v_ca_video", (5, VIDEO_DIM), 0.3)


def _add_attention(collection: TensorCollection, name: str, shape: _AttentionShape, *, is_gated: bool) -> None:
    inner_dim = shape.num_heads * shape.head_dim
    collection.norm_weight(f"{name}.q_norm.weight", inner_dim)
    collection.norm_weight(f"{name}.k_norm.weight", inner_dim)
    collection.linear(f"{name}.to_q", inner_dim, shape.query_dim)
    collection.linear(f"{name}.to_k", inner_dim, shape.context_dim)
    collection.linear(f"{name}.to_v", inner_dim, shape.context_dim)
    if is_gated:
        collection.linear(f"{name}.to_gate_logits", shape.num_heads, shape.query_dim)
    collection.linear(f"{name}.to_out.0", shape.query_dim, inner_dim)


def _add_feed_forward(collection: TensorCollection, name: str, dim: int, *, has_bias: bool = True) -> None:
    collection.linear(f"{name}.net.0.proj", 4 * dim, dim, has_bias=has_bias)
    collection.linear(f"{name}.net.2", dim, 4 * dim, has_bias=has_bias)


def _add_timestep_network(collection: TensorCollection, name: str, dim: int, num_coefficients: int) -> None:
    collection.linear(f"{name}.emb.timestep_embedder.linear_1", dim, 256)
    collection.linear(f"{name}.emb.timestep_embedder.linear_2", dim, dim)
    collection.linear(f"{name}.linear", num_coefficients * dim, dim, gain=0.5)


def _video_config() -> Config:
    return {
        "activation_fn": "gelu-approximate",
        "attention_bias": True,
        "attention_head_dim": VIDEO_HEAD_DIM,
        "attention_type": "default",
        "caption_channels": GEMMA_HIDDEN_DIM,
        "cross_attention_dim": VIDEO_DIM,
        "cross_attention_norm": True,
        "double_self_attention": False,
        "dropout": 0.0,
        "in_channels": LATENT_CHANNELS,
        "out_channels": LATENT_CHANNELS,
        "norm_elementwise_affine": False,
        "norm_eps": 1e-06,
        "norm_num_groups": 32,
        "num_attention_heads": NUM_HEADS,
        "num_embeds_ada_norm": 1000,
        "num_layers": NUM_BLOCKS,
        "num_vector_embeds": None,
        "only_cross_attention": False,
        "upcast_attention": False,
        "use_linear_projection": False,
        "qk_norm": "rms_norm",
        "standardization_norm": "rms_norm",
        "positional_embedding_type": "rope",
        "positional_embedding_theta": 10000.0,
        "positional_embedding_max_pos": [20, 2048, 2048],
        "timestep_scale_multiplier": 1000,
        "causal_temporal_positioning": True,
        "use_middle_indices_grid": True,
        "rope_type": "split",
        "frequencies_precision": "float64",
        "share_ff": False,
    }


def _audio_config() -> Config:
    return {
        "av_ca_timestep_scale_multiplier": 1000.0,
        "audio_num_attention_heads": NUM_HEADS,
        "audio_attention_head_dim": AUDIO_HEAD_DIM,
        "audio_in_channels": LATENT_CHANNELS,
        "audio_out_channels": LATENT_CHANNELS,
        "audio_cross_attention_dim": AUDIO_DIM,
        "audio_positional_embedding_max_pos": [20],
        "use_audio_video_cross_attention": True,
        "av_cross_ada_norm": True,
    }


def _connector_config(traits: GenerationTraits) -> Config:
    shared: Config = {
        "use_embeddings_connector": True,
        "connector_positional_embedding_max_pos": [4096],
        "connector_num_learnable_registers": NUM_REGISTERS,
        "connector_norm_output": True,
        "connector_num_layers": NUM_CONNECTOR_BLOCKS,
    }
    if not traits.has_gates:
        return shared | {
            "connector_num_attention_heads": NUM_CONNECTOR_HEADS_2_0,
            "connector_attention_head_dim": GEMMA_HIDDEN_DIM // NUM_CONNECTOR_HEADS_2_0,
        }
    return shared | {
        "connector_num_attention_heads": NUM_HEADS,
        "connector_attention_head_dim": VIDEO_HEAD_DIM,
        "audio_connector_num_attention_heads": NUM_HEADS,
        "audio_connector_attention_head_dim": AUDIO_HEAD_DIM,
        "connector_apply_gated_attention": True,
        "connector_learnable_registers_std": 1,
    }


def _generation_config(traits: GenerationTraits) -> Config:
    config: Config = {}
    if traits.has_gates:
        config |= {
            "apply_gated_attention": True,
            "cross_attention_adaln": True,
            "caption_proj_before_connector": True,
            "caption_projection_first_linear": False,
            "caption_proj_input_norm": False,
            "caption_projection_second_linear": False,
            "text_encoder_norm_type": "PER_TOKEN_RMS",
        }
    if traits.has_keyframe_embedding:
        config |= {
            "ff_bias": False,
            "audio_ff_bias": True,
            "use_prompt_adaln_single": True,
            "use_keyframes_abs_pos_embedding": True,
        }
    return config
