"""Named random tensors whose values depend on nothing but (seed, family, name).

Every value is rounded to a number that bfloat16 can hold, so float32 and bfloat16 packs store the same numbers, and
last-bit differences between machines' maths libraries vanish.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tests.tiny_pack.number_formats import Float32Array, rounded_to_bfloat16


class TensorCollection:
    """Collect named float32 tensors drawn from keyed random streams.

    Args:
        seed: Seed of the whole pack.
        family: Which file family the tensors belong to; equal names in two families differ in value.
    """

    def __init__(self, seed: int, family: str) -> None:
        self.tensors: dict[str, Float32Array] = {}
        self._seed = seed
        self._family = family

    def put(self, name: str, values: NDArray[np.floating]) -> None:
        """Store given values under `name`."""
        self.tensors[name] = rounded_to_bfloat16(np.ascontiguousarray(values, dtype=np.float32))

    def normal(self, name: str, shape: Sequence[int], std: float, mean: float = 0.0) -> None:
        """Store normal values of a standard deviation and mean."""
        self.put(name, self._draw(name, shape) * std + mean)

    def norm_weight(self, name: str, num_channels: int) -> None:
        """Store the scale of a norm: one, give or take a tenth."""
        self.normal(name, (num_channels,), 0.1, 1.0)

    def linear(self, name: str, num_out: int, num_in: int, *, has_bias: bool = True, gain: float = 1.0) -> None:
        """Store weight [num_out, num_in] and bias of a linear layer; it multiplies the deviation by `gain`."""
        self.normal(f"{name}.weight", (num_out, num_in), gain / math.sqrt(num_in))
        if has_bias:
            self.normal(f"{name}.bias", (num_out,), 0.05)

    def conv(
        self,
        name: str,
        num_out: int,
        num_in: int,
        kernel: tuple[int, ...],
        *,
        has_bias: bool = True,
        gain: float = 1.0,
    ) -> None:
        """Store weight [num_out, num_in, *kernel] and bias of a convolution."""
        self.normal(f"{name}.weight", (num_out, num_in, *kernel), gain / math.sqrt(num_in * math.prod(kernel)))
        if has_bias:
            self.normal(f"{name}.bias", (num_out,), 0.02)

    def conv_transpose(self, name: str, num_in: int, num_out: int, *, kernel: int, stride: int) -> None:
        """Store weight [num_in, num_out, kernel] and bias of a transposed 1-D convolution."""
        self.normal(f"{name}.weight", (num_in, num_out, kernel), 1.0 / math.sqrt(num_in * kernel / stride))
        self.normal(f"{name}.bias", (num_out,), 0.02)

    def latent_statistics(self, name: str, num_channels: int) -> None:
        """Store latent means and deviations; never 0 and 1, so that a forgotten (de)normalisation shows."""
        self.normal(f"{name}.mean-of-means", (num_channels,), 0.1)
        deviations = f"{name}.std-of-means"
        self.put(deviations, 1.0 + 0.2 * np.tanh(self._draw(deviations, (num_channels,))))

    def _draw(self, name: str, shape: Sequence[int]) -> Float32Array:
        digest = hashlib.sha256(f"{self._seed}|{self._family}|{name}".encode()).digest()
        # RandomState's stream is frozen by numpy's compatibility promise; the newer generators' streams are not.
        stream = np.random.RandomState(int.from_bytes(digest[:4], "little"))
        return stream.standard_normal(size=tuple(shape)).astype(np.float32)
