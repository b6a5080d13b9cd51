"""The LoRAs of a tiny pack: rank 4, official names, no alpha."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from tests.tiny_pack.number_formats import Float32Array
from tests.tiny_pack.random_source import TensorCollection
from tests.tiny_pack.traits import LORA_RANK

_BLOCKS = "model.diffusion_model.transformer_blocks."
_GATE = "to_gate_logits"


def is_distilled_target(module: str) -> bool:
    """Tell whether the distilled LoRA changes a module of the blocks: all but the gates."""
    return not module.endswith(_GATE)


def is_style_target(module: str) -> bool:
    """Tell whether the style LoRA changes a module of the blocks: self- and text attention, gates apart."""
    return any(f".{name}.to_" in module for name in ("attn1", "attn2")) and not module.endswith(_GATE)


def add_lora(
    collection: TensorCollection, checkpoint: Mapping[str, Float32Array], is_target: Callable[[str], bool]
) -> None:
    """Add factors `lora_A` [4, in] and `lora_B` [out, 4] for each linear layer of the blocks that is a target."""
    for key, weight in sorted(checkpoint.items()):
        if not key.startswith(_BLOCKS) or not key.endswith(".weight") or weight.ndim != 2:
            continue
        module = key.removeprefix("model.").removesuffix(".weight")
        if is_target(module):
            num_out, num_in = weight.shape
            collection.normal(f"{module}.lora_A.weight", (LORA_RANK, num_in), 1 / math.sqrt(num_in))
            collection.normal(f"{module}.lora_B.weight", (num_out, LORA_RANK), 0.3 / math.sqrt(LORA_RANK))
