"""The transformer's weights on a fleet: a working copy on every rank, the clean one sharded, LoRAs fused in place.

The rule a caller must know: the tensors of the module never change places. A swap writes into them, so compiled code
and captured graphs stay good; every module built through one tracker sees the LoRA set of the latest build.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar, cast

import torch
import torch.distributed as dist
from torch import nn

from podium.jobs import LoraSpec
from podium.models.builder import BuiltModel, SingleGPUModelBuilder
from podium.models.lora import LoraDelta, delta_factors, fuse_into_, load_lora_factors
from podium.models.lora_keys import LoraPlan, LoraReport, read_lora_plan
from podium.models.registry import FileStamp, Registry, StateDictKey
from podium.models.weight_reader import OnProgress, stamp_of
from podium.multigpu.agreement import agree_all
from podium.multigpu.sharded_sd import ShardedSD

logger = logging.getLogger(__name__)

M = TypeVar("M", bound=nn.Module)
Deltas = dict[str, list[LoraDelta]]

# LoRA pairs between two calls of `on_progress`: the same on all ranks, and few enough calls to cost nothing.
_PAIRS_PER_BOUNDARY = 64


@dataclass(frozen=True, slots=True)
class LoraFile:
    """One LoRA of a set as it lies on disk: what a swap compares."""

    spec: LoraSpec
    stamp: FileStamp


@dataclass(frozen=True, slots=True)
class SwapStats:
    """What the latest swap moved.

    Args:
        num_keys: Weights reset, fused or both.
        num_broadcast_bytes: Bytes that went over the link.
    """

    num_keys: int = 0
    num_broadcast_bytes: int = 0


@dataclass(frozen=True, slots=True)
class _Working:
    # The working copy and where it came from.
    source: StateDictKey
    stamps: tuple[FileStamp, ...]
    module: nn.Module
    broadcast_sd: ShardedSD
    stored_sd: ShardedSD


class TransformerWeightTracker:
    """Owns what is fused into the transformer of one group.

    Ranks: every rank of `group`.

    Args:
        group: The transformer's whole group; None for a single process.
        bucket_mb: Most megabytes that one broadcast carries.
        no_lora_swap: The LoRA set is fixed at the first build: no clean copy is kept, and a swap is an error.
        control_group: Where ranks agree, on the CPU; `group` by default.
    """

    def __init__(
        self,
        group: dist.ProcessGroup | None,
        bucket_mb: int = 256,
        no_lora_swap: bool = False,  # noqa: FBT001, FBT002 - the published signature
        *,
        control_group: dist.ProcessGroup | None = None,
    ) -> None:
        self.group = group
        self.no_lora_swap = no_lora_swap
        self.last_swap = SwapStats()
        self._bucket_mb = bucket_mb
        self._control_group = control_group or group
        self._working: _Working | None = None
        self._fused: tuple[LoraFile, ...] | None = None
        self._touched: frozenset[str] = frozenset()
        self._reports: tuple[LoraReport, ...] = ()

    @property
    def broadcast_sd(self) -> ShardedSD:
        """Return the working copy, whole, on this rank."""
        return self._loaded.broadcast_sd

    @property
    def stored_sd(self) -> ShardedSD:
        """Return this rank's shard of the clean weights."""
        return self._loaded.stored_sd

    def build(
        self,
        builder: SingleGPUModelBuilder[M],
        registry: Registry,
        placement: tuple[torch.device, torch.dtype],
        *,
        on_progress: OnProgress | None = None,
    ) -> BuiltModel[M]:
        """Return the working module with the builder's LoRA set fused; the same module every time.

        Ranks: every rank of the group. Collectives: two agreements at most, and the broadcasts of what was touched.

        Args:
            builder: Names the checkpoint and the LoRA set.
            registry: Weights found there are taken over, since they do not stay clean.
            placement: Device and dtype of the weights.
            on_progress: Called between tensors while weights are read and LoRAs prepared, equally often on all ranks.

        Raises:
            CheckpointError: Alike on all ranks; the weights are as they were.
            ValueError: A swap under `no_lora_swap`.
        """
        working = self._load(builder, registry, placement, on_progress)
        reports = self._swap(builder.loras, working, on_progress)
        # The same source makes the same class of module.
        return BuiltModel(cast("M", working.module), reports)

    @property
    def _loaded(self) -> _Working:
        assert self._working is not None, "nothing was built yet"
        return self._working

    def _load(
        self,
        builder: SingleGPUModelBuilder[M],
        registry: Registry,
        placement: tuple[torch.device, torch.dtype],
        on_progress: OnProgress | None,
    ) -> _Working:
        device, dtype = placement
        source = StateDictKey.of(builder.paths, builder.key_map.name, device=device, dtype=dtype)
        stamps: list[FileStamp] = []

        def is_loaded() -> bool:
            stamps.extend(stamp_of(path) for path in source.paths)
            return self._working is not None and (self._working.source, self._working.stamps) == (source, tuple(stamps))

        # A file may be replaced or go between two ranks' looks at it.
        if all(agree_all(is_loaded, self._control_group)):
            return self._loaded
        self._working, self._fused, self._touched, self._reports = None, None, frozenset(), ()
        built = self._build_clean(builder.with_loras(()).with_registry(registry), placement, on_progress)
        registry.pop(source)
        tensors = {key: tensor.detach() for key, tensor in built.state_dict().items()}
        broadcast_sd = ShardedSD(tensors, self.group, self._bucket_mb)
        stored_sd = broadcast_sd.view_own() if self.no_lora_swap else broadcast_sd.clone_own()
        self._working = _Working(source, tuple(stamps), built, broadcast_sd, stored_sd)
        return self._working

    def _build_clean(
        self,
        builder: SingleGPUModelBuilder[M],
        placement: tuple[torch.device, torch.dtype],
        on_progress: OnProgress | None,
    ) -> M:
        built: list[M] = []
        agree_all(lambda: built.append(builder.build(*placement, on_progress=on_progress)), self._control_group)
        return built[0]

    def _swap(
        self, loras: tuple[LoraSpec, ...], working: _Working, on_progress: OnProgress | None
    ) -> tuple[LoraReport, ...]:
        plans: list[LoraPlan] = []

        def read_plans() -> tuple[LoraFile, ...]:
            shapes = {key: tuple(tensor.shape) for key, tensor in working.broadcast_sd.items()}
            plans.extend(read_lora_plan(spec.path, shapes) for spec in loras)
            return tuple(LoraFile(spec, stamp_of(spec.path.resolve())) for spec in loras)

        wanted, *others = agree_all(read_plans, self._control_group)
        if self._fused == wanted and all(other == wanted for other in others):
            return self._reports
        if self.no_lora_swap and self._fused is not None:
            raise ValueError("the LoRA set of this tracker is fixed (no_lora_swap)")
        factors = [delta_factors(plan, spec) for plan, spec in zip(plans, loras, strict=True)]
        touched = frozenset(key for of_plan in factors for key in of_plan)
        self._fuse(working, plans, factors, touched, on_progress)
        self._fused, self._touched = wanted, touched
        self._reports = tuple(plan.report for plan in plans)
        return self._reports

    def _fuse(
        self,
        working: _Working,
        plans: Sequence[LoraPlan],
        factors: Sequence[dict[str, float]],
        touched: frozenset[str],
        on_progress: OnProgress | None,
    ) -> None:
        # Everything that can fail comes first and is agreed on, so that a failing rank leaves all weights as they were.
        deltas: Deltas = {}
        agree_all(lambda: self._read_deltas(working, plans, factors, deltas, on_progress), self._control_group)
        moved = [key for key in working.broadcast_sd if key in touched or key in self._touched]
        # A fuse that a device error ends half-way must not be taken for the set that was there.
        self._fused = None
        for key in moved:
            if working.broadcast_sd.is_own(key):
                fuse_into_(working.broadcast_sd[key], working.stored_sd[key], deltas.get(key, ()))
        num_bytes = working.broadcast_sd.broadcast(moved)
        self.last_swap = SwapStats(len(moved), num_bytes)
        logger.info("LoRA swap: %d weights, %.1f MB broadcast", len(moved), num_bytes / 1e6)

    def _read_deltas(
        self,
        working: _Working,
        plans: Sequence[LoraPlan],
        factors: Sequence[dict[str, float]],
        deltas: Deltas,
        on_progress: OnProgress | None,
    ) -> None:
        # Reads the factors of this rank's own weights alone; boundaries come at the same pairs on all ranks.
        num_pairs, done = sum(len(plan.pairs) for plan in plans), 0
        for plan, of_plan in zip(plans, factors, strict=True):
            for first in range(0, len(plan.pairs), _PAIRS_PER_BOUNDARY):
                pairs = plan.pairs[first : first + _PAIRS_PER_BOUNDARY]
                own = [p for p in pairs if p.weight_key in of_plan and working.broadcast_sd.is_own(p.weight_key)]
                self._read_pairs(working, replace(plan, pairs=tuple(own)), of_plan, deltas)
                done += len(pairs)
                if on_progress is not None:
                    on_progress(done, num_pairs)

    @staticmethod
    def _read_pairs(working: _Working, plan: LoraPlan, factors: dict[str, float], deltas: Deltas) -> None:
        if not plan.pairs:
            return
        device = working.broadcast_sd[plan.pairs[0].weight_key].device
        for read in load_lora_factors(plan, device):
            deltas.setdefault(read.weight_key, []).append(LoraDelta(read.a, read.b, factors[read.weight_key]))
