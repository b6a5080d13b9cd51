"""Which rank owns which tensor: told by the name alone, so every rank knows it without asking. No torch."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping


def owner_of(key: str, num_ranks: int) -> int:
    """Return the rank that owns a tensor; a scale goes with its weight.

    Args:
        key: Official name without `model.diffusion_model.`.
        num_ranks: Ranks of the group.

    Source: the published sharding, the first 8 bytes of the name's md5, little endian, modulo the ranks.
    """
    for suffix in (".weight_scale", ".weight_scale_2"):
        if key.endswith(suffix):
            key = key.removesuffix(suffix) + ".weight"
    # A hash to deal names out evenly, nothing to be kept safe.
    digest = hashlib.md5(key.encode(), usedforsecurity=False).digest()
    return int.from_bytes(digest[:8], "little") % num_ranks


def owned_sizes(sizes: Mapping[str, int], num_ranks: int) -> tuple[tuple[int, ...], ...]:
    """Return the bytes of each tensor that a rank owns, by rank: names are dealt out evenly, their sizes are not.

    Args:
        sizes: Bytes by name, as `owner_of` takes names.
        num_ranks: Ranks of the group.
    """
    owned: list[list[int]] = [[] for _ in range(num_ranks)]
    for key, num_bytes in sizes.items():
        owned[owner_of(key, num_ranks)].append(num_bytes)
    return tuple(map(tuple, owned))


def shares_of(sizes: Mapping[str, int], num_ranks: int) -> tuple[int, ...]:
    """Return the bytes that each rank owns; see `owned_sizes`."""
    return tuple(map(sum, owned_sizes(sizes, num_ranks)))
