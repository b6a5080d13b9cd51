"""A state dict whose tensors have owners among the ranks: who keeps the clean copy, and who fuses.

Ownership depends on the name alone, so every rank knows it without asking.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping

import torch
import torch.distributed as dist
from torch import Tensor

_BYTES_PER_MB = 1 << 20


def owner_of(key: str, num_ranks: int) -> int:
    """Return the rank that owns a tensor; a scale goes with its weight.

    Args:
        key: Official name without `model.diffusion_model.`.
        num_ranks: Ranks of the group.

    Source: the published sharding, the first 8 bytes of the name's md5, little endian, modulo the ranks.
    """
    for suffix in (".weight_scale", ".weight_scale_2"):
        if key.endswith(suffix):
            key = key.removesuffix(suffix) + ".weight"
    # A hash to deal names out evenly, nothing to be kept safe.
    digest = hashlib.md5(key.encode(), usedforsecurity=False).digest()
    return int.from_bytes(digest[:8], "little") % num_ranks


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

    def is_own(self, key: str) -> bool:
        """Say whether this rank owns `key`."""
        return owner_of(key, self.num_ranks) == self.rank

    def clone_own(self) -> ShardedSD:
        """Return a shard that holds copies of this rank's own tensors, and nothing else."""
        with torch.inference_mode(False), torch.no_grad():
            own = {key: tensor.detach().clone() for key, tensor in self._tensors.items() if self.is_own(key)}
        return ShardedSD(own, self._group, self._bucket_bytes // _BYTES_PER_MB)

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
        for owner in range(self.num_ranks):
            owned = [self._tensors[key] for key in keys if owner_of(key, self.num_ranks) == owner]
            for bucket in _buckets(owned, self._bucket_bytes):
                num_bytes += self._broadcast_bucket(bucket, owner)
        return num_bytes

    def _broadcast_bucket(self, bucket: list[Tensor], owner: int) -> int:
        if len(bucket) == 1 and bucket[0].is_contiguous():
            dist.broadcast(_as_bytes(bucket[0]), group=self._group, group_src=owner)
            return bucket[0].nbytes
        flat = torch.cat([_as_bytes(tensor.contiguous()) for tensor in bucket])
        dist.broadcast(flat, group=self._group, group_src=owner)
        if owner != self.rank:
            for tensor, part in zip(bucket, flat.split([tensor.nbytes for tensor in bucket]), strict=True):
                # A slice of the bucket may start where its type may not: a clone is aligned.
                tensor.copy_(part.clone().view(tensor.dtype).view(tensor.shape))
        return flat.nbytes


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
