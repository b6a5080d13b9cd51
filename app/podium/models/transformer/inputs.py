"""What a forward of the transformer takes: one `StreamInput` a stream, and what is perturbed.

Shapes: B samples, T tokens, N context tokens, U distinct timesteps, H heads, D head width.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Timesteps:
    """The noise level of every token, kept by distinct value so that modulation is computed once for each.

    Args:
        values: [B, U] float32, noise levels from 0 to 1.
        index: [T] int64 into the U values, alike for all samples; None where all tokens have the one value (U = 1).
    """

    values: Tensor
    index: Tensor | None = None

    def spread(self, by_value: Tensor) -> Tensor:
        """Give each token what belongs to its timestep.

        Args:
            by_value: [B, U, ...].

        Returns:
            [B, T, ...], or [B, 1, ...] (to broadcast) where all tokens share one timestep.
        """
        return by_value if self.index is None else by_value.index_select(1, self.index)


@dataclass(frozen=True, slots=True)
class TokenLevels:
    """Which share of the stream's noise level each token has; constant over a stage.

    Args:
        levels: [U] float32, distinct shares from 0 to 1.
        index: [T] int64 into them, or None for one share.
    """

    levels: Tensor
    index: Tensor | None

    @classmethod
    def from_mask(cls, denoise_mask: Tensor, device: torch.device) -> TokenLevels:
        """Sort out the distinct shares of a [T] float32 mask on the CPU, for a forward on `device`."""
        levels, index = torch.unique(denoise_mask, return_inverse=True)
        return cls(levels.to(device), index.to(device) if len(levels) > 1 else None)

    def at(self, sigma: Tensor) -> Timesteps:
        """Return the tokens' timesteps at noise level `sigma` [B]."""
        return Timesteps(sigma[:, None] * self.levels[None], self.index)


@dataclass(frozen=True, slots=True)
class RotaryTables:
    """Cosines and sines of a stream's positions: [B, T, H, D/2] each, in the model's dtype."""

    cos: Tensor
    sin: Tensor


@dataclass(frozen=True, slots=True)
class StreamInput:
    """One stream of a forward.

    Args:
        latent: [B, T, channels] noisy tokens, in the model's dtype.
        timesteps: Noise level of each token.
        sigma: [B] float32, noise level of the stream.
        context: [B, N, context width] text context, in the model's dtype.
        rope: Tables of the stream's own attention.
        cross_rope: Tables of the attention between the streams (time only).
        attention_mask: [B, T, T] strengths from 0 (none) to 1 (full) for self-attention, or None for full.
        keyframes_mask: [B, T, 1], non-zero where the token's latent holds a single pixel frame; matters to 2.5.
    """

    latent: Tensor
    timesteps: Timesteps
    sigma: Tensor
    context: Tensor
    rope: RotaryTables
    cross_rope: RotaryTables
    attention_mask: Tensor | None = None
    keyframes_mask: Tensor | None = None


@dataclass(frozen=True, slots=True)
class Perturbations:
    """What runs perturbed, by sample of the batch.

    Args:
        blocks: Blocks whose self-attention may be replaced by its values (spatio-temporal guidance).
        video: Samples whose video self-attention is replaced there; empty for none.
        audio: The same for audio.
        isolated: Samples whose streams do not attend to each other, in every block.
        audio_blocks: Blocks for audio where they are others than for video; None for the same ones.
    """

    blocks: frozenset[int] = frozenset()
    video: tuple[bool, ...] = ()
    audio: tuple[bool, ...] = ()
    isolated: tuple[bool, ...] = ()
    audio_blocks: frozenset[int] | None = None

    def keeps_of_blocks(self, num_blocks: int, like: Tensor) -> list[BlockKeeps]:
        """Return what each block keeps, as masks on the device and in the dtype of `like`.

        A mask is made once for all: the host waits for each copy of one to a device.
        """
        video, audio, cross = (_keep(flags, like) for flags in (self.video, self.audio, self.isolated))
        return [
            BlockKeeps(
                video=video if block in self.blocks else True,
                audio=audio if block in self._audio_blocks else True,
                cross=cross,
            )
            for block in range(num_blocks)
        ]

    def kinds_of_blocks(self, num_blocks: int) -> tuple[str, ...]:
        """Return for each block three letters: of its operations, which all samples keep, none keeps or some do."""
        video, audio, cross = (_kind(flags) for flags in (self.video, self.audio, self.isolated))
        return tuple(
            (video if block in self.blocks else _ALL) + (audio if block in self._audio_blocks else _ALL) + cross
            for block in range(num_blocks)
        )

    @property
    def is_alike(self) -> bool:
        """Return whether every operation is kept by all samples or by none."""
        return _SOME not in map(_kind, (self.video, self.audio, self.isolated))

    @property
    def _audio_blocks(self) -> frozenset[int]:
        return self.blocks if self.audio_blocks is None else self.audio_blocks


@dataclass(frozen=True, slots=True)
class BlockKeeps:
    """Which samples keep an operation: True for all, False for none, else a [B, 1, 1] mask of ones and zeros."""

    video: Tensor | bool = True
    audio: Tensor | bool = True
    cross: Tensor | bool = True


_ALL, _NONE, _SOME = "ans"


def _kind(perturbed: tuple[bool, ...]) -> str:
    if not any(perturbed):
        return _ALL
    return _NONE if all(perturbed) else _SOME


def _keep(perturbed: tuple[bool, ...], like: Tensor) -> Tensor | bool:
    kind = _kind(perturbed)
    if kind != _SOME:
        return kind == _ALL
    return torch.tensor([not p for p in perturbed], dtype=like.dtype, device=like.device)[:, None, None]
