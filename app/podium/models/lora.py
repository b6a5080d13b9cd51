"""Fuse LoRAs into the transformer's weights.

One arithmetic for every caller: a clean weight in float32, plus each LoRA's delta in float32 in the order of the set,
rounded once to the weight's own type. Weights in fp8 are no exception: codes and scale of the clean weight, plus the
deltas, back into codes and scale. The clean weights are never written to, so taking a LoRA away is exact.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from podium.jobs import BranchStrengths, LoraSpec
from podium.models.errors import CheckpointReason
from podium.models.lora_keys import LoraError, LoraPlan, LoraReport, check_strengths, read_lora_plan
from podium.models.lora_names import Branch, branch_of
from podium.models.quantization import FP8, requantise_, scale_key_of, with_scales


@dataclass(frozen=True, slots=True)
class LoraFactors:
    """The factors of one weight, as the file holds them.

    Args:
        weight_key: Official name of the weight.
        a: [rank, in_features]; float32, float16 or bfloat16.
        b: [out_features, rank]; float32, float16 or bfloat16.
        scale: alpha / rank, any finite number.
    """

    weight_key: str
    a: Tensor
    b: Tensor
    scale: float


@dataclass(frozen=True, slots=True)
class LoraDelta:
    """One addend of a fused weight: factor * B @ A.

    Args:
        a: [rank, in_features], on the weight's device.
        b: [out_features, rank], on the weight's device.
        factor: Strength * branch factor * alpha / rank, finite.
    """

    a: Tensor
    b: Tensor
    factor: float


@dataclass(frozen=True, slots=True)
class FusedWeights:
    """The weights a LoRA set changes, and what each LoRA did.

    Args:
        tensors: New tensors by official name, in the type, shape and device of the weights they replace; only the keys
            that the set touches, and the scales that belong to them.
        reports: One a LoRA, in the order of the set.
    """

    tensors: dict[str, Tensor]
    reports: tuple[LoraReport, ...]


def fuse_loras(weights: Mapping[str, Tensor], loras: Sequence[LoraSpec]) -> FusedWeights:
    """Return the weights that a LoRA set changes, fused.

    A LoRA may stand in the set twice; one of strength 0 is read and reported, and changes nothing.

    Args:
        weights: Clean weights by official name without `model.diffusion_model.`, [out_features, in_features] for linear
            layers, and the scales of those in fp8; read only.
        loras: The set; strengths are finite.

    Raises:
        CheckpointError: A file cannot be read.
        LoraError: A file fits no weight or holds values that are no numbers, or a weight it changes is stored in a way
            that cannot be added to.
        JobRefusedError: A strength is no finite number.
    """
    shapes = {key: tuple(weight.shape) for key, weight in weights.items()}
    plans = [read_lora_plan(spec.path, shapes) for spec in loras]
    factors = [delta_factors(plan, spec) for plan, spec in zip(plans, loras, strict=True)]
    touched = {key for of_plan in factors for key in of_plan}
    moved = with_scales(touched, weights)
    check_fusible(weights, touched, plans)
    tensors = {key: torch.empty_like(weights[key], requires_grad=False) for key in weights if key in moved}
    with ExitStack() as files:
        sources = [_FactorSource(plan, files) for plan in plans]
        active = list(zip(sources, factors, strict=True))
        for key in weights:
            if key in touched:
                fuse_into_(key, tensors, weights, _deltas(key, weights[key].device, active))
        for source in sources:
            source.check_values()
    return FusedWeights(tensors, tuple(plan.report for plan in plans))


def delta_factors(plan: LoraPlan, spec: LoraSpec) -> dict[str, float]:
    """Return the factor on B @ A of every weight that a LoRA moves at the strengths of its spec.

    Weights whose factor is 0 are left away: they stay clean to the bit.

    Raises:
        JobRefusedError: A strength is no finite number.
    """
    check_strengths(spec)
    factors = {
        pair.weight_key: spec.strength * _branch_strength(spec.branches, branch_of(pair.weight_key)) * pair.scale
        for pair in plan.pairs
    }
    return {key: factor for key, factor in factors.items() if factor}


def check_fusible(weights: Mapping[str, Tensor], touched: Collection[str], plans: Sequence[LoraPlan]) -> None:
    """Check that every weight a set touches is held in a way that can be added to.

    Raises:
        LoraError: One is not.
    """
    for key in touched:
        weight = weights[key]
        if weight.dtype == FP8 or (weight.is_floating_point() and weight.element_size() >= 2):
            continue
        path = next(plan.path for plan in plans if any(pair.weight_key == key for pair in plan.pairs))
        raise LoraError(
            f"“{path.name}” cannot be applied: this checkpoint keeps its weights in a form that LoRAs cannot be added "
            "to. The bf16 checkpoint of the model is needed, or its official fp8 file, or a job without LoRAs.",
            path=path,
            reason=CheckpointReason.QUANTISED,
            details=f"{key} is {weight.dtype}",
        )


@torch.no_grad()
def fuse_into_(
    key: str,
    target: Mapping[str, Tensor],
    clean: Mapping[str, Tensor],
    deltas: Iterable[LoraDelta],
    *,
    workspace: Tensor | None = None,
) -> None:
    """Write a clean weight plus LoRA deltas into the target's tensors, in place; its scale too, if it has one.

    The sum is made in float32, in the order of `deltas`, and rounded once. The target keeps its storage, so compiled
    code and CUDA graphs keep their addresses. Without deltas it becomes the clean weight to the bit.

    Args:
        key: Official name of the weight, [out_features, in_features].
        target: Written; holds `key`, floating with 16 bits or more or float8_e4m3fn, and its scale, if there is one.
        clean: The same; its tensors may be the target's own, or lie in host memory.
        deltas: Addends for this weight, on the target's device.
        workspace: float32 on the target's device, with room for the weight; None takes memory for the while.
    """
    weight, scale_key = target[key], scale_key_of(key)
    addends = list(deltas)
    if not addends:
        for name in (key, scale_key):
            if name in target:
                target[name].copy_(clean[name], non_blocking=True)
        return
    # Types are changed on the device: on its way from host memory a tensor would be converted there.
    clean_weight = clean[key].to(weight.device, non_blocking=True)
    shape = weight.shape
    total = torch.empty(shape, device=weight.device) if workspace is None else workspace[: weight.numel()].view(shape)
    total.copy_(clean_weight) if weight.dtype != FP8 else total.zero_()
    for addend in addends:
        _add_product_(total, addend)
    if weight.dtype != FP8:
        weight.copy_(total)
        return
    clean_scale = clean.get(scale_key)
    if clean_scale is not None:
        clean_scale = clean_scale.to(weight.device, non_blocking=True)
    requantise_(weight, target.get(scale_key), (clean_weight, clean_scale), total)


def _add_product_(total: Tensor, delta: LoraDelta) -> None:
    a, b = delta.a, delta.b
    if total.device.type != "cpu" and a.dtype == b.dtype and a.dtype in (torch.bfloat16, torch.float16):
        # Products of 16-bit numbers are exact in float32, and are added up in it: several times as fast as float32
        # factors, with nothing lost but the order of the sum.
        torch.addmm(total, b, a, out_dtype=torch.float32, alpha=delta.factor, out=total)
    else:
        total.addmm_(b.to(torch.float32), a.to(torch.float32), alpha=delta.factor)


def not_finite_error(path: Path) -> LoraError:
    """Return the refusal of a file whose factors are NaN or infinite."""
    return LoraError(
        f"“{path.name}” holds values that are no numbers: its training failed, or the file is "
        "damaged. Another copy or an earlier training step of it is needed.",
        path=path,
        reason=CheckpointReason.CORRUPT,
    )


class _FactorSource:
    """Reads the factors of one LoRA from its open file, and keeps watch for values that are no numbers."""

    def __init__(self, plan: LoraPlan, files: ExitStack) -> None:
        self._plan = plan
        self._files = files
        self._pairs = {pair.weight_key: pair for pair in plan.pairs}
        self._open_files: dict[torch.device, safe_open] = {}
        self._is_finite: Tensor | None = None

    def read(self, weight_key: str, device: torch.device) -> LoraFactors:
        """Return the factors of one weight on `device`."""
        pair = self._pairs[weight_key]
        try:
            a, b = self._get_tensor(pair.a_name, device), self._get_tensor(pair.b_name, device)
        except (OSError, SafetensorError) as error:
            raise LoraError(
                f"“{self._plan.path.name}” can no longer be read, though its header could. "
                "Is its drive still there, and the file the same?",
                path=self._plan.path,
                reason=CheckpointReason.UNREADABLE,
                details=str(error),
            ) from error
        is_finite = torch.isfinite(a).all() & torch.isfinite(b).all()
        self._is_finite = (
            is_finite if self._is_finite is None else self._is_finite & is_finite.to(self._is_finite.device)
        )
        return LoraFactors(weight_key, a, b, pair.scale)

    def check_values(self) -> None:
        """Check all factors read so far; asks the device once for all of them.

        Raises:
            LoraError: One of them was NaN or infinite.
        """
        if self._is_finite is not None and not bool(self._is_finite):
            raise not_finite_error(self._plan.path)

    def _get_tensor(self, name: str, device: torch.device) -> Tensor:
        # safetensors reads onto the device that the file was opened for, and parses the header at each opening.
        if device not in self._open_files:
            file = safe_open(self._plan.path, framework="pt", device=str(device))
            self._open_files[device] = self._files.enter_context(file)
        tensor: Tensor = self._open_files[device].get_tensor(name)  # type: ignore[no-untyped-call] # its stub has no types
        return tensor


def _deltas(
    weight_key: str, device: torch.device, sources: Iterable[tuple[_FactorSource, Mapping[str, float]]]
) -> Iterator[LoraDelta]:
    for source, factors in sources:
        if weight_key in factors:
            read = source.read(weight_key, device)
            yield LoraDelta(read.a, read.b, factors[weight_key])


def _branch_strength(strengths: BranchStrengths, branch: Branch) -> float:
    return {
        Branch.VIDEO: strengths.video,
        Branch.AUDIO: strengths.audio,
        Branch.AUDIO_TO_VIDEO: strengths.audio_to_video,
        Branch.VIDEO_TO_AUDIO: strengths.video_to_audio,
    }[branch]
