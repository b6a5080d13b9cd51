"""Fuse LoRAs into the transformer's weights.

One arithmetic for every caller: a clean weight in float32, plus each LoRA's delta in float32 in the order of the set,
cast once to the weight's own type. The clean weights are never written to, so taking a LoRA away is exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
            that the set touches.
        reports: One a LoRA, in the order of the set.
    """

    tensors: dict[str, Tensor]
    reports: tuple[LoraReport, ...]


def fuse_loras(weights: Mapping[str, Tensor], loras: Sequence[LoraSpec]) -> FusedWeights:
    """Return the weights that a LoRA set changes, fused.

    A LoRA may stand in the set twice; one of strength 0 is read and reported, and changes nothing.

    Args:
        weights: Clean weights by official name without `model.diffusion_model.`, [out_features, in_features] for linear
            layers; read only.
        loras: The set; strengths are finite.

    Raises:
        CheckpointError: A file cannot be read.
        LoraError: A file fits no weight or holds values that are no numbers, or a weight it changes is stored in fewer
            than 16 bits.
        JobRefusedError: A strength is no finite number.
    """
    shapes = {key: tuple(weight.shape) for key, weight in weights.items()}
    plans = [read_lora_plan(spec.path, shapes) for spec in loras]
    factors = [delta_factors(plan, spec) for plan, spec in zip(plans, loras, strict=True)]
    touched = {key for of_plan in factors for key in of_plan}
    for key in touched:
        _check_dtype(key, weights[key], loras[0].path)
    with ExitStack() as files:
        sources = [_FactorSource(plan, files) for plan in plans]
        active = list(zip(sources, factors, strict=True))
        tensors = {key: _fused(key, clean, active) for key, clean in weights.items() if key in touched}
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


def load_lora_factors(plan: LoraPlan, device: torch.device) -> Iterator[LoraFactors]:
    """Read the factors of a LoRA straight onto a device, pair by pair in the plan's order.

    Args:
        plan: The file and what to read from it.
        device: Where the factors go.

    Raises:
        LoraError: The file can no longer be read, or (after the last pair) factors hold values that are no numbers.
    """
    with ExitStack() as files:
        source = _FactorSource(plan, files)
        for pair in plan.pairs:
            yield source.read(pair.weight_key, device)
        source.check_values()


@torch.no_grad()
def fuse_into_(target: Tensor, clean: Tensor, deltas: Iterable[LoraDelta]) -> None:
    """Write a clean weight plus LoRA deltas into `target`, in place.

    The sum is made in float32, in the order of `deltas`, and cast once. `target` keeps its storage, so compiled code
    and CUDA graphs keep their addresses. Without deltas `target` becomes `clean` to the bit.

    Args:
        target: [out_features, in_features], floating, 16 bits or more; may be `clean` itself.
        clean: The same shape and type, on the same device.
        deltas: Addends for this weight.
    """
    total: Tensor | None = None
    for delta in deltas:
        if total is None:
            # A float32 weight's `to` would be the clean weight itself.
            total = clean.to(torch.float32, copy=True)
        total.addmm_(delta.b.to(torch.float32), delta.a.to(torch.float32), alpha=delta.factor)
    target.copy_(clean if total is None else total)


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
            raise LoraError(
                f"“{self._plan.path.name}” holds values that are no numbers: its training failed, or the file is "
                "damaged. Another copy or an earlier training step of it is needed.",
                path=self._plan.path,
                reason=CheckpointReason.CORRUPT,
            )

    def _get_tensor(self, name: str, device: torch.device) -> Tensor:
        # safetensors reads onto the device that the file was opened for, and parses the header at each opening.
        if device not in self._open_files:
            file = safe_open(self._plan.path, framework="pt", device=str(device))
            self._open_files[device] = self._files.enter_context(file)
        tensor: Tensor = self._open_files[device].get_tensor(name)  # type: ignore[no-untyped-call] # its stub has no types
        return tensor


def _check_dtype(weight_key: str, weight: Tensor, lora_path: Path) -> None:
    if not weight.is_floating_point() or weight.element_size() < 2:
        raise LoraError(
            f"“{lora_path.name}” cannot be applied: LoRAs go into weights of 16 or 32 bits, and this checkpoint keeps "
            "them in fewer. The bf16 checkpoint of the model is needed, or a job without LoRAs.",
            path=lora_path,
            reason=CheckpointReason.QUANTISED,
            details=f"{weight_key} is {weight.dtype}",
        )


def _fused(weight_key: str, clean: Tensor, sources: Iterable[tuple[_FactorSource, Mapping[str, float]]]) -> Tensor:
    target = torch.empty(clean.shape, dtype=clean.dtype, device=clean.device)
    fuse_into_(target, clean, _deltas(weight_key, clean.device, sources))
    return target


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
