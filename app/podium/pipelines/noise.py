"""Where all noise comes from: one place, seeded by (seed, name), drawn on the CPU, never by rank or device."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor


class NoiseSource(Protocol):
    """Draw raw normals by name."""

    def draw(self, name: str, shape: tuple[int, ...]) -> Tensor:
        """Return float32 normals on the CPU, in token layout [1, T, channels].

        Args:
            name: "stage_1.video", "stage_1.audio", "stage_2.video", "stage_2.audio"; stochastic samplers add
                "<stage>.<modality>.step.<k>" and ".substep.<k>".
            shape: Appended conditioning tokens included.
        """
        ...


@dataclass(frozen=True, slots=True)
class SeededNoise:
    """Draw the same normals for the same seed, name and shape, whatever was drawn before.

    Args:
        seed: 0 to 2**64 - 1.
    """

    seed: int

    def draw(self, name: str, shape: tuple[int, ...]) -> Tensor:
        """Return float32 normals of `shape` on the CPU."""
        digest = hashlib.sha256(f"{self.seed}/{name}".encode()).digest()
        # manual_seed takes the whole unsigned range only up to 2**63 - 1 without wrapping.
        generator = torch.Generator("cpu").manual_seed(int.from_bytes(digest[:8], "little") >> 1)
        return torch.randn(shape, generator=generator, dtype=torch.float32)
