"""Builders for parts that the first rank alone holds: it works, and the others get the result or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
import torch.distributed as dist
from torch import Tensor

from podium.geometry import SPACE_FACTOR, TIME_FACTOR
from podium.models.weight_reader import OnProgress
from podium.multigpu.agreement import agree_all
from podium.multigpu.groups import NCCLGroups
from podium.pipelines.blocks.slots import BuilderSlot, FrameDecoder, TextEncoder


class FirstRankTextEncoder:
    """Encodes on the first rank and gives every rank the hidden states.

    Ranks: every rank. Collectives of `encode`: one agreement, and one broadcast a prompt.

    Args:
        inner: The encoder on the first rank, None elsewhere.
        groups: The fleet's groups.
        device: Where hidden states are wanted.
    """

    def __init__(self, inner: TextEncoder | None, groups: NCCLGroups, device: torch.device) -> None:
        self._inner = inner
        self._groups = groups
        self._device = device

    def encode(self, prompts: Sequence[str]) -> list[Tensor]:
        """Return the hidden states [N, D, L] of each prompt, the same bits on every rank.

        Raises:
            JobRefusedError: Alike on all ranks, if a prompt is too long.
        """
        hidden: list[Tensor] = []

        def encode_here() -> list[tuple[tuple[int, ...], torch.dtype]]:
            if self._inner is not None:
                hidden.extend(self._inner.encode(prompts))
            return [(tuple(states.shape), states.dtype) for states in hidden]

        first, *_ = agree_all(encode_here, self._groups.control_group)
        if self._inner is None:
            hidden = [torch.empty(shape, dtype=dtype, device=self._device) for shape, dtype in first]
        hidden = [states.contiguous() for states in hidden]
        for states in hidden:
            dist.broadcast(states, group=self._groups.transformer_group, group_src=0)
        return hidden


@dataclass(frozen=True, slots=True)
class FirstRankTextEncoderBuilder:
    """Builds the text encoder on the first rank only.

    Ranks: every rank; local.

    Args:
        inner: The encoder's own builder.
        groups: The fleet's groups.
        is_first: This is the first rank.
    """

    inner: BuilderSlot[TextEncoder]
    groups: NCCLGroups = field(repr=False)
    is_first: bool

    def build(
        self, device: torch.device, dtype: torch.dtype, *, on_progress: OnProgress | None = None
    ) -> FirstRankTextEncoder:
        """Return the encoder; only the first rank reads weights."""
        inner = self.inner.build(device, dtype, on_progress=on_progress) if self.is_first else None
        return FirstRankTextEncoder(inner, self.groups, device)


class EmptyVideoDecoder:
    """Stands in for the decoder on ranks whose frames nobody looks at: black, and without memory of their own."""

    def __init__(self, device: torch.device, dtype: torch.dtype) -> None:
        self._black = torch.zeros((), device=device, dtype=dtype)

    def decode(self, latent_BCFHW: Tensor) -> Tensor:
        """Return [B, 3, 8(F-1)+1, 32H, 32W] of one shared zero."""
        batch, _, frames, height, width = latent_BCFHW.shape
        size = (batch, 3, TIME_FACTOR * (frames - 1) + 1, SPACE_FACTOR * height, SPACE_FACTOR * width)
        return self._black.expand(size)


@dataclass(frozen=True, slots=True)
class FirstRankVideoDecoderBuilder:
    """Builds the video decoder on the first rank only.

    Ranks: every rank; local.

    Args:
        inner: The decoder's own builder.
        is_first: This is the first rank.
    """

    inner: BuilderSlot[FrameDecoder]
    is_first: bool

    def build(self, device: torch.device, dtype: torch.dtype, *, on_progress: OnProgress | None = None) -> FrameDecoder:
        """Return the decoder; only the first rank reads weights."""
        if self.is_first:
            return self.inner.build(device, dtype, on_progress=on_progress)
        return EmptyVideoDecoder(device, dtype)
