"""The transformer's weights on a fleet: a working copy on every rank, the clean one sharded, LoRAs fused in place.

The rule a caller must know: the tensors of the module never change places. A swap writes into them, so compiled code
and captured graphs stay good; every module built through one tracker sees the LoRA set of the latest build.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar, cast

import torch
import torch.distributed as dist
from torch import nn

from podium.errors import PodiumError
from podium.jobs import LoraSpec
from podium.models.builder import BuiltModel, SingleGPUModelBuilder
from podium.models.errors import CheckpointError, CheckpointReason
from podium.models.lora import check_fusible, delta_factors, fuse_into_
from podium.models.lora_keys import LoraPlan, LoraReport, read_lora_plan
from podium.models.quantization import with_scales
from podium.models.registry import FileStamp, Registry, StateDictKey
from podium.models.weight_reader import OnProgress, stamp_of
from podium.multigpu.agreement import agree_all
from podium.multigpu.factor_feed import ActiveLora, FactorFeed
from podium.multigpu.lora_cache import FactorCache, FactorReader
from podium.multigpu.sharded_sd import ShardedSD

logger = logging.getLogger(__name__)

M = TypeVar("M", bound=nn.Module)
T = TypeVar("T")

DEFAULT_CACHE_BYTES = 8 << 30
"""Host memory for recently used factors, of all ranks together, where weights lie on devices of their own."""

# LoRA pairs between two calls of `on_progress`: the same on all ranks, and few enough calls to cost nothing.
_PAIRS_PER_BOUNDARY = 64
_MAX_PLANS = 64
# What going back to fp8 takes beside the workspace, a block of a weight at a time.
_ROUNDING_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class LoraFile:
    """One LoRA of a set as it lies on disk: what a swap compares."""

    spec: LoraSpec
    stamp: FileStamp


@dataclass(frozen=True, slots=True)
class SwapStats:
    """What the latest swap moved on this rank, and how long that took.

    Args:
        num_keys: Tensors reset, fused or both, scales included; alike on all ranks.
        num_broadcast_bytes: Bytes that went over the link.
        num_read_bytes: Bytes of factors read from files.
        num_cached_bytes: Bytes of factors that were still in memory.
        read_s: Seconds of reading and checking factors, and of taking memory.
        fuse_s: Seconds of resetting and fusing this rank's own weights.
        broadcast_s: Seconds of giving them to the other ranks, and waiting for theirs.
    """

    num_keys: int = 0
    num_broadcast_bytes: int = 0
    num_read_bytes: int = 0
    num_cached_bytes: int = 0
    read_s: float = 0.0
    fuse_s: float = 0.0
    broadcast_s: float = 0.0


@dataclass(frozen=True, slots=True)
class _LoraSet:
    # A set as this rank reads it: files, what each changes, and by how much. `touched` holds weights, no scales.
    files: tuple[LoraFile, ...]
    plans: tuple[LoraPlan, ...]
    strengths: tuple[dict[str, float], ...]
    touched: frozenset[str]

    @property
    def reports(self) -> tuple[LoraReport, ...]:
        return tuple(plan.report for plan in self.plans)


@dataclass(slots=True)
class _Read:
    # What reading the factors of a set has brought so far.
    loras: list[ActiveLora]
    num_read_bytes: int = 0
    num_cached_bytes: int = 0
    error: PodiumError | None = None


@dataclass(frozen=True, slots=True)
class _Working:
    # The working copy and where it came from.
    source: StateDictKey
    stamps: tuple[FileStamp, ...]
    module: nn.Module
    broadcast_sd: ShardedSD
    stored_sd: ShardedSD
    device: torch.device


class TransformerWeightTracker:
    """Owns what is fused into the transformer of one group.

    Ranks: every rank of `group`.

    Args:
        group: The transformer's whole group; None for a single process.
        bucket_mb: Most megabytes that one broadcast carries.
        no_lora_swap: The LoRA set is fixed at the first build: no clean copy is kept, and a swap is an error.
        control_group: Where ranks agree, on the CPU; `group` by default.
        is_clean_on_host: Keep the clean copy in pinned host memory instead of on the device.
        factor_cache_bytes: Most host memory for recently used factors, of all ranks together; None takes
            `DEFAULT_CACHE_BYTES`, and nothing on the CPU, where reading again costs little.
    """

    def __init__(
        self,
        group: dist.ProcessGroup | None,
        bucket_mb: int = 256,
        no_lora_swap: bool = False,  # noqa: FBT001, FBT002 - the published signature
        *,
        control_group: dist.ProcessGroup | None = None,
        is_clean_on_host: bool = False,
        factor_cache_bytes: int | None = None,
    ) -> None:
        self.group = group
        self.no_lora_swap = no_lora_swap
        self.last_swap = SwapStats()
        self._bucket_mb = bucket_mb
        self._control_group = control_group or group
        self._is_clean_on_host = is_clean_on_host
        self._cache_bytes = factor_cache_bytes
        self._cache = FactorCache(0)
        self._plans: OrderedDict[tuple[Path, FileStamp], LoraPlan] = OrderedDict()
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

    @property
    def is_clean_on_host(self) -> bool:
        """Return whether the clean copy lives in host memory."""
        return self._is_clean_on_host

    def move_clean(self, *, is_on_host: bool) -> None:
        """Keep the clean copy in host memory, or on the device, from now on; the working weights stay as they are.

        Ranks: every rank, alike; local.
        """
        working = self._working
        if working is not None and not self.no_lora_swap and is_on_host != self._is_clean_on_host:
            moved = working.stored_sd.moved(working.device, is_on_host=is_on_host)
            self._working = replace(working, stored_sd=moved)
        self._is_clean_on_host = is_on_host

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
            builder: Names the checkpoint, how its weights are held, and the LoRA set.
            registry: Weights found there are taken over, since they do not stay clean.
            placement: Device and dtype of the weights.
            on_progress: Called between tensors while weights are read and LoRAs prepared, equally often on all ranks.

        Raises:
            CheckpointError: Alike on all ranks; the weights are as they were.
            JobRefusedError: The same, if a device has no memory for the fuse.
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
        source = builder.state_dict_key(*placement)
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
        if self.no_lora_swap:
            stored_sd = broadcast_sd.view_own()
        else:
            stored_sd = broadcast_sd.clone_own(is_on_host=self._is_clean_on_host)
        self._working = _Working(source, tuple(stamps), built, broadcast_sd, stored_sd, placement[0])
        self._cache = FactorCache(self._cache_share(placement[0]))
        self._plans.clear()
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

    def _cache_share(self, device: torch.device) -> int:
        num_ranks = 1 if self.group is None else dist.get_world_size(self.group)
        default = 0 if device.type == "cpu" else DEFAULT_CACHE_BYTES
        return (default if self._cache_bytes is None else self._cache_bytes) // num_ranks

    def _swap(
        self, loras: tuple[LoraSpec, ...], working: _Working, on_progress: OnProgress | None
    ) -> tuple[LoraReport, ...]:
        read: list[_LoraSet] = []

        def read_plans() -> tuple[LoraFile, ...]:
            read.append(self._read_set(loras, working.broadcast_sd))
            return read[0].files

        wanted, *others = agree_all(read_plans, self._control_group)
        if any(other != wanted for other in others):
            # Unlike headers would have ranks fuse unlike weights, and wait for each other for ever.
            raise CheckpointError(
                "A LoRA file was replaced while the devices read it. Try again when the new file is whole.",
                path=loras[0].path,
                reason=CheckpointReason.UNREADABLE,
            )
        if self._fused == wanted:
            return self._reports
        if self.no_lora_swap and self._fused is not None:
            raise ValueError("the LoRA set of this tracker is fixed (no_lora_swap)")
        self._fuse(working, read[0], on_progress)
        self._fused, self._touched = wanted, read[0].touched
        self._reports = read[0].reports
        return self._reports

    def _read_set(self, loras: Sequence[LoraSpec], weights: ShardedSD) -> _LoraSet:
        # Stamped before it is read: what changes after that is seen when the factors are.
        files = tuple(LoraFile(spec, stamp_of(spec.path.resolve())) for spec in loras)
        plans = tuple(self._plan_of(file, weights) for file in files)
        strengths = tuple(delta_factors(plan, spec) for plan, spec in zip(plans, loras, strict=True))
        touched = frozenset(key for of_plan in strengths for key in of_plan)
        check_fusible(weights, touched, plans)
        return _LoraSet(files, plans, strengths, touched)

    def _plan_of(self, file: LoraFile, weights: ShardedSD) -> LoraPlan:
        # A header of thousands of tensors takes as long to read as its factors take to the device.
        name = (file.spec.path, file.stamp)
        plan = self._plans.pop(name, None)
        if plan is None:
            plan = read_lora_plan(file.spec.path, {key: tuple(tensor.shape) for key, tensor in weights.items()})
        self._plans[name] = plan
        while len(self._plans) > _MAX_PLANS:
            self._plans.popitem(last=False)
        return plan

    def _fuse(self, working: _Working, wanted: _LoraSet, on_progress: OnProgress | None) -> None:
        began_s = time.perf_counter()
        weights = wanted.touched | self._touched
        # Weights and their scales, in the model's order, which is that of all ranks.
        touched = with_scales(weights, working.broadcast_sd)
        moved = [key for key in working.broadcast_sd if key in touched]
        own = [key for key in moved if key in weights and working.broadcast_sd.is_own(key)]
        read = _Read([])
        feeds: list[FactorFeed] = []

        def prepare() -> None:
            self._read_factors(working, wanted, read, on_progress)
            feeds.append(self._make_feed(working, [key for key in own if key in wanted.touched], read.loras))

        # Everything that can fail comes first and is agreed on, so that a failing rank leaves all weights as they were.
        agree_all(prepare, self._control_group)
        read_s = time.perf_counter() - began_s
        # A fuse that a device error ends half-way must not be taken for the set that was there.
        self._fused, self._touched = None, self._touched | wanted.touched
        self._write_own(working, feeds[0], [key for key in own if key not in wanted.touched])
        fused_s = time.perf_counter() - began_s
        num_bytes = working.broadcast_sd.broadcast(moved)
        _wait_for(working.device)
        self.last_swap = SwapStats(
            num_keys=len(moved),
            num_broadcast_bytes=num_bytes,
            num_read_bytes=read.num_read_bytes,
            num_cached_bytes=read.num_cached_bytes,
            read_s=read_s,
            fuse_s=fused_s - read_s,
            broadcast_s=time.perf_counter() - began_s - fused_s,
        )
        logger.info("LoRA swap: %s", self.last_swap)

    @staticmethod
    def _write_own(working: _Working, feed: FactorFeed, resets: Sequence[str]) -> None:
        target, clean = working.broadcast_sd, working.stored_sd
        for key in resets:
            fuse_into_(key, target, clean, ())
        for key, deltas in feed.deltas():
            fuse_into_(key, target, clean, deltas, workspace=feed.workspace)
        _wait_for(working.device)

    def _make_feed(self, working: _Working, own: Sequence[str], loras: Sequence[ActiveLora]) -> FactorFeed:
        weights = {key: working.broadcast_sd[key] for key in own}
        is_fp8 = any(weight.element_size() == 1 for weight in weights.values())
        # A clean weight passes through the device on its way from the host; the bucket comes when the fuse is done.
        passing_bytes = max((weight.nbytes for weight in weights.values()), default=0) if self._is_clean_on_host else 0
        fuse_bytes = passing_bytes + (_ROUNDING_BYTES if is_fp8 else 0)
        spare_bytes = max(fuse_bytes, working.broadcast_sd.most_bucket_bytes)
        if working.device.type == "cpu":
            spare_bytes = 0
        sizes = {key: weight.numel() for key, weight in weights.items()}
        return FactorFeed(working.device, sizes, loras, spare_bytes=spare_bytes)

    def _read_factors(self, working: _Working, wanted: _LoraSet, read: _Read, on_progress: OnProgress | None) -> None:
        # Boundaries come at the same pairs on all ranks, whatever a rank still has to read and whether it can: the one
        # that cannot goes on to the last of them, where the others wait for its verdict.
        num_pairs, done = sum(len(plan.pairs) for plan in wanted.plans), 0
        self._cache.begin_swap()
        for index, plan in enumerate(wanted.plans):
            for num_done in self._read_one(working, wanted, index, read):
                done += num_done
                if on_progress is not None:
                    on_progress(done, num_pairs)
            logger.debug("%s: factors at hand", plan.path.name)
        if read.error is not None:
            raise read.error

    def _read_one(self, working: _Working, wanted: _LoraSet, index: int, read: _Read) -> Iterator[int]:
        # Yields the count of pairs at each boundary.
        plan, stamp = wanted.plans[index], wanted.files[index].stamp
        is_needed = bool(wanted.strengths[index])
        keys = tuple(p.weight_key for p in plan.pairs if is_needed and working.broadcast_sd.is_own(p.weight_key))
        factors = self._cache.get(stamp, keys)
        reader: FactorReader | None = None
        if factors is None and keys:
            reader = _attempt(read, lambda: FactorReader(plan, stamp, keys, cache=self._cache, device=working.device))
        elif factors is not None:
            read.num_cached_bytes += factors.num_bytes
        own = frozenset(keys)
        for first in range(0, len(plan.pairs), _PAIRS_PER_BOUNDARY):
            pairs = plan.pairs[first : first + _PAIRS_PER_BOUNDARY]
            chunk = [pair.weight_key for pair in pairs if pair.weight_key in own]
            if reader is not None:
                read.num_read_bytes += _attempt(read, partial(reader.read, chunk)) or 0
            yield len(pairs)
        if reader is not None:
            factors = _attempt(read, reader.finish)
        if factors is not None:
            self._cache.keep(stamp, keys, factors)
            read.loras.append(ActiveLora(factors, wanted.strengths[index]))


def _attempt(read: _Read, action: Callable[[], T]) -> T | None:
    # After the first error nothing is tried any more.
    if read.error is None:
        try:
            return action()
        except PodiumError as error:
            read.error = error
    return None


def _wait_for(device: torch.device) -> None:
    if device.type != "cpu":
        torch.accelerator.synchronize(device)
