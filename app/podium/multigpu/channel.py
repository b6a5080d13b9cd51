"""Packets between the driver and one worker over a socket of whole messages. No torch, no pickle.

A packet is sent whole or not at all. What is small travels inside it; what is large lies in anonymous shared memory
whose descriptor travels inside it, so a packet that was sent survives its sender, whether it was taken or not.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import select
import socket
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from podium.multigpu.mapping import map_private

# Kind, descriptor kind, job id, time, bytes of the pickle, bytes of the blob.
_HEADER = struct.Struct("@BBQdQQ")
# Well under the socket's send buffer (208 KiB by default), so that several packets fit.
INLINE_LIMIT_BYTES = 48 * 1024
_MAX_PACKET_BYTES = _HEADER.size + INLINE_LIMIT_BYTES
_MAX_FDS = 4
_SEND_LIMIT_S = 5.0
_NO_FD, _BODY_FD, _PLAIN_FD = 0, 1, 2


class Kind(IntEnum):
    """What a packet says."""

    # Worker to driver.
    HELLO = 1
    READY = 2
    YIELDED = 3
    FINISHED = 4
    REFUSED = 5
    CRASHED = 6
    LOG = 7
    # Driver to worker.
    BEGIN = 20
    JOB = 21
    INPUTS = 22
    STOP = 23


Buffer = bytes | bytearray | memoryview


@dataclass(frozen=True, slots=True)
class Packet:
    """One message.

    Args:
        pickled: Bytes for `transport.unpack`, or JSON.
        blob: Raw bytes of tensors; private and writable.
        time_s: Monotonic seconds at which it was sent.
        has_device_memory: Some tensor stayed on its device, and its sender waits for it to be taken.
        fd: A descriptor that came along for its own sake; the receiver closes it.
    """

    kind: Kind
    job_id: int
    time_s: float
    pickled: Buffer
    blob: memoryview
    has_device_memory: bool = False
    fd: int | None = None


@dataclass(frozen=True, slots=True)
class Body:
    """What a packet carries, laid out once and sent to any number of workers.

    Args:
        inline: The bytes themselves, blob first, unless they lie in `fd`.
        fd: Descriptor of the memory that holds them.
    """

    num_pickled_bytes: int
    num_blob_bytes: int
    inline: bytes
    fd: int | None
    has_device_memory: bool = False

    def close(self) -> None:
        """Give the memory back; packets that were sent keep it."""
        if self.fd is not None:
            os.close(self.fd)


class BodyWriter:
    """Memory for a body: `blob` is filled by the caller, then `finish` adds the pickle."""

    def __init__(self, num_blob_bytes: int, num_pickled_bytes: int) -> None:
        self._num_blob_bytes = num_blob_bytes
        self._num_pickled_bytes = num_pickled_bytes
        size = num_blob_bytes + num_pickled_bytes
        self._fd: int | None = None
        self._memory: mmap.mmap | bytearray
        if size <= INLINE_LIMIT_BYTES:
            self._memory = bytearray(size)
        else:
            self._fd = os.memfd_create("podium", os.MFD_CLOEXEC)
            os.ftruncate(self._fd, size)
            self._memory = mmap.mmap(self._fd, size)

    @property
    def blob(self) -> memoryview:
        """Return the writable bytes of the blob."""
        return memoryview(self._memory)[: self._num_blob_bytes]

    def finish(self, pickled: bytes, *, has_device_memory: bool = False) -> Body:
        """Add the pickle and return the body; the writer is used up."""
        self._memory[self._num_blob_bytes :] = pickled
        inline = bytes(self._memory) if self._fd is None else b""
        return Body(self._num_pickled_bytes, self._num_blob_bytes, inline, self._fd, has_device_memory)


def plain_body(pickled: bytes) -> Body:
    """Return a body without a blob."""
    return BodyWriter(0, len(pickled)).finish(pickled)


def send_packet(sock: socket.socket, kind: Kind, job_id: int, body: Body, *, fd: int | None = None) -> None:
    """Send a packet whole.

    Args:
        fd: A descriptor to send along; only with a body that is inline.

    Raises:
        TimeoutError: The other side has read nothing for some seconds.
        OSError: The other side is gone.
    """
    fds = [item for item in (body.fd, fd) if item is not None]
    if len(fds) > 1:
        raise ValueError("a packet takes one descriptor")
    fd_kind = _NO_FD if not fds else _BODY_FD if fd is None else _PLAIN_FD
    flags = fd_kind | (0x80 if body.has_device_memory else 0)
    header = _HEADER.pack(kind, flags, job_id, time.monotonic(), body.num_pickled_bytes, body.num_blob_bytes)
    _send_whole(sock, [header, body.inline], fds)


def receive_packet(sock: socket.socket) -> Packet | None:
    """Receive a packet; None when the other side closed.

    Raises:
        BlockingIOError: Nothing is there, and the socket does not wait.
    """
    try:
        data, fds, _, _ = socket.recv_fds(sock, _MAX_PACKET_BYTES, _MAX_FDS)
    except ConnectionResetError:
        return None
    if not data:
        return None
    kind, flags, job_id, time_s, num_pickled_bytes, num_blob_bytes = _HEADER.unpack_from(data)
    fd_kind = flags & 0x7F
    if fd_kind == _BODY_FD:
        # Private: what one reader writes into its copy, the other readers of the same memory do not see.
        try:
            view = map_private(fds[0], num_pickled_bytes + num_blob_bytes)
        finally:
            os.close(fds[0])
    else:
        view = memoryview(bytearray(data[_HEADER.size :]))
    plain_fd = fds[0] if fd_kind == _PLAIN_FD else None
    if plain_fd is not None:
        os.set_inheritable(plain_fd, False)
    return Packet(
        kind=Kind(kind),
        job_id=job_id,
        time_s=time_s,
        pickled=view[num_blob_bytes:],
        blob=view[:num_blob_bytes],
        has_device_memory=bool(flags & 0x80),
        fd=plain_fd,
    )


def socket_pair() -> tuple[socket.socket, socket.socket]:
    """Return two connected sockets that keep messages whole."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def _send_whole(sock: socket.socket, parts: Sequence[bytes], fds: Sequence[int]) -> None:
    ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack(f"@{len(fds)}i", *fds))] if fds else []
    deadline_s = time.monotonic() + _SEND_LIMIT_S
    while True:
        with contextlib.suppress(BlockingIOError):
            sock.sendmsg(parts, ancillary, socket.MSG_NOSIGNAL)
            return
        poll = select.poll()
        poll.register(sock, select.POLLOUT)
        if not poll.poll(max(0.0, deadline_s - time.monotonic()) * 1000):
            raise TimeoutError("the other side reads nothing")
