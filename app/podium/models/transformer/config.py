"""What a checkpoint's `config.transformer` section says about the transformer. No torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from podium.models.errors import CheckpointError


@dataclass(frozen=True, slots=True)
class StreamConfig:
    """Sizes of one stream (video or audio).

    Args:
        channels: Latent channels of a token, in and out.
        num_heads: Attention heads.
        head_dim: Width of a head.
        context_dim: Width of the text context.
        max_position: Position that maps to 1, by dimension (seconds; pixels).
        has_ff_bias: Feed-forward layers have biases.
    """

    channels: int
    num_heads: int
    head_dim: int
    context_dim: int
    max_position: tuple[float, ...]
    has_ff_bias: bool

    @property
    def dim(self) -> int:
        """Return the width of the stream."""
        return self.num_heads * self.head_dim


@dataclass(frozen=True, slots=True)
class TransformerConfig:
    """Everything that the transformer's shape depends on.

    Args:
        video, audio: The two streams.
        num_layers: Blocks.
        caption_dim: Width of the text features where the transformer projects them itself (2.0), else None.
        is_gated: Attention outputs are gated per head (2.3 and later).
        has_prompt_modulation: Text cross-attention is modulated (2.3 and later).
        has_prompt_timestep: That modulation depends on the noise level, not on the block's table alone.
        has_keyframe_embedding: Tokens of single-frame latents carry a learned marker (2.5).
        timestep_scale: Factor on sigma before every timestep embedder.
        gate_timestep_scale: The same for the gates between the streams.
        rope_theta: Base of the rotary frequencies.
        is_rope_float64: Frequencies are computed in float64 before they are rounded to float32.
        norm_eps: Epsilon of every norm.
    """

    video: StreamConfig
    audio: StreamConfig
    num_layers: int
    caption_dim: int | None
    is_gated: bool
    has_prompt_modulation: bool
    has_prompt_timestep: bool
    has_keyframe_embedding: bool
    timestep_scale: float
    gate_timestep_scale: float
    rope_theta: float
    is_rope_float64: bool
    norm_eps: float

    @property
    def num_modulations(self) -> int:
        """Return the rows of a block's main scale/shift table."""
        return 9 if self.has_prompt_modulation else 6

    @classmethod
    def from_official(cls, config: Mapping[str, Any]) -> TransformerConfig:
        """Read the `transformer` section of a checkpoint's config.

        Raises:
            CheckpointError: The section lacks a size, or asks for something that no released model uses.

        Source: keys and their defaults as in released 2.0, 2.3 and 2.5 files.
        """
        try:
            return cls._read(config)
        except KeyError as missing:
            raise CheckpointError(
                "The checkpoint's configuration does not describe an LTX-2 transformer.",
                details=f"config.transformer lacks the key {missing}",
            ) from None

    @classmethod
    def _read(cls, config: Mapping[str, Any]) -> TransformerConfig:
        rope_type = config.get("rope_type", "split")
        if rope_type != "split":
            raise CheckpointError(
                "The checkpoint uses a kind of position encoding that no released LTX-2 model has.",
                details=f"config.transformer.rope_type is {rope_type!r}; 'split' is supported",
            )
        projects_captions = not config.get("caption_proj_before_connector", False)
        has_prompt_modulation = bool(config.get("cross_attention_adaln", False))
        return cls(
            video=_stream(config, "", has_ff_bias=config.get("ff_bias", True)),
            audio=_stream(config, "audio_", has_ff_bias=config.get("audio_ff_bias", True)),
            num_layers=config["num_layers"],
            caption_dim=config["caption_channels"] if projects_captions else None,
            is_gated=bool(config.get("apply_gated_attention", False)),
            has_prompt_modulation=has_prompt_modulation,
            has_prompt_timestep=has_prompt_modulation and config.get("use_prompt_adaln_single", True),
            has_keyframe_embedding=bool(config.get("use_keyframes_abs_pos_embedding", False)),
            timestep_scale=float(config.get("timestep_scale_multiplier", 1000)),
            # A missing key means 1 in the original, unlike in other implementations.
            gate_timestep_scale=float(config.get("av_ca_timestep_scale_multiplier", 1)),
            rope_theta=float(config.get("positional_embedding_theta", 10000.0)),
            is_rope_float64=config.get("frequencies_precision") == "float64",
            norm_eps=float(config.get("norm_eps", 1e-6)),
        )


def _stream(config: Mapping[str, Any], prefix: str, *, has_ff_bias: bool) -> StreamConfig:
    return StreamConfig(
        channels=config[f"{prefix}in_channels"],
        num_heads=config[f"{prefix}num_attention_heads"],
        head_dim=config[f"{prefix}attention_head_dim"],
        context_dim=config[f"{prefix}cross_attention_dim"],
        max_position=tuple(float(x) for x in config[f"{prefix}positional_embedding_max_pos"]),
        has_ff_bias=has_ff_bias,
    )
