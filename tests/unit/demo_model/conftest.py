"""The scripts that make the demo model are no package: their folder is looked into last."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

FOLDER = Path(__file__).parents[3] / "packaging" / "demo_model"

if str(FOLDER) not in sys.path:
    sys.path.append(str(FOLDER))


@pytest.fixture(scope="session")
def untrained() -> dict[str, dict[str, torch.Tensor]]:
    """Return states of networks as they are before any training."""
    from lora_training import LoraFactors, published
    from networks import DemoNetwork, make_decoder, make_encoder, make_upsampler

    torch.manual_seed(0)
    network = DemoNetwork()
    return {
        "transformer": network.state_dict(),
        "decoder": make_decoder().state_dict(),
        "encoder": make_encoder().state_dict(),
        "upsampler": make_upsampler().state_dict(),
        "lora_outline": published(LoraFactors(network).state_dict()),
    }
