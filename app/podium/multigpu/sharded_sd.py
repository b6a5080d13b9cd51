"""A state dict whose tensors have owners among the ranks: who keeps the clean copy, and who fuses.

Ownership depends on the name alone, so every rank knows it without asking.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import torch
import torch.distributed as dist
from torch import Tensor

from podium.multigpu.ownership import owner_of

_BYTES_PER_MB = 1 << 20
_ALIGNMENT_BYTES = 16


class ShardedSD(Mapping[str, Tensor]):
    """Tensors by name, each owned by one rank of a group. Holds the tensors it is given and copies nothing.

    Args:
        tensors: All of them (a working copy), or only this rank's own (a clean shard).
        group: The ranks; None for a single process.
        bucket_mb: Most megabytes that one broadcast carries, apart from tensors that are larger alone.
    """

    def __init__(self, tensors: Mapping[str, Tensor], group: dist.ProcessGroup | None, bucket_mb: int = 256) -> None:
        self._tensors = tensors
        self._group = group
        self._bucket_bytes = bucket_mb * _BYTES_PER_MB
        self.num_ranks = dist.get_world_size(group) if group is not None else 1
        self.rank = dist.get_rank(group) if group is not None else 0
        self._owners = {key: owner_of(key, self.num_ranks) for key in tensors}

    def __getitem__(self, key: str) -> Tensor:
        return self._tensors[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    @property
    def num_bytes(self) -> int:
        """Return the memory of the tensors it holds."""
        return sum(tensor.nbytes for tensor in self._tensors.values())

    @property
    def most_bucket_bytes(self) -> int:
        """Return the memory that one broadcast takes at most beside the tensors."""
        return 0 if self.num_ranks == 1 else self._bucket_bytes

    def is_own(self, key: str) -> bool:
        """Say whether this rank owns `key`."""
        owner = self._owners.get(key)
        return (owner_of(key, self.num_ranks) if owner is None else owner) == self.rank

    def clone_own(self, *, is_on_host: bool = False) -> ShardedSD:
        """Return a shard that holds copies of this rank's own tensors, and nothing else.

        Args:
            is_on_host: Put the copies into pinned host memory instead of beside the tensors.
        """
        copy = _host_copy if is_on_host else torch.clone
        with torch.inference_mode(False), torch.no_grad():
            own = {key: copy(tensor.detach()) for key, tensor in self._tensors.items() if self.is_own(key)}
        return ShardedSD(own, self._group, self._bucket_bytes // _BYTES_PER_MB)

    def moved(self, device: torch.device, *, is_on_host: bool) -> ShardedSD:
        """Return a shard that holds copies of all tensors of this one in the other memory.

        Args:
            device: Of the weights that it is the clean copy of.
            is_on_host: Put the copies into host memory, pinned where `device` is no CPU, instead of on the device.
        """
        with torch.inference_mode(False), torch.no_grad():
            if is_on_host:
                tensors = {key: _host_copy(tensor, is_pinned=device.type != "cpu") for key, tensor in self.items()}
            else:
                tensors = {key: torch.empty_like(tensor, device=device).copy_(tensor) for key, tensor in self.items()}
        return ShardedSD(tensors, self._group, self._bucket_bytes // _BYTES_PER_MB)

    def view_own(self) -> ShardedSD:
        """Return a shard that refers to this rank's own tensors without a copy."""
        own = {key: tensor for key, tensor in self._tensors.items() if self.is_own(key)}
        return ShardedSD(own, self._group, self._bucket_bytes // _BYTES_PER_MB)

    @torch.no_grad()
    def broadcast(self, keys: Collection[str]) -> int:
        """Give every rank the owners' values of `keys`, written in place.

        Ranks: every rank of the group, with the same keys in the same order. Collectives: one broadcast a bucket,
        owner after owner.

        Returns:
            The bytes that went over the link.
        """
        if self.num_ranks == 1:
            return 0
        num_bytes = 0
        of_owners: list[list[Tensor]] = [[] for _ in range(self.num_ranks)]
        for key in keys:
            of_owners[self._owners[key]].append(self._tensors[key])
        for owner, owned in enumerate(of_owners):
            for bucket in _buckets(owned, self._bucket_bytes):
                num_bytes += self._broadcast_bucket(bucket, owner)
        return num_bytes

    def _broadcast_bucket(self, bucket: list[Tensor], owner: int) -> int:
        if len(bucket) == 1 and bucket[0].is_contiguous():
            dist.broadcast(_as_bytes(bucket[0]), group=self._group, group_src=owner)
            return bucket[0].nbytes
        # Every tensor begins where its type may stand, so that it can be read out of the bucket without a copy.
        starts, num_bytes = _laid_out(bucket)
        flat = torch.empty(num_bytes, dtype=torch.uint8, device=bucket[0].device)
        places = [flat[start : start + t.nbytes] for start, t in zip(starts, bucket, strict=True)]
        if owner == self.rank:
            for tensor, place in zip(bucket, places, strict=True):
                place.copy_(_as_bytes(tensor.contiguous()))
        dist.broadcast(flat, group=self._group, group_src=owner)
        if owner != self.rank:
            for tensor, place in zip(bucket, places, strict=True):
                tensor.copy_(place.view(tensor.dtype).view(tensor.shape))
        return num_bytes


def _laid_out(bucket: list[Tensor]) -> tuple[list[int], int]:
    starts, end = [], 0
    for tensor in bucket:
        starts.append(end)
        end += -(-tensor.nbytes // _ALIGNMENT_BYTES) * _ALIGNMENT_BYTES
    return starts, end


def _host_copy(tensor: Tensor, *, is_pinned: bool | None = None) -> Tensor:
    # Memory is pinned for a device to read; the CPU needs none.
    is_pinned = tensor.device.type != "cpu" if is_pinned is None else is_pinned
    return torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=is_pinned).copy_(tensor)


def _as_bytes(tensor: Tensor) -> Tensor:
    return tensor.view(-1).view(torch.uint8)


def _buckets(tensors: list[Tensor], bucket_bytes: int) -> Iterator[list[Tensor]]:
    bucket: list[Tensor] = []
    num_bytes = 0
    for tensor in tensors:
        if bucket and num_bytes + tensor.nbytes > bucket_bytes:
            yield bucket
            bucket, num_bytes = [], 0
        bucket.append(tensor)
        num_bytes += tensor.nbytes
    if bucket:
        yield bucket
