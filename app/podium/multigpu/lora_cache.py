"""LoRA factors in this rank's host memory: read once, kept while there is room, so that a swap back reads no disk.

The rule a caller must know: what is kept was checked (no factor is NaN) and belongs to one content of one file; a file
that was replaced is another entry, and the old one falls out as the least recently used.
"""

from __future__ import annotations

import logging
import os
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from podium.models.errors import CheckpointReason
from podium.models.header import SafetensorsHeader, TensorInfo, read_header
from podium.models.lora import not_finite_error
from podium.models.lora_keys import LoraError, LoraPair, LoraPlan
from podium.models.registry import FileStamp

logger = logging.getLogger(__name__)

_DTYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
# Starts of tensors: what matrix products like, and every type may stand there.
_ALIGNMENT_BYTES = 256
# Pinned memory is given out in powers of two; pieces of this size waste little of it, and the next LoRA reuses them.
_SEGMENT_BYTES = 256 << 20
_NUM_READERS = 8


@dataclass(frozen=True, slots=True)
class _Place:
    # Where a pair lies: A first, B at `b_offset` from there.
    segment: int
    start: int
    b_offset: int
    num_bytes: int
    a: TensorInfo
    b: TensorInfo


@dataclass(frozen=True, slots=True)
class _Layout:
    # Where pairs lie, by weight, in segments of memory.
    places: Mapping[str, _Place]
    segment_bytes: tuple[int, ...]

    @property
    def num_bytes(self) -> int:
        return sum(self.segment_bytes)

    @classmethod
    def of(cls, header: SafetensorsHeader, pairs: Iterable[LoraPair]) -> _Layout:
        places: dict[str, _Place] = {}
        sizes: list[int] = []
        for pair in pairs:
            a, b = header.tensors[pair.a_name], header.tensors[pair.b_name]
            b_offset = _aligned(a.num_bytes)
            num_bytes = b_offset + _aligned(b.num_bytes)
            if not sizes or sizes[-1] + num_bytes > _SEGMENT_BYTES:
                sizes.append(0)
            places[pair.weight_key] = _Place(len(sizes) - 1, sizes[-1], b_offset, num_bytes, a, b)
            sizes[-1] += num_bytes
        return cls(places, tuple(sizes))


class HostFactors:
    """The factors of some pairs of one LoRA, in host memory.

    Args:
        layout: Where each pair goes.
        path: The file, for the words of a refusal.
        is_pinned: In memory that a device reads by itself, if there is any.

    Raises:
        LoraError: There is no memory for them.
    """

    def __init__(self, layout: _Layout, path: Path, *, is_pinned: bool) -> None:
        self._places = layout.places
        self._segments = [_host_memory(size, path, is_pinned=is_pinned) for size in layout.segment_bytes]
        self.num_bytes = layout.num_bytes

    def __contains__(self, weight_key: str) -> bool:
        return weight_key in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def bytes_of(self, weight_key: str) -> Tensor:
        """Return both factors of a weight as they lie, uint8 [n], on the host."""
        place = self._places[weight_key]
        return self._segments[place.segment][place.start : place.start + place.num_bytes]

    def num_bytes_of(self, weight_key: str) -> int:
        """Return the length of `bytes_of`; 0 for a weight that is not there."""
        return self._places[weight_key].num_bytes if weight_key in self._places else 0

    def factors_in(self, weight_key: str, data: Tensor) -> tuple[Tensor, Tensor]:
        """Return A [rank, in] and B [out, rank] as views of `data`, which holds a copy of `bytes_of` on any device."""
        place = self._places[weight_key]
        return _view(data, 0, place.a), _view(data, place.b_offset, place.b)

    def targets(self, weight_key: str) -> list[tuple[TensorInfo, memoryview]]:
        """Return where each factor goes that is read from the file."""
        place, data = self._places[weight_key], self.bytes_of(weight_key).numpy().data
        starts = ((place.a, 0), (place.b, place.b_offset))
        return [(info, data[start : start + info.num_bytes]) for info, start in starts]


class FactorReader:
    """Reads factors of one LoRA file into host memory, chunk by chunk.

    Args:
        plan: The file, and what it changes.
        stamp: What the file was when the plan was made.
        weight_keys: The weights whose factors are wanted.
        cache: Will keep them if it can; only then they are worth pinned memory, which is slow to get.
        device: Where they will go.

    Raises:
        CheckpointError: The file cannot be read any more, or was replaced.
        LoraError: There is no memory for the factors.
    """

    def __init__(
        self, plan: LoraPlan, stamp: FileStamp, weight_keys: Sequence[str], *, cache: FactorCache, device: torch.device
    ) -> None:
        self._stamp, self._device = stamp, device
        self._header = read_header(plan.path)
        self._check_is_current()
        wanted = frozenset(weight_keys)
        layout = _Layout.of(self._header, (pair for pair in plan.pairs if pair.weight_key in wanted))
        is_pinned = cache.make_room(layout.num_bytes) and device.type != "cpu"
        self.factors = HostFactors(layout, plan.path, is_pinned=is_pinned)

    def read(self, weight_keys: Sequence[str]) -> int:
        """Read the factors of some of the weights, and return their bytes.

        Raises:
            LoraError: The file can no longer be read.
        """
        targets = [target for key in weight_keys for target in self.factors.targets(key)]
        if not targets:
            return 0
        try:
            with self._header.path.open("rb", buffering=0) as file:
                self._read_all(file.fileno(), targets)
        except OSError as error:
            raise LoraError(
                f"“{self._header.path.name}” can no longer be read, though its header could. "
                "Is its drive still there, and the file the same?",
                path=self._header.path,
                reason=CheckpointReason.UNREADABLE,
                details=str(error),
            ) from error
        return sum(info.num_bytes for info, _ in targets)

    def finish(self) -> HostFactors:
        """Return what was read, checked on the device: the host would take seconds for it.

        Raises:
            LoraError: A factor is no number, or the file was replaced meanwhile.
        """
        self._check_is_current()
        is_finite = torch.ones((), dtype=torch.bool, device=self._device)
        for key in self.factors:
            data = self.factors.bytes_of(key).to(self._device, non_blocking=True)
            for factor in self.factors.factors_in(key, data):
                is_finite &= torch.isfinite(factor).all()
        # The device is asked once; that also waits for the copies.
        if not bool(is_finite):
            raise not_finite_error(self._header.path)
        return self.factors

    def _read_all(self, file: int, targets: list[tuple[TensorInfo, memoryview]]) -> None:
        start = self._header.data_start

        def read(target: tuple[TensorInfo, memoryview]) -> None:
            _read_exactly(file, start + target[0].start, target[1])

        if self._device.type == "cpu":
            for target in targets:
                read(target)
            return
        # One thread copies from the page cache at a fraction of what memory and the way to the device can do.
        with ThreadPoolExecutor(_NUM_READERS) as readers:
            for _ in readers.map(read, targets):
                pass

    def _check_is_current(self) -> None:
        if not self._stamp.is_current():
            raise LoraError(
                f"“{self._header.path.name}” was replaced while it was read, so old and new values may be mixed. "
                "Try again when the new file is whole.",
                path=self._header.path,
                reason=CheckpointReason.UNREADABLE,
            )


_Name = tuple[FileStamp, tuple[str, ...]]


class FactorCache:
    """Keeps recently used factors up to a limit.

    What one swap uses does not drive out what it has used before: of a set that exceeds the limit, the first stay.

    Ranks: one rank, local; ranks may hold and forget different ones.

    Args:
        limit_bytes: Most bytes kept; 0 keeps none.
    """

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self._kept: OrderedDict[_Name, HostFactors] = OrderedDict()
        self._in_use: set[_Name] = set()

    @property
    def num_bytes(self) -> int:
        """Return the bytes kept."""
        return sum(factors.num_bytes for factors in self._kept.values())

    def begin_swap(self) -> None:
        """Say that another swap begins: what earlier ones used may go."""
        self._in_use.clear()

    def get(self, stamp: FileStamp, weight_keys: tuple[str, ...]) -> HostFactors | None:
        """Return kept factors of these weights from this content of a file; they count as used by that."""
        name = (stamp, weight_keys)
        factors = self._kept.get(name)
        if factors is not None:
            self._kept.move_to_end(name)
            self._in_use.add(name)
        return factors

    def make_room(self, num_bytes: int) -> bool:
        """Let the least recently used go until so many bytes more can be kept; False if they cannot."""
        in_use_bytes = sum(self._kept[name].num_bytes for name in self._in_use)
        if in_use_bytes + num_bytes > self.limit_bytes:
            return False
        idle = [name for name in self._kept if name not in self._in_use]
        while self.num_bytes + num_bytes > self.limit_bytes:
            factors = self._kept.pop(idle[0])
            logger.debug("factors of %s (%.1f MB) are let go", idle.pop(0)[0].path.name, factors.num_bytes / 1e6)
        return True

    def keep(self, stamp: FileStamp, weight_keys: tuple[str, ...], factors: HostFactors) -> None:
        """Keep factors that were read whole, if there can be room for them."""
        name = (stamp, weight_keys)
        if name not in self._kept and self.make_room(factors.num_bytes):
            self._kept[name] = factors
            self._in_use.add(name)

    def clear(self) -> None:
        """Let go of everything."""
        self._kept.clear()
        self._in_use.clear()


def _host_memory(num_bytes: int, path: Path, *, is_pinned: bool) -> Tensor:
    if is_pinned:
        try:
            return torch.empty(num_bytes, dtype=torch.uint8, pin_memory=True)
        except RuntimeError as error:
            logger.warning("no pinned memory for %s, so swaps will be slower: %s", path.name, error)
    try:
        return torch.empty(num_bytes, dtype=torch.uint8)
    except RuntimeError as error:
        raise LoraError(
            f"There is not enough memory to read “{path.name}”: it takes {num_bytes / 1e9:.1f} GB. "
            "Close other programs, or use a smaller LoRA.",
            path=path,
            details=str(error),
        ) from error


def _read_exactly(file: int, start: int, target: memoryview) -> None:
    num_read = 0
    while num_read < len(target):
        num_now = os.preadv(file, [target[num_read:]], start + num_read)
        if num_now == 0:
            raise OSError(f"the file ends at byte {start + num_read}")
        num_read += num_now


def _view(data: Tensor, start: int, info: TensorInfo) -> Tensor:
    return data[start : start + info.num_bytes].view(_DTYPES[info.dtype]).view(info.shape)


def _aligned(num_bytes: int) -> int:
    return -(-num_bytes // _ALIGNMENT_BYTES) * _ALIGNMENT_BYTES
