"""Shared memory mapped without keeping its descriptor, so that what lies unread costs no descriptor each.

Python's own `mmap` keeps one per map until 3.13; hence the system call by hand.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import weakref
from typing import Any

_FAILED = ctypes.c_void_p(-1).value


def map_shared(fd: int, num_bytes: int) -> memoryview:
    """Map shared memory for reading and writing; `fd` may be closed after.

    The map lasts as long as the view, or anything made of it.

    Raises:
        OSError: The kernel refused.
    """
    return _map(fd, num_bytes, mmap.MAP_SHARED)


def map_private(fd: int, num_bytes: int) -> memoryview:
    """Map shared memory like `map_shared`; but what is written stays private to this map."""
    try:
        return _map(fd, num_bytes, mmap.MAP_PRIVATE)
    except OSError:
        # The kernel limits the number of maps of a process; memory of our own is not counted.
        return memoryview(bytearray(os.pread(fd, num_bytes, 0)))


def _map(fd: int, num_bytes: int, flags: int) -> memoryview:
    libc = _libc()
    address = libc.mmap(None, num_bytes, mmap.PROT_READ | mmap.PROT_WRITE, flags, fd, 0)
    if address in (None, _FAILED):
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    array = (ctypes.c_ubyte * num_bytes).from_address(address)
    weakref.finalize(array, libc.munmap, ctypes.c_void_p(address), ctypes.c_size_t(num_bytes)).atexit = False
    return memoryview(array).cast("B")


def _libc() -> Any:  # noqa: ANN401 - the functions of a C library have no types
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (
        ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int64,
    )  # fmt: skip
    return libc
