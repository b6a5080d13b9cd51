"""Weights of 8 bits: what is stored in fp8, how it is read, and how a changed weight goes back into it.

Two kinds. *fp8-cast* rounds the blocks' large layers, biases too, to float8_e4m3fn as they are read from a full
checkpoint. *fp8-scaled* takes the official fp8 files as they are: codes, and one scale a layer on them. The rule a
caller must know: a scale belongs to its codes and is written together with them (`scale_key_of` names it).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from podium.jobs import Quantization
from podium.models.cast_layers import is_cast_layer
from podium.models.errors import CheckpointError, CheckpointReason
from podium.models.header import SafetensorsHeader
from podium.models.probe.quantisation import detect_quantisation
from podium.models.probe.report import Quantisation
from podium.models.weight_reader import CAST, WeightPolicy, WeightSource, cast_floating

FP8 = torch.float8_e4m3fn
FP8_MAX = 448.0
"""Largest number of float8_e4m3fn."""

_SCALE = ".weight_scale"
_INPUT_SCALE = ".input_scale"
_STORED_FP8 = "F8_E4M3"

# Codes turned into float32 at a time, beside the sum.
_BLOCK_ELEMENTS = 1 << 22


def scale_key_of(weight_key: str) -> str:
    """Return the name of the scale that a weight's codes may have."""
    return weight_key.removesuffix(".weight") + _SCALE


def with_scales(weight_keys: Collection[str], tensors: Mapping[str, Tensor]) -> frozenset[str]:
    """Return keys of weights together with the keys of those scales that `tensors` holds."""
    return frozenset(weight_keys).union(key for key in map(scale_key_of, weight_keys) if key in tensors)


def policy_of(quantization: Quantization) -> WeightPolicy:
    """Return what becomes of the transformer's tensors as they are read."""
    return {
        Quantization.NONE: CAST,
        Quantization.FP8_CAST: WeightPolicy("fp8-cast", _cast_to_fp8),
        Quantization.FP8_SCALED: WeightPolicy("fp8-scaled", _keep_scales, _arrange_scaled),
    }[quantization]


def check_quantization(header: SafetensorsHeader, asked: Quantization) -> None:
    """Check that a file can be held as asked.

    Raises:
        CheckpointError: It cannot; the sentence says which choice fits the file.
    """
    found, _ = detect_quantisation(header.tensors, header.metadata)
    is_scaled = found is Quantisation.FP8_SCALED and not _has_other_fp8(header)
    if found is Quantisation.NONE:
        if asked is Quantization.FP8_SCALED:
            _refuse(
                header.path,
                f"“{header.path.name}” holds its weights in full, without fp8 scales. Choose the quantisation "
                "“fp8-cast” or “none” for it, or the official fp8 file of the model.",
            )
    elif not is_scaled:
        _refuse(
            header.path,
            f"“{header.path.name}” is quantised in a way that Podium cannot read: {found.words}. Choose the bf16 file "
            "of the model, or its official fp8 file with the quantisation “fp8-scaled”.",
        )
    elif asked is not Quantization.FP8_SCALED:
        _refuse(
            header.path,
            f"“{header.path.name}” is an fp8 file with scales, which cannot be read as “{asked}”. Choose the "
            "quantisation “fp8-scaled” for it, or the bf16 file of the model.",
        )


def stored_in_fp8(header: SafetensorsHeader, names: Mapping[str, str]) -> frozenset[str]:
    """Return the layers whose weights a file stores as fp8 codes, without `.weight`.

    Args:
        header: Of the file.
        names: Module key by file key.
    """
    coded = (names[key] for key, info in header.tensors.items() if key in names and info.dtype == _STORED_FP8)
    return frozenset(key.removesuffix(".weight") for key in coded if key.endswith(".weight"))


def dequantised(codes: Tensor, scale: Tensor | None, dtype: torch.dtype) -> Tensor:
    """Return the values of fp8 codes, rounded once, to `dtype`.

    Args:
        codes: float8_e4m3fn, any shape.
        scale: Factor on all of them, float32 without dimensions; None for 1.
        dtype: Floating, 16 bits or more; it holds every code exactly.
    """
    return codes.to(dtype) if scale is None else (codes.to(torch.float32) * scale).to(dtype)


@torch.no_grad()
def requantise_(codes: Tensor, scale: Tensor | None, clean: tuple[Tensor, Tensor | None], delta: Tensor) -> None:
    """Write clean codes plus a float32 delta into `codes` and `scale`, in place, each sum rounded to the nearest code.

    Rounding by chance would keep the mean of deltas below half a step, but was seen to come out further from the exact
    sum at every strength.

    A scale grows where the sum exceeds what fp8 holds, and only by powers of two: such a grid contains the clean
    one (but for its tiniest numbers), so what a LoRA leaves alone keeps its value to the bit, where a scale fitted
    anew to the largest weight would round every weight of the layer a second time. fp8 without a scale saturates.

    Args:
        codes: float8_e4m3fn, contiguous; may be the clean codes themselves.
        scale: Written; None where the clean scale is.
        clean: Codes and scale of the clean weight, on the device of `codes`; the scale is above zero.
        delta: float32, the shape of `codes`; its contents are lost.
    """
    clean_codes, clean_scale = clean
    if clean_scale is not None:
        delta.div_(clean_scale)
    sums, flat_clean, flat = delta.view(-1), clean_codes.reshape(-1), codes.view(-1)
    for block in _blocks(sums.numel()):
        sums[block].add_(flat_clean[block].to(torch.float32))
    if clean_scale is not None and scale is not None:
        growth = _growth(sums)
        sums.div_(growth)
        scale.copy_(clean_scale * growth)
    flat.copy_(sums.clamp_(-FP8_MAX, FP8_MAX))


def _growth(sums: Tensor) -> Tensor:
    # The least power of two, 1 or more, that brings the sums within fp8; on the device, so nothing waits for it.
    low, high = torch.aminmax(sums)
    mantissa, exponent = torch.frexp(torch.maximum(-low, high) / FP8_MAX)
    # frexp gives 1 as 0.5 * 2**1, and what is at most 1 fits.
    power = torch.where(mantissa > 0.5, exponent, exponent - 1).clamp(0, 127)
    # Written into the bits of a float32: functions that raise to powers need not be exact.
    return ((power.to(torch.int32) + 127) << 23).view(torch.float32)


def _blocks(num_elements: int) -> list[slice]:
    return [slice(start, start + _BLOCK_ELEMENTS) for start in range(0, num_elements, _BLOCK_ELEMENTS)]


def _cast_to_fp8(key: str, tensor: Tensor, dtype: torch.dtype) -> Tensor:
    layer, _, kind = key.rpartition(".")
    if kind in {"weight", "bias"} and is_cast_layer(layer) and tensor.is_floating_point():
        return tensor.to(torch.float32).clamp(-FP8_MAX, FP8_MAX).to(FP8)
    return cast_floating(key, tensor, dtype)


def _keep_scales(key: str, tensor: Tensor, dtype: torch.dtype) -> Tensor:
    return tensor.to(torch.float32) if key.endswith(_SCALE) else cast_floating(key, tensor, dtype)


def _arrange_scaled(sources: Sequence[WeightSource], wanted: Mapping[str, tuple[int, ...]]) -> list[WeightSource]:
    # Files of both orientations exist, [out, in] and [in, out]; what a layer's shape cannot tell, the others do.
    coded = [source for source in sources if source.dtype == _STORED_FP8 and len(source.shape) == 2]
    turned = {s.module_key for s in coded if s.shape != s.shape[::-1] == wanted.get(s.module_key)}
    straight = {s.module_key for s in coded if s.shape == wanted.get(s.module_key) != s.shape[::-1]}
    square = {s.module_key for s in coded if s.shape[0] == s.shape[1]}
    if turned and straight and square:
        raise CheckpointError(
            f"“{sources[0].path.name}” stores some of its layers turned and others not, so that square ones cannot be "
            "told. Fetch the official fp8 file again, or choose the bf16 file of the model.",
            path=sources[0].path,
            reason=CheckpointReason.MISMATCHED,
            details=f"turned: {min(turned)}; not: {min(straight)}",
        )
    if turned and not straight:
        turned |= square
    return [
        _arranged(s, is_transposed=s.module_key in turned) for s in sources if not s.module_key.endswith(_INPUT_SCALE)
    ]


def _arranged(source: WeightSource, *, is_transposed: bool) -> WeightSource:
    if is_transposed:
        return replace(source, shape=source.shape[::-1], is_transposed=True)
    # A scale is one number, whether its file gives it a dimension or none.
    is_one_number = source.module_key.endswith(_SCALE) and source.shape == (1,)
    return replace(source, shape=()) if is_one_number else source


def _has_other_fp8(header: SafetensorsHeader) -> bool:
    return any(info.dtype.startswith("F8_") and info.dtype != _STORED_FP8 for info in header.tensors.values())


def _refuse(path: Path, sentence: str) -> None:
    raise CheckpointError(sentence, path=path, reason=CheckpointReason.QUANTISED)
