"""Memory that is not needed any more goes back to the system."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import ctypes, sys
from podium.heap import return_large_pieces

class Facts(ctypes.Structure):
    names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
    _fields_ = [(name, ctypes.c_size_t) for name in names.split()]

library = ctypes.CDLL(None)
library.mallinfo2.restype = Facts
library.malloc.restype = ctypes.c_void_p
library.malloc.argtypes = [ctypes.c_size_t]
library.free.argtypes = [ctypes.c_void_p]
if sys.argv[1] == "returned":
    assert return_large_pieces()
library.free(library.malloc(4 << 20))
before = library.mallinfo2().hblkhd
library.malloc(1 << 20)
print(library.mallinfo2().hblkhd - before)
"""


def own_bytes_of_a_large_piece(mode: str) -> int:
    """Return how much memory of its own a piece of 1 MiB gets after a larger one was freed."""
    done = subprocess.run([sys.executable, "-c", SCRIPT, mode], capture_output=True, text=True, check=True)
    return int(done.stdout)


def test_a_large_piece_has_memory_of_its_own_whatever_was_freed_before() -> None:
    assert own_bytes_of_a_large_piece("returned") >= 1 << 20


def test_by_itself_the_system_library_would_cut_it_from_its_heap() -> None:
    assert own_bytes_of_a_large_piece("as it is") == 0


FREED = """
import ctypes
from pathlib import Path
from podium.heap import give_back_freed

library = ctypes.CDLL(None)
library.malloc.restype = ctypes.c_void_p
library.malloc.argtypes = library.free.argtypes = [ctypes.c_size_t]

def resident_bytes():
    return 4096 * int(Path("/proc/self/statm").read_text().split()[1])

pieces = []
for _ in range(1000):
    pieces.append(library.malloc(65536))
    ctypes.memset(pieces[-1], 1, 65536)
    # What stays lies in between.
    library.malloc(64)
for piece in pieces:
    library.free(piece)
before = resident_bytes()
give_back_freed()
print(before - resident_bytes())
"""


def test_what_was_freed_between_what_stays_is_given_back() -> None:
    done = subprocess.run([sys.executable, "-c", FREED], capture_output=True, text=True, check=True)
    assert int(done.stdout) > 50 * 2**20
