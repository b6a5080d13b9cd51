"""One block of the transformer: both streams, in lockstep.

Order: self-attention, text attention, attention between the streams, feed-forward; each modulated by noise level.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from podium.models.transformer.attention import Attention
from podium.models.transformer.config import StreamConfig, TransformerConfig
from podium.models.transformer.inputs import BlockKeeps, RotaryTables, Timesteps
from podium.models.transformer.modulation import modulate, rms_norm


@dataclass(frozen=True, slots=True)
class StreamModulation:
    """A stream's modulation before the blocks' tables are added; computed once a forward.

    Args:
        timesteps: Which token has which timestep.
        rows: [B, U, 6 or 9, dim] self-attention, feed-forward and text queries.
        prompt: [B, 1, 2, dim] shift and scale of the text context, or None where the table alone decides.
        cross: [B, U, 4, dim] scales and shifts of the attention between the streams.
        cross_gate: [B, 1, 1, dim] gate of what the other stream brings.
    """

    timesteps: Timesteps
    rows: Tensor
    prompt: Tensor | None
    cross: Tensor
    cross_gate: Tensor


@dataclass(frozen=True, slots=True)
class StreamState:
    """What a block reads of a stream beside its hidden state; alike for all blocks of a forward."""

    modulation: StreamModulation
    context: Tensor
    rope: RotaryTables
    cross_rope: RotaryTables
    attention_bias: Tensor | None


@dataclass(frozen=True, slots=True)
class _Rows:
    # One stream's rows in one block, spread to tokens.
    shift_attn: Tensor
    scale_attn: Tensor
    gate_attn: Tensor
    shift_ff: Tensor
    scale_ff: Tensor
    gate_ff: Tensor
    shift_text: Tensor | None = None
    scale_text: Tensor | None = None
    gate_text: Tensor | None = None


class _Expand(nn.Module):
    # Exists for the official name `net.0.proj` alone.
    def __init__(self, dim: int, *, has_bias: bool) -> None:
        super().__init__()
        self.proj = nn.Linear(dim, 4 * dim, bias=has_bias)

    def forward(self, x: Tensor) -> Tensor:
        return functional.gelu(self.proj(x), approximate="tanh")


class FeedForward(nn.Module):
    """Two linears, four times as wide between, with a tanh-approximated GELU."""

    def __init__(self, dim: int, *, has_bias: bool) -> None:
        super().__init__()
        # Official names count an identity between the two: `net.0.proj` and `net.2`.
        self.net = nn.Sequential(_Expand(dim, has_bias=has_bias), nn.Identity(), nn.Linear(4 * dim, dim, bias=has_bias))

    def forward(self, x: Tensor) -> Tensor:
        """Return the same shape as `x` [..., dim]."""
        out: Tensor = self.net(x)
        return out


class TransformerBlock(nn.Module):
    """Both streams' layers of one depth."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        video, audio, rows = config.video, config.audio, config.num_modulations
        self._norm_eps = config.norm_eps
        self.attn1 = _self_attention(video, config)
        self.audio_attn1 = _self_attention(audio, config)
        self.attn2 = _text_attention(video, config)
        self.audio_attn2 = _text_attention(audio, config)
        # Both directions run with the audio stream's heads.
        self.audio_to_video_attn = _cross_attention(video.dim, audio.dim, config)
        self.video_to_audio_attn = _cross_attention(audio.dim, video.dim, config)
        self.ff = FeedForward(video.dim, has_bias=video.has_ff_bias)
        self.audio_ff = FeedForward(audio.dim, has_bias=audio.has_ff_bias)
        self.scale_shift_table = nn.Parameter(torch.empty(rows, video.dim))
        self.audio_scale_shift_table = nn.Parameter(torch.empty(rows, audio.dim))
        self.scale_shift_table_a2v_ca_video = nn.Parameter(torch.empty(5, video.dim))
        self.scale_shift_table_a2v_ca_audio = nn.Parameter(torch.empty(5, audio.dim))
        if config.has_prompt_modulation:
            self.prompt_scale_shift_table = nn.Parameter(torch.empty(2, video.dim))
            self.audio_prompt_scale_shift_table = nn.Parameter(torch.empty(2, audio.dim))
        self._has_prompt_modulation = config.has_prompt_modulation

    def forward(
        self,
        video: Tensor | None,
        audio: Tensor | None,
        video_state: StreamState | None,
        audio_state: StreamState | None,
        keeps: BlockKeeps,
    ) -> tuple[Tensor | None, Tensor | None]:
        """Run the block.

        Args:
            video, audio: [B, T, dim] hidden states; None for a stream that is not there.
            video_state, audio_state: Their modulation, context and positions.
            keeps: What runs unperturbed.
        """
        video_rows = audio_rows = None
        if video is not None and video_state is not None:
            video_rows = self._rows(self.scale_shift_table, video_state)
            video = self._attend_self(self.attn1, video, video_state, video_rows, keep=keeps.video)
            video = self._attend_text(self.attn2, video, video_state, video_rows, self._prompt_table(""))
        if audio is not None and audio_state is not None:
            audio_rows = self._rows(self.audio_scale_shift_table, audio_state)
            audio = self._attend_self(self.audio_attn1, audio, audio_state, audio_rows, keep=keeps.audio)
            audio = self._attend_text(self.audio_attn2, audio, audio_state, audio_rows, self._prompt_table("audio_"))
        if video is not None and audio is not None and keeps.cross is not False:
            assert video_state is not None and audio_state is not None
            video, audio = self._attend_across(video, audio, video_state, audio_state, keep=keeps.cross)
        if video is not None and video_rows is not None:
            video = self._feed_forward(self.ff, video, video_rows)
        if audio is not None and audio_rows is not None:
            audio = self._feed_forward(self.audio_ff, audio, audio_rows)
        return video, audio

    def _prompt_table(self, prefix: str) -> Tensor | None:
        table: Tensor | None = getattr(self, f"{prefix}prompt_scale_shift_table", None)
        return table

    def _rows(self, table: Tensor, state: StreamState) -> _Rows:
        rows = state.modulation.timesteps.spread(state.modulation.rows + table)
        return _Rows(*rows.unbind(dim=2))

    def _attend_self(
        self, attn: Attention, x: Tensor, state: StreamState, rows: _Rows, *, keep: Tensor | bool
    ) -> Tensor:
        h = modulate(rms_norm(x, self._norm_eps), rows.scale_attn, rows.shift_attn)
        out: Tensor = attn(h, h, query_rope=state.rope, key_rope=state.rope, bias=state.attention_bias, keep=keep)
        return x + out * rows.gate_attn

    def _attend_text(
        self, attn: Attention, x: Tensor, state: StreamState, rows: _Rows, prompt_table: Tensor | None
    ) -> Tensor:
        h, context = rms_norm(x, self._norm_eps), state.context
        if prompt_table is None or rows.scale_text is None or rows.shift_text is None or rows.gate_text is None:
            unmodulated: Tensor = attn(h, context)
            return x + unmodulated
        prompt = prompt_table[None, None]
        if state.modulation.prompt is not None:
            prompt = prompt + state.modulation.prompt
        shift, scale = prompt.unbind(dim=2)
        out: Tensor = attn(modulate(h, rows.scale_text, rows.shift_text), modulate(context, scale, shift))
        return x + out * rows.gate_text

    def _attend_across(
        self,
        video: Tensor,
        audio: Tensor,
        video_state: StreamState,
        audio_state: StreamState,
        *,
        keep: Tensor | bool,
    ) -> tuple[Tensor, Tensor]:
        v, a = rms_norm(video, self._norm_eps), rms_norm(audio, self._norm_eps)
        v_a2v, v_v2a, v_gate = _cross_rows(v, self.scale_shift_table_a2v_ca_video, video_state.modulation)
        a_a2v, a_v2a, a_gate = _cross_rows(a, self.scale_shift_table_a2v_ca_audio, audio_state.modulation)
        to_video: Tensor = self.audio_to_video_attn(
            v_a2v, a_a2v, query_rope=video_state.cross_rope, key_rope=audio_state.cross_rope
        )
        to_audio: Tensor = self.video_to_audio_attn(
            a_v2a, v_v2a, query_rope=audio_state.cross_rope, key_rope=video_state.cross_rope
        )
        if isinstance(keep, Tensor):
            to_video, to_audio = to_video * keep, to_audio * keep
        return video + v_gate * to_video, audio + a_gate * to_audio

    def _feed_forward(self, ff: FeedForward, x: Tensor, rows: _Rows) -> Tensor:
        out: Tensor = ff(modulate(rms_norm(x, self._norm_eps), rows.scale_ff, rows.shift_ff))
        return x + out * rows.gate_ff


def _cross_rows(normed: Tensor, table: Tensor, modulation: StreamModulation) -> tuple[Tensor, Tensor, Tensor]:
    # The stream as audio-to-video and as video-to-audio sees it, and the gate of what it receives.
    rows = modulation.timesteps.spread(modulation.cross + table[:4])
    scale_a2v, shift_a2v, scale_v2a, shift_v2a = rows.unbind(dim=2)
    gate = (modulation.cross_gate + table[4:]).squeeze(2)
    return modulate(normed, scale_a2v, shift_a2v), modulate(normed, scale_v2a, shift_v2a), gate


def _self_attention(stream: StreamConfig, config: TransformerConfig) -> Attention:
    return Attention(
        stream.dim,
        stream.dim,
        num_heads=stream.num_heads,
        head_dim=stream.head_dim,
        is_gated=config.is_gated,
        norm_eps=config.norm_eps,
    )


def _text_attention(stream: StreamConfig, config: TransformerConfig) -> Attention:
    return Attention(
        stream.dim,
        stream.context_dim,
        num_heads=stream.num_heads,
        head_dim=stream.head_dim,
        is_gated=config.is_gated,
        norm_eps=config.norm_eps,
    )


def _cross_attention(query_dim: int, context_dim: int, config: TransformerConfig) -> Attention:
    return Attention(
        query_dim,
        context_dim,
        num_heads=config.audio.num_heads,
        head_dim=config.audio.head_dim,
        is_gated=config.is_gated,
        norm_eps=config.norm_eps,
    )
