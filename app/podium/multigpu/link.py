"""A worker's end of its socket: one thread reads and shows signs of life, any thread sends. No torch."""

from __future__ import annotations

import os
import queue
import select
import signal
import socket
import threading
import traceback
from typing import NoReturn

from podium.multigpu.channel import Body, Kind, Packet, plain_body, receive_packet, send_packet
from podium.multigpu.status import StatusPage

BEAT_S = 0.5
EXIT_LINK_BROKEN = 71


class Link:
    """The way to the driver.

    The reading thread is also the watchdog: when the driver is gone it kills this process's group, the processes that
    compile for it included.

    Args:
        sock: The worker's end; it waits.
        page: The worker's status page.
    """

    def __init__(self, sock: socket.socket, page: StatusPage) -> None:
        self._socket = sock
        self._page = page
        self._send_lock = threading.Lock()
        self._inbox: queue.SimpleQueue[Packet] = queue.SimpleQueue()

    def greet(self) -> Packet:
        """Say hello, and return what the driver says first; what lies before it was meant for an earlier self.

        Ranks: one rank, local.
        """
        self.send(Kind.HELLO, 0, plain_body(b""))
        while True:
            packet = receive_packet(self._socket)
            if packet is None:
                self._die()
            if packet.kind is Kind.BEGIN:
                return packet

    def start_reading(self, driver_fd: int) -> None:
        """Start the thread; `driver_fd` becomes readable when the driver is gone.

        Ranks: one rank, local.
        """
        threading.Thread(target=self._read, args=(driver_fd,), name="podium-link", daemon=True).start()

    def next_packet(self) -> Packet:
        """Wait for the next packet of the driver, outside any collective.

        Ranks: one rank, local.
        """
        return self._inbox.get()

    def send(self, kind: Kind, job_id: int, body: Body) -> None:
        """Send a packet whole, and give its memory back.

        Ranks: one rank, local.
        """
        try:
            with self._send_lock:
                send_packet(self._socket, kind, job_id, body)
        except (BrokenPipeError, ConnectionResetError):
            self._die()
        finally:
            body.close()

    def _read(self, driver_fd: int) -> None:
        try:
            self._watch(driver_fd)
        except BaseException:  # noqa: BLE001 - told on the next lines, and the process ends
            # Without this thread the rank would outlive its driver, and hear of no job.
            traceback.print_exc()
            os._exit(EXIT_LINK_BROKEN)

    def _watch(self, driver_fd: int) -> NoReturn:
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        poll.register(driver_fd, select.POLLIN)
        while True:
            self._page.beat()
            ready = {fd for fd, _ in poll.poll(BEAT_S * 1000)}
            if driver_fd in ready:
                self._die()
            if ready:
                packet = receive_packet(self._socket)
                if packet is None:
                    self._die()
                self._inbox.put(packet)

    def _die(self) -> NoReturn:
        os.killpg(os.getpgrp(), signal.SIGKILL)
        os._exit(1)
