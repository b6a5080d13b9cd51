"""Small safetensors files with any names and shapes, to be probed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from tests.tiny_pack.writing import StoredTensor, write_safetensors

BLOCK = "transformer_blocks.0."
# The fewest names by which a transformer of LTX-2 is known.
MINIMAL_TRANSFORMER: Mapping[str, tuple[int, ...]] = {
    f"{BLOCK}attn1.to_q.weight": (4, 4),
    f"{BLOCK}audio_to_video_attn.to_q.weight": (4, 4),
    "audio_patchify_proj.weight": (4, 4),
}


def write_file(
    path: Path,
    shapes: Mapping[str, tuple[int, ...]],
    metadata: Mapping[str, str] | None = None,
    dtypes: Mapping[str, str] | None = None,
) -> Path:
    """Write zeros under the given names; dtypes other than F32 are taken to be a byte wide."""
    tensors = {}
    for name, shape in shapes.items():
        dtype = (dtypes or {}).get(name, "F32")
        tensors[name] = StoredTensor(dtype, np.zeros(shape, np.float32 if dtype == "F32" else np.uint8))
    write_safetensors(path, tensors, dict(metadata or {}))
    return path
