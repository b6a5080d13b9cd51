"""What torch takes from a GPU for tensors that it is asked for one after another. No torch.

It takes memory in segments and cuts tensors from them, so a segment may be left half empty: of two copies of the
audio stream's weights, 8 MiB each, that fill 16 of every 20 MiB, 2.4 GB on an H200. What is asked for later fills the
rest only if it is small enough.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable

# Source: torch's c10/core/AllocatorConfig.h and c10/cuda/CUDACachingAllocator.cpp; the same in torch 2.11 and 2.13.
_UNIT_BYTES = 512
_SMALL_BYTES, _SMALL_SEGMENT_BYTES = 1 << 20, 2 << 20
_LARGE_BYTES, _LARGE_SEGMENT_BYTES = 10 << 20, 20 << 20
_ROUNDED_TO_BYTES = 2 << 20


def segment_bytes(sizes: Iterable[int]) -> int:
    """Return what torch takes from a GPU that it has nothing of yet, for tensors of these bytes in this order."""
    total = 0
    # What is left of segments, of those for small tensors and of the others; a tensor takes the smallest that holds it.
    left: tuple[list[int], list[int]] = ([], [])
    for num_bytes in sizes:
        size = max(1, -(-num_bytes // _UNIT_BYTES)) * _UNIT_BYTES
        is_small = size <= _SMALL_BYTES
        rests = left[0] if is_small else left[1]
        place = bisect_left(rests, size)
        if place < len(rests):
            block = rests.pop(place)
        else:
            block = _new_segment_bytes(size)
            total += block
        insort(rests, block - size)
    return total


def _new_segment_bytes(size: int) -> int:
    if size <= _SMALL_BYTES:
        return _SMALL_SEGMENT_BYTES
    if size < _LARGE_BYTES:
        return _LARGE_SEGMENT_BYTES
    return -(-size // _ROUNDED_TO_BYTES) * _ROUNDED_TO_BYTES
