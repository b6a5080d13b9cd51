"""The layers of the diffusion decoder, and how frames pass through them one after another.

Shapes: B batch, T frames, H, W cells, C channels, N heads, D width of a head; features lie channels last.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own name for it

from podium.models.diffusion_decoder_config import Size3
from podium.models.neighborhood_attention import Neighborhood

NUM_MODULATIONS = 7
"""Rows of the modulation: scale and shift of attention, its gate, the same of the MLP, and the context's gate."""

GATES = ("gate_msa", "gate_mlp", "gate_ctx")
"""Gates that a file may carry for attention, MLP and context. The modulation's own gates nothing reads."""

_EPS = 1e-6
_ROPE_BASE = 10000.0
# Frames handed on at once, and cells that go through an MLP at once: what bounds memory.
_MAX_FRAMES = 8
_MAX_CELLS = 65536


@dataclass(frozen=True, slots=True)
class Frames:
    """Consecutive frames on their way: features [B, T, H, W, C] and, in the last stage, the context of each."""

    hidden: Tensor
    context: Tensor | None = None

    def part(self, frames: slice) -> Frames:
        """Return some of the frames."""
        return Frames(self.hidden[:, frames], None if self.context is None else self.context[:, frames])

    def followed_by(self, others: Frames) -> Frames:
        """Return these frames and the next."""
        if self.context is None or others.context is None:
            return Frames(torch.cat([self.hidden, others.hidden], dim=1))
        return Frames(torch.cat([self.hidden, others.hidden], dim=1), torch.cat([self.context, others.context], dim=1))


class Step(Protocol):
    """Something that frames pass through in order."""

    def push(self, frames: Frames) -> Iterator[Frames]:
        """Take the next frames, and yield those that are done."""
        ...


def push_through(steps: Sequence[Step], frames: Frames) -> Iterator[Frames]:
    """Push frames through all steps, one behind the other, and yield what comes out of the last."""
    if not steps:
        yield frames
        return
    for done in steps[0].push(frames):
        yield from push_through(steps[1:], done)


class NeighborhoodAttention(nn.Module):
    """The projections around the attention of a block, under their official names."""

    def __init__(self, dim: int, head_dim: int) -> None:
        super().__init__()
        self.num_heads = dim // head_dim
        self.rope_dims = _rope_dims(head_dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)
        self.q_norm = nn.RMSNorm(head_dim, eps=_EPS)
        self.k_norm = nn.RMSNorm(head_dim, eps=_EPS)

    def project(self, hidden_BTHWC: Tensor, first_frame: int) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries, keys and values [B, T, H, W, N, D], turned by their places in the clip."""
        query, key, value = self.qkv(hidden_BTHWC).unflatten(-1, (3, self.num_heads, -1)).unbind(-3)
        angles = _angles(self.rope_dims, (hidden_BTHWC.shape[1:4], first_frame), hidden_BTHWC.device)
        return _rotated(self.q_norm(query), angles), _rotated(self.k_norm(key), angles), value


class SwiGLU(nn.Module):
    """The gated MLP of a block, under its official names."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        # Source: four times the width, rounded up to a multiple of 16.
        hidden_dim = (4 * dim + 15) // 16 * 16
        self.w_up = nn.Linear(dim, hidden_dim, bias=False)
        self.w_gate = nn.Linear(dim, hidden_dim, bias=False)
        self.w_down = nn.Linear(hidden_dim, dim, bias=False)

    def forward(self, hidden_BTHWC: Tensor) -> Tensor:
        """Return the same shape; cells are independent, and are taken some at a time."""
        flat = hidden_BTHWC.flatten(0, -2)
        done = [self.w_down(F.silu(self.w_gate(cells)) * self.w_up(cells)) for cells in flat.split(_MAX_CELLS)]
        return torch.cat(done).view(hidden_BTHWC.shape)


class AttentionBlock(nn.Module):
    """Attention and MLP, each on normalised features and added to them."""

    def __init__(self, dim: int, head_dim: int) -> None:
        super().__init__()
        self.norm1 = nn.RMSNorm(dim, eps=_EPS)
        self.attn = NeighborhoodAttention(dim, head_dim)
        self.norm2 = nn.RMSNorm(dim, eps=_EPS)
        self.mlp = SwiGLU(dim)

    def enter(self, frames: Frames) -> Frames:
        """Return frames as attention finds them."""
        return frames

    def project(self, hidden_BTHWC: Tensor, modulation: Tensor | None, first_frame: int) -> tuple[Tensor, ...]:
        """Return queries, keys and values of normalised features."""
        return self.attn.project(_modulated(self.norm1(hidden_BTHWC), self.rows(modulation), 0), first_frame)

    def leave(self, hidden_BTHWC: Tensor, attended_BTHWC: Tensor, modulation: Tensor | None) -> Tensor:
        """Return the block's output, from its features and from what its attention read."""
        hidden = hidden_BTHWC + self._gated("gate_msa", self.attn.proj(attended_BTHWC))
        normal = _modulated(self.norm2(hidden), self.rows(modulation), 3)
        return hidden + self._gated("gate_mlp", self.mlp(normal))

    def rows(self, modulation: Tensor | None) -> Tensor | None:
        """Return the rows [B, 7, C] that scale and shift this block's normalised features; None to leave them."""
        return modulation

    def _gated(self, gate: str, output: Tensor) -> Tensor:
        weight: Tensor | None = getattr(self, gate, None)
        return output if weight is None else output * weight


class DenoisingBlock(AttentionBlock):
    """A block of the last stage: it takes in the context, and the timestep scales and shifts what is normalised.

    Args:
        dim, head_dim: Width, and of a head.
        gates: Those of `GATES` that the file carries.
    """

    def __init__(self, dim: int, head_dim: int, gates: Collection[str]) -> None:
        super().__init__(dim, head_dim)
        self.context_proj = nn.Linear(dim, dim)
        self.scale_shift_table = nn.Parameter(torch.empty(NUM_MODULATIONS, dim))
        for gate in gates:
            self.register_parameter(gate, nn.Parameter(torch.empty(dim)))

    def enter(self, frames: Frames) -> Frames:
        """Return frames with their context added."""
        assert frames.context is not None
        context = self._gated("gate_ctx", self.context_proj(frames.context))
        return Frames(frames.hidden + context, frames.context)

    def rows(self, modulation: Tensor | None) -> Tensor | None:
        """Return the timestep's rows with the block's own added."""
        return None if modulation is None else modulation + self.scale_shift_table


class PixelShuffle(nn.Module):
    """Enlarges features: every cell becomes a block of cells."""

    def __init__(self, dim: int, stride: Size3, reduction: int) -> None:
        super().__init__()
        self.stride = stride
        self.proj = nn.Linear(dim, math.prod(stride) * dim // reduction)

    def forward(self, hidden_BTHWC: Tensor) -> Tensor:
        """Return [B, T t, H h, W w, C'] for a stride of (t, h, w)."""
        cells = self.proj(hidden_BTHWC).unflatten(-1, (-1, *self.stride))
        shuffled: Tensor = cells.permute(0, 1, 5, 2, 6, 3, 7, 4)
        # [B, T, t, H, h, W, w, C]: each stride goes into its own axis.
        return shuffled.flatten(5, 6).flatten(3, 4).flatten(1, 2)


class BlockStep:
    """Passes frames through a block: keeps keys and values of a window, and frames that wait for theirs to be whole.

    Args:
        block: The block.
        neighborhood: Of its stage, for the whole clip.
        modulation: The timestep's rows [B, 7, C] in the last stage.
    """

    def __init__(self, block: AttentionBlock, neighborhood: Neighborhood, modulation: Tensor | None = None) -> None:
        self._block = block
        self._neighborhood = neighborhood
        self._modulation = modulation
        self._waiting: Frames | None = None
        self._query: Tensor | None = None
        self._key_value: tuple[Tensor, Tensor] | None = None
        self._num_arrived = self._num_done = self._first_key = 0

    def push(self, frames: Frames) -> Iterator[Frames]:
        """Take the next frames, and yield those whose windows are whole by now."""
        self._take(self._block.enter(frames))
        num_ready = self._neighborhood.time.num_ready(self._num_arrived)
        while self._num_done < num_ready:
            yield self._finish(min(_MAX_FRAMES, num_ready - self._num_done))
        self._forget()

    def _take(self, frames: Frames) -> None:
        query, key, value = self._block.project(frames.hidden, self._modulation, self._num_arrived)
        self._num_arrived += frames.hidden.shape[1]
        if self._waiting is None or self._query is None or self._key_value is None:
            self._waiting, self._query, self._key_value = frames, query, (key, value)
            return
        self._waiting = self._waiting.followed_by(frames)
        self._query = torch.cat([self._query, query], dim=1)
        self._key_value = (
            torch.cat([self._key_value[0], key], dim=1),
            torch.cat([self._key_value[1], value], dim=1),
        )

    def _finish(self, num_frames: int) -> Frames:
        assert self._waiting is not None
        assert self._query is not None
        assert self._key_value is not None
        first, rest = slice(0, num_frames), slice(num_frames, None)
        attended = self._neighborhood.attend(
            self._query[:, first], self._key_value, (self._num_done, self._first_key)
        ).flatten(-2)
        done = self._waiting.part(first)
        self._waiting, self._query = self._waiting.part(rest), self._query[:, rest]
        self._num_done += num_frames
        return Frames(self._block.leave(done.hidden, attended, self._modulation), done.context)

    def _forget(self) -> None:
        """Let go of keys and values that no frame still to come looks at."""
        time = self._neighborhood.time
        first_needed = time.first_key(min(self._num_done, time.num_cells - 1))
        if self._key_value is not None and first_needed > self._first_key:
            kept = slice(first_needed - self._first_key, None)
            self._key_value = (self._key_value[0][:, kept], self._key_value[1][:, kept])
            self._first_key = first_needed


class UpsampleStep:
    """Passes frames through an upsampler; of the clip's first frame, doubled in time, only the second half is kept."""

    def __init__(self, upsample: PixelShuffle) -> None:
        self._upsample = upsample
        self._is_first = True

    def push(self, frames: Frames) -> Iterator[Frames]:
        """Take the next frames, and yield them enlarged."""
        for part in _parts(frames):
            larger = self._upsample(part.hidden)
            if self._is_first and self._upsample.stride[0] == 2:
                larger = larger[:, 1:]
            self._is_first = False
            yield Frames(larger)


class CropStep:
    """Passes the first `num_frames` frames on and drops the rest."""

    def __init__(self, num_frames: int) -> None:
        self._num_left = num_frames

    def push(self, frames: Frames) -> Iterator[Frames]:
        """Take the next frames, and yield those that are kept."""
        kept = frames.part(slice(0, self._num_left))
        num_kept = kept.hidden.shape[1]
        self._num_left -= num_kept
        if num_kept:
            yield kept


def _parts(frames: Frames) -> Iterator[Frames]:
    for start in range(0, frames.hidden.shape[1], _MAX_FRAMES):
        yield frames.part(slice(start, start + _MAX_FRAMES))


def _modulated(normal_BTHWC: Tensor, rows_B7C: Tensor | None, first: int) -> Tensor:
    """Return features times 1 + the row `first`, plus the row after it."""
    if rows_B7C is None:
        return normal_BTHWC
    scale, shift = rows_B7C[:, None, None, None, first], rows_B7C[:, None, None, None, first + 1]
    return normal_BTHWC * (1 + scale) + shift


def _rope_dims(head_dim: int) -> Size3:
    """Return how many numbers of a head turn with time (about a quarter), height and width, each an even count."""
    time = head_dim // 4 // 2 * 2
    side = (head_dim - time) // 2
    if side % 2:
        time -= 2
        side = (head_dim - time) // 2
    return time, side, side


def _angles(dims: Size3, place: tuple[torch.Size, int], device: torch.device) -> Tensor:
    """Return the angles [T, H, W, 1, D / 2] of cells whose first frame has a number in the clip."""
    (num_frames, height, width), first_frame = place
    angles = []
    axes = ((first_frame, num_frames), (0, height), (0, width))
    for axis, ((start, length), dim) in enumerate(zip(axes, dims, strict=True)):
        exponents = torch.arange(0, dim, 2, dtype=torch.float64, device=device) / dim
        frequencies = (1.0 / _ROPE_BASE**exponents).to(torch.float32)
        positions = torch.arange(start, start + length, dtype=torch.float32, device=device)
        shape = [1, 1, 1, dim // 2]
        shape[axis] = length
        turned = (positions[:, None] * frequencies).view(shape)
        angles.append(turned.expand(num_frames, height, width, dim // 2))
    return torch.cat(angles, dim=-1)[..., None, :]


def _rotated(vectors_BTHWND: Tensor, angles: Tensor) -> Tensor:
    """Turn each pair of neighbouring numbers by its angle, in float32."""
    even, odd = vectors_BTHWND.float().unflatten(-1, (-1, 2)).unbind(-1)
    cos, sin = angles.cos(), angles.sin()
    turned = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)
    return turned.flatten(-2).to(vectors_BTHWND.dtype)
