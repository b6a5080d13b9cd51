"""Where and in which type a pipeline's networks run."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from podium.models.weight_reader import OnProgress


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a pipeline's networks run.

    Args:
        device: Of all networks.
        dtype: Of their weights and activations; states between steps are float32 always.
    """

    device: torch.device
    dtype: torch.dtype


def default_device() -> torch.device:
    """Return the machine's accelerator, or the CPU where there is none."""
    accelerator = torch.accelerator.current_accelerator(check_available=True)
    return torch.device("cpu") if accelerator is None else accelerator


__all__ = ["OnProgress", "Placement", "default_device"]
