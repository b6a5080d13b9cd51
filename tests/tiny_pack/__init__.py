"""Tiny models with random weights in the published file layouts: what formats are tested with.

A pack makes noise, not pictures: its models have the architecture of LTX-2 but a thousandth of its numbers, and were
never trained. Numbers depend on (seed, file family, tensor name) alone, so every machine writes the same pack.
"""

from tests.tiny_pack.places import TinyPack
from tests.tiny_pack.recipe import ALL_PARTS, write_tiny_pack
from tests.tiny_pack.writing import pack_digests

__all__ = ["ALL_PARTS", "TinyPack", "pack_digests", "write_tiny_pack"]
