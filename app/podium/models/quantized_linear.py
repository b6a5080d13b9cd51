"""Linear layers whose weights are fp8 codes.

They keep the names of plain ones (`weight`, `bias`, and `weight_scale` beside them), so that checkpoints, LoRAs and the
weight tracker treat them alike; the codes and the scale stay where they are in memory when a LoRA is swapped.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from podium.models.errors import CheckpointError, CheckpointReason
from podium.models.quantization import FP8, FP8_MAX, dequantised

# Source: the first compute capability whose compiled kernels can convert float8_e4m3fn, and that multiplies in it.
_FIRST_WITH_FP8 = (8, 9)


class Fp8Linear(nn.Linear):
    """A linear layer of fp8 codes, turned into the input's type for the product.

    Args:
        in_features, out_features: As of any linear.
        has_bias: It adds a bias, in fp8 without a scale or in the input's type.
        has_scale: Its codes have a scale.

    Attributes:
        multiplies_in_fp8: Round the input to fp8 too, one scale a token, and multiply in fp8; not by default. Both
            sizes must be multiples of 16.
    """

    weight_scale: Tensor | None

    def __init__(self, in_features: int, out_features: int, *, has_bias: bool, has_scale: bool) -> None:
        super().__init__(in_features, out_features, bias=has_bias)
        self.register_buffer("weight_scale", torch.empty((), dtype=torch.float32) if has_scale else None)
        self.multiplies_in_fp8 = False
        self._has_bias = has_bias
        self._lacks_fp8 = False

    @property
    def gains_by_fp8(self) -> bool:
        """Return whether products in fp8 are faster than in 16 bits, where the compiler fuses the rounding of inputs.

        Without scales, codes are a way to hold weights of 16 bits in less memory, and products keep to those.
        """
        has_sizes = self.in_features % 16 == 0 and self.out_features % 16 == 0
        return self.weight_scale is not None and has_sizes and self.weight.is_cuda and not self._lacks_fp8

    def forward(self, x: Tensor) -> Tensor:
        """Return [..., out_features] of `x` [..., in_features], in the type of `x`."""
        bias = self.bias.to(x.dtype) if self._has_bias else None
        if self.multiplies_in_fp8 and not self._lacks_fp8:
            return _fp8_product(x, self.weight, self.weight_scale, bias)
        turn = _opaque_dequantise if self._lacks_fp8 else dequantised
        return functional.linear(x, turn(self.weight, self.weight_scale, x.dtype), bias)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:  # noqa: FBT001, FBT002 - torch's
        # Runs whenever the weights go to another device.
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call] # its stub has no types
        self._lacks_fp8 = self.weight.is_cuda and torch.cuda.get_device_capability(self.weight.device) < _FIRST_WITH_FP8
        return self


def quantise_linears(module: nn.Module, layers: Collection[str], path: Path, *, has_scales: bool) -> None:
    """Put fp8 layers in the place of plain linears that have no weights yet.

    Args:
        module: Its linears are plain.
        layers: Names of linears in it.
        path: The file that names them, for the words of the refusal.
        has_scales: Codes have scales.

    Raises:
        CheckpointError: A name is no linear of the module.
    """
    modules = dict(module.named_modules())
    strange = sorted(name for name in layers if not isinstance(modules.get(name), nn.Linear))
    if strange:
        raise CheckpointError(
            f"“{path.name}” keeps weights in fp8 that are no layers of this model ({strange[0]}). "
            "The official fp8 file of the model is needed, or its bf16 file.",
            path=path,
            reason=CheckpointReason.MISMATCHED,
            details="\n".join(strange[:5]),
        )
    for name in layers:
        plain = modules[name]
        assert isinstance(plain, nn.Linear)
        parent, _, child = name.rpartition(".")
        quantised = Fp8Linear(
            plain.in_features,
            plain.out_features,
            has_bias="bias" in dict(plain.named_parameters()),
            has_scale=has_scales,
        )
        setattr(modules[parent], child, quantised)


def _fp8_product(x: Tensor, codes: Tensor, scale: Tensor | None, bias: Tensor | None) -> Tensor:
    rows = x.flatten(0, -2)
    row_scale = (rows.abs().amax(dim=-1, keepdim=True).to(torch.float32) / FP8_MAX).clamp_min(1e-12)
    rows_8 = (rows.to(torch.float32) / row_scale).clamp(-FP8_MAX, FP8_MAX).to(FP8)
    one = torch.ones((), dtype=torch.float32, device=x.device) if scale is None else scale
    column_scale = one.expand(1, codes.shape[0]).contiguous()
    # Sums stay within the tensor cores, whose error is far below that of the codes: adding up in float32 beside them
    # takes longer than the product in 16 bits.
    out: Tensor = torch._scaled_mm(  # noqa: SLF001 - torch has no public product of scaled fp8
        rows_8,
        codes.t(),
        scale_a=row_scale,
        scale_b=column_scale,
        bias=bias,
        out_dtype=x.dtype,
        use_fast_accum=True,
    )
    return out.view(*x.shape[:-1], codes.shape[0])


# Older GPUs can turn codes into numbers, but not within compiled kernels: there the compiler may not look inside.
@torch.library.custom_op(
    "podium::dequantise", mutates_args=(), schema="(Tensor codes, Tensor? scale, ScalarType dtype) -> Tensor"
)
def _opaque_dequantise(codes: Tensor, scale: Tensor | None, dtype: torch.dtype) -> Tensor:
    return dequantised(codes, scale, dtype)


@_opaque_dequantise.register_fake
def _(codes: Tensor, scale: Tensor | None, dtype: torch.dtype) -> Tensor:
    del scale
    return torch.empty_like(codes, dtype=dtype)
