"""A worker's end of its socket: one thread reads and shows signs of life, any thread sends. No torch."""

from __future__ import annotations

import os
import queue
import select
import signal
import socket
import threading
import traceback
from collections.abc import Callable
from typing import NoReturn

from podium.multigpu.channel import Body, Kind, Packet, plain_body, receive_packet, send_packet
from podium.multigpu.messages import EXIT_LINK_BROKEN
from podium.multigpu.status import StatusPage

BEAT_S = 0.1
DRIVER_GONE_LIMIT_S = 0.2


class Link:
    """The way to the driver.

    The reading thread is also the watchdog: when the driver is gone it kills this process's group, the processes that
    compile for it included. A socket that breaks under a living driver ends this process alone, so that the driver,
    which ends the rest, can tell it from a kill.

    Args:
        sock: The worker's end; it waits.
        page: The worker's status page.
    """

    def __init__(self, sock: socket.socket, page: StatusPage) -> None:
        self._socket = sock
        self._page = page
        self._send_lock = threading.Lock()
        self._driver_fd = -1
        self._inbox: queue.SimpleQueue[Packet] = queue.SimpleQueue()
        self._on_beat: Callable[[], None] = page.beat

    def greet(self) -> Packet:
        """Say hello, and return what the driver says first; what lies before it was meant for an earlier self.

        Ranks: one rank, local.
        """
        self.send(Kind.HELLO, 0, plain_body(b""))
        while True:
            packet = receive_packet(self._socket)
            if packet is None:
                os._exit(EXIT_LINK_BROKEN)
            if packet.kind is Kind.BEGIN:
                return packet

    def start_reading(self, driver_fd: int) -> None:
        """Start the thread; `driver_fd` becomes readable when the driver is gone.

        Ranks: one rank, local.
        """
        threading.Thread(target=self._read, args=(driver_fd,), name="podium-link", daemon=True).start()

    def beat_with(self, publish: Callable[[], None]) -> None:
        """Have the thread publish something more with every sign of life.

        Ranks: one rank, local.
        """

        def on_beat() -> None:
            self._page.beat()
            publish()

        self._on_beat = on_beat

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
            self._end()
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
        self._driver_fd = driver_fd
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        poll.register(driver_fd, select.POLLIN)
        while True:
            self._on_beat()
            ready = {fd for fd, _ in poll.poll(BEAT_S * 1000)}
            if driver_fd in ready:
                self._die()
            if ready:
                packet = receive_packet(self._socket)
                if packet is None:
                    self._end()
                self._inbox.put(packet)

    def _end(self) -> NoReturn:
        # The socket of a driver that dies closes a moment before its process is gone.
        driver = select.poll()
        if self._driver_fd >= 0:
            driver.register(self._driver_fd, select.POLLIN)
        if driver.poll(DRIVER_GONE_LIMIT_S * 1000):
            self._die()
        os._exit(EXIT_LINK_BROKEN)

    def _die(self) -> NoReturn:
        os.killpg(os.getpgrp(), signal.SIGKILL)
        os._exit(1)
