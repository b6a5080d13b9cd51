"""Bytes that tensors hold while something runs, exactly: no allocator, no other thread, no luck."""

from __future__ import annotations

import weakref
from types import TracebackType
from typing import Any, Self

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class StorageCounter(TorchDispatchMode):
    """Count the storages that operations made inside the block and that are still alive.

    Attributes:
        held_bytes: Alive now.
        peak_bytes: The most that were alive after any operation.
    """

    def __init__(self) -> None:
        super().__init__()
        self.held_bytes = 0
        self.peak_bytes = 0
        self._known: set[int] = set()

    def __enter__(self) -> Self:
        super().__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        given = {self._key(tensor) for tensor in torch.utils._pytree.tree_leaves((args, kwargs)) if _is_dense(tensor)}
        result = func(*args, **(kwargs or {}))
        for tensor in torch.utils._pytree.tree_leaves(result):
            if _is_dense(tensor) and self._key(tensor) not in given | self._known:
                self._follow(tensor.untyped_storage())
        return result

    @staticmethod
    def _key(tensor: torch.Tensor) -> int:
        return tensor.untyped_storage()._cdata

    def _follow(self, storage: torch.UntypedStorage) -> None:
        key, num_bytes = storage._cdata, storage.nbytes()
        self._known.add(key)
        self.held_bytes += num_bytes
        self.peak_bytes = max(self.peak_bytes, self.held_bytes)
        weakref.finalize(storage, self._forget, key, num_bytes)

    def _forget(self, key: int, num_bytes: int) -> None:
        self._known.discard(key)
        self.held_bytes -= num_bytes


def _is_dense(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.layout is torch.strided
