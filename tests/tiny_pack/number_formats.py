"""Reduced-precision number formats in numpy: bfloat16 and float8 e4m3, as their stored bits.

Values are rounded to nearest, ties to even. NaN and infinities do not occur in a pack and are not handled.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Float32Array: TypeAlias = NDArray[np.float32]

E4M3_MAX = 448.0


def bfloat16_bits(values: Float32Array) -> NDArray[np.uint16]:
    """Return the bits of `values` (finite float32, any shape) rounded to bfloat16."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    # Adding just under half of the last kept place, plus that place itself, rounds ties to even.
    return ((bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)).astype(np.uint16)


def bfloat16_values(bits: NDArray[np.uint16]) -> Float32Array:
    """Return the float32 values that bfloat16 `bits` stand for."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def rounded_to_bfloat16(values: Float32Array) -> Float32Array:
    """Return `values` as float32 numbers that bfloat16 can hold exactly."""
    return bfloat16_values(bfloat16_bits(values))


def e4m3_bits(values: Float32Array) -> NDArray[np.uint8]:
    """Return the bits of `values` (float32, -448 to 448) rounded to float8 e4m3 (the variant without infinities)."""
    table = _positive_e4m3_values()
    magnitudes = np.abs(values)
    above = np.clip(np.searchsorted(table, magnitudes), 1, len(table) - 1)
    below = above - 1
    to_below, to_above = magnitudes - table[below], table[above] - magnitudes
    # A code is even where its mantissa is, and neighbours differ by one: that decides ties.
    takes_above = (to_above < to_below) | ((to_above == to_below) & (above % 2 == 0))
    codes = np.where(takes_above, above, below).astype(np.uint8)
    return codes | (np.signbit(values).astype(np.uint8) << np.uint8(7))


def e4m3_values(bits: NDArray[np.uint8]) -> Float32Array:
    """Return the float32 values that float8 e4m3 `bits` stand for."""
    magnitudes = _positive_e4m3_values()[bits & np.uint8(0x7F)]
    signs = np.where(bits & np.uint8(0x80), np.float32(-1), np.float32(1))
    return np.asarray(magnitudes * signs, dtype=np.float32)


def _positive_e4m3_values() -> Float32Array:
    """Return the values of the codes 0 to 126; code 127 is NaN and left out."""
    codes = np.arange(127)
    exponent, mantissa = codes >> 3, codes & 7
    normal = (1.0 + mantissa / 8.0) * 2.0 ** (exponent - 7)
    return np.where(exponent == 0, mantissa / 8.0 * 2.0**-6, normal).astype(np.float32)
