"""Nothing of a fleet can be reached from another machine."""

from __future__ import annotations

import ipaddress
import os
import socket
import sys
from pathlib import Path

from podium.multigpu.forkserver import SHARED

from tests.fleet.conftest import FleetPool
from tests.fleet.test_driver_death import children_of

_LISTENING = "0A"


def listeners(pid: int) -> set[ipaddress.IPv4Address | ipaddress.IPv6Address]:
    """Return the addresses at which a process listens, as `ss -ltnp` would show them."""
    inodes = set()
    for path in Path(f"/proc/{pid}/fd").iterdir():
        try:
            inodes.add(str(path.readlink()).removeprefix("socket:[").rstrip("]"))
        except OSError:
            continue
    found = set()
    for name in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{name}").read_text(encoding="ascii").splitlines()[1:]:
            _, local, _, state, *rest = line.split()
            if state == _LISTENING and rest[5] in inodes:
                found.add(address_of(local.partition(":")[0]))
    return found


def address_of(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Return an address as the kernel writes it: words of 32 bits in this machine's byte order."""
    words = [int(text[k : k + 8], 16).to_bytes(4, sys.byteorder) for k in range(0, len(text), 8)]
    return ipaddress.ip_address(b"".join(words))


def test_a_listener_is_found_with_its_address() -> None:
    before = listeners(os.getpid())
    with socket.create_server(("127.0.0.2", 0)):
        assert listeners(os.getpid()) - before == {ipaddress.ip_address("127.0.0.2")}


def test_during_a_job_every_listener_of_ours_is_on_loopback(fleets: FleetPool) -> None:
    fleet = fleets.get()
    mine = listeners(os.getpid())
    stream = fleet.stream(action="steps", num_steps=10**6, step_s=0.005)
    assert next(stream) == 1
    ranks = [status.pid for status in fleet.rank_status() if status.pid is not None]
    helpers = [SHARED.get().pid, *children_of(os.getpid())]
    found = {pid: listeners(pid) for pid in (os.getpid(), *ranks, *helpers)}
    stream.cancel()
    stream.drain()
    assert any(found[pid] for pid in ranks), "the ranks meet somewhere"
    assert found[os.getpid()] == mine
    assert not any(found[pid] for pid in helpers if pid not in ranks)
    assert all(address.is_loopback for addresses in found.values() for address in addresses)
