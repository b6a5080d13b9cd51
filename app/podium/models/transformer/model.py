"""The audio-video transformer: a rectified-flow velocity for both streams, or for one alone.

Parameter names are the official ones (without `model.diffusion_model.`), so that checkpoints, fp8 scales and LoRAs
apply without renaming. Facts it follows: modulation between the streams takes scale and shift from the stream's own
tokens' timesteps and the gate from the other stream's noise level.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from podium.models.quantized_linear import Fp8Linear
from podium.models.transformer.block import StreamModulation, StreamState, TransformerBlock
from podium.models.transformer.config import StreamConfig, TransformerConfig
from podium.models.transformer.inputs import Perturbations, RotaryTables, StreamInput
from podium.models.transformer.modulation import AdaLNSingle, modulate
from podium.models.transformer.rotary import rotary_frequencies, rotary_tables


@dataclass(frozen=True, slots=True)
class Ropes:
    """Rotary tables of one stream: its own attention, and the attention between the streams."""

    own: RotaryTables
    cross: RotaryTables


Shape = tuple[tuple[int, ...], ...]
Graphs = tuple[Shape, tuple[str, ...]]
"""What a forward's compiled code hangs on: its inputs' sizes, and what each block runs perturbed."""

_MAX_SHAPES = 64
# The compiler's option by which it reorders what a block does.
_MEMORY_ORDER = "reorder_for_peak_memory"


@dataclass(frozen=True, slots=True)
class _StreamLayers:
    # The layers outside the blocks that read one stream.
    adaln: AdaLNSingle
    prompt: AdaLNSingle | None
    cross: AdaLNSingle
    gate: AdaLNSingle
    caption: CaptionProjection | None


class CaptionProjection(nn.Module):
    """Project text features to the stream's width inside the transformer (2.0)."""

    def __init__(self, caption_dim: int, dim: int) -> None:
        super().__init__()
        self.linear_1 = nn.Linear(caption_dim, dim)
        self.linear_2 = nn.Linear(dim, dim)

    def forward(self, x: Tensor) -> Tensor:
        """Return [B, N, dim] for [B, N, caption_dim]."""
        out: Tensor = self.linear_2(functional.gelu(self.linear_1(x), approximate="tanh"))
        return out


class AVTransformer(nn.Module):
    """The transformer of LTX-2.0, 2.3 and 2.5.

    Args:
        config: As read from the checkpoint.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        video, audio, rows = config.video, config.audio, config.num_modulations
        self.patchify_proj = nn.Linear(video.channels, video.dim)
        self.audio_patchify_proj = nn.Linear(audio.channels, audio.dim)
        if config.has_keyframe_embedding:
            self.keyframes_abs_pos_embedding = nn.Parameter(torch.empty(1, video.dim))
        if config.caption_dim is not None:
            self.caption_projection = CaptionProjection(config.caption_dim, video.dim)
            self.audio_caption_projection = CaptionProjection(config.caption_dim, audio.dim)
        self.adaln_single = AdaLNSingle(video.dim, rows)
        self.audio_adaln_single = AdaLNSingle(audio.dim, rows)
        if config.has_prompt_timestep:
            self.prompt_adaln_single = AdaLNSingle(video.dim, 2)
            self.audio_prompt_adaln_single = AdaLNSingle(audio.dim, 2)
        self.av_ca_video_scale_shift_adaln_single = AdaLNSingle(video.dim, 4)
        self.av_ca_audio_scale_shift_adaln_single = AdaLNSingle(audio.dim, 4)
        self.av_ca_a2v_gate_adaln_single = AdaLNSingle(video.dim, 1)
        self.av_ca_v2a_gate_adaln_single = AdaLNSingle(audio.dim, 1)
        self.transformer_blocks = nn.ModuleList(TransformerBlock(config) for _ in range(config.num_layers))
        self.scale_shift_table = nn.Parameter(torch.empty(2, video.dim))
        self.audio_scale_shift_table = nn.Parameter(torch.empty(2, audio.dim))
        self.proj_out = nn.Linear(video.dim, video.channels)
        self.audio_proj_out = nn.Linear(audio.dim, audio.channels)
        self._is_compiled = False
        self._warm: set[Graphs] = set()

    @property
    def dtype(self) -> torch.dtype:
        """Return the dtype the tokens enter in."""
        return self.patchify_proj.weight.dtype

    @property
    def device(self) -> torch.device:
        """Return where the weights are."""
        return self.patchify_proj.weight.device

    def compile_blocks(self, backend: str | Callable[..., Any] = "inductor", *, keeps_order: bool = False) -> None:
        """Have the blocks compiled at their first forward of each shape; weights written in place later stay good.

        Layers of fp8 codes with scales multiply in fp8 from then on, where their device is faster so.

        Args:
            backend: Of `torch.compile`.
            keeps_order: Run what a block does in the order in which it is written, so that what begins early to be done
                late stays apart; by default the compiler looks for the order that takes the least memory.
        """
        if self._is_compiled:
            return
        self._is_compiled = True
        # A day's work has more sizes than torch's limit for one function, after which it falls back silently.
        torch._dynamo.config.recompile_limit = _MAX_SHAPES  # noqa: SLF001 - it has no public name
        options = {_MEMORY_ORDER: False} if keeps_order and _MEMORY_ORDER in torch._inductor.list_options() else None  # noqa: SLF001 - the same
        for layer in self.transformer_blocks.modules():
            if isinstance(layer, Fp8Linear):
                layer.multiplies_in_fp8 = layer.gains_by_fp8
        for block in self.transformer_blocks:
            block.compile(backend=backend, dynamic=False, options=options)

    def is_cold(self, video: StreamInput, audio: StreamInput, perturbations: Perturbations | None = None) -> bool:
        """Say whether a forward of these inputs would compile first."""
        return self._is_compiled and self._graphs(video, audio, perturbations or Perturbations()) not in self._warm

    def video_ropes(self, positions: Tensor) -> Ropes:
        """Return the rotary tables of video positions [B, 3, T, 2] (seconds, pixels, pixels); once a stage."""
        return self._ropes(self.config.video, positions)

    def audio_ropes(self, positions: Tensor) -> Ropes:
        """Return the rotary tables of audio positions [B, 1, T, 2] (seconds); once a stage."""
        return self._ropes(self.config.audio, positions)

    def forward(
        self,
        video: StreamInput | None,
        audio: StreamInput | None,
        perturbations: Perturbations | None = None,
    ) -> tuple[Tensor | None, Tensor | None]:
        """Return the velocities [B, T, channels] of the streams given; None for one that is not.

        Args:
            video, audio: At least one of the two.
            perturbations: What guidance perturbs; nothing by default.
        """
        perturbations = perturbations or Perturbations()
        if self._is_compiled and video is not None and audio is not None:
            self._warm.add(self._graphs(video, audio, perturbations))
        # With one stream absent nothing crosses, so any level serves for its gate.
        video_state = audio_state = video_x = audio_x = video_emb = audio_emb = None
        if video is not None:
            video_state, video_emb = self._read(video, (audio or video).sigma, self._layers("", "a2v"))
            video_x = self._mark_keyframes(self.patchify_proj(video.latent), video.keyframes_mask)
        if audio is not None:
            audio_state, audio_emb = self._read(audio, (video or audio).sigma, self._layers("audio_", "v2a"))
            audio_x = self.audio_patchify_proj(audio.latent)
        some = video_x if video_x is not None else audio_x
        assert some is not None, "a forward needs at least one stream"
        keeps = perturbations.keeps_of_blocks(len(self.transformer_blocks), some)
        for block, of_block in zip(self.transformer_blocks, keeps, strict=True):
            video_x, audio_x = block(video_x, audio_x, video_state, audio_state, of_block)
        return (
            self._project_out(video_x, video_state, video_emb, self.scale_shift_table, self.proj_out),
            self._project_out(audio_x, audio_state, audio_emb, self.audio_scale_shift_table, self.audio_proj_out),
        )

    def _graphs(self, video: StreamInput, audio: StreamInput, perturbations: Perturbations) -> Graphs:
        return _shape(video, audio), perturbations.kinds_of_blocks(len(self.transformer_blocks))

    def _ropes(self, stream: StreamConfig, positions: Tensor) -> Ropes:
        config = self.config
        # Both streams share one time axis between them, as wide as the audio heads.
        cross_max = max(config.video.max_position[0], config.audio.max_position[0])
        own = self._tables(positions, stream.max_position, stream.num_heads, stream.dim)
        cross = self._tables(positions[:, :1], (cross_max,), config.audio.num_heads, config.audio.dim)
        return Ropes(own, cross)

    def _tables(self, positions: Tensor, max_position: tuple[float, ...], num_heads: int, dim: int) -> RotaryTables:
        frequencies = rotary_frequencies(
            dim=dim,
            num_axes=len(max_position),
            theta=self.config.rope_theta,
            is_float64=self.config.is_rope_float64,
        )
        tables = rotary_tables(
            positions, frequencies.to(self.device), max_position=max_position, num_heads=num_heads, dim=dim
        )
        return RotaryTables(tables.cos.to(self.dtype), tables.sin.to(self.dtype))

    def _layers(self, prefix: str, direction: str) -> _StreamLayers:
        stream = prefix.removesuffix("_") or "video"
        return _StreamLayers(
            adaln=getattr(self, f"{prefix}adaln_single"),
            prompt=getattr(self, f"{prefix}prompt_adaln_single", None),
            cross=getattr(self, f"av_ca_{stream}_scale_shift_adaln_single"),
            gate=getattr(self, f"av_ca_{direction}_gate_adaln_single"),
            caption=getattr(self, f"{prefix}caption_projection", None),
        )

    def _read(self, stream: StreamInput, other_sigma: Tensor, layers: _StreamLayers) -> tuple[StreamState, Tensor]:
        # What the blocks read of a stream, and the embedding of its timesteps for the way out.
        scale = self.config.timestep_scale
        rows, embedded = layers.adaln(stream.timesteps.values * scale)
        modulation = StreamModulation(
            timesteps=stream.timesteps,
            rows=rows,
            prompt=None if layers.prompt is None else layers.prompt(stream.sigma[:, None] * scale)[0],
            cross=layers.cross(stream.timesteps.values * scale)[0],
            cross_gate=layers.gate(other_sigma[:, None] * self.config.gate_timestep_scale)[0],
        )
        context = stream.context if layers.caption is None else layers.caption(stream.context)
        # A strength s between tokens multiplies their weight: log(s) on the score, minus infinity for none.
        mask = stream.attention_mask
        bias = None if mask is None else torch.log(mask).to(stream.latent.dtype)[:, None]
        return StreamState(modulation, context, stream.rope, stream.cross_rope, bias), embedded

    def _mark_keyframes(self, x: Tensor, keyframes_mask: Tensor | None) -> Tensor:
        if not self.config.has_keyframe_embedding or keyframes_mask is None:
            return x
        return x + (keyframes_mask > 0).to(x.dtype) * self.keyframes_abs_pos_embedding

    def _project_out(
        self,
        x: Tensor | None,
        state: StreamState | None,
        embedded: Tensor | None,
        table: Tensor,
        proj_out: nn.Linear,
    ) -> Tensor | None:
        if x is None or state is None or embedded is None:
            return None
        rows = state.modulation.timesteps.spread(embedded[:, :, None] + table)
        shift, scale = rows.unbind(dim=2)
        normed = functional.layer_norm(x, (x.shape[-1],), eps=self.config.norm_eps)
        out: Tensor = proj_out(modulate(normed, scale, shift))
        return out


def _shape(video: StreamInput, audio: StreamInput) -> Shape:
    return tuple(
        (
            *stream.latent.shape,
            stream.timesteps.values.shape[1],
            int(stream.timesteps.index is None),
            int(stream.attention_mask is None),
        )
        for stream in (video, audio)
    )
