"""Which layers fp8-cast rounds, told by their names. No torch."""

from __future__ import annotations

# Source: the layers that the published fp8-cast rounds, by the end of their names; those of the audio stream too.
_CAST_LAYERS = (".to_q", ".to_k", ".to_v", ".to_out.0", "ff.net.0.proj", "ff.net.2")


def is_cast_layer(layer: str) -> bool:
    """Say whether fp8-cast rounds a layer, by its name without `.weight`."""
    return layer.endswith(_CAST_LAYERS)
