"""Tiny models with random weights in the published file layouts: for tests, the demo and the wheel's smoke test.

A pack makes noise, not pictures: its models have the architecture of LTX-2 but a thousandth of its numbers, and were
never trained. Numbers depend on (seed, file family, tensor name) alone, so every machine writes the same pack.
"""

from podium.models.tiny_pack.cache import ensure_tiny_pack
from podium.models.tiny_pack.places import TinyPack
from podium.models.tiny_pack.recipe import ALL_PARTS, DEMO_PARTS, write_tiny_pack
from podium.models.tiny_pack.writing import pack_digests

__all__ = ["ALL_PARTS", "DEMO_PARTS", "TinyPack", "ensure_tiny_pack", "pack_digests", "write_tiny_pack"]
